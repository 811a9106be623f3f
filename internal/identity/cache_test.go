package identity

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"liminal/internal/cache"
)

// memCache is a cache by a clock that moves when told. Broken, it answers
// nothing but errors.
type memCache struct {
	mu     sync.Mutex
	now    func() time.Time
	items  map[string]memItem
	broken bool
}

type memItem struct {
	value string
	until time.Time
}

var _ cache.Cache = (*memCache)(nil)

func newMemCache(now func() time.Time) *memCache {
	return &memCache{now: now, items: map[string]memItem{}}
}

var errBroken = errors.New("the cache is away")

func (s *memCache) find(key string) (memItem, bool, error) {
	i, ok := s.items[key]
	switch {
	case s.broken:
		return memItem{}, false, errBroken
	case ok && !s.now().Before(i.until):
		delete(s.items, key)
		return memItem{}, false, nil
	}
	return i, ok, nil
}

func (s *memCache) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok, err := s.find(key)
	return []byte(i.value), ok, err
}

func (s *memCache) Set(_ context.Context, key string, value []byte, ttl time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return errBroken
	}
	s.items[key] = memItem{string(value), s.now().Add(ttl)}
	return nil
}

func (s *memCache) Add(_ context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok, err := s.find(key)
	if err == nil && !ok {
		s.items[key] = memItem{string(value), s.now().Add(ttl)}
	}
	return err == nil && !ok, err
}

func (s *memCache) Take(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok, err := s.find(key)
	delete(s.items, key)
	return []byte(i.value), ok, err
}

func (s *memCache) Delete(_ context.Context, keys ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		delete(s.items, k)
	}
	return nil
}

func (s *memCache) Count(_ context.Context, key string, ttl time.Duration) (int64, error) {
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
func (s *memCache) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.items)
}

func (s *memCache) fail(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = is
}

// all is everything the cache holds, for looking for secrets.
func (s *memCache) all() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, i := range s.items {
		text += k + " " + i.value + "\n"
	}
	return text
}
