package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// langgraphOutcome waits for what comes of a run.
func (s *server) langgraphOutcome(ctx context.Context, r run.Run, since place) (func(http.ResponseWriter, *http.Request), error) {
	reconnects(ctx, r, "/join", nil)
	words := &outcomeEncoder{langgraphEncoder: s.langgraphEncoder(ctx, r, nil, since)}
	// From the first event on: of a run that still waits the log says so at once.
	return s.carrying(ctx, viewerOf(ctx), r, 0, words, carrier{kind: "application/json", beat: "\n", keepAlive: s.keepAlive})
}

// langgraphRunOf finds a run of a thread of the viewer's.
func (s *server) langgraphRunOf(ctx context.Context, threadID, runID string) (run.Run, error) {
	none := fault.New(fault.NotFound, "There is no such run in this thread.")
	if !id.Valid(runID) {
		return run.Run{}, none
	}
	r, err := s.Runs.Run(ctx, viewerOf(ctx), id.Canonical(runID))
	if errors.Is(err, fault.NotFound) || err == nil && (r.Kind != run.KindChat || threadID != "" && r.ConversationID != id.Canonical(threadID)) {
		return r, none
	}
	return r, err
}

// ThreadRunByID is the path of everything of a run.
type ThreadRunByID struct {
	ThreadByID
	RunID string `path:"run_id" maxLength:"100"`
}

func (s *server) threadRun(ctx context.Context, in *ThreadRunByID) (func(http.ResponseWriter, *http.Request), error) {
	r, err := s.langgraphRunOf(ctx, in.ThreadID, in.RunID)
	if err != nil {
		return nil, err
	}
	return unwrapped(langgraphRun(r)), nil
}

func (s *server) joinRun(ctx context.Context, in *ThreadRunByID) (func(http.ResponseWriter, *http.Request), error) {
	r, err := s.langgraphRunOf(ctx, in.ThreadID, in.RunID)
	if err != nil {
		return nil, err
	}
	return s.langgraphOutcome(ctx, r, place{})
}

// JoinedStream is how a stream is joined.
type JoinedStream struct {
	Last   string   `header:"Last-Event-ID" doc:"the id of the last event that was seen; missing: from the first on"`
	Modes  []string `query:"stream_mode,explode" doc:"missing: all that there are"`
	Cancel string   `query:"cancel_on_disconnect" doc:"1 or true: the run is stopped when its reader goes away"`
}

type joinStreamInput struct {
	ThreadRunByID
	JoinedStream
}

type joinOwnStreamInput struct {
	RunID string `path:"run_id" maxLength:"100"`
	JoinedStream
}

func (s *server) joinStream(ctx context.Context, in *joinStreamInput) (func(http.ResponseWriter, *http.Request), error) {
	r, err := s.langgraphRunOf(ctx, in.ThreadID, in.RunID)
	if err != nil {
		return nil, err
	}
	since, err := placeOf(in.Last)
	if err != nil {
		return nil, err
	}
	if len(in.Modes) == 0 {
		in.Modes = spokenModes
	}
	modes, err := streamModes(in.Modes)
	if err != nil {
		return nil, err
	}
	write, err := s.langgraphStream(ctx, r, modes, since)
	if in.Cancel == "1" || in.Cancel == "true" {
		write = s.closing(ctx, viewerOf(ctx), r, write)
	}
	return write, err
}

type cancelRunInput struct {
	ThreadRunByID
	Wait   string `query:"wait" doc:"1 or true: it is answered when the run is over"`
	Action string `query:"action" enum:"interrupt,rollback" default:"interrupt" doc:"rollback is not done here (501): a new run with multitask_strategy rollback is"`
}

func (s *server) cancelRun(ctx context.Context, in *cancelRunInput) (func(http.ResponseWriter, *http.Request), error) {
	r, err := s.langgraphRunOf(ctx, in.ThreadID, in.RunID)
	if err != nil {
		return nil, err
	}
	if in.Action == "rollback" {
		return nil, fault.New(fault.Invalid, "A run is stopped, and not undone. Say something in its place with multitask_strategy rollback, or at the checkpoint before it.").
			With(map[string]any{"reason": notImplemented})
	}
	if r.Status.Ended() {
		return noContent, nil
	}
	if in.Wait == "1" || in.Wait == "true" {
		return noContent, s.stopped(ctx, viewerOf(ctx), r)
	}
	_, err = s.Engine.Cancel(ctx, viewerOf(ctx), r.ID)
	return noContent, err
}

// langgraphStream is the writer of a run's events.
func (s *server) langgraphStream(ctx context.Context, r run.Run, modes []string, since place) (func(http.ResponseWriter, *http.Request), error) {
	reconnects(ctx, r, "/stream", modes)
	words := s.langgraphEncoder(ctx, r, modes, since)
	by := s.serverSent()
	if since == (place{}) || since.n == lastPiece { // the first look, not one after a cut
		head, err := words.head()
		if err != nil {
			return nil, err
		}
		by.open += string(head)
	}
	// From the first event on: what is said next depends on what was said.
	return s.carrying(ctx, viewerOf(ctx), r, 0, words, by)
}

func (s *server) langgraphEncoder(ctx context.Context, r run.Run, modes []string, since place) *langgraphEncoder {
	v := viewerOf(ctx)
	e := &langgraphEncoder{
		run: r, modes: map[string]bool{}, since: since, messageID: answerID(r),
		state: func() ([]LangGraphMessage, error) {
			said, err := s.threadMessages(ctx, v, r.ConversationID)
			return langgraphMessages(said), err
		},
		asked: func() ([]run.Interrupt, error) { return s.Interrupts.PendingInterrupts(ctx, v, r.ConversationID) },
	}
	for _, m := range modes {
		e.modes[m] = true
	}
	return e
}

// stopped stops a run and waits for its end.
func (s *server) stopped(ctx context.Context, v identity.Viewer, r run.Run) error {
	if _, err := s.Engine.Cancel(ctx, v, r.ID); err != nil && !errors.Is(err, fault.Conflict) {
		return err
	}
	for after := int64(0); ctx.Err() == nil; {
		seen := after
		for e, err := range s.tail.events(ctx, v, r, after) {
			if err != nil {
				return err
			}
			if e.Kind.Ends() && e.Kind != stream.Paused { // a question may be open still while its run ends
				return nil
			}
			after = max(after, e.Seq)
		}
		if after == seen { // the store says that it waits, and would say so again at once
			select {
			case <-ctx.Done():
			case <-time.After(s.tail.first):
			}
		}
	}
	return ctx.Err()
}
