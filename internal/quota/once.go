package quota

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/poll"
)

const (
	// Keep is how long a reply is replayed (API-05).
	Keep = 24 * time.Hour
	// lease is how long a claim outlives a process that died with it, unless the
	// next one has the store to itself and releases it at its start; while
	// the work goes on it is extended three times within it. When it lapses
	// under a process that lives, because the store was away, the work may be
	// done again: what these keys guard is started under their id, once.
	lease = 10 * time.Second
	// maxKey bounds an Idempotency-Key, in bytes.
	maxKey = 255
)

// Once does the work of an idempotency key once.
type Once struct {
	store  Store
	lease  time.Duration
	logger *slog.Logger
}

// NewOnce returns a Once over a store.
func NewOnce(s Store, l *slog.Logger) *Once { return &Once{store: s, lease: lease, logger: l} }

// Fingerprint identifies a request's body.
func Fingerprint(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Do calls work for a new key and keeps its reply for Keep; for a key with a
// reply it returns that one, with replayed true, and does not call work.
// While the first call still works the key is a Conflict (API-06). Work that
// fails leaves no trace: the key may be tried again. An empty key is no key.
func (o *Once) Do(ctx context.Context, v identity.Viewer, k Key, work func(context.Context) (Reply, error)) (r Reply, replayed bool, err error) {
	if k.Key == "" {
		r, err = work(ctx)
		return r, false, err
	}
	if len(k.Key) > maxKey {
		return Reply{}, false, fault.New(fault.Invalid, "The idempotency key is longer than %d bytes. Use a UUID.", maxKey)
	}
	k.Holder = id.New()
	kept, err := o.store.ClaimKey(ctx, v, k, o.lease)
	switch {
	case err != nil:
		return Reply{}, false, err
	case kept != nil:
		return *kept, true, nil
	}
	r, err = o.work(ctx, v, k, work)
	return r, false, err
}

// work runs with the claim extended, and settles it even when the caller has
// gone away.
func (o *Once) work(ctx context.Context, v identity.Viewer, k Key, work func(context.Context) (Reply, error)) (r Reply, err error) {
	stop := o.extend(ctx, v, k)
	done := false
	defer func() {
		stop()
		settle := context.WithoutCancel(ctx)
		if !done || err != nil { // a panic releases too
			o.settled(settle, k, o.store.ReleaseKey(settle, v, k))
			return
		}
		o.settled(settle, k, o.store.KeepReply(settle, v, k, r, Keep))
	}()
	r, err = work(ctx)
	done = true
	return r, err
}

// settled reports what could not be written. The work itself is done, so the
// person gets their answer; only a repeat would not be recognised.
func (o *Once) settled(ctx context.Context, k Key, err error) {
	if err != nil {
		o.logger.WarnContext(ctx, "idempotency key not settled", "route", k.Route, "error", err)
	}
}

// extend claims again and again until stop is called, which waits for it. It has
// the values of ctx and not its end.
func (o *Once) extend(ctx context.Context, v identity.Viewer, k Key) (stop func()) {
	return poll.Every(ctx, o.lease/3, func(ctx context.Context) {
		if _, err := o.store.ClaimKey(ctx, v, k, o.lease); err != nil && ctx.Err() == nil {
			o.logger.WarnContext(ctx, "idempotency key not extended", "route", k.Route, "error", err)
		}
	})
}
