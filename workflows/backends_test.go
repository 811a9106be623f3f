package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/backends"
	"liminal/internal/backends/backendstest"
	"liminal/internal/chat"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/routing"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool/builtin"
)

// chattering is a world whose chat tool asks the environment's model, or the one
// that its call names.
func chattering(graph string, environment model.Model) *activitiestest.World {
	w := activitiestest.New(graph)
	for _, one := range builtin.Tools(builtin.Parts{Model: environment}) {
		if one.Name() == "llm.generic_chat_v1" {
			w.Tool("say", models, one.Run)
		}
	}
	return w
}

// served adds a backend over a server of the same name.
func served(t *testing.T, r *backends.Registry, name string, choosable bool) *backendstest.Server {
	t.Helper()
	s := backendstest.Serve(t, name)
	if _, err := r.Add(t.Context(), backendstest.Admin, name, backends.Edit{
		Protocol: backendstest.P("vllm"), URL: backendstest.P(s.Base()), Model: backendstest.P("tiny"), Choosable: &choosable,
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Requirements: LORA-22, LORA-26
func TestWhichBackendAnswersATurn(t *testing.T) {
	t.Parallel()
	const named = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say","inputs":{"message":"hi","model":"@lab/huge"}}]}`
	const open = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say","inputs":{"message":"hi","model":"${input.m}"}}]}`
	for name, c := range map[string]struct {
		graph    string
		policies []artifacts.Artifact
		standard string // the default; empty: the environment's
		chosen   string // by the conversation
		turn     chat.TurnInput
		rule     string // the action of the one rule of a routing policy
		rules    string // whose it is; empty: everybody's
		own      bool   // the graph is the person's
		want     string // empty: the environment's, which quotes
		code     string // of the failure, instead
	}{
		"nobody chose":                  {graph: oneNode},
		"the default":                   {graph: oneNode, standard: "lab", want: "lab as tiny"},
		"the conversation's":            {graph: oneNode, standard: "lab", chosen: "office", want: "office as tiny"},
		"the turn's":                    {graph: oneNode, chosen: "office", turn: chat.TurnInput{Backend: backendstest.P("home")}, want: "home as tiny"},
		"given up":                      {graph: oneNode, chosen: "office", turn: chat.TurnInput{Backend: backendstest.P("")}},
		"the environment's, by name":    {graph: oneNode, standard: "environment"},
		"everybody's policy":            {graph: oneNode, policies: []artifacts.Artifact{policy("", 1, `"backend":"lab"`)}, want: "lab as tiny"},
		"the plan's":                    {graph: oneNode, policies: []artifacts.Artifact{policy("", 1, `"backend":"office","plans":{"free":{"backend":"lab"}}`)}, want: "lab as tiny"},
		"a choice before the policy's":  {graph: oneNode, chosen: "office", policies: []artifacts.Artifact{policy("", 1, `"backend":"lab"`)}, want: "office as tiny"},
		"one's own policy":              {graph: oneNode, policies: []artifacts.Artifact{policy("", 1, `"backend":"lab"`), policy(activitiestest.Viewer.UserID, 1, `"backend":"office"`)}, want: "office as tiny"},
		"one's own policy, not to have": {graph: oneNode, policies: []artifacts.Artifact{policy("", 1, `"default":{}`), policy(activitiestest.Viewer.UserID, 1, `"backend":"lab"`)}, code: "forbidden"},
		"the graph's":                   {graph: named, chosen: "office", want: "lab as huge"},
		"one's own graph, not to have":  {graph: named, own: true, code: "forbidden"},
		"by a template":                 {graph: open, turn: chat.TurnInput{Fields: map[string]any{"m": "@office"}}, want: "office as tiny"},
		"by a template, not to have":    {graph: open, turn: chat.TurnInput{Fields: map[string]any{"m": "@lab"}}, code: "forbidden"},
		"a rule's":                      {graph: oneNode, standard: "office", rule: `{"type":"use_backend","backend":"lab"}`, want: "lab as tiny"},
		"a choice before a rule's":      {graph: oneNode, chosen: "office", rule: `{"type":"use_backend","backend":"lab"}`, want: "office as tiny"},
		"a rule that overwrites":        {graph: oneNode, chosen: "office", rule: `{"type":"use_backend","backend":"lab","overwrite":true}`, want: "lab as tiny"},
		"one's own rule, not to have":   {graph: oneNode, rules: activitiestest.Viewer.UserID, rule: `{"type":"use_backend","backend":"lab","overwrite":true}`, code: "forbidden"},
		"unknown":                       {graph: oneNode, chosen: "gone", code: "validation_error"},
		"unknown, and the policy says":  {graph: oneNode, chosen: "gone", standard: "lab", policies: []artifacts.Artifact{policy("", 1, `"missing_backend":"default"`)}, want: "lab as tiny"},
		"not to have, the policy says":  {graph: oneNode, chosen: "lab", policies: []artifacts.Artifact{policy("", 1, `"missing_backend":"default"`)}},
		"one's own policy says nothing": {graph: oneNode, chosen: "gone", policies: []artifacts.Artifact{policy("", 1, `"default":{}`), policy(activitiestest.Viewer.UserID, 1, `"missing_backend":"default"`)}, code: "validation_error"},
		"the policy's is unknown":       {graph: oneNode, policies: []artifacts.Artifact{policy("", 1, `"backend":"gone"`)}, code: "validation_error"},
		"the graph's is unknown":        {graph: strings.Replace(named, "@lab/huge", "@gone", 1), code: "validation_error"},
		"the graph's, the policy says":  {graph: strings.Replace(named, "@lab/huge", "@gone", 1), standard: "lab", policies: []artifacts.Artifact{policy("", 1, `"missing_backend":"default"`)}, want: "lab as tiny"},
		"a role's tier on that backend": {graph: oneNode, chosen: "home", policies: []artifacts.Artifact{policy("", 1, `"default":{"tier":"small"},"backends":{"home":{"small":"homes-small"}}`)}, want: "home as tiny"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
			served(t, r, "lab", false)
			served(t, r, "office", true)
			served(t, r, "home", true)
			if c.standard != "" {
				if err := r.MakeDefault(t.Context(), backendstest.Admin, c.standard); err != nil {
					t.Fatal(err)
				}
			}
			w := chattering(c.graph, extractive.Model{})
			w.Own, w.Thread.Backend = c.own, c.chosen
			for _, a := range c.policies {
				w.Put(a)
			}
			b := setup(t, w)
			b.set.Backends, b.set.ModelInProcess, b.set.Backend = r, true, "extractive"
			if c.rule != "" {
				w.Put(artifacts.Artifact{ID: "rules", OwnerID: c.rules, Type: artifacts.KindPolicy, Name: "default", Version: 1, Schema: json.RawMessage(
					`{"kind":"policy.routing","rules":[{"id":"a","when":"true","action":` + c.rule + `}]}`)})
				b.set.Router = activities.NewRouter(b.set.Artifacts.(activities.Policies), routing.Backend{}, nil)
			}
			b.turn(w.Chat("hello", c.turn))
			closed := b.closed()
			switch {
			case c.code != "":
				if e := w.Event(stream.Error); closed.End.Status != run.Failed || e["code"] != c.code || !strings.Contains(e["message"].(string), "backend") {
					t.Errorf("the turn ended %s with %v", closed.End.Status, e)
				}
			case closed.End.Status != run.Done || c.want != "" && closed.Message.Content != c.want:
				t.Errorf("the turn ended %s with %+v, %s", closed.End.Status, closed.Message, closed.End.Error)
			case c.want == "" && strings.Contains(closed.Message.Content, " as "):
				t.Errorf("a server answered: %s", closed.Message.Content)
			}
			if c.want != "" {
				if done := w.Event(stream.MessageDone); done["model"] != c.want[strings.LastIndex(c.want, " ")+1:] {
					t.Errorf("message_done names the model %v", done["model"])
				}
			}
		})
	}
}

// Where a model is asked is its backend's: over the network by an activity of
// the queue, in this process beside the workflow.
func TestWhereAModelIsAskedIsItsBackends(t *testing.T) {
	t.Parallel()
	r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
	served(t, r, "office", true)
	for chosen, want := range map[string]string{"": "inline", "environment": "inline", "office": "activity"} {
		w := chattering(oneNode, extractive.Model{})
		w.Thread.Backend = chosen
		if chosen == "environment" {
			if _, err := r.Change(t.Context(), backendstest.Admin, "environment", backends.Edit{Choosable: backendstest.P(true)}); err != nil {
				t.Fatal(err)
			}
		}
		set := w.Set()
		set.Backends, set.ModelInProcess = r, true
		o, err := set.Open(t.Context(), w.Chat("hi", chat.TurnInput{}))
		if err != nil || o.Tools["say"].Runs != want {
			t.Errorf("%q: the tool runs %q, want %q, %v", chosen, o.Tools["say"].Runs, want, err)
		}
	}
	alone := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
	w := chattering(oneNode, extractive.Model{})
	set := w.Set()
	set.Backends, set.ModelInProcess = alone, true
	if o, err := set.Open(t.Context(), w.Chat("hi", chat.TurnInput{})); err != nil || o.Backend != "" || len(o.Named) != 0 {
		t.Errorf("without others a run is of the backend %q: %v, %v", o.Backend, o.Named, err)
	}
}

const askThenSay = `{"kind":"workflow.chat","entrypoint":"first","nodes":[
	{"id":"first","type":"tool_call","tool":"say","inputs":{"message":"hi"},"next":"ask"},
	{"id":"ask","type":"interrupt","interrupt_type":"action_choice","message":"Go on?","options":[{"id":"yes","label":"Yes"}],"next":"second"},
	{"id":"second","type":"tool_call","tool":"say","inputs":{"message":"hi"},"next":"end"},
	{"id":"end","type":"end","response":"${vars.first.answer}, ${vars.second.answer}"}]}`

// Requirements: LORA-22, INT-01
func TestWhatChangesWhileARunWaits(t *testing.T) {
	t.Parallel()
	admin := backendstest.Admin
	for name, c := range map[string]struct {
		policy string
		change func(t *testing.T, r *backends.Registry) error
		want   string // empty: it fails
	}{
		"nothing": {want: "office as tiny, office as tiny", change: func(*testing.T, *backends.Registry) error { return nil }},
		"another model": {want: "office as tiny, office as huge", change: func(t *testing.T, r *backends.Registry) error {
			_, err := r.Change(t.Context(), admin, "office", backends.Edit{Model: backendstest.P("huge")})
			return err
		}},
		"another default": {want: "office as tiny, office as tiny", change: func(t *testing.T, r *backends.Registry) error {
			return r.MakeDefault(t.Context(), admin, "lab")
		}},
		"people may not choose it any more": {want: "office as tiny, office as tiny", change: func(t *testing.T, r *backends.Registry) error {
			_, err := r.Change(t.Context(), admin, "office", backends.Edit{Choosable: backendstest.P(false)})
			return err
		}},
		"it is removed": {change: func(t *testing.T, r *backends.Registry) error { return r.Remove(t.Context(), admin, "office") }},
		"it is removed, and the policy says": {policy: `"missing_backend":"default"`, want: "office as tiny, lab as tiny", change: func(t *testing.T, r *backends.Registry) error {
			if err := r.MakeDefault(t.Context(), admin, "lab"); err != nil {
				return err
			}
			return r.Remove(t.Context(), admin, "office")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
			served(t, r, "lab", false)
			served(t, r, "office", true)
			w := chattering(askThenSay, extractive.Model{})
			w.Thread.Backend = "office"
			if c.policy != "" {
				w.Put(policy("", 1, c.policy))
			}
			b := setup(t, w)
			b.set.Backends, b.set.ModelInProcess = r, true
			b.env.RegisterDelayedCallback(func() {
				if err := c.change(t, r); err != nil {
					t.Error(err)
				}
				b.answer(0, "yes")
			}, time.Hour)
			b.turn(w.Chat("hello", chat.TurnInput{}))
			if c.want != "" {
				b.answered(c.want)
				return
			}
			if e := w.Event(stream.Error); b.closed().End.Status != run.Failed || e["code"] != "validation_error" || !strings.Contains(e["message"].(string), `"office"`) {
				t.Errorf("the turn ended %s with %v", b.closed().End.Status, e)
			}
		})
	}
}

var _ activities.Backends = (*backends.Registry)(nil)
