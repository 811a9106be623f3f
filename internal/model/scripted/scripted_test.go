package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/modeltest"
	"liminal/internal/model/scripted"
)

func user(text string, passages ...model.Block) model.Request {
	passages = append(passages, model.Block{Type: model.Text, Text: text})
	return model.Request{Messages: []model.Message{{Role: model.User, Content: passages}}}
}

func parse(t *testing.T, doc string) scripted.Script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scripted.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	script := parse(t, `{"answers":[
		{"contains":"look","steps":[{"text":"Looking."},{"tool":{"name":"rag.search_v1","input":{"question":"x"}}}]},
		{"contains":"cite","steps":[{"text":"It says so."},{"cite":{"passage":0,"quote":"says so"}}]},
		{"contains":"json","steps":[{"text":"{\"intent\":\"other\"}"}]},
		{"contains":"forever","steps":[{"text":"Once"},{"hang":true}]},
		{"steps":[{"thinking":"Hm."},{"text":"Hello there.","chunk":3}]}]}`)
	text, look, asJSON, forever := user("hello"), user("look"), user("json"), user("forever")
	look.Tools = []model.Tool{{Name: "rag.search_v1", ReadOnly: true}}
	cite := user("cite", model.Block{Type: model.Passage, Text: "The paper says so.", Source: &model.Source{DocumentID: "d", Start: 100, End: 118}})
	modeltest.Run(t, modeltest.Setup{
		Open: func(*testing.T) model.Model { return scripted.New(script) },
		Text: &text, Tools: &look, Passages: &cite, JSON: &asJSON, Endless: &forever,
	})
}

func TestAnswersAreChosenByTaskTextAndTurn(t *testing.T) {
	t.Parallel()
	m := scripted.New(parse(t, `{"answers":[
		{"task":"intent","steps":[{"text":"intent"}]},
		{"contains":"first","times":1,"steps":[{"text":"once"}]},
		{"after":"files.list_v1","steps":[{"text":"listed"}]},
		{"steps":[{"text":"else"}]}]}`))
	intent := user("first")
	intent.Task = "intent"
	after := model.Request{Messages: []model.Message{
		{Role: model.Assistant, Content: []model.Block{{Type: model.ToolUse, ID: "1", Name: "files.list_v1"}}},
		{Role: model.User, Content: []model.Block{{Type: model.ToolResult, ID: "1", Text: "{}"}}},
	}}
	for i, c := range []struct {
		req  model.Request
		want string
	}{{intent, "intent"}, {user("first"), "once"}, {user("first"), "else"}, {after, "listed"}} {
		if got := modeltest.Text(modeltest.Play(t, m, c.req)); got != c.want {
			t.Errorf("request %d was answered %q, want %q", i, got, c.want)
		}
	}
	if n := len(m.Requests()); n != 4 {
		t.Errorf("%d requests were kept", n)
	}
}

func TestSignalsHoldTheModelInTheMiddle(t *testing.T) {
	t.Parallel()
	m := scripted.New(parse(t, `{"answers":[{"steps":[{"text":"a"},{"reach":"half"},{"wait":"go"},{"text":"b"}]}]}`))
	done := make(chan string, 1)
	go func() {
		text := ""
		for e, err := range m.Stream(context.Background(), user("x")) {
			if err == nil && e.Type == model.TextDelta {
				text += e.Text
			}
		}
		done <- text
	}()
	<-m.Reached("half")
	select {
	case text := <-done:
		t.Fatalf("it went on to %q before it was let", text)
	default:
	}
	m.Release("go")
	if text := <-done; text != "ab" {
		t.Errorf("text %q", text)
	}
}

func TestFilesHoldAModelInAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spoke, gate := filepath.Join(dir, "spoke"), filepath.Join(dir, "go")
	doc, err := json.Marshal(map[string]any{"answers": []any{map[string]any{"steps": []any{
		map[string]any{"text": "a"}, map[string]any{"touch": spoke}, map[string]any{"until": gate}, map[string]any{"text": "b"},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for e, err := range scripted.New(parse(t, string(doc))).Stream(t.Context(), user("x")) {
		if err != nil {
			t.Fatal(err)
		}
		if text += e.Text; text == "a" {
			if _, err := os.Stat(spoke); err == nil {
				t.Fatal("the file is there before the text was taken")
			}
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(spoke); err != nil || text != "ab" {
		t.Errorf("text %q, %v", text, err)
	}
}

func TestAnAnswerIsGivenOnceForAllProcesses(t *testing.T) {
	t.Parallel()
	done := filepath.Join(t.TempDir(), "done")
	doc, err := json.Marshal(map[string]any{"answers": []any{
		map[string]any{"unless": done, "steps": []any{map[string]any{"touch": done}, map[string]any{"text": "first"}}},
		map[string]any{"steps": []any{map[string]any{"text": "later"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"first", "later"} {
		m := scripted.New(parse(t, string(doc))) // each as in a process of its own
		if got := modeltest.Text(modeltest.Play(t, m, user("x"))); got != want {
			t.Errorf("process %d answers %q, want %q", i, got, want)
		}
	}
}

func TestErrorsHaveTheirClass(t *testing.T) {
	t.Parallel()
	m := scripted.New(parse(t, `{"answers":[
		{"contains":"limit","steps":[{"text":"half"},{"error":{"code":"rate_limited","message":"slow down"}}]},
		{"contains":"lost","steps":[{"error":{"message":"connection reset"}}]}]}`))
	for text, code := range map[string]fault.Code{"limit": fault.RateLimited, "lost": fault.Internal, "unknown": fault.Internal} {
		var last error
		for _, err := range m.Stream(t.Context(), user(text)) {
			last = err
		}
		if last == nil || fault.CodeOf(last) != code {
			t.Errorf("%s: %v", text, last)
		}
	}
}

func TestAnEchoSaysWhatWasAsked(t *testing.T) {
	t.Parallel()
	m := scripted.New(parse(t, `{"answers":[{"steps":[{"text":"You said "},{"echo":"no-[0-9]+"}]}]}`))
	passage := model.Block{Type: model.Passage, Text: "Of passages: no-9.", Source: &model.Source{DocumentID: "d"}}
	for want, req := range map[string]model.Request{
		"You said no-7": user("about no-7, not no-8"),
		"You said no-9": user("about nothing", passage),
	} {
		if got := modeltest.Text(modeltest.Play(t, m, req)); got != want {
			t.Errorf("it answered %q, want %q", got, want)
		}
	}
	var last error
	for _, err := range m.Stream(t.Context(), user("about nothing")) {
		last = err
	}
	if fault.CodeOf(last) != fault.Internal {
		t.Errorf("an echo of nothing: %v", last)
	}
}

func TestAMisspeltScriptIsRefused(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{"answers":[{"stepps":[]}]}`, `{"answers":[{"steps":[{"text":"a","hang":true}]}]}`, `{"answers":[{"steps":[{"echo":"("}]}]}`, `{`} {
		path := filepath.Join(t.TempDir(), "script.json")
		if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := scripted.Load(path); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "script") {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
