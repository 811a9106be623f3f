// Package runkey is the keys of runs of which nothing is kept (GRND-47): what is
// written of such a run outside its rows, live events and histories, is sealed
// with its key, and cannot be read by anybody once the key is deleted.
//
// A run's id tells that it is one (id.Unkept), so of all others nothing is looked
// up. It may import fault, id, stream and vault.
package runkey

import (
	"context"
	"errors"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// Store has the keys.
type Store interface {
	// RunKey gives the key of a run, 32 bytes; NotFound once it is deleted.
	RunKey(ctx context.Context, runID string) ([]byte, error)
}

// ErrForgotten says that the key of a run is deleted.
var ErrForgotten = errors.New("nothing is kept of this run, and its time is over: what it said cannot be read any more")

// remembered is how long a process holds a key after it asked for it. Every piece
// of an answer is sealed, and asks for it; and a key that is deleted is gone from
// all processes so soon after.
const remembered = 5 * time.Second

// mostRemembered bounds the keys that are held.
const mostRemembered = 10_000

// Ring gives keys to those who seal and open. It is safe for concurrent use.
type Ring[K any] struct {
	store Store
	make  func(runID string, secret []byte) (K, error)

	mu   sync.Mutex
	held map[string]held[K]
}

type held[K any] struct {
	key   K
	until time.Time
}

// NewRing makes a ring whose keys are made of those of the store, for one use.
func NewRing[K any](store Store, from func(runID string, secret []byte) (K, error)) *Ring[K] {
	return &Ring[K]{store: store, make: from, held: map[string]held[K]{}}
}

// Key is the key of a run; ErrForgotten once it is deleted.
func (r *Ring[K]) Key(ctx context.Context, runID string) (key K, err error) {
	if r == nil || r.store == nil || !id.Unkept(runID) {
		return key, ErrForgotten
	}
	r.mu.Lock()
	h, known := r.held[runID]
	r.mu.Unlock()
	if known && time.Now().Before(h.until) {
		return h.key, nil
	}
	secret, err := r.store.RunKey(ctx, runID)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		r.drop(runID)
		return key, ErrForgotten
	case err != nil:
		return key, err
	}
	if key, err = r.make(runID, secret); err == nil {
		r.hold(runID, key)
	}
	return key, err
}

func (r *Ring[K]) drop(runID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, runID)
}

func (r *Ring[K]) hold(runID string, key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for other, h := range r.held { // few are held for longer than they are used
		if now.After(h.until) || len(r.held) >= mostRemembered {
			delete(r.held, other)
		}
	}
	r.held[runID] = held[K]{key, now.Add(remembered)}
}
