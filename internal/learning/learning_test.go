package learning

import (
	"context"
	"errors"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// memStore is a Store of one message.
type memStore struct {
	target Target
	kept   []Event
}

func (s *memStore) Target(context.Context, identity.Viewer, string, string) (Target, error) {
	return s.target, nil
}

func (s *memStore) PutPreference(_ context.Context, _ identity.Viewer, e Event) (Event, error) {
	s.kept = append(s.kept, e)
	return e, nil
}

func (s *memStore) DropPreference(context.Context, identity.Viewer, Retraction) (Event, error) {
	return Event{}, fault.New(fault.NotFound, "There is no such feedback.")
}

func (s *memStore) LatestPreferences(context.Context, identity.Viewer, ...string) (map[string]Event, error) {
	return nil, nil
}

func (s *memStore) ListPreferences(context.Context, identity.Viewer, string, int) ([]Event, string, error) {
	return s.kept, "", nil
}

// Requirements: PREF-01
func TestEverySignalHasItsWeightAndAVector(t *testing.T) {
	t.Parallel()
	for signal, score := range map[string]float64{"like": 1, "always": 1, "dislike": -1, "never": -1} {
		s := &memStore{target: Target{Role: "assistant"}} // an answer nobody asked for has a vector all the same
		e, err := NewRecorder(s, embed.Hash{}).Record(t.Context(), identity.Viewer{}, Feedback{ConversationID: id.New(), MessageID: id.New(), Signal: signal})
		if err != nil || e.Score != score || len(e.Embedding) != embed.Dim || e.Meta["encoder"] != "hash-v1" {
			t.Errorf("%s: %+v, %v", signal, e, err)
		}
	}
	if got := strings.Join(Signals(), " "); got != "always dislike like never" {
		t.Errorf("signals = %s", got)
	}
}

func TestWhatAnAnswerWasToIsCutAtACharacter(t *testing.T) {
	t.Parallel()
	s := &memStore{target: Target{Role: "assistant", Question: "x" + strings.Repeat("ä", maxContext)}}
	e, err := NewRecorder(s, embed.Hash{}).Record(t.Context(), identity.Viewer{}, Feedback{ConversationID: id.New(), MessageID: id.New(), Signal: "like"})
	if err != nil || len(e.ContextText) > maxContext || !strings.HasSuffix(e.ContextText, "ä") {
		t.Errorf("%d bytes, %v", len(e.ContextText), err)
	}
}

// Requirements: PREF-07
func TestOnlyAnswersTakeFeedback(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"user", "system", "tool"} {
		s := &memStore{target: Target{Role: role}}
		_, err := NewRecorder(s, embed.Hash{}).Record(t.Context(), identity.Viewer{}, Feedback{ConversationID: id.New(), MessageID: id.New(), Signal: "like"})
		if !errors.Is(err, fault.Invalid) || len(s.kept) != 0 {
			t.Errorf("%s: %v, kept %v", role, err, s.kept)
		}
	}
}
