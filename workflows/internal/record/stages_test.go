package record

import (
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
)

const staged = `{"kind":"workflow.chat","entrypoint":"begin","persist":["seen"],"nodes":[
	{"id":"begin","type":"set","values":{"seen":["${input.message}"],"times":0},"next":"look"},
	{"id":"look","type":"tool_call","tool":"noop","stage":"find","next":"ask"},
	{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Which one?","stage":"find","save_as":"which","next":"find"},
	{"id":"find","type":"tool_call","tool":"noop","description":"Finding ${vars.which?}...","next":"web"},
	{"id":"web","type":"tool_call","tool":"gone","optional":true,"on_error":"none","next":"say"},
	{"id":"none","type":"set","values":{"notice":"${vars.error.code}"},"next":"say"},
	{"id":"say","type":"tool_call","tool":"llm","inputs":{"which":"${vars.which}"},"stream":true,"stage":"find","next":"end"},
	{"id":"end","type":"end","response":"${vars.say.answer} (${vars.notice})","data":{"which":"${vars.which}"}}]}`

// Sets and a tool that is not there leave no trace in a history; the steps of
// a stage stay in the workflow tasks they would be in without it.
//
// Requirements: GRAPH-29 (in the trace), LG-30
func TestATurnInStages(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(staged).Tool("noop", inline, echo).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	s.answer(0, run.Answer{Type: "text_input", Value: "the first"})
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("chat_turn_direct_stages", r.WorkflowID, "")
	if s.steady(r.WorkflowID) && (got[scheduled] != 1 || got[updated] == 0 || got[marker] != 4) {
		t.Errorf("a turn in stages makes %v; want one activity, an update and markers of what opens, asks, delivers and closes", got)
	}
	if data := s.world.Closed[0].Message; data.Content != "at say (not_found)" || data.Meta["data"].(map[string]any)["which"] != "the first" {
		t.Errorf("the turn says %+v", data)
	}
}
