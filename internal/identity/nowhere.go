package identity

import (
	"context"
	"time"
)

// nowhere is a cache that loses everything at once, which a cache may: every
// request reads its session from the store, and tickets find nobody.
type nowhere struct{}

func (nowhere) Get(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

func (nowhere) Set(context.Context, string, []byte, time.Duration) error { return nil }

func (nowhere) Add(context.Context, string, []byte, time.Duration) (bool, error) { return true, nil }

func (nowhere) Take(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

func (nowhere) Delete(context.Context, ...string) error { return nil }

func (nowhere) Count(context.Context, string, time.Duration) (int64, error) { return 1, nil }
