package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// OtherVersion names a workflow to drive through a run.
type OtherVersion struct {
	ArtifactID string `json:"artifact_id,omitempty" format:"uuid" doc:"another workflow; missing: the one it ran"`
	Version    int    `json:"version,omitempty" minimum:"0" doc:"missing: the current one"`
	Schema     Object `json:"schema,omitempty" doc:"instead of a version: a document that is stored nowhere"`
}

type rehearseRunInput struct {
	ByID
	Body *OtherVersion `required:"false"`
}

// RehearsedRun is one run on both sides of a change, node by node.
type RehearsedRun struct {
	Old         []string               `json:"old" doc:"the nodes as they ran"`
	New         []string               `json:"new" doc:"the nodes of the other version"`
	Part        int                    `json:"part" doc:"the first place that differs; -1: none does"`
	Outcome     RehearsedEnd           `json:"outcome"`
	Divergences []rehearsal.Divergence `json:"divergences" doc:"where it left what was recorded"`
	Steps       As[[]graph.Step]       `json:"steps" doc:"the trace of the other version"`
}

// RehearsedEnd is how the other version would have ended. Unknown: at an effect
// the record does not hold.
type RehearsedEnd struct {
	Status  string `json:"status" enum:"done,failed,unknown"`
	Code    string `json:"code,omitempty" doc:"of the failure"`
	Node    string `json:"node,omitempty" doc:"at whose effect the record has nothing more"`
	Message string `json:"message"`
}

// maxReplay bounds how long one run is rehearsed: documents of people's own may
// be slow on purpose.
const maxReplay = 10 * time.Second

// rehearseRun drives a workflow through what a run met (GRAPH-30). It calls no
// tool, asks nobody and writes nothing.
func (s *server) rehearseRun(ctx context.Context, in *rehearseRunInput) (RehearsedRun, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).ConfigTry, v.UserID); err != nil {
		return RehearsedRun{}, err
	}
	r, own, err := s.seen(ctx, in.ID)
	if err != nil {
		return RehearsedRun{}, err
	}
	if !own && len(value(in.Body).Schema) > 0 { // conditions of one's own making would ask what the person wrote
		return RehearsedRun{}, fault.New(fault.Forbidden, "On another person's run only stored versions are rehearsed.")
	}
	rec, err := s.recorded(ctx, r)
	if err != nil {
		return RehearsedRun{}, err
	}
	if other := value(in.Body).ArtifactID; !own && other != "" && other != rec.Pins[0].ArtifactID { // the same, once it is stored
		return RehearsedRun{}, fault.New(fault.Forbidden, "Another person's run is rehearsed on versions of the workflow it followed, and on no other.")
	}
	doc, err := s.other(ctx, value(in.Body), rec)
	if err != nil {
		return RehearsedRun{}, err
	}
	base, err := s.ran(ctx, rec)
	if err != nil {
		return RehearsedRun{}, err
	}
	out, err := s.replay(ctx, base, doc, rec)
	if err == nil && !own {
		out = out.limited()
	}
	return out, err
}

// recorded is what a run left behind.
func (s *server) recorded(ctx context.Context, r run.Run) (rehearsal.Record, error) {
	if id.Unkept(r.ID) {
		return rehearsal.Record{}, chat.ErrNothingKept()
	}
	kept, err := s.recording(ctx, r)
	if errors.Is(err, fault.NotFound) {
		return rehearsal.Record{}, fault.New(fault.Conflict, "The run left no recording: it has not ended, or its recording is past its time. Only recorded runs can be rehearsed.").
			With(map[string]any{"reason": "not_recorded"})
	}
	if err != nil {
		return rehearsal.Record{}, err
	}
	rec, err := rehearsal.Unpack(kept.Body)
	if err != nil {
		return rec, fault.Wrap(fault.Conflict, err, "The run's recording cannot be read: it is damaged, or of another release. Choose another run.").
			With(map[string]any{"reason": "unreadable"})
	}
	if len(rec.Pins) == 0 {
		rec.Pins = []run.Pin{kept.Graph}
	}
	return rec, nil
}

// ran is the version a run followed.
func (s *server) ran(ctx context.Context, rec rehearsal.Record) (artifacts.Artifact, error) {
	return s.Shapes.At(ctx, viewerOf(ctx), rec.Pins[0].ArtifactID, rec.Pins[0].Version)
}

// other is the document that is driven through the run.
func (s *server) other(ctx context.Context, b OtherVersion, rec rehearsal.Record) (json.RawMessage, error) {
	if len(b.Schema) > 0 {
		return json.RawMessage(b.Schema), nil
	}
	v := viewerOf(ctx)
	a, err := s.Artifacts.Get(ctx, v, cmp.Or(b.ArtifactID, rec.Pins[0].ArtifactID))
	if err == nil && b.Version > 0 {
		a, err = s.Shapes.At(ctx, v, a.ID, b.Version)
	}
	if err == nil && a.Type != artifacts.KindWorkflow {
		err = fault.New(fault.Invalid, "The artifact %s is a %s, and only workflows are driven through a run.", a.Name, artifacts.Alias(a.Type))
	}
	return a.Schema, err
}

func (s *server) replay(ctx context.Context, base artifacts.Artifact, doc json.RawMessage, rec rehearsal.Record) (RehearsedRun, error) {
	ctx, cancel := context.WithTimeout(ctx, maxReplay)
	defer cancel()
	both, err := rehearsal.Prepare(ctx, s.Shapes, viewerOf(ctx), base, doc)
	if faults, is := errors.AsType[graph.Faults](err); is {
		return RehearsedRun{}, fault.Wrap(fault.Invalid, err, "The document cannot run: %s.", faults).With(faults)
	}
	if err != nil {
		return RehearsedRun{}, err
	}
	played, err := both.Play(ctx, rec, rehearsal.Plan{Unknowns: artifacts.Stop})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return RehearsedRun{}, fault.Wrap(fault.Invalid, err, "The document was still at work after %d seconds: it has too many steps to be rehearsed here.", int(maxReplay.Seconds()))
	case err != nil:
		return RehearsedRun{}, fault.Wrap(fault.Conflict, err, "The run's recording cannot be played. Choose another run.").
			With(map[string]any{"reason": "unreadable"})
	}
	return RehearsedRun{
		Old: orList(played.Old), New: orList(played.New), Part: played.Part, Outcome: endOf(played),
		Divergences: orList(played.Divergences), Steps: As[[]graph.Step]{orList(played.Trace)},
	}, nil
}

func endOf(played rehearsal.ComparedRun) RehearsedEnd {
	end := RehearsedEnd{Status: string(run.Done), Code: played.Code, Node: played.Stopped, Message: played.Message}
	switch {
	case played.Stopped != "":
		end.Status = "unknown"
	case played.Failed:
		end.Status = string(run.Failed)
	default:
	}
	return end
}

// limited leaves out what only whose run it is may read.
func (r RehearsedRun) limited() RehearsedRun {
	steps, _ := json.Marshal(r.Steps.V) // of strings and times: it cannot fail
	way, _ := wayOf(steps)
	r.Steps.V = way.Steps
	return r
}
