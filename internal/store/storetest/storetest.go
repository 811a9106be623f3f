// Package storetest is what every store, stream log and ledger must do,
// whatever it is built on: suites that an adapter's tests call.
//
// Suites write from many goroutines at once wherever a race could be: a
// database with one writer hides what another shows. It may import the nouns,
// store and testing; only tests import it.
package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// Backend is one fresh store.
type Backend struct {
	Store *store.Store
	Index knowledge.Index
}

// Open makes a fresh, migrated, empty store that lives as long as the test.
type Open func(t testing.TB, o store.Options) Backend

var system = identity.System()

// writers is how many goroutines race for one thing.
const writers = 50

// person is a new account.
func person(t testing.TB, s *store.Store) identity.Viewer {
	t.Helper()
	u, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Role: identity.RoleUser, Active: true},
		identity.Credential{Hash: "hash", Algorithm: "argon2id"})
	need(t, err)
	v := u.Viewer(id.New())
	v.Role = identity.RoleUser // also the first one, whom the store makes an administrator
	return v
}

// administrator is a new account that may write what is global.
func administrator(t testing.TB, s *store.Store) identity.Viewer {
	t.Helper()
	v := person(t, s)
	v.Role = identity.RoleAdmin
	return v
}

func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// got is need for a value: got(s.Run(…))(t).
func got[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		need(t, err)
		return value
	}
}

func wantFault(t testing.TB, err error, code fault.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("got %v, want a fault %q", err, code)
	}
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// race runs f n times at once and returns the errors in order.
func race(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// winners counts the calls that succeeded; all others must have failed with code.
func winners(t testing.TB, errs []error, code fault.Code) int {
	t.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantFault(t, err, code)
	}
	return won
}

// clock is a time that moves when told.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock {
	return &clock{at: time.Date(2026, 5, 4, 12, 0, 0, 123456000, time.UTC)}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
