package identity

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"liminal/internal/cache"
)

// shelf is a cache by a clock that moves when told. Broken, it answers
// nothing but errors.
type shelf struct {
	mu     sync.Mutex
	now    func() time.Time
	items  map[string]shelved
	broken bool
}

type shelved struct {
	value string
	until time.Time
}

var _ cache.Cache = (*shelf)(nil)

func newShelf(now func() time.Time) *shelf { return &shelf{now: now, items: map[string]shelved{}} }

var errBroken = errors.New("the cache is away")

func (s *shelf) find(key string) (shelved, bool, error) {
	i, ok := s.items[key]
	switch {
	case s.broken:
		return shelved{}, false, errBroken
	case ok && !s.now().Before(i.until):
		delete(s.items, key)
		return shelved{}, false, nil
	}
	return i, ok, nil
}

func (s *shelf) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok, err := s.find(key)
	return []byte(i.value), ok, err
}

func (s *shelf) Set(_ context.Context, key string, value []byte, ttl time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return errBroken
	}
	s.items[key] = shelved{string(value), s.now().Add(ttl)}
	return nil
}

func (s *shelf) Add(_ context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok, err := s.find(key)
	if err == nil && !ok {
		s.items[key] = shelved{string(value), s.now().Add(ttl)}
	}
	return err == nil && !ok, err
}

func (s *shelf) Take(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok, err := s.find(key)
	delete(s.items, key)
	return []byte(i.value), ok, err
}

func (s *shelf) Delete(_ context.Context, keys ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		delete(s.items, k)
	}
	return nil
}

func (s *shelf) Count(_ context.Context, key string, ttl time.Duration) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok, err := s.find(key)
	if err != nil {
		return 0, err
	}
	if !ok {
		i.until = s.now().Add(ttl)
	}
	n, _ := strconv.ParseInt(i.value, 10, 64)
	i.value = strconv.FormatInt(n+1, 10)
	s.items[key] = i
	return n + 1, nil
}

// lose forgets everything, as a flush does.
func (s *shelf) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.items)
}

func (s *shelf) fail(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = is
}

// all is everything the shelf holds, for looking for secrets.
func (s *shelf) all() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, i := range s.items {
		text += k + " " + i.value + "\n"
	}
	return text
}
