package api

import (
	"context"
	"time"

	"liminal/internal/learning"
	"liminal/internal/quota"
)

func (s *server) preferenceRoutes() {
	add(s, route("POST /v1/preferences", "createPreference", "Say what I think of an answer"), s.createPreference)
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
	notes, _ := e.Meta["notes"].(string)
	return Preference{
		ID: e.ID, ConversationID: e.ConversationID, MessageID: e.MessageID, Signal: e.Signal, Score: e.Score,
		Notes: notes, Corrected: e.Corrected, CreatedAt: e.CreatedAt.UTC(),
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
		if err := s.Limits.Spend(ctx, quota.PlanOf(v.Plan).Chat, v.UserID); err != nil {
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
