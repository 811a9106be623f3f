package worker

import (
	"context"
	"errors"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"liminal/internal/id"
	"liminal/internal/runkey"
)

// What a run says of which nothing is kept (GRND-47) is sealed with a key of its
// own in the histories of its workflows, whatever LIMINAL_PAYLOAD_KEYS is. A
// request names the workflow it is about, and a workflow's id the run, so the calls
// of all other runs look nothing up.

// runKeyID is how the id of a run's key begins in a payload's metadata.
const runKeyID = "run:"

func newRunPayloadKey(runID string, secret []byte) (*payloadKey, error) {
	return payloadKeyOf(runKeyID+runID, secret)
}

// The ways in which requests of the SDK say which workflow they are about.
type (
	namesResource  interface{ GetResourceId() string } // "workflow:" and its id
	namesWorkflow  interface{ GetWorkflowId() string }
	namesExecution interface {
		GetWorkflowExecution() *commonpb.WorkflowExecution
	}
	namesQueried interface {
		GetExecution() *commonpb.WorkflowExecution
	}
)

// about is the run of which nothing is kept that a request is about; empty: none.
func about(request any) string {
	workflow := ""
	if r, names := request.(namesResource); names {
		workflow = strings.TrimPrefix(r.GetResourceId(), "workflow:")
	}
	if r, names := request.(namesWorkflow); names && workflow == "" {
		workflow = r.GetWorkflowId()
	}
	if r, names := request.(namesExecution); names && workflow == "" {
		workflow = r.GetWorkflowExecution().GetWorkflowId()
	}
	if r, names := request.(namesQueried); names && workflow == "" {
		workflow = r.GetExecution().GetWorkflowId()
	}
	return id.UnkeptIn(workflow)
}

// sealedFor is the value of a context in which a request about a run of which
// nothing is kept is encoded: the run's id.
type sealedFor struct{}

// sealing is the key that encrypts; nil: nothing does.
func (c *Codec) sealing(ctx context.Context) (*payloadKey, error) {
	if runID, is := ctx.Value(sealedFor{}).(string); is {
		return c.runs.Key(ctx, runID)
	}
	if len(c.keys) == 0 {
		return nil, nil
	}
	return c.keys[0], nil
}

// forgotten is what a history reads where the key of a run is gone.
const forgotten = `"forgotten"`

// opened is open; of a run whose key is gone it says so instead.
func (c *Codec) opened(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	out, err := c.open(ctx, p)
	if errors.Is(err, runkey.ErrForgotten) {
		return &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(forgotten),
		}, nil
	}
	return out, err
}

// KeepsNothing reports whether a history is of a run of which nothing is kept.
func KeepsNothing(h *historypb.History) bool {
	for _, e := range h.GetEvents() {
		for _, p := range e.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads() {
			if strings.HasPrefix(string(p.GetMetadata()[metaKey]), runKeyID) {
				return true
			}
		}
	}
	return false
}

// IsUnkept reports whether a workflow is of a run of which nothing is kept.
func IsUnkept(workflowID string) bool { return id.UnkeptIn(workflowID) != "" }
