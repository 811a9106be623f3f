package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// The protocol grounded of surfaces: a turn is asked for, then its stream is read,
// which has words for what tools were called and for links into the data
// (STREAM-22, STREAM-25). Answers are the protocol's own, without the envelope;
// errors are as everywhere. Which surface speaks it is data: at a path that is no
// surface's, or one's that is switched off, there is nothing (GRND-02).
func (s *server) groundedRoutes() {
	const events = "Events meta, content_delta, tool_call, tool_result, chip and ping, then one end or error"
	op := route("POST /api/{surface}/turn", "groundedTurn", "Say something to an assistant with a page of its own; where its answer is to be read", scopeChat)
	addStream(s, op, s.groundedTurn)
	s.providers(op)
	s.answers(op, http.StatusOK, "application/json", "The turn, and where its stream is", s.schemaOf(GroundedTurn{}))
	op = route("GET /api/{surface}/stream/{turn_id}", "groundedStream", "The stream of a turn", scopeChat, scopeRead)
	addStream(s, op, s.groundedStream)
	s.answers(op, http.StatusOK, "text/event-stream", events, s.groundedSchema())
	op = route("POST /api/{surface}/stream/{turn_id}/abort", "groundedAbort", "Stop a turn of mine", scopeChat)
	addStream(s, op, s.groundedAbort)
	s.answers(op, http.StatusOK, "application/json", "Where the turn stands", s.schemaOf(GroundedStopped{}))
	op = route("GET /api/{surface}/limits", "groundedLimits", "How many turns of this hour are used", scopeChat, scopeRead)
	addStream(s, op, s.groundedLimits)
	s.answers(op, http.StatusOK, "application/json", "What is used and what there is; 0: without limit", s.schemaOf(GroundedLimits{}))
}

// SurfaceTurns is what is counted and kept of turns of surfaces. The store is one.
type SurfaceTurns interface {
	// TurnsOfHour is how many turns of a surface the viewer, and everybody, had in
	// this hour.
	TurnsOfHour(ctx context.Context, v identity.Viewer, surface string) (used, global int, err error)
	// TurnAudits lists what turns left, newest first: the viewer's own, and for an
	// administrator their tenant's.
	TurnAudits(ctx context.Context, v identity.Viewer, f chat.AuditFilter) ([]chat.TurnAudit, string, error)
}

// GroundedRequest is a turn as the protocol asks for it (GRND-24).
type GroundedRequest struct {
	SessionID   string      `json:"session_id" minLength:"1" maxLength:"200" doc:"of the browser, opaque: the audit keeps it"`
	UserMessage MessageText `json:"user_message"`
	History     *[]Said     `json:"history,omitempty" nullable:"true" maxItems:"2000" doc:"what was said before, oldest first: 256 KiB at most; missing: where conversations are kept that of the session, else nothing"`
	PageOrigin  string      `json:"page_origin,omitempty" maxLength:"500" doc:"the page the person was on; kept by an audit in full"`
}

// GroundedTurn is the answer to it.
type GroundedTurn struct {
	TurnID string `json:"turn_id" format:"uuid"`
	SSEURL string `json:"sse_url"`
	Hint   string `json:"hint,omitempty" doc:"that few turns of this hour are left"`
}

// GroundedStopped says where a turn stands that was stopped.
type GroundedStopped struct {
	TurnID string `json:"turn_id" format:"uuid"`
	Status string `json:"status" enum:"queued,running,waiting,done,failed,cancelled"`
}

// GroundedLimits is what is used of an hour (GRND-25).
type GroundedLimits struct {
	Used       int `json:"used_this_hour"`
	Hourly     int `json:"hourly_cap"`
	Global     int `json:"global_cap"`
	GlobalUsed int `json:"global_used"`
	Hint       int `json:"hint_at" doc:"turns from which the person is told"`
}

// groundedAt finds the surface at a path that speaks this protocol. A provider
// that is named and has no key is away for all of it; without any provider the
// answers are quotes, and it is there.
func (s *server) groundedAt(ctx context.Context, path string) (artifacts.Surface, error) {
	at, err := s.surfaceAt(ctx, path, artifacts.SurfaceGrounded)
	if err == nil {
		err = s.configured()
	}
	return at, err
}

// surfaceAt finds the surface at a path that speaks a protocol.
func (s *server) surfaceAt(ctx context.Context, path, protocol string) (artifacts.Surface, error) {
	if s.Surfaces == nil {
		return artifacts.Surface{}, errNoSurface()
	}
	at, err := s.Surfaces.At(ctx, path)
	if errors.Is(err, fault.NotFound) || err == nil && at.API != protocol {
		return at, errNoSurface()
	}
	return at, err
}

// errNoSurface says the same of every path below one that is no surface's.
func errNoSurface() error { return fault.New(fault.NotFound, "There is nothing at this path.") }

type groundedTurnInput struct {
	Surface string `path:"surface" maxLength:"64"`
	Key     string `header:"Idempotency-Key"`
	Body    GroundedRequest
}

func (s *server) groundedTurn(ctx context.Context, in *groundedTurnInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	at, err := s.groundedAt(ctx, in.Surface)
	if err != nil {
		return nil, err
	}
	request := ChatRequest{Message: b.UserMessage, WorkflowID: &at.WorkflowID, History: b.History, Multitask: "enqueue"}
	if b.History == nil {
		if at.Keeps == artifacts.KeepsNothing {
			request.History = &[]Said{}
		} else {
			conversation := id.Derive("surface", v.UserID, at.Path, b.SessionID)
			request.ConversationID = &conversation
		}
	}
	t, _, err := (&chatInput{Key: in.Key, Body: request}).turn(ctx)
	if err != nil {
		return nil, err
	}
	t.Visit = chat.Visit{Session: b.SessionID, Page: b.PageOrigin}
	requestOf(ctx).setID(t.RequestID)
	k := quota.Key{Route: "POST /api/{surface}/turn " + at.Path, Key: in.Key}
	out, _, err := once(ctx, s, k, b, func(ctx context.Context) (GroundedTurn, error) {
		answer, err := s.say(ctx, v, t, in.Key != "")
		return GroundedTurn{TurnID: answer.RunID, SSEURL: "/api/" + at.Path + "/stream/" + answer.RunID, Hint: answer.Hint}, err
	})
	return unwrapped(out), err
}

// hintOf tells who has few turns left in this hour; empty: nobody is to be told.
func hintOf(c *chat.Counted, locale string) string {
	switch german := strings.HasPrefix(strings.ToLower(locale), "de"); {
	case !c.Near() || c.Hourly == 0:
		return ""
	case german:
		return fmt.Sprintf("Du hast %d von %d Nachrichten dieser Stunde verbraucht.", c.Used, c.Hourly)
	default:
		return fmt.Sprintf("You've used %d of %d messages this hour.", c.Used, c.Hourly)
	}
}

type groundedStreamInput struct {
	Surface string `path:"surface" maxLength:"64"`
	TurnID  string `path:"turn_id"`
	Last    string `header:"Last-Event-ID" doc:"the id of the last event seen"`
	After   int64  `query:"after" minimum:"0" doc:"the same, for readers that cannot set headers"`
}

func (s *server) groundedStream(ctx context.Context, in *groundedStreamInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	after, err := lastSeen(in.Last, in.After)
	if err != nil {
		return nil, err
	}
	at, r, err := s.groundedRun(ctx, v, in.Surface, in.TurnID)
	if err != nil {
		return nil, err
	}
	model := at.Model
	if model == "" {
		model = s.modelNow().Name
	}
	// From its beginning, whatever was seen: what was sent cannot be taken back, so
	// what it was must be known.
	return s.streaming(ctx, v, r, 0, &groundedEncoder{turn: r.ID, model: model, locale: v.Locale, after: after})
}

// groundedRun finds a turn of the viewer's on a surface. Another's, and one of
// another surface, is not there.
func (s *server) groundedRun(ctx context.Context, v identity.Viewer, path, turnID string) (artifacts.Surface, run.Run, error) {
	at, err := s.groundedAt(ctx, path)
	if err != nil {
		return at, run.Run{}, err
	}
	none := fault.New(fault.NotFound, "There is no such turn.")
	if !id.Valid(turnID) {
		return at, run.Run{}, none
	}
	r, err := s.Runs.Run(ctx, v, id.Canonical(turnID))
	if err != nil {
		return at, r, err
	}
	var input chat.TurnInput
	_ = json.Unmarshal(r.Input, &input) // a run of another kind is of no surface
	if r.Kind != run.KindChat || r.UserID != v.UserID || input.Surface == nil || input.Surface.Path != at.Path {
		return at, r, none
	}
	return at, r, nil
}

type groundedTurnID struct {
	Surface string `path:"surface" maxLength:"64"`
	TurnID  string `path:"turn_id"`
}

func (s *server) groundedAbort(ctx context.Context, in *groundedTurnID) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	_, r, err := s.groundedRun(ctx, v, in.Surface, in.TurnID)
	if err != nil {
		return nil, err
	}
	r, err = s.Engine.Cancel(ctx, v, r.ID)
	return unwrapped(GroundedStopped{TurnID: r.ID, Status: string(r.Status)}), err
}

type surfaceName struct {
	Surface string `path:"surface" maxLength:"64"`
}

func (s *server) groundedLimits(ctx context.Context, in *surfaceName) (func(http.ResponseWriter, *http.Request), error) {
	at, err := s.groundedAt(ctx, in.Surface)
	if err != nil {
		return nil, err
	}
	used, global, err := s.SurfaceTurns.TurnsOfHour(ctx, viewerOf(ctx), at.Path)
	return unwrapped(GroundedLimits{Used: used, Hourly: at.Limits.Hourly, Global: at.Limits.GlobalHourly, GlobalUsed: global, Hint: at.Limits.Hint}), err
}

// unwrapped writes an answer of a protocol that has no envelope.
func unwrapped(body any) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, body) }
}
