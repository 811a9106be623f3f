package record

import (
	"context"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/tool"
)

const (
	children     = enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED
	childCancels = enumspb.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED

	// twelve is more runs than a tree has under way at once.
	twelve = `{"kind":"workflow.chat","entrypoint":"m","nodes":[
		{"id":"m","type":"map","over":[1,2,3,4,5,6,7,8,9,10,11,12],"body":"leaf","concurrency":12,"next":"end"},
		{"id":"leaf","type":"workflow","workflow":"leaf","inputs":{"message":"${input.message}"}},
		{"id":"end","type":"end","response":"done"}]}`
)

// Of twelve children eight are begun, and each of the others when one of them
// has ended.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestChildrenBeyondTheBudgetAreBegunLater(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(twelve).Tool("llm", model, echo)
	w.Workflows["leaf"] = oneModel
	s := newStage(t, w)
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	if got := s.freeze("chat_turn_tree", r.WorkflowID, ""); got[children] != 12 {
		t.Errorf("%d children were begun, want 12", got[children])
	}
	atOnce, most := 0, 0
	for _, e := range s.history(r.WorkflowID, "").GetEvents() {
		switch e.GetEventType() {
		case children:
			atOnce++
		case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED:
			atOnce--
		}
		most = max(most, atOnce)
	}
	if most != 8 {
		t.Errorf("%d children were under way at once, want 8", most)
	}
}

// A tree that is cancelled is over within two seconds, whatever its calls are at.
//
// Requirements: INT-09 (resumes with null; defaults; the run reaches its end), PLAT-07 (what a document asks for is bounded)
func TestACancelEndsAWholeTree(t *testing.T) {
	t.Parallel()
	stubborn := func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w := activitiestest.New(twelve).Tool("llm", model, stubborn)
	w.Workflows["leaf"] = oneModel
	s := newStage(t, w)
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.eventually("eight calls", func() bool { return s.world.Count("answer") >= 8 })
	began := time.Now()
	s.cancel(r.ID)
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Cancelled)
	s.withoutChildren(r.WorkflowID)
	if took := time.Since(began); took > promised(2*time.Second) {
		t.Errorf("it took %v", took)
	}
	if got := s.freeze("chat_turn_tree_abandoned", r.WorkflowID, ""); got[childCancels] != 0 {
		t.Errorf("%d children were told to end, each at the cost of a turn", got[childCancels])
	}
}

// A run that fails waits for none of its children: what they would hand over is
// of no use to it.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestAFailureEndsAWholeTree(t *testing.T) {
	t.Parallel()
	broken := make(chan struct{})
	once := make(chan struct{}, 1)
	once <- struct{}{}
	w := activitiestest.New(twelve).Tool("llm", model, func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
		select {
		case <-once:
			select {
			case <-broken:
				return nil, fault.New(fault.Invalid, "no")
			case <-ctx.Done(): // it is made again, or another breaks
				once <- struct{}{}
				return nil, ctx.Err()
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	w.Workflows["leaf"] = oneModel
	s := newStage(t, w)
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.eventually("eight calls", func() bool { return s.world.Count("answer") >= 8 })
	began := time.Now()
	close(broken)
	s.until(r.ID, run.Failed)
	s.withoutChildren(r.WorkflowID)
	if took := time.Since(began); took > promised(2*time.Second) {
		t.Errorf("it took %v", took)
	}
	if got := s.freeze("chat_turn_tree_failed", r.WorkflowID, ""); got[childCancels] != 0 {
		t.Errorf("%d children were told to end, each at the cost of a turn", got[childCancels])
	}
}

// withoutChildren waits until none of a run's children is left.
func (s *stage) withoutChildren(workflowID string) {
	for _, e := range s.history(workflowID, "").GetEvents() {
		if id := e.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowId(); strings.HasPrefix(id, "graph:") {
			s.closed(id)
		}
	}
}
