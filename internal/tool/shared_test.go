package tool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/store/storetest"
	"liminal/internal/tool"
)

// Requirements: TOOL-15
func TestLocalBreakers(t *testing.T) {
	t.Parallel()
	storetest.Breakers(t, func(testing.TB) (one, other tool.Breakers) {
		f := tool.NewLocalBreakers(nil)
		return f, f
	})
}

func TestSlots(t *testing.T) {
	t.Parallel()
	storetest.Decodes(t, func(_ testing.TB, each int) (one, other tool.Decodes) {
		s := tool.NewSlots(each)
		return s, s
	})
}

// A probe whose caller never comes back must not keep a tool at rest.
//
// Requirements: TOOL-15
func TestALostProbeIsGivenUp(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := tool.NewLocalBreakers(func() time.Time { return now })
	enter := func() func(tool.Verdict) { leave, _, _ := f.Enter(t.Context(), "t"); return leave }
	early := enter()
	for range tool.BreakerTrips {
		enter()(tool.Broken)
	}
	now = now.Add(tool.CoolDown)
	lost := enter()
	early(tool.Healthy) // began before the rest: it proves nothing
	if lost == nil || enter() != nil {
		t.Fatal("not exactly one probe")
	}
	now = now.Add(tool.CoolDown)
	if enter() == nil {
		t.Error("the lost probe still holds the breaker")
	}
}

// mute are breakers that cannot be asked.
type mute struct{}

func (mute) Enter(context.Context, string) (func(tool.Verdict), time.Duration, error) {
	return nil, 0, errors.New("away")
}

func TestAToolIsCalledWhenNobodyKnowsWhetherItRests(t *testing.T) {
	t.Parallel()
	b, err := tool.NewBox([]tool.Tool{fake{"t", echo}}, tool.Options{Breakers: mute{}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"})); err != nil || out["out"] != "x" {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestEachCallIsObservedOnce(t *testing.T) {
	t.Parallel()
	var seen []tool.Observed
	b, err := tool.NewBox([]tool.Tool{fake{"t", echo}}, tool.Options{
		Observe: func(_ context.Context, o tool.Observed) { seen = append(seen, o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, inputs := range []map[string]any{{"text": "x"}, {"text": 1}} {
		_, _ = b.Call(t.Context(), spec("t"), call(inputs))
	}
	_, _ = b.Call(t.Context(), spec("made up"), call(nil))
	if len(seen) != 2 || seen[0].Tool != "t" || seen[0].Err != nil || !errors.Is(seen[1].Err, fault.Invalid) || seen[0].Took < 0 {
		t.Errorf("observed %+v", seen)
	}
}
