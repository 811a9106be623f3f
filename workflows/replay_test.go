package workflows_test

import (
	"path/filepath"
	"strings"
	"testing"

	sdk "go.temporal.io/sdk/worker"

	"liminal/workflows"
)

// A run that is under way goes on with the next version of this program only
// if its history replays. The histories were recorded on a real server by
// workflows/internal/record; a change that breaks one needs workflow.GetVersion.
//
// Requirements: PLAT-08
func TestReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil || len(files) < 22 {
		t.Fatalf("there are %d histories (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			r := sdk.NewWorkflowReplayer()
			workflows.New(workflows.Options{}).Register(r)
			if err := r.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
				t.Error(err)
			}
		})
	}
}
