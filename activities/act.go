package activities

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// actEnd is what an act came to, as its row keeps it.
type actEnd struct {
	Output  map[string]any  `json:"output,omitempty"`
	Code    fault.Code      `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
	Details any             `json:"details,omitempty"`
	Said    *fault.Sentence `json:"said,omitempty"`
}

// actEvery is how often it is looked whether an act that another attempt has begun
// has ended.
const actEvery = 250 * time.Millisecond

// act calls a tool that does something outside which a second call would do once
// more. That it is begun is written down before, and what came of it after: so the
// engine may make the call again after a worker died, which does it if it was never
// begun, gives what came of it if that is known, and otherwise says that nobody
// knows (TOOL-16). The tool has to be there still: somebody may have taken it back
// while the run waited for a person.
func (s *Set) act(ctx context.Context, in CallInput, bound artifacts.Bound, asked *tool.Call) (map[string]any, error) {
	if !bound.ActsOnce() || s.Acts == nil {
		return s.Box.Call(ctx, bound.Spec, asked)
	}
	if in.Tool.ArtifactID != "" {
		if err := s.Artifacts.Standing(ctx, in.Run.Viewer, append([]run.Pin{in.Tool}, in.Under...)...); err != nil {
			return nil, err
		}
	}
	a := run.Act{RunID: in.Run.RunID, EffectID: in.Effect, Attempt: in.Attempt, Tool: bound.Name}
	before, err := s.Acts.BeginAct(ctx, in.Run.Viewer, a)
	if err != nil {
		return nil, err
	}
	if before != nil {
		return s.known(ctx, in, *before, max(in.Timeout, bound.Timeout()))
	}
	out, err := s.Box.Call(ctx, bound.Spec, asked)
	if err = doubtful(ctx, bound.Name, err); fault.Reason(err) == fault.Uncertain {
		return nil, err
	}
	e := actEnd{Output: out}
	if err != nil {
		f := fault.From(err)
		e = actEnd{Code: f.Code, Message: f.Message, Details: f.Details, Said: f.Said()}
	}
	if a.Outcome, _ = json.Marshal(e); a.Outcome != nil {
		if kept := s.Acts.EndAct(context.WithoutCancel(ctx), in.Run.Viewer, a); kept != nil {
			s.logger().ErrorContext(ctx, "what came of an act was not written down; if this worker ends now, nobody knows it", "tool", bound.Name, "run", in.Run.RunID, "error", kept)
		}
	}
	return out, err
}

// known is what is known of an act that was begun before. It may be under way in
// another worker, which is given the time the call may take.
func (s *Set) known(ctx context.Context, in CallInput, a run.Act, limit time.Duration) (map[string]any, error) {
	tick := time.NewTicker(actEvery)
	defer tick.Stop()
	for a.EndedAt.IsZero() && s.now().Before(a.BegunAt.Add(limit)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, uncertain(a.Tool, ctx.Err())
		}
		found, err := s.Acts.Act(ctx, in.Run.Viewer, a)
		if err != nil {
			return nil, uncertain(a.Tool, err)
		}
		a = found
	}
	if a.EndedAt.IsZero() {
		return nil, uncertain(a.Tool, nil)
	}
	var e actEnd
	if err := json.Unmarshal(a.Outcome, &e); err != nil {
		return nil, uncertain(a.Tool, err)
	}
	if e.Code != "" {
		return nil, fault.New(e.Code, "%s", e.Message).With(e.Details).Saying(e.Said)
	}
	return e.Output, nil
}

// doubtful is a failure after which nobody knows whether the act happened: the
// call's time was up, or it was broken off. Of any other the tool itself has said
// what happened.
func doubtful(ctx context.Context, name string, err error) error {
	var said *fault.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &said), errors.Is(err, context.DeadlineExceeded), fault.Reason(err) == fault.Upstream, fault.Reason(err) == graph.CodeTimeout:
		return uncertain(name, err)
	case ctx.Err() != nil && fault.Reason(err) == "":
		return uncertain(name, err)
	}
	return err
}

func uncertain(name string, cause error) error {
	return fault.Wrap(fault.Internal, cause, "It is not known whether %s was done: it was begun, and broken off before an answer came. Look there before it is tried again.", name).
		With(map[string]any{"reason": fault.Uncertain})
}
