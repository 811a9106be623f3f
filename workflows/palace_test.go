package workflows_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// keeper is a world with the graph that ships, and so many rounds of blocks that are
// past their time.
func keeper(t *testing.T, rounds int) (w *activitiestest.World, retired *[]string) {
	t.Helper()
	graph, err := os.ReadFile("../artifacts/defaults/workflow.chat/palace_retain.json")
	if err != nil {
		t.Fatal(err)
	}
	retired = &[]string{}
	w = activitiestest.New(oneNode).
		Tool("palace.due_v1", ownJobs, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			after, _ := c.Inputs["after"].(string)
			n := len(after)
			if n >= rounds {
				return map[string]any{"delete": []any{}, "archive": []any{}, "after": after, "more": false}, nil
			}
			return map[string]any{"delete": []any{c.Viewer.UserID + after}, "archive": []any{}, "after": after + "x", "more": n+1 < rounds}, nil
		}).
		Tool("palace.retire_v1", ownJobs, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			list := c.Inputs["delete"].([]any)
			for _, id := range list {
				*retired = append(*retired, id.(string))
			}
			return map[string]any{"deleted": len(list), "archived": 0}, nil
		})
	w.Workflows[activities.PalaceRetain] = string(graph)
	return w, retired
}

func retains(w *activitiestest.World, does string) activities.RunInput {
	in := w.House(run.KindPalace, map[string]any{"does": does})
	in.Viewer = activitiestest.Viewer
	return in
}

// Requirements: PAL-22
func TestWhatIsPastItsTimeIsPutAwayRoundByRound(t *testing.T) {
	t.Parallel()
	for rounds, want := range []int{0, 1, 2, 3} {
		w, retired := keeper(t, rounds)
		b := setup(t, w)
		in := retains(w, activities.PalaceRetain)
		b.env.ExecuteWorkflow(workflows.PalaceType, in)
		if end := w.Ended[in.RunID]; end.Status != run.Done || len(*retired) != want {
			t.Errorf("of %d rounds %d blocks were put away, and it ended %s %s", rounds, len(*retired), end.Status, end.Error)
		}
		for _, id := range *retired {
			if !strings.HasPrefix(id, activitiestest.Viewer.UserID) {
				t.Errorf("%s is not the person's", id)
			}
		}
	}
}

// A person's artifact of that name would decide what the house does, and a run that does
// something else is none.
func TestWhatPutsAwayFollowsTheHousesGraphAlone(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]string{"own": activities.PalaceRetain, "other": "default"} {
		w, _ := keeper(t, 1)
		w.Own = name == "own"
		b := setup(t, w)
		in := retains(w, does)
		b.env.ExecuteWorkflow(workflows.PalaceType, in)
		if end := w.Ended[in.RunID]; end.Status != run.Failed || len(w.Calls) != 0 {
			t.Errorf("%s: it ended %s after %d calls", name, end.Status, len(w.Calls))
		}
	}
}
