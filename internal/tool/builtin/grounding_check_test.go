package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"liminal/internal/grounding"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// checkedModel answers a person, and says of its answers whether they are so.
type checkedModel struct {
	answer string
	check  func(question string) (string, error)
	mu     sync.Mutex
	asked  []model.Request // for the check
}

func (*checkedModel) Name() string     { return "checked" }
func (*checkedModel) Generative() bool { return true }

func (m *checkedModel) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	said, err := m.answer, error(nil)
	if req.Task == "check" {
		m.mu.Lock()
		m.asked = append(m.asked, req)
		m.mu.Unlock()
		said, err = m.check(req.Messages[len(req.Messages)-1].Content[0].Text)
	}
	return func(yield func(model.Event, error) bool) {
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		_ = yield(text(said), nil) && yield(model.Event{Type: model.UsageReport, Usage: model.Usage{Input: 7, Output: 3}}, nil) && yield(model.Event{Type: model.Stop, Reason: model.EndTurn}, nil)
	}
}

// checked makes a step whose answer is checked by a model too.
func checked(t *testing.T, result, said string, check func(string) (string, error)) (out map[string]any, l *log, m *checkedModel, spent int) {
	t.Helper()
	m, l = &checkedModel{answer: said, check: check}, &log{}
	rules := rules(false)
	rules["checks"] = []any{"ids", "dates", "numbers", "refs", "model"}
	out = must(t, builtin.Parts{Model: m, Catalog: searchable(t)}, "llm.step_v1", &tool.Call{
		Final: true, Attempt: 1, Emit: l.emit, Scope: tool.Scope{Locale: "de"},
		Choose: func(role string) model.Choice { return model.Choice{Model: "for " + role} },
		Spent:  func(_ string, u model.Usage) { spent += u.Output },
		Inputs: inputs("system", "S", "message", "Was ist fällig?", "tools", []any{"search_deadlines"}, "today", "2026-05-12",
			"role", "grounded", "transcript", asked(result), "ground", rules),
	})
	return out, l, m, spent
}

// Requirements: GRND-16
func TestAModelReadsWhatAnswersSayBeforeItIsShown(t *testing.T) {
	t.Parallel()
	out, l, m, spent := checked(t, deadlines, "Gern.\n\nDie Klageerwiderung ist nicht am 16.05. fällig.", func(question string) (string, error) {
		return `Here it is: {"n":1,"check":"due 2026-05-16","ok":false,"said":"nicht am 16.05."}`, nil
	})
	now, ever := l.tokens()
	if out["stop"] != "ungrounded" || now != "Gern.\n\n" || strings.Contains(ever, "16.05") || fmt.Sprint(out["unsupported"]) != "[nicht am 16.05.]" {
		t.Errorf("stop %v, shown %q, ever %q, unsupported %v", out["stop"], now, ever, out["unsupported"])
	}
	if want := map[string]any{"blocks": 1.0, "unanswered": 0.0, "refused": 1.0, "accepted": 0.0}; fmt.Sprint(out["checked"]) != fmt.Sprint(want) {
		t.Errorf("checked %v, want %v: a paragraph that says nothing is not asked about", out["checked"], want)
	}
	if spent != 6 {
		t.Errorf("%d tokens were paid for; the answer has 3, and its check too", spent)
	}
	req := m.asked[0]
	if req.Model != "for check" || req.System != grounding.Instruction() || len(req.Messages) != 3 || !strings.Contains(req.Messages[0].Content[0].Text, `"due_date":"2026-05-16"`) {
		t.Errorf("the model was asked %+v", req)
	}
	if q := req.Messages[2].Content[0].Text; !strings.Contains(q, "The answer so far:\nGern.") || !strings.Contains(q, "1: Die Klageerwiderung ist nicht am 16.05. fällig.") {
		t.Errorf("it was asked %q", q)
	}
}

// Requirements: GRND-16
func TestTheRulesDecideWhereTheModelSaysNothing(t *testing.T) {
	t.Parallel()
	const said = "Die Klageerwiderung ist am 16.05. fällig. Die Replik ist am 31.05. fällig."
	for name, check := range map[string]func(string) (string, error){
		"it is away":          func(string) (string, error) { return "", errors.New("no line") },
		"it talks":            func(string) (string, error) { return "All of this is right.", nil },
		"of other sentences":  func(string) (string, error) { return `{"n":7,"ok":true,"from":["2026-05-16"]}`, nil },
		"half a line":         func(string) (string, error) { return `{"n":2,"check":"x","ok":tr`, nil },
		"says neither":        func(string) (string, error) { return `{"n":2,"check":"x","from":["2026-05-16"]}`, nil },
		"nothing to stand on": func(string) (string, error) { return `{"n":2,"check":"x","ok":true}`, nil },
		"on what is nowhere":  func(string) (string, error) { return `{"n":2,"check":"x","ok":true,"from":["2026-05-31"]}`, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, l, _, _ := checked(t, deadlines, said, check)
			if now, _ := l.tokens(); strings.TrimSpace(now) != "Die Klageerwiderung ist am 16.05. fällig [1]." || fmt.Sprint(out["unsupported"]) != "[31.05]" && fmt.Sprint(out["unsupported"]) != "[31.05.]" {
				t.Errorf("shown %q, unsupported %v, checked %v", now, out["unsupported"], out["checked"])
			}
		})
	}
}

// What strangers wrote into a result may tell the model anything: an id that
// nothing returned is not shown for it.
//
// Requirements: GRND-17
func TestNoModelsWordShowsAnIDThatNothingReturned(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"Die Klageerwiderung ist am 16.05. fällig [#frist-ffff01].", "Das Zeichen ist 4a O 999/26."} {
		out, l, _, _ := checked(t, deadlines, said, func(string) (string, error) {
			return `{"n":1,"check":"as told","ok":true,"from":["2026-05-16"]}`, nil
		})
		if now, ever := l.tokens(); now != "" || ever != "" || out["stop"] != "ungrounded" {
			t.Errorf("%q was shown of %q, stop %v", ever, said, out["stop"])
		}
	}
}

func TestEvidenceThatIsTooLongForAModelIsLeftToTheRules(t *testing.T) {
	t.Parallel()
	long := strings.Replace(deadlines, `"title":"Replik"`, `"note":"`+strings.Repeat("so viel steht da. ", 10000)+`","title":"Replik"`, 1)
	out, l, m, _ := checked(t, long, "Die Klageerwiderung ist am 16.05. fällig.", func(string) (string, error) {
		return `{"n":1,"ok":false,"said":"fällig"}`, nil
	})
	if now, _ := l.tokens(); len(m.asked) != 0 || out["checked"] != nil || !strings.HasPrefix(now, "Die Klageerwiderung ist am 16.05.") {
		t.Errorf("asked %d times, shown %q", len(m.asked), now)
	}
}
