package workflows_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/fault"
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

// A history that grows while its model answers is asked about again by the same run, with
// the model that the run was asked for; where nothing grew, and where asking failed, the
// run is over.
//
// Requirements: PAL-08 (by a model)
func TestAHistoryIsAskedAboutWhileItGrows(t *testing.T) {
	t.Parallel()
	graph, err := os.ReadFile("../artifacts/defaults/workflow.chat/palace_classify.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, windows := range []int{0, 1, 3} {
		var asked []string
		w := activitiestest.New(oneNode).Tool("palace.classify_v1", ownJobs, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			if windows == 0 {
				return nil, fault.New(fault.Invalid, "The model is not on this machine.")
			}
			asked = append(asked, fmt.Sprint(c.Inputs["lineage"], " ", c.Inputs["model"], " ", c.Inputs["round"]))
			return map[string]any{"round": len(asked), "shown": 4, "outcome": "late", "more": len(asked) < windows}, nil
		})
		w.Workflows[activities.PalaceClassify] = string(graph)
		b := setup(t, w)
		in := w.House(run.KindPalace, map[string]any{"does": activities.PalaceClassify, "lineage": "l", "model": "@near"})
		in.Viewer = activitiestest.Viewer
		b.env.ExecuteWorkflow(workflows.PalaceType, in)
		want := []string{"l @near <nil>", "l @near 1", "l @near 2"}[:windows]
		if end := w.Ended[in.RunID]; (end.Status == run.Done) != (windows > 0) || !slices.Equal(asked, want) {
			t.Errorf("of %d windows asked was %v, and it ended %s %s", windows, asked, end.Status, end.Error)
		}
	}
}
