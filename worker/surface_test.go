package worker

import (
	"context"
	"errors"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// A run of a surface's workflow by itself is counted before it begins, and once
// however often the same request is made; what the system begins is nobody's turn.
//
// Requirements: GRND-27 (the person's cap), SAFE-07 (hard block with retry-after)
func TestARunOfASurfacesWorkflowIsATurnOfItsHour(t *testing.T) {
	t.Parallel()
	b := setup(t)
	left, spent := 1, []string{}
	b.engine = NewEngine(Options{
		Client: b.front, Activities: b.set,
		Surfaces: func(context.Context) ([]chat.Surfaced, error) {
			return []chat.Surfaced{{Path: "desk", Name: "desk", Hourly: 1}}, nil
		},
		Spend: func(_ context.Context, v identity.Viewer, workflow string, of []chat.Surfaced) (*chat.TurnSurface, error) {
			if v.UserID != viewer.UserID || len(of) != 1 {
				t.Errorf("%s spends at %v", v.UserID, of)
			}
			if left--; left < 0 {
				return nil, fault.New(fault.RateLimited, "You have had your messages of this hour here.")
			}
			spent = append(spent, workflow)
			return &chat.TurnSurface{Path: "desk", Audit: chat.AuditRedacted, Bounds: model.TurnBounds{OutputTokens: 9 + left}}, nil // settings change between
		},
	})
	begin := func(request string) error {
		_, err := b.engine.RunWorkflow(t.Context(), viewer, "desk", map[string]any{"message": "m"}, nil, request)
		return err
	}
	for range 2 {
		if err := begin("request-1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := begin("request-2"); !errors.Is(err, fault.RateLimited) || len(b.front.started) != 1 {
		t.Errorf("beyond the cap: %v, %d begun", err, len(b.front.started))
	}
	if len(spent) != 1 || spent[0] != "desk" {
		t.Errorf("spent %v", spent)
	}
}
