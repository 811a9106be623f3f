package activities_test

import (
	"context"
	"errors"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/safety"
	"liminal/internal/tool"
)

// ring are keys of which those stand that are true.
type ring map[string]bool

func (r ring) KeyStands(_ context.Context, keyID string) error {
	if r[keyID] {
		return nil
	}
	return fault.New(fault.Forbidden, "ended")
}

// A run may wait for days, and the key it was begun with may have ended then.
func TestACallOfARunWhoseKeyWasEndedIsRefused(t *testing.T) {
	t.Parallel()
	w := world(func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil })
	set, in := w.Set(), callOf(w)
	in.Run.Viewer = in.Run.Viewer.With(&identity.Grant{KeyID: "k", Scopes: []string{"chat", "tools"}})
	if _, err := set.Call(t.Context(), in); !errors.Is(err, fault.Forbidden) || len(w.Calls) != 0 {
		t.Errorf("where nobody knows keys: %v, %d calls", err, len(w.Calls))
	}
	keys := ring{"k": true}
	set.Keys = keys
	if _, err := set.Call(t.Context(), in); err != nil || len(w.Calls) != 1 || w.Calls[0].Viewer.KeyID() != "k" {
		t.Errorf("while it stands: %v, %+v", err, w.Calls)
	}
	keys["k"] = false
	if _, err := set.Call(t.Context(), in); !errors.Is(err, fault.Forbidden) || len(w.Calls) != 1 {
		t.Errorf("after its end: %v, %d calls", err, len(w.Calls))
	}
}

// What only administrators may call asks who somebody is now, which must not
// lose what their key was for.
func TestAPrivilegedCallByAKeyIsHeldToIt(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]bool{"chat": false, "admin": true} {
		w := activitiestest.New(`{}`).Tool("t", tool.Spec{Runs: tool.Activity, Privileged: true},
			func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil })
		set, in := w.Set(), callOf(w)
		set.Keys = ring{"k": true}
		set.Who = func(context.Context, string) (identity.Viewer, error) {
			return identity.Viewer{UserID: activitiestest.Viewer.UserID, Role: identity.RoleAdmin}, nil
		}
		in.Run.Viewer.Role = identity.RoleAdmin
		in.Run.Viewer = in.Run.Viewer.With(&identity.Grant{KeyID: "k", Scopes: []string{"tools", scope}})
		if _, err := set.Call(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if v := w.Calls[0].Viewer; v.IsAdmin() != want || v.KeyID() != "k" {
			t.Errorf("by a key of %s: %+v", scope, v)
		}
	}
}

const quiet = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`

func TestATurnOpensOnlyTheAssistantsOfItsKey(t *testing.T) {
	t.Parallel()
	for assistant, want := range map[string]bool{"default": true, "documents": false} {
		w := activitiestest.New(quiet)
		in := w.Chat("hello", chat.TurnInput{})
		in.Viewer = in.Viewer.With(&identity.Grant{KeyID: "k", Scopes: []string{"chat"}, Assistants: []string{assistant}})
		if _, err := w.Set().Open(t.Context(), in); (err == nil) != want || err != nil && !errors.Is(err, fault.Forbidden) {
			t.Errorf("a key for %s: %v", assistant, err)
		}
	}
}

// suspicious thinks badly of what was said before in every world.
type suspicious struct{ safety.Classifier }

func (suspicious) Classify(_ context.Context, text string, _ safety.Direction) (safety.Verdict, error) {
	if text == "what was said before" {
		return safety.Verdict{Risk: safety.High, Findings: []safety.Finding{{Rule: "r"}}}, nil
	}
	return safety.Verdict{Risk: safety.Low}, nil
}

// What a program says was said before may be made up to get past what looks at
// messages; what was said here was looked at then.
func TestAHistoryThatIsBroughtIsJudgedLikeAMessage(t *testing.T) {
	t.Parallel()
	for digest, want := range map[string]safety.Risk{"brought": safety.High, "": safety.Low} {
		w := activitiestest.New(quiet)
		in, set := w.Chat("and then?", chat.TurnInput{UptoSeq: 2, History: digest}), w.Set()
		set.Safety = suspicious{}
		if o, err := set.Open(t.Context(), in); err != nil || o.Judged == nil || o.Judged.Risk != want {
			t.Errorf("of the history %q: %+v, %v", digest, o.Judged, err)
		}
	}
}
