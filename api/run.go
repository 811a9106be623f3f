package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"liminal/internal/run"
)

func (s *server) runRoutes() {
	add(s, route("GET /v1/runs", "listRuns", "My runs, latest first"), s.listRuns)
	add(s, route("GET /v1/runs/{id}", "run", "One run: what it is pinned to, its trace, how it ended"), s.run)
	op := route("GET /v1/runs/{id}/events", "runEvents", "A run's events, past and to come, as server-sent events")
	addStream(s, op, s.runEvents)
	s.answers(op, 200, "text/event-stream", "Ends after message_done, error, cancel_ack or paused", frameSchema())
}

// Run is one execution of a graph.
type Run struct {
	ID             string             `json:"id" format:"uuid"`
	Kind           string             `json:"kind" enum:"chat,ingest,tool,graph"`
	Status         string             `json:"status" enum:"queued,running,waiting,done,failed,cancelled"`
	WorkflowID     string             `json:"workflow_id"`
	ConversationID *string            `json:"conversation_id" nullable:"true"`
	RequestID      string             `json:"request_id"`
	Artifact       Nullable[Pinned]   `json:"artifact" doc:"the graph it runs"`
	Pins           []Pinned           `json:"pins"`
	Result         any                `json:"result"`
	Trace          any                `json:"trace"`
	Error          Nullable[RunError] `json:"error"`
	CreatedAt      time.Time          `json:"created_at"`
	StartedAt      *time.Time         `json:"started_at,omitempty"`
	EndedAt        *time.Time         `json:"ended_at,omitempty"`
	TemporalURL    *string            `json:"temporal_url" nullable:"true"`
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
		Pins: []Pinned{}, Result: orNull(r.Result), Trace: orNull(r.Trace), Error: Nullable[RunError]{runError(r)},
		CreatedAt: r.CreatedAt.UTC(), StartedAt: moment(r.StartedAt), EndedAt: moment(r.EndedAt), TemporalURL: s.temporalURL(r),
	}
	if r.ConversationID != "" {
		out.ConversationID = &r.ConversationID
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
	r, err := s.Runs.Run(ctx, viewerOf(ctx), in.ID)
	return OneRun{s.runView(r)}, err
}

type listRunsInput struct {
	Paged
	Kind   string `query:"kind" enum:"chat,ingest,tool,graph"`
	Status string `query:"status" enum:"queued,running,waiting,done,failed,cancelled"`
}

func (s *server) listRuns(ctx context.Context, in *listRunsInput) (Page[Run], error) {
	list, next, err := s.Runs.ListRuns(ctx, viewerOf(ctx), run.Filter{
		Kind: run.Kind(in.Kind), Status: run.Status(in.Status),
		Cursor: in.Cursor, Limit: in.Limit,
	})
	return page(list, next, func(r run.Run) Run {
		r.Result, r.Trace = nil, nil // large; a single run has them
		return s.runView(r)
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
