package activities_test

import (
	"encoding/json"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
)

// Requirements: GRND-47 (the server keeps no transcript)
func TestAWorkflowThatKeepsNothingIsNotFollowedByATurnThatIsKept(t *testing.T) {
	t.Parallel()
	const doc = `{"kind":"workflow.chat","surface":{"title":{"en":"T"},"keeps":"nothing"},"entrypoint":"e","nodes":[{"id":"e","type":"end","response":"${input.action}"}]}`
	w := activitiestest.New(doc)
	in := w.Chat("a question", chat.TurnInput{})
	_, err := w.Set().Open(t.Context(), in)
	if fault.Reason(err) != "keeps_nothing" {
		t.Errorf("it is opened: %v", err)
	}
	// Of which nothing is kept, what came with the message is sealed with it.
	row := w.Runs[in.RunID]
	unkept := id.NewUnkept()
	delete(w.Runs, in.RunID)
	row.ID, row.ConversationID, in.RunID = unkept, unkept, unkept
	w.Runs[unkept] = row
	var turn chat.TurnInput
	if err := json.Unmarshal(row.Input, &turn); err != nil {
		t.Fatal(err)
	}
	m := w.Messages[turn.MessageID]
	m.Meta = map[string]any{chat.MetaFields: map[string]any{"action": "find", "message": "another"}}
	w.Messages[turn.MessageID] = m
	opened, err := w.Set().Open(t.Context(), in)
	if err != nil || opened.Input["action"] != "find" || opened.Input["message"] != "a question" {
		t.Errorf("its input is %v (%v)", opened.Input, err)
	}
	// Of a store that was put back from a backup, which has no keys.
	m.Content, m.Meta = "", map[string]any{chat.MetaForgotten: true}
	w.Messages[turn.MessageID] = m
	if _, err := w.Set().Open(t.Context(), in); fault.Reason(err) != "keeps_nothing" {
		t.Errorf("without its words it is opened: %v", err)
	}
}
