package tool

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Shares bounds what one process does at once for all people, and for each of
// them: work of one person never takes the places of another's. Places that
// become free go round by person. It is safe for concurrent use.
type Shares struct {
	each  int // places one person may have
	queue int // people's calls that may wait, each
	now   func() time.Time

	mu     sync.Mutex
	free   int
	people map[string]*sharer
	round  []string // people with somebody waiting, the next one first
}

// sharer is one person who has a place or waits for one.
type sharer struct {
	busy    int
	waiting []chan struct{}
	refused int           // calls sent away since the last place was given
	took    time.Duration // how long the last places were held, on the whole
}

// FullError is told to a call whose person's share is taken and whose line is
// full.
type FullError struct {
	After time.Duration // when it is likely to be its turn
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the person's share is taken; try again in %s", e.After)
}

// NewShares gives out so many places: to one person at most each of them. queue
// is how many calls of a person may wait for one; more are refused.
func NewShares(places, each, queue int) *Shares {
	return &Shares{each: max(1, each), queue: queue, now: time.Now, free: max(1, places), people: map[string]*sharer{}}
}

// Enter takes a place of the person's share, waiting for its turn until ctx
// ends. A *FullError says that too many wait already.
func (s *Shares) Enter(ctx context.Context, person string) (leave func(), err error) {
	turn, err := s.line(person)
	if err != nil {
		return nil, err
	}
	if turn != nil {
		select {
		case <-turn:
		case <-ctx.Done():
			if s.give(person, turn) {
				return nil, ctx.Err()
			}
		}
	}
	began := s.now()
	return sync.OnceFunc(func() { s.leave(person, s.now().Sub(began)) }), nil
}

// line takes a place, or stands in line for one.
func (s *Shares) line(person string) (turn chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.people[person]
	if p == nil {
		p = &sharer{}
		s.people[person] = p
	}
	switch {
	case s.free > 0 && p.busy < s.each && len(p.waiting) == 0:
		s.free--
		p.busy++
		p.refused = 0
		return nil, nil
	case len(p.waiting) >= s.queue:
		p.refused++
		defer s.forget(person, p)
		return nil, &FullError{After: p.turn(s.each)}
	}
	turn = make(chan struct{})
	p.waiting = append(p.waiting, turn)
	if !slices.Contains(s.round, person) {
		s.round = append(s.round, person)
	}
	return turn, nil
}

// How soon, and how late, a refused call comes back.
const (
	soonest = time.Second
	latest  = time.Minute
)

// turn is when the one refused last is likely to have its turn.
func (p *sharer) turn(each int) time.Duration {
	ahead := len(p.waiting) + p.refused
	return min(max(p.took*time.Duration(ahead)/time.Duration(each), soonest), latest)
}

// give takes back a place in line. It reports false when the turn had come in
// this moment: the place is the caller's, who leaves it.
func (s *Shares) give(person string, turn chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.people[person]
	at := slices.Index(p.waiting, turn)
	if at < 0 {
		return false
	}
	p.waiting = slices.Delete(p.waiting, at, at+1)
	if len(p.waiting) == 0 {
		s.round = slices.DeleteFunc(s.round, func(name string) bool { return name == person })
	}
	s.forget(person, p)
	return true
}

func (s *Shares) leave(person string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.people[person]
	p.busy--
	p.took = (p.took*3 + took) / 4
	s.free++
	s.next()
	s.forget(person, p)
}

// next gives free places to those whose turn it is.
func (s *Shares) next() {
	for i := 0; s.free > 0 && i < len(s.round); {
		person := s.round[i]
		p := s.people[person]
		if p.busy >= s.each {
			i++
			continue
		}
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		s.free--
		p.busy++
		p.refused = 0
		close(turn)
		s.round = slices.Delete(s.round, i, i+1)
		if len(p.waiting) > 0 {
			s.round = append(s.round, person)
		}
		i = 0
	}
}

// forget lets go of a person who has no place and waits for none.
func (s *Shares) forget(person string, p *sharer) {
	if p.busy == 0 && len(p.waiting) == 0 {
		delete(s.people, person)
	}
}
