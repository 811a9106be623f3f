// Package quota keeps people from asking too much or twice: rate limits over
// a ledger, idempotency keys over a store, budgets over a store of usage, and
// plans, whose numbers are data (plans.json), over a store of what was changed.
//
// It may import fault, id, identity and poll. It knows no HTTP and no database:
// Ledger, Store, UsageStore and PlanStore are its ports.
package quota

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// Ledger counts what is spent. It is hot state: losing it forgives, never
// blocks. Keys are opaque.
type Ledger interface {
	// Take spends one token of the bucket key, which refills at rate tokens per
	// second up to burst. Zero means taken; otherwise nothing was taken and the
	// answer is how long until a token is there.
	Take(ctx context.Context, key string, rate float64, burst int) (wait time.Duration, err error)
	// Acquire takes one of max places of key, atomically. When ok, release
	// gives it back; releasing twice is no error.
	Acquire(ctx context.Context, key string, max int) (release func(), ok bool, err error)
}

// Key names one use of an Idempotency-Key: the same viewer, route and key are
// the same request (API-05).
type Key struct {
	Route       string // "POST /v1/chat"
	Key         string // as the client sent it, 1 to 255 bytes
	Fingerprint string // of the request, hex; the same key with another is refused
	Holder      string // who works on it; the same holder may claim again to hold longer
}

// Reply is a response that is kept for a repeated key.
type Reply struct {
	Status int
	Body   []byte // JSON
}

// Store keeps claims and replies of idempotency keys, per viewer.
type Store interface {
	// ClaimKey makes k.Holder its holder for lease and returns no reply, when
	// the key is new, forgotten, its lease has passed, or is already held by
	// k.Holder. When the key has a reply that is still kept, it is returned.
	// Held by another: fault.Conflict (API-06). Known with another Route or
	// Fingerprint: fault.Invalid.
	ClaimKey(ctx context.Context, v identity.Viewer, k Key, lease time.Duration) (*Reply, error)
	// KeepReply stores the reply of a key k.Holder holds, for keep.
	KeepReply(ctx context.Context, v identity.Viewer, k Key, r Reply, keep time.Duration) error
	// ReleaseKey forgets a claim without a reply, so that the key may be tried
	// again; a key held by another is left alone.
	ReleaseKey(ctx context.Context, v identity.Viewer, k Key) error
}
