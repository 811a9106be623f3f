package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/quota"
	"liminal/internal/run"
)

func (s *server) comparisonRoutes() {
	begin := route("POST /v1/adapters/{id}/compare", "compareAdapter", "Have a question answered with one of my adapters and without it, and say later which answer is better")
	begin.DefaultStatus = 202
	add(s, begin, s.compareAdapter)
	add(s, route("GET /v1/adapters/{id}/compare/{run_id}", "comparison", "Both answers, without which is which until I have chosen", scopeRead), s.comparison)
	add(s, route("POST /v1/adapters/{id}/compare/{run_id}", "chooseAnswer", "Say which answer is better; then it is told which is which"), s.chooseAnswer)
}

// workflowCompare is the graph that answers a question twice.
const workflowCompare = "adapter.compare"

type compareInput struct {
	ByID
	Key  string `header:"Idempotency-Key"`
	Body struct {
		Question string `json:"question" minLength:"1" maxLength:"4000"`
	}
}

// ComparisonStarted names the run that answers twice.
type ComparisonStarted struct {
	RunID     string `json:"run_id" format:"uuid"`
	StreamURL string `json:"stream_url"`
}

func (s *server) compareAdapter(ctx context.Context, in *compareInput) (ComparisonStarted, error) {
	k := quota.Key{Route: "POST /v1/adapters/compare", Key: in.Key}
	asked := map[string]string{"adapter": in.ID, "question": in.Body.Question}
	out, _, err := once(ctx, s, k, asked, func(ctx context.Context) (ComparisonStarted, error) {
		v := viewerOf(ctx)
		question := strings.TrimSpace(in.Body.Question)
		if question == "" {
			return ComparisonStarted{}, fault.New(fault.Invalid, "The question is empty.").With([]Problem{{"body.question", "is empty"}})
		}
		if s.Learner == nil {
			return ComparisonStarted{}, fault.New(fault.Forbidden, "Nothing is learnt here: the installation has it switched off (LIMINAL_LEARNING).")
		}
		a, err := s.ownAdapter(ctx, v, in.ID)
		switch {
		case err != nil:
			return ComparisonStarted{}, err
		case a.Status != "active":
			return ComparisonStarted{}, fault.New(fault.Conflict, "The adapter is not in use: it is %s.", a.Status).With(map[string]any{"status": a.Status})
		}
		for range 2 { // it is answered twice
			if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
				return ComparisonStarted{}, err
			}
		}
		r, err := s.Engine.RunWorkflow(ctx, v, workflowCompare, map[string]any{"adapter_id": a.ID, "message": question}, nil, requestID(ctx, in.Key))
		return ComparisonStarted{RunID: r.ID, StreamURL: eventsURL(r.ID)}, err
	})
	return out, err
}

// Comparison is one question answered twice.
type Comparison struct {
	RunID          string                     `json:"run_id" format:"uuid"`
	Status         string                     `json:"status" enum:"queued,running,waiting,done,failed,cancelled"`
	Problem        string                     `json:"problem" doc:"why there is no answer; empty: nothing failed"`
	Question       string                     `json:"question"`
	First          Nullable[string]           `json:"first" doc:"an answer; null: it is not there yet"`
	Second         Nullable[string]           `json:"second"`
	ConversationID string                     `json:"conversation_id" format:"uuid" doc:"where both answers are versions of one turn, once they are there"`
	Choice         string                     `json:"choice" enum:",first,second,neither" doc:"what I said is better; empty: I have not yet"`
	Told           Nullable[ComparisonReveal] `json:"told" doc:"which is which; null until I have chosen"`
}

// ComparisonReveal is which answer of a comparison was made how.
type ComparisonReveal struct {
	With    string           `json:"with" enum:"first,second" doc:"the answer that was made with the adapter"`
	Lessons []FollowedLesson `json:"lessons" doc:"that its model was told, as they read now"`
}

// ComparisonByID names a comparison of an adapter.
type ComparisonByID struct {
	ByID
	RunID string `path:"run_id" format:"uuid"`
}

// compared finds a comparison of an adapter of the viewer's.
func (s *server) compared(ctx context.Context, v identity.Viewer, in ComparisonByID) (learning.Comparison, run.Run, error) {
	none := fault.New(fault.NotFound, "There is no such comparison, or it is not yours.")
	r, err := s.Runs.Run(ctx, v, id.Canonical(in.RunID))
	if err != nil {
		return learning.Comparison{}, r, err
	}
	var asked struct {
		Artifact string `json:"artifact"`
		Input    struct {
			AdapterID string `json:"adapter_id"`
			Message   string `json:"message"`
		} `json:"input"`
	}
	if json.Unmarshal(r.Input, &asked) != nil || asked.Artifact != workflowCompare || asked.Input.AdapterID != in.ID || r.UserID != v.UserID {
		return learning.Comparison{}, r, none
	}
	return learning.Comparison{RunID: r.ID, AdapterID: in.ID, Question: asked.Input.Message}, r, nil
}

func (s *server) comparison(ctx context.Context, in *ComparisonByID) (Comparison, error) {
	v := viewerOf(ctx)
	c, r, err := s.compared(ctx, v, *in)
	if err != nil {
		return Comparison{}, err
	}
	out := Comparison{RunID: r.ID, Status: string(r.Status), Question: c.Question, ConversationID: c.ConversationID()}
	if e := runError(r); e != nil {
		out.Problem = e.Message
	}
	for which, to := range map[string]*Nullable[string]{learning.First: &out.First, learning.Second: &out.Second} {
		m, err := s.Messages.Message(ctx, v, c.AnswerID(which))
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return out, err
		}
		to.V = &m.Content
	}
	if out.Choice, err = s.choiceOf(ctx, v, r); err != nil || out.Choice == "" {
		return out, err
	}
	out.Told.V, err = s.reveal(ctx, v, c)
	return out, err
}

// choiceOf is what a person said of a comparison, whether or not its run has
// heard of it yet.
func (s *server) choiceOf(ctx context.Context, v identity.Viewer, r run.Run) (string, error) {
	list, err := s.Interrupts.RunInterrupts(ctx, v, r.ID)
	if err != nil {
		return "", err
	}
	for _, q := range list {
		var choice string
		switch {
		case q.Status == run.Answered && json.Unmarshal(q.Answer, &choice) == nil:
			return choice, nil
		case q.Status == run.Skipped, q.Status == run.Expired:
			return "neither", nil
		}
	}
	return "", nil
}

func (s *server) reveal(ctx context.Context, v identity.Viewer, c learning.Comparison) (*ComparisonReveal, error) {
	out := &ComparisonReveal{With: c.With(), Lessons: []FollowedLesson{}}
	m, err := s.Messages.Message(ctx, v, c.AnswerID(c.With()))
	if err != nil {
		return out, err
	}
	ids := idsIn(m.Meta, "lessons")
	if len(ids) == 0 {
		return out, nil
	}
	list, err := s.Lessons.ReadLessons(ctx, v, ids...)
	for _, l := range list {
		out.Lessons = append(out.Lessons, FollowedLesson{l.ID, l.Text})
	}
	return out, err
}

type chooseInput struct {
	ComparisonByID
	Body struct {
		Choice string `json:"choice" enum:"first,second,neither"`
	}
}

func (s *server) chooseAnswer(ctx context.Context, in *chooseInput) (Comparison, error) {
	v := viewerOf(ctx)
	_, r, err := s.compared(ctx, v, in.ComparisonByID)
	if err != nil {
		return Comparison{}, err
	}
	list, err := s.Interrupts.RunInterrupts(ctx, v, r.ID)
	if err != nil {
		return Comparison{}, err
	}
	i := slices.IndexFunc(list, func(q run.Interrupt) bool { return q.Status == run.Pending })
	if i < 0 {
		return Comparison{}, fault.New(fault.Conflict, "There is nothing to choose from: the comparison is %s.", r.Status).With(map[string]any{"status": r.Status})
	}
	if _, err := s.Engine.Answer(ctx, v, list[i].ID, run.Answer{Type: list[i].Type, Value: in.Body.Choice}); err != nil {
		return Comparison{}, err
	}
	return s.comparison(ctx, &in.ComparisonByID)
}
