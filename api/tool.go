package api

import (
	"context"
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

func (s *server) toolRoutes() {
	op := route("POST /v1/tools/run", "runTool", "Run one tool by itself and wait for its output", scopeTools)
	add(s, op, s.runTool)
	s.providers(op)
	add(s, route("POST /v1/workflows/run", "runWorkflow", "Run a workflow artifact by itself; follow it by its run", scopeChat, scopeTools), s.runWorkflow)
}

// ToolRequest names a tool and what it is given (API-12).
type ToolRequest struct {
	Tool  string         `json:"tool_id" minLength:"1" doc:"a tool's name, as rag.search_v1"`
	Input map[string]any `json:"input,omitempty"`
}

type runToolInput struct {
	Key  string `header:"Idempotency-Key"`
	Body ToolRequest
}

// ToolOutput is what a tool gave, or the question it asks.
type ToolOutput struct {
	RunID     string     `json:"run_id" format:"uuid"`
	Output    any        `json:"output"`
	Interrupt *Interrupt `json:"interrupt,omitempty"`
}

func (s *server) runTool(ctx context.Context, in *runToolInput) (ToolOutput, error) {
	k := quota.Key{Route: "POST /v1/tools/run", Key: in.Key}
	out, _, err := once(ctx, s, k, in.Body, func(ctx context.Context) (ToolOutput, error) {
		v := viewerOf(ctx)
		if !v.Grant.MayCall(in.Body.Tool) {
			return ToolOutput{}, fault.New(fault.Forbidden, "This access key is not for the tool %q.", in.Body.Tool).With(map[string]any{"reason": "key_scope"})
		}
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return ToolOutput{}, err
		}
		r, err := s.Engine.RunTool(ctx, v, in.Body.Tool, orEmpty(in.Body.Input), requestID(ctx, in.Key))
		if err != nil {
			return ToolOutput{}, err
		}
		return s.output(ctx, v, r)
	})
	return out, err
}

// output waits for a run and returns its result.
func (s *server) output(ctx context.Context, v identity.Viewer, r run.Run) (ToolOutput, error) {
	for e, err := range s.tail.events(ctx, v, r, 0) {
		if err != nil {
			return ToolOutput{}, err
		}
		if e.Kind.Ends() {
			return s.outcome(ctx, v, r.ID)
		}
	}
	return ToolOutput{}, ctx.Err()
}

func (s *server) outcome(ctx context.Context, v identity.Viewer, runID string) (ToolOutput, error) {
	r, err := s.Runs.Run(ctx, v, runID)
	if err != nil {
		return ToolOutput{}, err
	}
	out := ToolOutput{RunID: r.ID, Output: toolOutput(r.Result)}
	switch r.Status {
	case run.Failed:
		reason, _ := json.Marshal(runError(r)) // of strings: it cannot fail
		return out, s.runFault(r, reason)
	case run.Cancelled:
		return out, fault.New(fault.Conflict, "The run was cancelled.").With(map[string]any{"run_id": r.ID})
	case run.Done:
		return out, nil
	default:
	}
	open, err := (&following{tail: s.tail, viewer: v, run: r}).open(ctx)
	if len(open) > 0 {
		q := interruptView(open[0])
		out.Interrupt = &q
	}
	return out, err
}

// toolOutput is what the tool gave, without what its run keeps beside it.
func toolOutput(result json.RawMessage) any {
	var kept struct{ Data json.RawMessage }
	if json.Unmarshal(result, &kept) == nil && kept.Data != nil {
		return kept.Data
	}
	return orNull(result)
}

// WorkflowRequest names a workflow and its start (GRAPH-03).
type WorkflowRequest struct {
	Workflow string         `json:"workflow_id" minLength:"1" doc:"an artifact's id or name"`
	Input    map[string]any `json:"input,omitempty"`
	Vars     map[string]any `json:"vars,omitempty"`
}

type runWorkflowInput struct {
	Key  string `header:"Idempotency-Key"`
	Body WorkflowRequest
}

// Started is a run that goes on by itself.
type Started struct {
	RunID     string `json:"run_id" format:"uuid"`
	StreamURL string `json:"stream_url"`
}

func (s *server) runWorkflow(ctx context.Context, in *runWorkflowInput) (Started, error) {
	k := quota.Key{Route: "POST /v1/workflows/run", Key: in.Key}
	out, _, err := once(ctx, s, k, in.Body, func(ctx context.Context) (Started, error) {
		v, b := viewerOf(ctx), in.Body
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return Started{}, err
		}
		if err := s.mayRun(ctx, v, b.Workflow); err != nil {
			return Started{}, err
		}
		r, err := s.Engine.RunWorkflow(ctx, v, b.Workflow, orEmpty(b.Input), orEmpty(b.Vars), requestID(ctx, in.Key))
		return Started{RunID: r.ID, StreamURL: eventsURL(r.ID)}, err
	})
	return out, err
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
