package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"liminal/internal/adaptation"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// pupil is learning from one event; it tells what it was asked to store.
type pupil struct {
	stored func(what string, args ...any)
	wait   bool
}

func (p pupil) store(what string, args ...any) {
	if p.stored != nil {
		p.stored(what, args...)
	}
}

var noted = learning.Case{
	Event:    learning.Event{ID: 7, Signal: "dislike", Score: -1, Meta: map[string]any{"notes": "too long"}},
	Question: "How do I mend a bicycle tyre? Write to me@example.org", Answer: "It is a long story.",
}

func (pupil) Due(context.Context, identity.Viewer) (adaptation.Due, error) {
	return adaptation.Due{Go: true, Events: 1, Upto: 7}, nil
}

func (p pupil) Learnt(_ context.Context, _ identity.Viewer, upto int64) error {
	p.store("learnt", upto)
	return nil
}

func (pupil) Unsituated(context.Context, identity.Viewer) ([]learning.Case, error) {
	return []learning.Case{noted}, nil
}

func (p pupil) Situate(_ context.Context, _ identity.Viewer, of map[int64]string) error {
	p.store("situations", of)
	return nil
}

func (pupil) Update(context.Context, identity.Viewer) (adaptation.Updated, error) {
	return adaptation.Updated{Clusters: 1, Unnamed: []string{"c"}}, nil
}

func (pupil) Named(_ context.Context, _ identity.Viewer, id string) (adaptation.Unnamed, error) {
	return adaptation.Unnamed{Cluster: learning.Cluster{ID: id}, Cases: []learning.Case{noted}}, nil
}

func (p pupil) Label(_ context.Context, _ identity.Viewer, id, label, description, by string) error {
	p.store("label", id, label, description, by)
	return nil
}

func (pupil) Material(context.Context, identity.Viewer, string) (adaptation.Material, error) {
	return adaptation.Material{Cases: []learning.Case{noted}}, nil
}

func (p pupil) Derive(_ context.Context, _ identity.Viewer, _ adaptation.Material, made []lesson.Made) (adaptation.Derived, error) {
	p.store("made", made)
	return adaptation.Derived{Lessons: []string{"l"}, Held: []int64{7}, Changed: true}, nil
}

func (pupil) Check(_ context.Context, _ identity.Viewer, _ string, ids []string) (adaptation.Checked, error) {
	return adaptation.Checked{Lessons: ids}, nil
}

func (pupil) HeldOut(context.Context, identity.Viewer, int64) (learning.Case, error) {
	return noted, nil
}

func (pupil) Tell(context.Context, identity.Viewer, []string, []int64, string) (adaptation.Manner, error) {
	return adaptation.Manner{Instructions: "Answer in one sentence."}, nil
}

func (pupil) Judge(_ context.Context, _ identity.Viewer, scores []lesson.Scored, _ uint64) (adaptation.Gated, error) {
	return adaptation.Gated{Held: len(scores)}, nil
}

func (p pupil) Reject(_ context.Context, _ identity.Viewer, _ string, ids []string) (int, error) {
	p.store("rejected", ids)
	return len(ids), nil
}

func (p pupil) Propose(_ context.Context, _ identity.Viewer, runID, clusterID string, ids []string, g adaptation.Gated) (adaptation.Proposed, error) {
	p.store("proposed", runID, clusterID, ids, g.Outcome)
	return adaptation.Proposed{Patch: 3, Status: "approved", Wait: p.wait}, nil
}

func (p pupil) ProposeWeights(_ context.Context, _ identity.Viewer, runID string, t adaptation.Trained) (adaptation.Proposed, error) {
	p.store("weights", runID, t.AdapterID, t.Version, t.Outcome)
	return adaptation.Proposed{Patch: 4, Status: "applied", Wait: p.wait}, nil
}

func (pupil) Skills(context.Context, identity.Viewer) ([]string, int, error) {
	return []string{""}, 0, nil
}

func (pupil) Prune(context.Context, identity.Viewer) (int, error) { return 0, nil }

func (pupil) Compared(_ context.Context, _ identity.Viewer, c learning.Comparison, which, _ string) (with []model.Adapter, lessons []string, err error) {
	if which == c.With() {
		with, lessons = []model.Adapter{{ID: c.AdapterID, Mode: model.ModePrompt, Weight: 1, Instructions: "Answer in one sentence."}}, []string{"l"}
	}
	return with, lessons, nil
}

func (p pupil) KeepCompared(_ context.Context, _ identity.Viewer, c learning.Comparison, a learning.Compared) error {
	p.store("compared", c.Question, a.Which, a.Text, a.Lessons)
	return nil
}

func (p pupil) Chosen(_ context.Context, _ identity.Viewer, _ learning.Comparison, which string) error {
	p.store("chosen", which)
	return nil
}

// answering is a model that answers by what it is asked, and keeps the
// requests.
type answering struct {
	asked  *[]model.Request
	answer func(model.Request) string
}

func (answering) Name() string     { return "answering-1" }
func (answering) Generative() bool { return true }

func (a answering) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	*a.asked = append(*a.asked, req)
	return func(yield func(model.Event, error) bool) {
		if yield(model.Event{Type: model.TextDelta, Text: a.answer(req)}, nil) {
			yield(model.Event{Type: model.Stop, Reason: model.EndTurn}, nil)
		}
	}
}

func lastWords(req model.Request) string {
	return req.Messages[len(req.Messages)-1].Content[0].Text
}

// Requirements: CLUS-03
func TestASituationIsNamedByTheSentenceOfTheSpecification(t *testing.T) {
	t.Parallel()
	var asked []model.Request
	var stored []string
	m := answering{&asked, func(model.Request) string { return `{"label":"mending","description":"Mends things."}` }}
	p := builtin.Parts{Model: m, Learning: pupil{stored: func(what string, args ...any) { stored = append(stored, fmt.Sprint(what, args)) }}}
	out := must(t, p, "cluster.label_v1", &tool.Call{Viewer: identity.Viewer{UserID: "ann"}, Inputs: inputs("cluster_id", "c")})
	want := "here are 1 examples of tasks this user asked about. please give a short label and a one-sentence description."
	if len(asked) != 1 || !strings.HasSuffix(lastWords(asked[0]), want) || !strings.Contains(lastWords(asked[0]), "bicycle tyre") {
		t.Errorf("asked %+v", asked)
	}
	if out["by"] != "model" || len(stored) != 1 || stored[0] != "label[c mending Mends things. model]" {
		t.Errorf("%v, stored %v", out, stored)
	}
	must(t, p, "cluster.label_v1", &tool.Call{Viewer: identity.Steward(), Inputs: inputs("cluster_id", "c")})
	if said := lastWords(asked[1]); strings.Contains(said, "me@example.org") || !strings.Contains(said, "[email]") {
		t.Errorf("of a situation of everybody the model is told %q", said)
	}
}

// Requirements: CLUS-03
func TestWithoutALanguageModelASituationIsNamedByItsWords(t *testing.T) {
	t.Parallel()
	var stored []string
	p := everything(t)
	p.Learning = pupil{stored: func(what string, args ...any) { stored = append(stored, what) }}
	if out := must(t, p, "cluster.label_v1", &tool.Call{Inputs: inputs("cluster_id", "c")}); out["by"] != "rule" || len(stored) != 1 {
		t.Errorf("%v, stored %v", out, stored)
	}
}

func TestLessonsAreTriedOnAnEventInNumbersAlone(t *testing.T) {
	t.Parallel()
	var asked []model.Request
	m := answering{&asked, func(req model.Request) string {
		switch {
		case len(req.Schema) > 0:
			return `{"better":"second"}`
		case len(req.Adapters) > 0:
			return "Glue a patch on the hole."
		}
		return "That is a long story about rubber."
	}}
	p := builtin.Parts{Model: m, Learning: pupil{}}
	out := must(t, p, "text.answers_v1", &tool.Call{Inputs: inputs("event_id", 7.0, "lessons", []any{"l"})})
	if len(asked) != 4 || len(asked[0].Adapters) != 0 || len(asked[1].Adapters) != 1 || asked[1].Adapters[0].Instructions != "Answer in one sentence." {
		t.Fatalf("asked %+v", asked)
	}
	raw, err := json.Marshal(out["score"])
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"tyre", "story", "patch", "too long"} {
		if strings.Contains(string(raw), word) {
			t.Errorf("the score has words in it: %s", raw)
		}
	}
	var s lesson.Scored
	undecided := lesson.Score(lesson.Compared{Case: noted, Without: "That is a long story about rubber.", With: "Glue a patch on the hole.", Judged: true})
	if err := json.Unmarshal(raw, &s); err != nil || s != undecided {
		t.Errorf("a model that likes what stands second has said %s, want %+v", raw, undecided)
	}
}

func TestWhatAModelMakesOfNotesIsReadWithItsEvents(t *testing.T) {
	t.Parallel()
	var asked []model.Request
	var made []lesson.Made
	m := answering{&asked, func(model.Request) string { return `{"lessons":[{"text":"Answer in one sentence.","events":[7]}]}` }}
	p := builtin.Parts{Model: m, Learning: pupil{stored: func(what string, args ...any) {
		if what == "made" {
			made, _ = args[0].([]lesson.Made)
		}
	}}}
	out := must(t, p, "lesson.derive_v1", &tool.Call{Inputs: inputs("cluster_id", "")})
	if len(made) != 1 || made[0].Text != "Answer in one sentence." || len(made[0].Events) != 1 || made[0].Events[0] != 7 {
		t.Errorf("made %+v", made)
	}
	if raw, err := json.Marshal(out); err != nil || strings.Contains(string(raw), "sentence") {
		t.Errorf("words are handed on: %s", raw)
	}
	if !strings.Contains(lastWords(asked[0]), "too long") || len(asked[0].Schema) == 0 {
		t.Errorf("asked %+v", asked[0])
	}
}

func TestWithoutItsModelLessonsAreDerivedByRules(t *testing.T) {
	t.Parallel()
	p := builtin.Parts{Model: away{}, Learning: pupil{}}
	if _, err := run(t, p, "lesson.derive_v1", &tool.Call{Attempt: 1, Inputs: inputs("cluster_id", "")}); err == nil {
		t.Error("it is not tried again")
	}
	if out := must(t, p, "lesson.derive_v1", &tool.Call{Attempt: 2, Inputs: inputs("cluster_id", "")}); out["changed"] != true {
		t.Errorf("the second time: %v", out)
	}
}

// away is a model whose server is.
type away struct{}

func (away) Name() string     { return "away" }
func (away) Generative() bool { return true }

func (away) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		yield(model.Event{}, fault.New(fault.Internal, "The server is away."))
	}
}

func TestAProposalIsLookedAfterUntilItsRuleHasApplied(t *testing.T) {
	t.Parallel()
	call := &tool.Call{RunID: "r", Inputs: inputs("cluster_id", "c", "lessons", []any{"l"}, "found", map[string]any{"outcome": "rule"})}
	var said string
	p := pupil{wait: true, stored: func(what string, args ...any) { said = fmt.Sprint(what, args) }}
	out := must(t, builtin.Parts{Learning: p}, "adapter.propose_v1", call)
	if !tool.Later(out) || said != "proposed[r c [l] rule]" {
		t.Errorf("%v, %s", out, said)
	}
	p.wait = false
	if out := must(t, builtin.Parts{Learning: p}, "adapter.propose_v1", call); out["patch"] != 3.0 || out["status"] != "approved" {
		t.Errorf("%v", out)
	}
}

func TestAQuestionIsAnsweredWithAnAdapterAndWithout(t *testing.T) {
	t.Parallel()
	var asked []model.Request
	var stored []string
	m := answering{&asked, func(req model.Request) string { return fmt.Sprint(len(req.Adapters), " adapters") }}
	p := builtin.Parts{Model: m, Learning: pupil{stored: func(what string, args ...any) { stored = append(stored, fmt.Sprint(what, args)) }}}
	pair := learning.Comparison{RunID: "r", AdapterID: "a"}
	for _, which := range []string{learning.First, learning.Second} {
		c := &tool.Call{RunID: "r", Viewer: identity.Viewer{UserID: "ann"}, Inputs: inputs("adapter_id", "a", "question", "Why?", "which", which), Adapters: []model.Adapter{{ID: "other"}}}
		out := must(t, p, "adapter.compare_v1", c)
		if out["message_id"] != pair.AnswerID(which) || out["model"] != "answering-1" || len(out) != 3 {
			t.Errorf("the %s gives %v", which, out)
		}
		want := map[bool]string{true: "[Why? " + which + " 1 adapters [l]]", false: "[Why? " + which + " 0 adapters []]"}[which == pair.With()]
		if got := stored[len(stored)-1]; got != "compared"+want {
			t.Errorf("stored %s", got)
		}
	}
	out := must(t, p, "adapter.choose_v1", &tool.Call{RunID: "r", Inputs: inputs("adapter_id", "a", "which", pair.With())})
	if out["with"] != true || stored[len(stored)-1] != "chosen["+pair.With()+"]" {
		t.Errorf("chosen: %v, %v", out, stored)
	}
}
