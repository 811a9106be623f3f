package runkey

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"

	"liminal/internal/id"
	"liminal/internal/stream"
	"liminal/internal/vault"
)

// Log seals the events of runs of which nothing is kept, where a log outlives the
// process: what Redis writes to its disk stays there until it is written anew.
type Log struct {
	stream.Log
	keys *Ring[*vault.Vault]
}

// NewLog is log, whose events are sealed with the keys of store.
func NewLog(log stream.Log, store Store) *Log {
	return &Log{log, NewRing(store, func(_ string, secret []byte) (*vault.Vault, error) {
		return vault.New(secret, "events of a run")
	})}
}

// sealedData is the data of an event that was sealed.
type sealedData struct {
	Sealed string `json:"$sealed"`
}

// Append implements stream.Log. What a run says whose key is gone nobody may read:
// the event is kept without it.
func (l *Log) Append(ctx context.Context, run string, events ...stream.Event) (int64, error) {
	if !id.Unkept(run) {
		return l.Log.Append(ctx, run, events...)
	}
	key, err := l.keys.Key(ctx, run)
	if err != nil && !errors.Is(err, ErrForgotten) {
		return 0, err
	}
	sealed := make([]stream.Event, len(events))
	for i, e := range events {
		var data sealedData
		if err == nil {
			data.Sealed = base64.StdEncoding.EncodeToString(key.Seal(run, string(e.Data)))
		}
		e.Data, _ = json.Marshal(data) // of a string
		sealed[i] = e
	}
	return l.Log.Append(ctx, run, sealed...)
}

// Follow implements stream.Log. It ends where events cannot be read any more: the
// run has ended, and what is left of it the store tells.
func (l *Log) Follow(ctx context.Context, run string, after int64) iter.Seq2[stream.Event, error] {
	if !id.Unkept(run) {
		return l.Log.Follow(ctx, run, after)
	}
	return func(yield func(stream.Event, error) bool) {
		for e, err := range l.Log.Follow(ctx, run, after) {
			if err == nil {
				e, err = l.open(ctx, run, e)
			}
			if errors.Is(err, ErrForgotten) {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (l *Log) open(ctx context.Context, run string, e stream.Event) (stream.Event, error) {
	var data sealedData
	if json.Unmarshal(e.Data, &data) != nil || data.Sealed == "" {
		return e, nil // the log's own, such as that of a gap
	}
	key, err := l.keys.Key(ctx, run)
	if err != nil {
		return e, err
	}
	raw, err := base64.StdEncoding.DecodeString(data.Sealed)
	if err != nil {
		return e, vault.ErrForeign
	}
	text, err := key.Open(run, raw)
	e.Data = json.RawMessage(text)
	return e, err
}

// Last is the Seq of a run's newest event, of a log that tells it; 0 else.
func (l *Log) Last(ctx context.Context, run string) int64 {
	if of, tells := l.Log.(interface {
		Last(ctx context.Context, run string) int64
	}); tells {
		return of.Last(ctx, run)
	}
	return 0
}
