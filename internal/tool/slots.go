package tool

import (
	"context"
	"sync"
)

// Decodes bounds how many model answers one person has under way. Enter waits
// for its turn or until ctx ends.
type Decodes interface {
	Enter(ctx context.Context, userID string) (leave func(), err error)
}

// MaxDecodes is how many model answers one person may have under way at once
// (001 §18).
const MaxDecodes = 2

// Slots is Decodes within one process.
type Slots struct {
	mu    sync.Mutex
	each  int
	users map[string]*seats
}

// seats are one person's; they are forgotten when nobody sits or waits.
type seats struct {
	free  chan struct{} // holds one value a free seat
	users int
}

// NewSlots gives each person so many seats.
func NewSlots(each int) *Slots {
	return &Slots{each: max(1, each), users: map[string]*seats{}}
}

// Enter takes a seat of the person's.
func (s *Slots) Enter(ctx context.Context, userID string) (func(), error) {
	mine := s.join(userID)
	select {
	case <-mine.free:
		return sync.OnceFunc(func() {
			mine.free <- struct{}{}
			s.part(userID)
		}), nil
	case <-ctx.Done():
		s.part(userID)
		return nil, ctx.Err()
	}
}

func (s *Slots) join(userID string) *seats {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, ok := s.users[userID]
	if !ok {
		mine = &seats{free: make(chan struct{}, s.each)}
		for range s.each {
			mine.free <- struct{}{}
		}
		s.users[userID] = mine
	}
	mine.users++
	return mine
}

func (s *Slots) part(userID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine := s.users[userID]; mine != nil {
		if mine.users--; mine.users == 0 {
			delete(s.users, userID)
		}
	}
}

var _ Decodes = (*Slots)(nil)
