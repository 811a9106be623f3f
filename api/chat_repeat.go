package api

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// How long a stream that repeats another of the same moment waits until that one
// has its run, and between two looks at first.
const (
	mostAcceptance  = 5 * time.Second
	firstAcceptance = 10 * time.Millisecond
)

// beginStream is begin for who wants the run's events. Of two requests with one
// key that come at once the second finds the first still at work on its rows, for
// some milliseconds: it is given the same run then, and not sent away.
func (s *server) beginStream(ctx context.Context, in *chatInput) (ChatAnswer, error) {
	pause := firstAcceptance
	for began := time.Now(); ; pause = min(2*pause, time.Second) {
		answer, err := s.begin(ctx, in)
		if fault.Reason(err) != "running" || time.Since(began) > mostAcceptance {
			return answer, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ChatAnswer{}, err
		}
	}
}

// sameTurn refuses a key that was used for another turn: of another endpoint,
// whose keys are kept apart, or one whose first answer has been forgotten.
func (s *server) sameTurn(ctx context.Context, v identity.Viewer, a chat.Accepted, t chat.NewTurn) error {
	if a.Run.Kind != run.KindChat {
		return fault.New(fault.Invalid, "This idempotency key was used for another endpoint. Use a new key.")
	}
	var before chat.TurnInput
	if err := json.Unmarshal(a.Run.Input, &before); err != nil {
		return err
	}
	said, err := s.Messages.Message(ctx, v, a.MessageID)
	if err != nil {
		return err
	}
	if id.Unkept(a.Run.ID) {
		t.Fields = nil // they are sealed with the message, and go with it
	}
	fields := [2][]byte{}
	for i, f := range []map[string]any{before.Fields, t.Fields} {
		if fields[i], err = json.Marshal(f); err != nil {
			return err
		}
	}
	if said.Content != t.Message || before.Replaces != t.Replaces || before.History != t.HistoryDigest() || !bytes.Equal(fields[0], fields[1]) {
		return fault.New(fault.Invalid, "This idempotency key was used for another request. Use a new key.")
	}
	return nil
}
