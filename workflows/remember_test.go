package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// Requirements: CHAT-19
func TestATurnBeginsTheSummaryThatIsDueAndDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	due := 8.0
	w := activitiestest.New(oneNode).Tool("say", inline, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": "yes", "summary_due": due}, nil
	})
	b := setup(t, w)
	b.chat("hello")
	if len(w.Started) != 1 || w.Started[0].Kind != run.KindGraph {
		t.Fatalf("started %+v", w.Started)
	}
	var asked activities.GraphInput
	if err := json.Unmarshal(w.Started[0].Input, &asked); err != nil {
		t.Fatal(err)
	}
	if want := "remember:" + fmt.Sprint(asked.Input["conversation_id"]) + ":"; !strings.HasPrefix(w.Started[0].WorkflowID, want) {
		t.Errorf("the run is %s", w.Started[0].WorkflowID)
	}
	if asked.Artifact != "remember" || asked.Input["upto_seq"] != due || asked.Input["conversation_id"] == nil {
		t.Errorf("asked for %+v", asked)
	}
}
