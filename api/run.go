package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

func (s *server) runRoutes() {
	add(s, route("GET /v1/runs", "listRuns", "My runs, latest first; with all, an administrator's are everybody's", scopeRead), s.listRuns)
	add(s, route("GET /v1/runs/{id}", "run", "One run: what it is pinned to, its trace so far, what it waits for, how it ended", scopeChat, scopeRead, scopeTools), s.run)
	add(s, route("POST /v1/runs/{id}/rehearse", "rehearseRun", "Drive another version of its workflow through what a run met; nothing happens", scopePropose), s.rehearseRun)
	op := route("GET /v1/runs/{id}/events", "runEvents", "A run's events, past and to come, as server-sent events", scopeChat, scopeRead, scopeTools)
	addStream(s, op, s.runEvents)
	s.answers(op, 200, "text/event-stream", "Ends after message_done, error, cancel_ack or paused", s.frameSchema())
}

// Run is one execution of a graph.
type Run struct {
	ID             string                    `json:"id" format:"uuid"`
	Kind           string                    `json:"kind" enum:"chat,ingest,tool,graph,patch,architect,cluster,train,palace"`
	Status         string                    `json:"status" enum:"queued,running,waiting,done,failed,cancelled"`
	WorkflowID     string                    `json:"workflow_id"`
	ConversationID *string                   `json:"conversation_id" nullable:"true"`
	RequestID      string                    `json:"request_id"`
	Artifact       Nullable[Pinned]          `json:"artifact" doc:"the graph it runs"`
	Pins           []Pinned                  `json:"pins"`
	Result         As[Nullable[Object]]      `json:"result" doc:"of a turn its message_id and usage; null before the end"`
	Trace          As[Trail]                 `json:"trace" doc:"null in a list, and before it begins"`
	Live           *Live                     `json:"live,omitempty" doc:"where it stands; missing: it has not begun, or it is over"`
	Error          Nullable[stream.RunError] `json:"error"`
	CreatedAt      time.Time                 `json:"created_at"`
	StartedAt      *time.Time                `json:"started_at,omitempty"`
	EndedAt        *time.Time                `json:"ended_at,omitempty"`
	TemporalURL    *string                   `json:"temporal_url" nullable:"true"`
	User           *Person                   `json:"user,omitempty" doc:"whose it is; missing: mine"`
	PatchID        *int64                    `json:"patch_id,omitempty" doc:"the proposed change it takes on its way"`
	Recorded       bool                      `json:"recorded,omitempty" doc:"it can be rehearsed; told of a single run"`
	Limited        bool                      `json:"limited,omitempty" doc:"another person's: what was said, given and found is left out"`
	Asked          string                    `json:"asked,omitempty" doc:"what it was asked, in a line: the beginning of a turn's message, or of the input of a workflow or a tool, or the file that is read; missing: another person's"`
	WaitsFor       string                    `json:"waits_for,omitempty" doc:"the question it waits with, in a line"`
	Input          *map[string]any           `json:"input,omitempty" doc:"of a workflow or a tool by itself; told of a single run"`
}

// Pinned is an artifact at the version a run opened with (PLAT-08).
type Pinned struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

func (s *server) runView(r run.Run) Run {
	out := Run{
		ID: r.ID, Kind: string(r.Kind), Status: string(r.Status), WorkflowID: r.WorkflowID, RequestID: r.RequestID,
		Pins: []Pinned{}, Result: As[Nullable[Object]]{orNull(r.Result)}, Trace: As[Trail]{orNull(r.Trace)}, Error: Nullable[stream.RunError]{runError(r)},
		CreatedAt: r.CreatedAt.UTC(), StartedAt: moment(r.StartedAt), EndedAt: moment(r.EndedAt), TemporalURL: s.temporalURL(r),
	}
	if r.ConversationID != "" {
		out.ConversationID = &r.ConversationID
	}
	if r.Kind == run.KindPatch {
		out.PatchID = patchOf(r.WorkflowID)
	}
	for _, p := range r.Pins {
		out.Pins = append(out.Pins, Pinned{ID: p.ArtifactID, Name: p.Name, Version: p.Version})
	}
	if len(out.Pins) > 0 {
		out.Artifact.V = &out.Pins[0]
	}
	return out
}

func (s *server) temporalURL(r run.Run) *string {
	if s.Temporal == nil || r.WorkflowID == "" {
		return nil
	}
	u := s.Temporal.Base + "/namespaces/" + url.PathEscape(s.Temporal.Namespace) + "/workflows/" + url.PathEscape(r.WorkflowID)
	return &u
}

// OneRun is the data of a single run.
type OneRun struct {
	Run Run `json:"run"`
}

func (s *server) run(ctx context.Context, in *ByID) (OneRun, error) {
	r, own, err := s.seen(ctx, in.ID)
	if err != nil {
		return OneRun{}, err
	}
	kept, err := s.recording(ctx, r)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return OneRun{}, err
	}
	live := s.live(ctx, &r)
	out := s.runView(r)
	if out.Live = live.shown(own, s.Redacted); own {
		out.Trace.V, out.Input = s.shown(r.Trace, s.why(ctx, r, kept)), s.given(r)
		said, err := s.tellApart(ctx, r)
		if err != nil {
			return OneRun{}, err
		}
		said(&out)
	} else {
		out = limited(out, r)
		s.hideConditions(ctx, r, &out)
	}
	if r.UserID != viewerOf(ctx).UserID {
		out.User = (&names{desk: s.Proposals}).of(ctx, r.UserID).V
	}
	out.Recorded = err == nil
	return OneRun{out}, nil
}

// recording is what a run left behind, once it is settled that the viewer may
// see the run; NotFound where it left nothing.
func (s *server) recording(ctx context.Context, r run.Run) (run.Recording, error) {
	if s.Recordings == nil {
		return run.Recording{}, fault.New(fault.NotFound, "Runs are not recorded here.")
	}
	return s.Recordings.Recording(ctx, reader(viewerOf(ctx), r), r.ID)
}

// seen is a run the viewer may look at, and whether it is theirs to see whole:
// their own, or to an administrator the system's. Of other people's an
// administrator sees the way it went (GRAPH-18, ISO-01).
func (s *server) seen(ctx context.Context, id string) (r run.Run, all bool, err error) {
	v := viewerOf(ctx)
	r, err = s.Runs.Run(ctx, v, id)
	if v.IsAdmin() && errors.Is(err, fault.NotFound) {
		r, err = s.Runs.Run(ctx, identity.System(), id)
	}
	return r, whole(v, r), err
}

// whole reports whether a run that v may look at is theirs to see whole.
func whole(v identity.Viewer, r run.Run) bool {
	return r.UserID == v.UserID || r.UserID == identity.SystemAccount
}

type listRunsInput struct {
	Paged
	Kind     string `query:"kind" enum:"chat,ingest,tool,graph,patch,architect,cluster,train,palace"`
	Status   string `query:"status" enum:"queued,running,waiting,done,failed,cancelled"`
	Artifact string `query:"artifact_id" format:"uuid" doc:"runs of this workflow"`
	All      bool   `query:"all" doc:"everybody's, for administrators"`
}

func (s *server) listRuns(ctx context.Context, in *listRunsInput) (Page[Run], error) {
	v := viewerOf(ctx)
	list, next, err := s.Runs.ListRuns(ctx, v, run.Filter{
		Kind: run.Kind(in.Kind), Status: run.Status(in.Status), Artifact: in.Artifact, All: in.All,
		Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return Page[Run]{}, err
	}
	said, err := s.tellApart(ctx, list...)
	by := names{desk: s.Proposals}
	return page(list, next, func(r run.Run) Run {
		r.Result, r.Trace = nil, nil // large; a single run has them
		out := s.runView(r)
		if !whole(v, r) {
			out = limited(out, r)
		}
		said(&out)
		if in.All {
			out.User = by.of(ctx, r.UserID).V
		}
		return out
	}), err
}

type runEventsInput struct {
	ByID
	Last  string `header:"Last-Event-ID" doc:"the id of the last event seen"`
	After int64  `query:"after" minimum:"0" doc:"the same, for readers that cannot set headers"`
}

func (s *server) runEvents(ctx context.Context, in *runEventsInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	after, err := lastSeen(in.Last, in.After)
	if err != nil {
		return nil, err
	}
	r, err := s.Runs.Run(ctx, v, in.ID)
	if err != nil {
		return nil, err
	}
	return s.stream(ctx, v, r, after)
}
