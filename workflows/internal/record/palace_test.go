package record

import (
	"context"
	"os"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// Requirements: PAL-22
func TestARunThatPutsAwayWhatIsPastItsTime(t *testing.T) {
	t.Parallel()
	graph, err := os.ReadFile("../../../artifacts/defaults/workflow.chat/palace_retain.json")
	if err != nil {
		t.Fatal(err)
	}
	w := activitiestest.New(oneModel)
	w.Tool("palace.due_v1", ingest, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		again := c.Inputs["after"] != nil
		return map[string]any{"delete": []any{"b1"}, "archive": []any{}, "after": "b1", "more": !again}, nil
	})
	w.Tool("palace.retire_v1", ingest, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"deleted": 1, "archived": 0}, nil
	})
	w.Workflows[activities.PalaceRetain] = string(graph)
	s := newStage(t, w)
	// It is a person's: as it stands in the world, for what sweeps there begins it too.
	own := w.Runs[s.world.House(run.KindPalace, map[string]any{"does": activities.PalaceRetain}).RunID]
	own.UserID, own.WorkflowID = activitiestest.Viewer.UserID, "palace:retain:"+own.ID
	row := s.row(own.ID)
	s.launch(row)
	s.closed(row.WorkflowID)
	s.until(row.ID, run.Done)
	s.freeze("palace", row.WorkflowID, "")
	if (s.world.Count("due") != 2 || s.world.Count("retire") != 2) && s.steady(row.WorkflowID) {
		t.Errorf("the calls were %d of due, %d of retire", s.world.Count("due"), s.world.Count("retire"))
	}
}
