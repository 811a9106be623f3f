package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// keys are the grants there are, by the ids of their keys.
type keys map[string]*identity.Grant

func (k keys) granted(_ context.Context, v identity.Viewer, keyID string) (identity.Viewer, error) {
	if keyID == "" {
		return v.With(nil), nil
	}
	g, ok := k[keyID]
	if !ok {
		return identity.Viewer{}, fault.New(fault.NotFound, "There is no such key.")
	}
	return v.With(g), nil
}

func withKeys(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	b.engine = NewEngine(Options{Client: b.front, Activities: b.set, Granted: keys{
		"k": {KeyID: "k", Scopes: []string{"chat"}}, "all": {KeyID: "all", Scopes: []string{"chat", "tools"}}, "some": {KeyID: "some", Scopes: []string{"chat", "tools"}, Tools: []string{"files.*"}},
	}.granted})
	return b
}

// A turn that waited is started by the one before it, whoever's that was, or by
// the reconciler: its own key is what it is held to.
func TestARunIsHeldToItsOwnKeyWhoeverStartsIt(t *testing.T) {
	t.Parallel()
	by := func(key string) identity.Viewer {
		if key == "" {
			return viewer
		}
		return viewer.With(&identity.Grant{KeyID: key, Scopes: []string{"chat"}})
	}
	for name, c := range map[string]struct{ of, starter string }{
		"a key's, by a session": {"k", ""}, "a session's, by a key": {"", "k"}, "another key's": {"all", "k"}, "its own": {"k", "k"}, "a session's, by one": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withKeys(t)
			r := b.turn(run.Running)
			delete(b.front.status, r.WorkflowID)
			r.KeyID = c.of
			if err := b.engine.StartNext(t.Context(), by(c.starter), *r); err != nil {
				t.Fatal(err)
			}
			if got := b.front.inputs[r.WorkflowID].Viewer; got.KeyID() != c.of || got.UserID != viewer.UserID {
				t.Errorf("it runs on behalf of %+v", got)
			}
		})
	}
	t.Run("by the reconciler", func(t *testing.T) {
		t.Parallel()
		b := withKeys(t)
		r := b.turn(run.Running)
		delete(b.front.status, r.WorkflowID)
		r.KeyID = "k"
		b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
		if got := b.front.inputs[r.WorkflowID].Viewer; got.KeyID() != "k" || got.Grant.Has("tools") {
			t.Errorf("it runs on behalf of %+v", got)
		}
	})
	t.Run("whose key is gone", func(t *testing.T) {
		t.Parallel()
		b := withKeys(t)
		r := b.turn(run.Running)
		delete(b.front.status, r.WorkflowID)
		r.KeyID = "gone"
		b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
		if _, started := b.front.started[r.WorkflowID]; started || r.Status != run.Failed {
			t.Errorf("started: %v, the run is %s", started, r.Status)
		}
	})
	t.Run("a tool's, begun by a key", func(t *testing.T) {
		t.Parallel()
		b := withKeys(t)
		r, err := b.engine.RunTool(t.Context(), by("k"), "t", nil, "request")
		if err != nil {
			t.Fatal(err)
		}
		if got := b.front.inputs[r.WorkflowID].Viewer; got.KeyID() != "k" {
			t.Errorf("it runs on behalf of %+v", got)
		}
	})
}

// The question of a run may be whether it may do what the key may not.
func TestAKeyAnswersTheQuestionsOfItsOwnRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   string
		by   identity.Grant
		want bool
	}{
		"its own":                     {"k", identity.Grant{KeyID: "k", Scopes: []string{"chat"}}, true},
		"of a session":                {"", identity.Grant{KeyID: "k", Scopes: []string{"chat"}}, false},
		"of another key":              {"all", identity.Grant{KeyID: "k", Scopes: []string{"chat"}}, false},
		"of a session, for tools":     {"", identity.Grant{KeyID: "all", Scopes: []string{"chat", "tools"}}, true},
		"of a session, for some only": {"", identity.Grant{KeyID: "some", Scopes: []string{"chat", "tools"}, Tools: []string{"files.*"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withKeys(t)
			r := b.turn(run.Waiting)
			r.KeyID = c.of
			q := b.ask(t, r, run.Interrupt{Type: "text_input"})
			_, err := b.engine.Answer(t.Context(), viewer.With(&c.by), q.ID, run.Answer{Value: "yes"})
			if (err == nil) != c.want || err != nil && !errors.Is(err, fault.Forbidden) {
				t.Errorf("the answer: %v", err)
			}
		})
	}
}
