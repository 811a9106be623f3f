package api

import (
	"context"
	"time"

	"liminal/internal/learning"
	"liminal/internal/quota"
)

func (s *server) preferenceRoutes() {
	add(s, route("POST /v1/preferences", "createPreference", "Say what I think of an answer", scopeChat, scopeWrite), s.createPreference)
	add(s, route("DELETE /v1/preferences/{id}", "deletePreference", "Take back what I said of an answer", scopeChat, scopeWrite), s.deletePreference)
}

// NewPreference is feedback on one answer (API-14).
type NewPreference struct {
	ConversationID string `json:"conversation_id" format:"uuid"`
	MessageID      string `json:"message_id" format:"uuid" doc:"of the answer"`
	Signal         string `json:"signal" enum:"like,dislike,always,never"`
	Notes          string `json:"notes,omitempty" maxLength:"4096"`
	Corrected      string `json:"corrected_text,omitempty" doc:"what the answer should have been"`
}

// Preference is feedback as it was kept.
type Preference struct {
	ID             int64     `json:"id"`
	ConversationID string    `json:"conversation_id" format:"uuid"`
	MessageID      string    `json:"message_id" format:"uuid"`
	Signal         string    `json:"signal"`
	Score          float64   `json:"score" doc:"from -1 to 1"`
	Notes          string    `json:"notes"`
	Corrected      string    `json:"corrected_text,omitempty"`
	CreatedAt      time.Time `json:"created_at"`
}

func preferenceView(e learning.Event) Preference {
	return Preference{
		ID: e.ID, ConversationID: e.ConversationID, MessageID: e.MessageID, Signal: e.Signal, Score: e.Score,
		Notes: e.Notes(), Corrected: e.Corrected, CreatedAt: e.CreatedAt.UTC(),
	}
}

// OnePreference is the data of a single preference.
type OnePreference struct {
	Preference Preference `json:"preference"`
}

type createPreferenceInput struct {
	Key  string `header:"Idempotency-Key"`
	Body NewPreference
}

func (s *server) createPreference(ctx context.Context, in *createPreferenceInput) (OnePreference, error) {
	b, v := in.Body, viewerOf(ctx)
	kept, _, err := once(ctx, s, quota.Key{Route: "POST /v1/preferences", Key: in.Key}, b, func(ctx context.Context) (OnePreference, error) {
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return OnePreference{}, err
		}
		e, err := s.Preferences.Record(ctx, v, learning.Feedback{
			ConversationID: b.ConversationID, MessageID: b.MessageID, Signal: b.Signal, Notes: b.Notes, Corrected: b.Corrected,
		})
		if err == nil {
			s.Metrics.Preference(e.Signal)
		}
		return OnePreference{preferenceView(e)}, err
	})
	return kept, err
}

// Feedback is what a person thinks of an answer: the latest they said of it.
type Feedback struct {
	ID        int64  `json:"id" doc:"for taking it back"`
	Signal    string `json:"signal" enum:"like,dislike,always,never"`
	Notes     string `json:"notes"`
	Corrected string `json:"corrected_text" doc:"what the answer should have been; empty: nothing said"`
}

func feedbackView(e learning.Event) Nullable[Feedback] {
	return Nullable[Feedback]{&Feedback{ID: e.ID, Signal: e.Signal, Notes: e.Notes(), Corrected: e.Corrected}}
}

// rated adds to messages what the viewer thinks of the answers among them.
func (s *server) rated(ctx context.Context, list []Message) error {
	var answers []string
	for _, m := range list {
		if m.Role == "assistant" {
			answers = append(answers, m.ID)
		}
	}
	if len(answers) == 0 {
		return nil
	}
	latest, err := s.Preferences.Latest(ctx, viewerOf(ctx), answers...)
	for i, m := range list {
		if e, said := latest[m.ID]; said {
			list[i].Feedback = feedbackView(e)
		}
	}
	return err
}

type deletePreferenceInput struct {
	ID        int64  `path:"id" minimum:"1"`
	MessageID string `query:"message_id" format:"uuid" doc:"the answer it is about; with it, feedback on another one is not found"`
	Earlier   bool   `query:"earlier" doc:"also what I had said of the same message before, so that nothing of mine stands there"`
}

// TakenBack is what stands of the answer now.
type TakenBack struct {
	Feedback Nullable[Feedback] `json:"feedback"`
}

func (s *server) deletePreference(ctx context.Context, in *deletePreferenceInput) (TakenBack, error) {
	stands, err := s.Preferences.TakeBack(ctx, viewerOf(ctx), learning.Retraction{ID: in.ID, MessageID: in.MessageID, Earlier: in.Earlier})
	if err != nil || stands == nil {
		return TakenBack{}, err
	}
	return TakenBack{feedbackView(*stands)}, nil
}
