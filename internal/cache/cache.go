// Package cache is what is kept for a short time and may be lost at any
// moment: mirrors of rows, one-time tickets, counters of failures.
//
// Whoever uses it goes on without it: a value that is gone is read again from
// the store, a ticket that is gone is asked for anew. Its implementations are
// internal/inproc, in process, and internal/redis. It imports the standard
// library only.
package cache

import (
	"context"
	"time"
)

// Cache keeps values under keys for a time. Keys are namespaced by the noun
// that owns them, as in "auth:session:{id}" (DATA-10); an implementation puts
// its own prefix before them. It is safe for concurrent use.
type Cache interface {
	// Get returns the value of a key; ok is false when there is none.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Set keeps value for ttl, over what was there.
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	// Add keeps value for ttl unless the key has one; added says whether it did.
	Add(ctx context.Context, key string, value []byte, ttl time.Duration) (added bool, err error)
	// Take is Get and Delete in one step: of several callers one gets the value.
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Delete forgets keys; unknown ones are no error.
	Delete(ctx context.Context, keys ...string) error
	// Count adds one to a counter and returns it. A counter begins at 1 and is
	// forgotten ttl after its first count.
	Count(ctx context.Context, key string, ttl time.Duration) (n int64, err error)
}
