package api

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/quota"
	"liminal/internal/run"
)

func (s *server) learningRoutes() {
	add(s, route("GET /v1/learning", "learning", "What is learnt from what I say of answers, and what my answers follow of it", scopeRead), s.learning)
	add(s, route("PATCH /v1/learning", "changeLearning", "Change what may be learnt"), s.changeLearning)
	now := route("POST /v1/learning/run", "learnNow", "Learn now from what I said of answers")
	now.DefaultStatus = 202
	add(s, now, s.learnNow)
	add(s, route("POST /v1/learning/forget", "forgetLearnt", "Remove everything that is learnt from me, with all I said of answers"), s.forgetLearnt)
	add(s, route("PATCH /v1/learning/lessons/{id}", "changeLesson", "Reword a lesson, or switch it off or on"), s.changeLesson)
	add(s, route("DELETE /v1/learning/lessons/{id}", "deleteLesson", "Remove a lesson; it is not learnt again from what was said by then"), s.deleteLesson)
	add(s, route("PATCH /v1/learning/events/{id}", "changeLearningEvent", "Leave something I said of an answer out of what is learnt, or take it in again"), s.changeLearningEvent)
}

// LearningState is what is learnt of a person.
type LearningState struct {
	Mode       string                `json:"mode" enum:"off,text,full" doc:"off: nothing is learnt here; text: lessons; full: and weights of my adapters are trained"`
	Generative bool                  `json:"generative" doc:"a language model answers; without one only rules learn"`
	Settings   LearningSettings      `json:"settings"`
	Waiting    int                   `json:"waiting" doc:"what I said of answers and no run has read yet"`
	LastRun    Nullable[LearningRun] `json:"last_run" doc:"the latest run that learnt from me; null: none"`
	Adapters   []LearnedAdapter      `json:"adapters" doc:"of my own, made of what I said"`
	Lessons    []Lesson              `json:"lessons" doc:"oldest first"`
}

// LearningSettings are what a person allows.
type LearningSettings struct {
	Personal bool `json:"personal" doc:"my answers may follow what is learnt from me"`
	Shared   bool `json:"shared" doc:"situations of everybody may be found with what I said"`
	ByRule   bool `json:"by_rule" doc:"what passed its trial is applied at once; else I decide each time"`
}

// LearningRun is the run that learnt last.
type LearningRun struct {
	RunID  string    `json:"run_id" format:"uuid"`
	Status string    `json:"status" enum:"queued,running,waiting,done,failed,cancelled"`
	At     time.Time `json:"at" doc:"when it ended, or began"`
}

// Lesson is one sentence about how a person wants to be answered.
type Lesson struct {
	ID        string              `json:"id" format:"uuid"`
	Text      string              `json:"text"`
	Directive Nullable[Directive] `json:"directive" doc:"what a program does of it without a language model; null: nothing"`
	State     string              `json:"state" enum:"active,off,rejected" doc:"rejected: its trial found that answers get worse with it"`
	MadeBy    string              `json:"made_by" enum:"rule,model,person"`
	Strength  float64             `json:"strength" minimum:"0" maximum:"1"`
	AdapterID string              `json:"adapter_id" doc:"empty: none yet"`
	ClusterID string              `json:"cluster_id" doc:"the situation it is of; empty: all answers"`
	Followed  bool                `json:"followed" doc:"an adapter of mine that is in use lists it, and it is active"`
	Sources   []LearningEvent     `json:"sources" doc:"what I said that it was read out of, the latest first"`
}

// Directive is a lesson that a program can follow.
type Directive struct {
	Kind  string `json:"kind" doc:"length, list or language"`
	Value string `json:"value"`
}

// LearningEvent is something a person said of an answer.
type LearningEvent struct {
	EventID        int64     `json:"event_id"`
	Signal         string    `json:"signal" enum:"like,dislike,always,never"`
	Notes          string    `json:"notes"`
	Corrected      bool      `json:"corrected" doc:"I wrote what the answer should have been"`
	Question       string    `json:"question" doc:"the beginning of what I had asked"`
	ConversationID string    `json:"conversation_id" format:"uuid"`
	MessageID      string    `json:"message_id" format:"uuid" doc:"of the answer"`
	At             time.Time `json:"at"`
	Excluded       bool      `json:"excluded" doc:"nothing is learnt from it"`
}

// shownQuestion is how many characters of a question stand beside an event.
const shownQuestion = 200

func learningEventView(c learning.Case) LearningEvent {
	question := []rune(c.Question)
	return LearningEvent{
		EventID: c.ID, Signal: c.Signal, Notes: c.Notes(), Corrected: c.Corrected != "", Question: string(question[:min(len(question), shownQuestion)]),
		ConversationID: c.ConversationID, MessageID: c.MessageID, At: c.CreatedAt.UTC(), Excluded: c.Excluded,
	}
}

// lessonView is a lesson with those of its sources that are there, the latest
// first; listed says that an adapter in use has it.
func lessonView(l learning.Lesson, events map[int64]learning.Case, listed bool) Lesson {
	out := Lesson{
		ID: l.ID, Text: l.Text, State: string(l.State), MadeBy: l.MadeBy, Strength: l.Strength, AdapterID: l.AdapterID, ClusterID: l.ClusterID,
		Followed: listed && l.State == learning.LessonActive, Sources: []LearningEvent{},
	}
	if l.Directive != nil {
		out.Directive.V = &Directive{l.Directive.Kind, l.Directive.Value}
	}
	for i := len(l.Sources) - 1; i >= 0; i-- {
		if e, there := events[l.Sources[i]]; there {
			out.Sources = append(out.Sources, learningEventView(e))
		}
	}
	return out
}

func (s *server) learning(ctx context.Context, _ *struct{}) (LearningState, error) {
	v := viewerOf(ctx)
	allowed, err := s.Consents.LearningSettings(ctx, v)
	if err != nil {
		return LearningState{}, err
	}
	out := LearningState{Mode: "off", Generative: s.modelNow().Generative, Settings: LearningSettings(allowed)}
	if s.Learner != nil {
		out.Mode = "text"
		if s.Trainer != nil && s.Trainer.Possible() {
			out.Mode = "full"
		}
	}
	if out.Waiting, err = s.Consents.UnreadEvents(ctx, v); err != nil {
		return out, err
	}
	if out.LastRun, err = s.lastLearning(ctx, v); err != nil {
		return out, err
	}
	if out.Adapters, err = s.learnedAdapters(ctx, v); err != nil {
		return out, err
	}
	out.Lessons, err = s.lessons(ctx, v, s.inUse(allowed, out.Adapters))
	return out, err
}

func (s *server) lastLearning(ctx context.Context, v identity.Viewer) (n Nullable[LearningRun], err error) {
	list, _, err := s.Runs.ListRuns(ctx, v, run.Filter{Kind: run.KindCluster, Limit: 1})
	if err != nil || len(list) == 0 {
		return n, err
	}
	r := list[0]
	n.V = &LearningRun{RunID: r.ID, Status: string(r.Status), At: r.CreatedAt.UTC()}
	if !r.EndedAt.IsZero() {
		n.V.At = r.EndedAt.UTC()
	}
	return n, nil
}

// inUse are the lessons that answers of the viewer's follow.
func (s *server) inUse(allowed learning.Settings, list []LearnedAdapter) map[string]bool {
	listed := map[string]bool{}
	for _, a := range list {
		for _, id := range a.Lessons {
			listed[id] = listed[id] || allowed.Personal && s.Learner != nil && a.Status == "active"
		}
	}
	return listed
}

func (s *server) lessons(ctx context.Context, v identity.Viewer, listed map[string]bool) ([]Lesson, error) {
	list, err := s.Lessons.ListLessons(ctx, v)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, l := range list {
		ids = append(ids, l.Sources...)
	}
	events, err := s.Situations.Events(ctx, v, ids...)
	return each(list, func(l learning.Lesson) Lesson { return lessonView(l, events, listed[l.ID]) }), err
}

type changeLearningInput struct {
	Body struct {
		Personal *bool `json:"personal,omitempty"`
		Shared   *bool `json:"shared,omitempty"`
		ByRule   *bool `json:"by_rule,omitempty"`
	}
}

func (s *server) changeLearning(ctx context.Context, in *changeLearningInput) (LearningState, error) {
	v, b := viewerOf(ctx), in.Body
	n, err := s.Consents.LearningSettings(ctx, v)
	if err != nil {
		return LearningState{}, err
	}
	for field, value := range map[*bool]*bool{&n.Personal: b.Personal, &n.Shared: b.Shared, &n.ByRule: b.ByRule} {
		if value != nil {
			*field = *value
		}
	}
	if err := s.relearnt(ctx, s.Consents.PutLearningSettings(ctx, v, n)); err != nil {
		return LearningState{}, err
	}
	return s.learning(ctx, nil)
}

// relearnt tells that the viewer's answers may follow something else now, and
// passes on what came of the change: of one that failed, some may be done.
func (s *server) relearnt(ctx context.Context, err error) error {
	if s.LearningChanged != nil {
		s.LearningChanged(ctx, viewerOf(ctx).UserID)
	}
	return err
}

// LearningStarted names the run that learns.
type LearningStarted struct {
	RunID string `json:"run_id" format:"uuid"`
}

func (s *server) learnNow(ctx context.Context, _ *struct{}) (LearningStarted, error) {
	v := viewerOf(ctx)
	if s.Learner == nil {
		return LearningStarted{}, fault.New(fault.Forbidden, "Nothing is learnt here: the installation has it switched off (LIMINAL_LEARNING).")
	}
	allowed, err := s.Consents.LearningSettings(ctx, v)
	if err != nil {
		return LearningStarted{}, err
	}
	if !allowed.Personal {
		return LearningStarted{}, fault.New(fault.Forbidden, "Nothing is learnt from you: you have switched it off. Switch it on first.").With(map[string]any{"field": "personal"})
	}
	if err := s.Limits.Spend(ctx, quota.LearningRuns(), v.UserID); err != nil {
		return LearningStarted{}, err
	}
	r, err := s.Learner.Learn(ctx, v, s.Now())
	return LearningStarted{r.ID}, err
}

// Forgotten says how much is gone.
type Forgotten struct {
	Events int `json:"events" doc:"what I had said of answers"`
}

func (s *server) forgetLearnt(ctx context.Context, _ *struct{}) (Forgotten, error) {
	n, err := s.Consents.Forget(ctx, viewerOf(ctx))
	return Forgotten{n}, s.relearnt(ctx, err)
}

type changeLessonInput struct {
	ByID
	Body struct {
		Text  *string `json:"text,omitempty" doc:"one line of 1 to 160 characters"`
		State *string `json:"state,omitempty" enum:"active,off"`
	}
}

func (s *server) changeLesson(ctx context.Context, in *changeLessonInput) (Lesson, error) {
	change := learning.LessonChange{Text: in.Body.Text, State: (*learning.LessonState)(in.Body.State)}
	if change.Text != nil {
		change.Directive = lesson.Read(*change.Text)
	}
	l, err := s.Lessons.ChangeLesson(ctx, viewerOf(ctx), in.ID, change)
	if err = s.relearnt(ctx, err); err != nil {
		return Lesson{}, err
	}
	state, err := s.learning(ctx, nil)
	for _, view := range state.Lessons {
		if view.ID == l.ID {
			return view, nil
		}
	}
	return lessonView(l, nil, false), err
}

func (s *server) deleteLesson(ctx context.Context, in *ByID) (Nothing, error) {
	return Nothing{}, s.relearnt(ctx, s.Lessons.RemoveLesson(ctx, viewerOf(ctx), in.ID))
}

type changeEventInput struct {
	ID   int64 `path:"id" minimum:"1"`
	Body struct {
		Excluded bool `json:"excluded"`
	}
}

func (s *server) changeLearningEvent(ctx context.Context, in *changeEventInput) (Nothing, error) {
	return Nothing{}, s.relearnt(ctx, s.Situations.Exclude(ctx, viewerOf(ctx), in.ID, in.Body.Excluded))
}
