package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// Requirements: PREF-02
func TestATurnBeginsToListenOnlyWhereSomethingSoundsLikeFeedback(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": "yes"}, nil
	})
	b := setup(t, w)
	b.chat("hello")
	if len(w.Started) != 0 {
		t.Fatalf("an ordinary turn started %+v", w.Started)
	}
	b = setup(t, w)
	b.chat("I like this approach. Go on.")
	if len(w.Started) != 0 {
		t.Fatalf("where nothing stands before it, %+v was started", w.Started)
	}
	b = setup(t, w)
	b.turn(w.Chat("I like this approach. Go on.", chat.TurnInput{UptoSeq: 3}))
	if len(w.Started) != 1 || w.Started[0].Kind != run.KindGraph || !strings.HasPrefix(w.Started[0].WorkflowID, "heed:") {
		t.Fatalf("started %+v", w.Started)
	}
	var asked activities.GraphInput
	if err := json.Unmarshal(w.Started[0].Input, &asked); err != nil {
		t.Fatal(err)
	}
	if asked.Artifact != "heed" || asked.Input["conversation_id"] == nil || asked.Input["message_id"] == nil || asked.Input["upto_seq"] == nil || len(asked.Input) != 3 {
		t.Errorf("asked for %+v", asked)
	}
}
