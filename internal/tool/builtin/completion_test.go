package builtin_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// Requirements: STREAM-01
func TestOnlyTheAnswerOfTheTurnIsStreamed(t *testing.T) {
	t.Parallel()
	for _, final := range []bool{true, false} {
		l := &log{}
		out := must(t, builtin.Parts{Model: says(text("Good "), text("morning."))}, "llm.generic_chat_v1",
			&tool.Call{Inputs: inputs("message", "Hi"), Final: final, Attempt: 1, Emit: l.emit})
		if out["answer"] != "Good morning." || out["model"] != "script" || out["stop"] != "end_turn" {
			t.Errorf("%v", out)
		}
		want := ""
		if final {
			want = "token \"Good \"\ntoken \"morning.\"\n"
		}
		if got := l.told(stream.Token, stream.Reset); got != want {
			t.Errorf("final %v: told %q", final, got)
		}
	}
}

// Whoever calls again has taken the words back already: activities has the test
// that it is said once (STREAM-12).
func TestALaterAttemptSaysItsWordsAndNoMore(t *testing.T) {
	t.Parallel()
	l := &log{}
	must(t, builtin.Parts{Model: says(text("Again."))}, "llm.generic_chat_v1",
		&tool.Call{Inputs: inputs("message", "Hi"), Final: true, Attempt: 2, Emit: l.emit})
	if got := l.told(stream.Token, stream.Reset); got != "token \"Again.\"\n" {
		t.Errorf("told %q", got)
	}
}

// Requirements: CHAT-27
func TestAModelThatBreaksOffIsAFailure(t *testing.T) {
	t.Parallel()
	broken := &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
		_ = yield(text("So "), nil) && yield(model.Event{}, errors.New("connection reset"))
	}}
	_, err := run(t, builtin.Parts{Model: broken}, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "Hi")})
	if !errors.Is(err, fault.Internal) || strings.Contains(fault.From(err).Message, "reset") {
		t.Error(err)
	}
	busy := &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
		yield(model.Event{}, fault.New(fault.RateLimited, "The provider is busy."))
	}}
	if _, err := run(t, builtin.Parts{Model: busy}, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "Hi")}); !errors.Is(err, fault.RateLimited) {
		t.Error(err)
	}
}

// endless says a word every second until it is stopped.
func endless() *script {
	return &script{play: func(ctx context.Context, yield func(model.Event, error) bool) {
		for {
			select {
			case <-ctx.Done():
				yield(model.Event{}, ctx.Err())
				return
			case <-time.After(time.Second):
				if !yield(text("word "), nil) {
					return
				}
			}
		}
	}}
}

// Requirements: STREAM-09
func TestAnAnswerThatTakesTooLongIsTruncated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := builtin.Parts{Model: endless(), MaxDecode: func(plan string) time.Duration {
			return map[string]time.Duration{"free": 3500 * time.Millisecond}[plan]
		}}
		out := must(t, p, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "Hi")})
		if out["truncated"] != true || out["answer"] != "word word word " {
			t.Errorf("%v", out)
		}
		p.MaxDecode = nil
		out = must(t, p, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "Hi")})
		if answer, _ := out["answer"].(string); out["truncated"] != true || strings.Count(answer, "word") != 59 {
			t.Errorf("at the end of the call's time: %v", out)
		}
	})
}

// Requirements: STREAM-09
func TestAModelThatSaysNothingInTimeIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := &script{play: func(ctx context.Context, yield func(model.Event, error) bool) {
			<-ctx.Done()
			yield(model.Event{}, ctx.Err())
		}}
		_, err := run(t, builtin.Parts{Model: silent}, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "Hi")})
		if !errors.Is(err, fault.Internal) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestAStoppedAnswerKeepsItsWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(2500*time.Millisecond, cancel)
		box, err := tool.NewBox(builtin.Tools(builtin.Parts{Model: endless()}), tool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range specs(t) {
			if s.Name != "llm.generic_chat_v1" {
				continue
			}
			out, err := box.Call(ctx, s, &tool.Call{Viewer: ann, Inputs: inputs("message", "Hi")})
			if err != nil || out["partial"] != true || out["answer"] != "word word " {
				t.Errorf("%v, %v", out, err)
			}
			// What was written by then is paid for, about.
			if used, _ := out["usage"].(map[string]any); used["input_tokens"] == 0.0 || used["output_tokens"] == 0.0 {
				t.Errorf("it has used %v", used)
			}
		}
	})
}

func spoken(seq int, role, words string) chat.Message {
	return chat.Message{Seq: seq, Role: role, Sender: role, Content: words}
}

// Requirements: CHAT-19, CHAT-20
func TestAModelSeesTheConversationAsFarAsItFits(t *testing.T) {
	t.Parallel()
	m := says(text("ok"))
	long := strings.Repeat("word ", 1600) // 2,000 tokens
	history := memory{
		spoken(1, "user", "Tell me of gardens\nand roses"), spoken(2, "assistant", long),
		spoken(3, "user", "And tulips?"), spoken(4, "assistant", long),
		spoken(5, "system", "a notice"),
		{Seq: 6, Role: "assistant", Content: "hidden", Meta: map[string]any{"suppressed": true}},
		spoken(7, "user", "And trees?"), spoken(8, "assistant", "Oaks."), spoken(9, "user", "later"),
	}
	call := &tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: 9}, Inputs: inputs("message", "Which oaks?")}
	out := must(t, builtin.Parts{Model: m, History: history}, "llm.generic_chat_v1", call)
	note, _ := out["earlier"].(string)
	if !strings.Contains(note, "Tell me of gardens") {
		t.Errorf("the summary for the conversation is %q", note)
	}
	summary := spoken(6, "system", note)
	summary.Meta = map[string]any{"summary": true}
	known := append(slices.Clone(history[:5]), append(memory{summary}, history[6:]...)...)
	if out := must(t, builtin.Parts{Model: m, History: known}, "llm.generic_chat_v1", call); out["earlier"] != nil {
		t.Errorf("a conversation that holds the summary is given it again: %v", out["earlier"])
	}
	var seen []string
	for _, one := range m.last.Messages {
		seen = append(seen, string(one.Role)+":"+one.Content[0].Text[:min(9, len(one.Content[0].Text))])
	}
	if got := strings.Join(seen, " | "); got != "user:And tulip | assistant:word word | user:And trees | assistant:Oaks. | user:Which oak" {
		t.Errorf("the model saw %s", got)
	}
	if !strings.Contains(m.last.System, `Earlier in this conversation, we discussed "Tell me of gardens" (truncated).`) {
		t.Errorf("the system text is %q", m.last.System)
	}
}

// Requirements: TOOL-10
func TestAnIntentThatCannotBeReadIsOther(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"intent":"analysis","confidence":0.8}`:              "analysis",
		"Sure! ```json\n{\"intent\":\"code_edit\"}\n``` Done": "code_edit",
		`{"intent":"poetry"}`:                                 "other",
		`I think it is analysis`:                              "other",
		``:                                                    "other",
	} {
		l := &log{}
		m := says(text(answer))
		out := must(t, builtin.Parts{Model: m}, "llm.intent_classifier_v1", &tool.Call{Inputs: inputs("message", "x"), Final: true, Emit: l.emit})
		if out["intent"] != want || m.last.Schema == nil || m.last.Task != "intent" {
			t.Errorf("%q: %v", answer, out)
		}
		if l.told(stream.Token) != "" {
			t.Error("the classification was shown as an answer")
		}
	}
}

// Requirements: TOOL-02
func TestAnAgentsStepNamesToolsAndReadsTheirResults(t *testing.T) {
	t.Parallel()
	m := says(text("Let me look."), model.Event{Type: model.ToolCall, ID: "u1", Name: "files.read_v1", Input: []byte(`{"path":"files/a.md"}`)})
	l := &log{}
	out := must(t, builtin.Parts{Model: m, Catalog: fullCatalog(t), Files: filed(t, nil)}, "llm.step_v1", &tool.Call{Final: true, Attempt: 1, Emit: l.emit, Inputs: inputs(
		"system", "S", "message", "What is in a.md?", "tools", []any{"files.read_v1", "gone_v1"},
		"transcript", []any{
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "text": "hm", "signature": "sig"},
				map[string]any{"type": "tool_use", "id": "u0", "name": "files.list_v1", "input": map[string]any{}},
			}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": "u0", "content": `{"files":[]}`, "is_error": true},
			}},
		})})
	calls, _ := out["tool_calls"].([]any)
	if len(calls) != 1 || calls[0].(map[string]any)["arguments"].(map[string]any)["path"] != "files/a.md" || out["text"] != "Let me look." {
		t.Errorf("%v", out)
	}
	if len(m.last.Tools) != 1 || m.last.Tools[0].Name != "files.read_v1" || !m.last.Tools[0].ReadOnly {
		t.Errorf("offered %+v", m.last.Tools)
	}
	if n := len(m.last.Messages); n != 3 {
		t.Fatalf("%d messages", n)
	}
	thinking, result := m.last.Messages[1].Content[0], m.last.Messages[2].Content[0]
	if thinking.Signature != "sig" || result.ID != "u0" || result.Text != `{"files":[]}` || !result.IsError {
		t.Errorf("the transcript came as %+v, %+v", thinking, result)
	}
	if !strings.HasSuffix(l.told(stream.Token, stream.Reset), "reset {\"reason\":\"tools\"}\n") {
		t.Errorf("told %q", l.told(stream.Token, stream.Reset))
	}
}

// Nobody is shown an empty message.
//
// Requirements: LORA-25 (a clean message)
func TestAnAnswerWithoutAWordIsNone(t *testing.T) {
	t.Parallel()
	ends := func(why model.StopReason) *script {
		return breaksOff(nil, model.Event{Type: model.UsageReport, Usage: model.Usage{Input: 7}}, model.Event{Type: model.Stop, Reason: why})
	}
	for want, c := range map[string]struct {
		why    model.StopReason
		locale string
	}{
		"The model declines to answer this. Put it in other words.":             {model.Refusal, "en"},
		"Das Modell lehnt es ab, darauf zu antworten. Frag mit anderen Worten.": {model.Refusal, "de"},
		"The model gave no answer. Ask again.":                                  {model.EndTurn, "en"},
		"Das Modell hat nichts geantwortet. Frag noch einmal.":                  {model.MaxTokens, "de-AT"},
	} {
		l := &log{}
		out := must(t, builtin.Parts{Model: ends(c.why)}, "llm.generic_chat_v1", &tool.Call{
			Inputs: inputs("message", "x"), Final: true, Attempt: 1, Emit: l.emit, Scope: tool.Scope{Locale: c.locale},
		})
		if now, _ := l.tokens(); out["answer"] != want || now != want || out["stop"] != string(c.why) {
			t.Errorf("%v, shown %q", out, now)
		}
	}
	out := must(t, builtin.Parts{Model: ends(model.Refusal)}, "llm.structured_v1", &tool.Call{
		Inputs: inputs("message", "x", "role", "intent", "schema", map[string]any{"type": "object"}, "defaults", map[string]any{"a": "b"}),
	})
	if out["valid"] != false {
		t.Errorf("a decision nobody makes has its defaults: %v", out)
	}
}

// A call whose arguments are no object is the machine's to refuse, and is told back
// to the model's server as one it accepts.
//
// Requirements: CLAUDE-13
func TestACallWithoutAnObjectIsNoFailureOfTheStep(t *testing.T) {
	t.Parallel()
	for _, given := range []string{`[1]`, `"x"`, `7`, `null`} {
		m := says(model.Event{Type: model.ToolCall, ID: "u1", Name: "files.read_v1", Input: []byte(given)})
		out := must(t, builtin.Parts{Model: m, Catalog: fullCatalog(t), Files: filed(t, nil)}, "llm.step_v1", &tool.Call{Inputs: inputs("message", "x", "tools", []any{"files.read_v1"})})
		call := out["tool_calls"].([]any)[0].(map[string]any)
		block := out["content"].([]any)[0].(map[string]any)
		if input, ok := block["input"].(map[string]any); !ok || len(input) > 0 || call["arguments"] != given {
			t.Errorf("%s: called %v, told back %v", given, call, block)
		}
	}
}
