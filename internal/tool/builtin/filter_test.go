package builtin_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/safety"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

func judge(t testing.TB) *safety.Rules {
	t.Helper()
	r, err := safety.Standard()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const leak = "sk-proj-Ab3dEf6hIj9kLm2nOp5q"

const recipe = "TATP it is.\n1. Mix 50 ml of the first with the second.\n2. Cool it.\n3. Add 5 ml of acid.\nDone."

// letters is a text as a model that says one letter at a time.
func letters(s string) (events []model.Event) {
	for _, r := range s {
		events = append(events, text(string(r)))
	}
	return events
}

// tokens are the words of an answer that reached the log, as its readers have
// them in the end, and everything that ever stood in it.
func (l *log) tokens() (now, ever string) {
	for _, e := range l.events {
		var piece string
		switch e.Kind {
		case stream.Reset:
			now = ""
		case stream.Token:
			_ = json.Unmarshal(e.Data, &piece)
			now, ever = now+piece, ever+piece
		default:
		}
	}
	return now, ever
}

// Requirements: SAFE-01, SAFE-03, SAFE-09
func TestASecretNeverReachesTheLogNotEvenItsBeginning(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"plain": "Use " + leak + " now.", "with hidden signs": "Use sk-\u200bproj-Ab3dEf6h\u2060Ij9kLm2nOp5q now.",
	} {
		for attempt := 1; attempt <= 2; attempt++ {
			l := &log{}
			var told []tool.Redaction
			out := must(t, builtin.Parts{Model: says(letters(said)...), Safety: judge(t)}, "llm.generic_chat_v1", &tool.Call{
				Inputs: inputs("message", "Which key?"), Final: true, Attempt: attempt, Emit: l.emit,
				Redacted: func(r tool.Redaction) { told = append(told, r) },
			})
			now, ever := l.tokens()
			if want := "Use [removed: API key] now."; out["answer"] != want || now != want || ever != want {
				t.Errorf("%s: %q, shown %q, ever %q", name, out["answer"], now, ever)
			}
			if len(told) != 1 || told[0] != (tool.Redaction{Policy: "standard-1", Rule: "provider_key", Reason: "API key", Text: "[removed: API key]"}) {
				t.Errorf("%s: told %+v", name, told)
			}
		}
	}
}

// Requirements: SAFE-03, SAFE-09
func TestADisallowedAnswerIsReplacedBeforeItsFirstLetterIsShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ locale, before, said, want string }{
		{"", "Sure, here. ", recipe, "This answer is not shown: it holds what this system does not give out (instructions for an explosive)."},
		{"de", "", strings.Replace(recipe, "TATP", "T\u200dA\u00adТP", 1), "Diese Antwort wird nicht gezeigt: Sie enthält, was dieses System nicht ausgibt (instructions for an explosive)."},
	} {
		heard := 0
		m := &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
			for _, e := range append(letters(c.before+c.said), letters(strings.Repeat(" And more.", 500))...) {
				heard++
				if !yield(e, nil) {
					return
				}
			}
		}}
		l := &log{}
		var told []tool.Redaction
		out := must(t, builtin.Parts{Model: m, Safety: judge(t)}, "llm.generic_chat_v1", &tool.Call{
			Inputs: inputs("message", "x"), Final: true, Attempt: 1, Emit: l.emit, Scope: tool.Scope{Locale: c.locale},
			Redacted: func(r tool.Redaction) { told = append(told, r) },
		})
		now, ever := l.tokens()
		if out["answer"] != c.want || now != c.want || ever != c.before+c.want || out["stop"] != "refusal" {
			t.Errorf("%q, shown %q, ever %q, %v", out["answer"], now, ever, out["stop"])
		}
		if !strings.Contains(l.told(stream.Reset), `"safety"`) || len(told) != 1 || !told[0].Whole || told[0].Text != c.want {
			t.Errorf("%s %+v", l.told(stream.Reset), told)
		}
		if heard > 4000 {
			t.Errorf("the model was heard for %d letters", heard)
		}
	}
}

// Requirements: SAFE-09
func TestWhatIsCutOffOrBreaksIsJudgedAsFarAsItCame(t *testing.T) {
	t.Parallel()
	half := "It is sk-proj-Ab3d"
	for name, last := range map[string]func(yield func(model.Event, error) bool) bool{
		"it breaks off": func(yield func(model.Event, error) bool) bool { return yield(model.Event{}, context.DeadlineExceeded) },
		"it is too long": func(yield func(model.Event, error) bool) bool {
			return yield(model.Event{Type: model.Stop, Reason: model.MaxTokens}, nil)
		},
		"it is cancelled": func(yield func(model.Event, error) bool) bool { return yield(model.Event{}, context.Canceled) },
	} {
		m := &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
			for _, e := range letters(half) {
				if !yield(e, nil) {
					return
				}
			}
			last(yield)
		}}
		l := &log{}
		out, err := run(t, builtin.Parts{Model: m, Safety: judge(t)}, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "x"), Final: true, Attempt: 1, Emit: l.emit})
		if _, ever := l.tokens(); ever != "It is " || err == nil && out["answer"] != "It is " {
			t.Errorf("%s: ever %q, %v, %v", name, ever, out, err)
		}
	}
	endless := &script{play: func(_ context.Context, yield func(model.Event, error) bool) { // no stop of its own
		_ = yield(text("All is well"), nil)
	}}
	if out := must(t, builtin.Parts{Model: endless, Safety: judge(t)}, "llm.generic_chat_v1", &tool.Call{Inputs: inputs("message", "x")}); out["answer"] != "All is well" {
		t.Errorf("%v", out)
	}
}

// Requirements: SAFE-09, RAG-10
func TestCitationsKeepTheirPlaceBehindHeldText(t *testing.T) {
	t.Parallel()
	p := passage("d", notice, 0)
	words := "The notice period is three months."
	cite := quoted(p, words)
	m := says(append(append(letters("It is three months."), cite), letters(" The key is "+leak+" there.")...)...)
	l := &log{}
	out := must(t, builtin.Parts{Model: m, Search: clear(p), Safety: judge(t)}, "rag.answer_with_context_v1", &tool.Call{
		Inputs: inputs("question", "How long?"), Final: true, Attempt: 1, Emit: l.emit,
	})
	want := "It is three months.[1] The key is [removed: API key] there."
	if now, _ := l.tokens(); out["answer"] != want || now != want {
		t.Errorf("%q, shown %q", out["answer"], now)
	}
}

// Requirements: SAFE-09
func TestACleanAnswerKeepsItsWordsAndItsPace(t *testing.T) {
	t.Parallel()
	l := &log{}
	said := strings.SplitAfter("Your IBAN is DE89 3704 0044 0532 0130 00 and your e-mail ann@example.org.", " ")
	var events []model.Event
	for _, w := range said {
		events = append(events, text(w))
	}
	out := must(t, builtin.Parts{Model: says(events...), Safety: judge(t)}, "llm.generic_chat_v1",
		&tool.Call{Inputs: inputs("message", "x"), Final: true, Attempt: 1, Emit: l.emit})
	if out["answer"] != strings.Join(said, "") {
		t.Errorf("%q", out["answer"])
	}
	if n := strings.Count(l.told(stream.Token), "token"); n != len(said) {
		t.Errorf("%d pieces were shown as %d", len(said), n)
	}
}

// What is written in escapes is judged as it will be read.
//
// Requirements: SAFE-09
func TestAStructuredAnswerHidesNothingInEscapes(t *testing.T) {
	t.Parallel()
	hidden := strings.NewReplacer("T", `\u0054`, "s", `\u0073`, "\n", `\n`)
	for name, c := range map[string]struct {
		said  string
		valid bool
		rule  string
	}{
		"a secret":  {`{"a":"It is ` + hidden.Replace(leak) + `."}`, false, "provider_key"},
		"a recipe":  {`{"a":"` + hidden.Replace(recipe) + `"}`, false, "explosive"},
		"in a list": {`{"a":"x","b":[{"c":"` + hidden.Replace(leak) + `"}]}`, false, "provider_key"},
		"plain":     {`{"a":"He said \"\u0074ea\"\n\nand left."}`, true, ""},
	} {
		rule := ""
		out := must(t, builtin.Parts{Model: says(letters(c.said)...), Safety: judge(t)}, "llm.structured_v1", &tool.Call{
			Inputs:   inputs("message", "x", "schema", map[string]any{"type": "object"}, "defaults", map[string]any{"a": "nothing"}),
			Redacted: func(r tool.Redaction) { rule = r.Rule },
		})
		value, _ := out["value"].(map[string]any)
		if out["valid"] != c.valid || rule != c.rule || !c.valid && (len(value) != 1 || value["a"] != "nothing") {
			t.Errorf("%s: %v, %v, %q", name, out["valid"], value, rule)
		}
	}
}
