package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// ending is a key that stands until it is ended.
type ending struct{ over atomic.Bool }

func (e *ending) KeyStands(context.Context, string) error {
	if e.over.Load() {
		return fault.New(fault.Forbidden, "The access key this run was begun with was ended.").With(map[string]any{"reason": "key_revoked"})
	}
	return nil
}

// A run waits for days, and its key is ended meanwhile: whoever answers its
// question, signed in, has it do nothing more, and the call that was approved is
// not made.
//
// Requirements: SAFE-08, TOOL-16
func TestARunWhoseKeyIsEndedWhileItWaitsDoesNothingMore(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprint("ended ", ended), func(t *testing.T) {
			t.Parallel()
			published, key := 0, &ending{}
			w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"look","nodes":[
				{"id":"look","type":"tool_call","tool":"look","next":"a"},
				{"id":"a","type":"interrupt","interrupt_type":"action_choice","message":"Publish?","options":[{"id":"yes","label":"Yes"}],"save_as":"go","next":"p"},
				{"id":"p","type":"tool_call","tool":"publish","next":"end"},{"id":"end","type":"end","response":"published"}]}`).
				Tool("look", tool.Spec{Runs: tool.Activity, ReadOnly: true}, say("seen")).
				Tool("publish", tool.Spec{Runs: tool.Activity}, func(context.Context, *tool.Call) (map[string]any, error) {
					published++
					return map[string]any{}, nil
				})
			b := setup(t, w)
			b.set.Keys = key
			in := w.Chat("publish it", chat.TurnInput{})
			in.Viewer = in.Viewer.With(&identity.Grant{KeyID: "k", Scopes: []string{"chat", "tools"}})
			b.env.RegisterDelayedCallback(func() {
				key.over.Store(ended)
				b.answer(0, "yes")
			}, 48*time.Hour)
			b.turn(in)
			status := map[bool]run.Status{false: run.Done, true: run.Failed}[ended]
			if end := b.closed().End; end.Status != status || (published == 0) != ended {
				t.Errorf("the run is %s, published %d times", end.Status, published)
			}
			if said := fmt.Sprint(w.Event(stream.Error)["message"]); ended && !strings.Contains(said, "access key") {
				t.Errorf("the person is told %q", said)
			}
		})
	}
}
