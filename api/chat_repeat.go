package api

import (
	"context"
	"time"

	"liminal/internal/fault"
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
