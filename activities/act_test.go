package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// acts are those of one run.
type acts struct {
	mu   sync.Mutex
	rows map[string]run.Act
	now  func() time.Time
}

func (a *acts) BeginAct(_ context.Context, _ identity.Viewer, act run.Act) (*run.Act, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, there := a.rows[act.EffectID]; there {
		return &known, nil
	}
	act.BegunAt = a.now()
	a.rows[act.EffectID] = act
	return nil, nil
}

func (a *acts) Act(_ context.Context, _ identity.Viewer, act run.Act) (run.Act, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rows[act.EffectID], nil
}

func (a *acts) EndAct(_ context.Context, _ identity.Viewer, act run.Act) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.rows[act.EffectID]
	known.EndedAt, known.Outcome = a.now(), act.Outcome
	a.rows[act.EffectID] = known
	return nil
}

// What came of an act is given again and not done again; of one that was broken off
// nobody knows; one whose tool was taken back is not begun.
//
// Requirements: TOOL-16
func TestAnActIsDoneOnceAndItsOutcomeGivenAgain(t *testing.T) {
	t.Parallel()
	no := false
	type outcome struct {
		out map[string]any
		err error
	}
	for name, tc := range map[string]struct {
		does   outcome
		reason string
		code   fault.Code
	}{
		"done":       {does: outcome{out: map[string]any{"text": "Posted: 1"}}},
		"refused":    {does: outcome{err: fault.New(fault.Invalid, "No.").With(map[string]any{"reason": "refused"})}, reason: "refused", code: fault.Invalid},
		"uncertain":  {does: outcome{err: fault.New(fault.Internal, "?").With(map[string]any{"reason": fault.Uncertain})}, reason: fault.Uncertain, code: fault.Internal},
		"broken off": {does: outcome{err: errors.New("EOF")}, reason: fault.Uncertain, code: fault.Internal},
		"too late":   {does: outcome{err: context.DeadlineExceeded}, reason: fault.Uncertain, code: fault.Internal},
	} {
		w := activitiestest.New(`{}`).Tool("t", tool.Spec{Idempotent: &no}, func(context.Context, *tool.Call) (map[string]any, error) { return tc.does.out, tc.does.err })
		set, in := w.Set(), callOf(w)
		now := time.Now()
		set.Now = func() time.Time { return now }
		set.Acts = &acts{rows: map[string]run.Act{}, now: set.Now}
		for again := range 2 {
			got, err := set.Call(t.Context(), in)
			raw, _ := json.Marshal(got.Output)
			want, _ := json.Marshal(tc.does.out)
			if tc.code == "" && (err != nil || string(raw) != string(want)) || tc.code != "" && (!errors.Is(err, tc.code) || fault.Reason(err) != tc.reason) {
				t.Errorf("%s, attempt %d: %s, %v", name, again+1, raw, err)
			}
			now = now.Add(time.Hour) // nobody waits for who began it
		}
		if len(w.Calls) != 1 {
			t.Errorf("%s: it was done %d times", name, len(w.Calls))
		}
	}
	w := activitiestest.New(`{}`).Tool("t", tool.Spec{Idempotent: &no}, func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil })
	set, in := w.Set(), callOf(w)
	set.Acts = &acts{rows: map[string]run.Act{}, now: time.Now}
	in.Tool.ArtifactID, w.Hidden = "x", map[string]bool{"t": true}
	if _, err := set.Call(t.Context(), in); !errors.Is(err, fault.Forbidden) || len(w.Calls) != 0 {
		t.Errorf("a tool that was taken back: %v, %d calls", err, len(w.Calls))
	}
}
