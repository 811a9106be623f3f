package worker

import (
	"bytes"
	"context"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// keyStore has values, and the keys of runs; it counts how often it is asked.
type keyStore struct {
	*memStore
	keys  map[string][]byte
	asked int
}

func (s *keyStore) RunKey(_ context.Context, runID string) ([]byte, error) {
	s.asked++
	key, has := s.keys[runID]
	if !has {
		return nil, fault.New(fault.NotFound, "There is no such key.")
	}
	return key, nil
}

// sent is a request as the server gets it.
func sent(t *testing.T, c *Codec, req proto.Message) proto.Message {
	t.Helper()
	var got proto.Message
	err := c.intercept(t.Context(), "", req, &workflowservice.StartWorkflowExecutionResponse{}, nil,
		func(_ context.Context, _ string, req, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			got = req.(proto.Message)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Requirements: GRND-47 (the server keeps no transcript)
func TestWhatARequestSaysOfARunOfWhichNothingIsKeptIsSealed(t *testing.T) {
	t.Parallel()
	unkept, ordinary := id.NewUnkept(), id.New()
	input := &commonpb.Payloads{Payloads: []*commonpb.Payload{payload(t, "the words")}}
	about := func(workflow string) []proto.Message {
		execution := &commonpb.WorkflowExecution{WorkflowId: workflow}
		return []proto.Message{
			&workflowservice.StartWorkflowExecutionRequest{WorkflowId: workflow, Input: input},
			&workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: execution, Input: input},
			&workflowservice.QueryWorkflowRequest{Execution: execution, Query: &querypb.WorkflowQuery{QueryArgs: input}},
			&workflowservice.RespondActivityTaskCompletedRequest{ResourceId: "workflow:" + workflow, Result: input},
			&workflowservice.RespondActivityTaskFailedRequest{ResourceId: "workflow:" + workflow, Failure: &failurepb.Failure{Message: "the words", StackTrace: "the words"}},
			&workflowservice.RespondWorkflowTaskCompletedRequest{ResourceId: "workflow:" + workflow, QueryResults: map[string]*querypb.WorkflowQueryResult{"q": {Answer: input}}},
		}
	}
	for _, static := range []string{"", keyText("a")} {
		store := &keyStore{newMemStore(), map[string][]byte{unkept: bytes.Repeat([]byte{7}, 32)}, 0}
		c, err := NewCodec(static, store)
		if err != nil {
			t.Fatal(err)
		}
		for _, workflow := range []string{"chat:" + ordinary + ":x", "graph:" + ordinary + "/e", "liminal-sweep-keys"} {
			for _, req := range about(workflow) {
				sent(t, c, req)
			}
		}
		if store.asked > 0 {
			t.Errorf("for runs of which all is kept the store was asked %d times", store.asked)
		}
		for _, workflow := range []string{"chat:" + unkept + ":x", "graph:" + unkept + "/e"} {
			for _, req := range about(workflow) {
				raw, err := proto.Marshal(sent(t, c, req))
				if err != nil || bytes.Contains(raw, []byte("the words")) || !bytes.Contains(raw, []byte(runKeyID+unkept)) {
					t.Errorf("%T of %s is sent as %q (%v)", req, workflow, raw, err)
				}
			}
		}
		if store.asked != 1 {
			t.Errorf("the key was asked for %d times in a moment", store.asked)
		}
	}
}

// Requirements: GRND-47 (the server keeps no transcript)
func TestAHistoryWhoseKeyIsGoneReadsForgotten(t *testing.T) {
	t.Parallel()
	unkept := id.NewUnkept()
	store := &keyStore{newMemStore(), map[string][]byte{unkept: bytes.Repeat([]byte{7}, 32)}, 0}
	open := func() *Codec { // another process, or this one later
		c, err := NewCodec("", store)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, text := range []string{"the words", noise(300 << 10)} { // in the history, and beside it
		start := sent(t, open(), &workflowservice.StartWorkflowExecutionRequest{
			WorkflowId: "chat:" + unkept + ":x", Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{payload(t, text)}},
		}).(*workflowservice.StartWorkflowExecutionRequest)
		kept := start.GetInput().GetPayloads()[0]
		var said string
		back, err := decodeOne(open(), kept)
		if err != nil || converter.GetDefaultDataConverter().FromPayload(back, &said) != nil || said != text {
			t.Errorf("with its key it reads %.20q (%v)", said, err)
		}
		key := store.keys[unkept]
		delete(store.keys, unkept)
		back, err = decodeOne(open(), kept)
		if err != nil || converter.GetDefaultDataConverter().FromPayload(back, &said) != nil || said != "forgotten" {
			t.Errorf("without it reads %.20q (%v)", said, err)
		}
		store.keys[unkept] = key
	}
	for _, value := range store.kept {
		if bytes.Contains(value, []byte(noise(300 << 10)[:40])) {
			t.Error("a value beside the history is in plain")
		}
	}
	sealed := sent(t, open(), &workflowservice.StartWorkflowExecutionRequest{
		WorkflowId: "chat:" + unkept + ":x", Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{payload(t, "x")}},
	}).(*workflowservice.StartWorkflowExecutionRequest)
	history := func(p *commonpb.Payloads) *historypb.History {
		return &historypb.History{Events: []*historypb.HistoryEvent{{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: p},
		}}}}
	}
	if !KeepsNothing(history(sealed.GetInput())) || KeepsNothing(history(&commonpb.Payloads{Payloads: []*commonpb.Payload{payload(t, "x")}})) {
		t.Error("a history does not tell that nothing is kept of its run")
	}
	if _, err := NewCodec("run:a:"+strings.TrimPrefix(keyText("a"), "a:"), nil); err == nil {
		t.Error("a key of the operator's may be called as those of runs are")
	}
}
