package identity

import (
	"context"
	"time"
)

// noCache is a cache that loses everything at once, which a cache may: every
// request reads its session from the store, and tickets find nobody.
type noCache struct{}

func (noCache) Get(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

func (noCache) Set(context.Context, string, []byte, time.Duration) error { return nil }

func (noCache) Add(context.Context, string, []byte, time.Duration) (bool, error) { return true, nil }

func (noCache) Take(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

func (noCache) Delete(context.Context, ...string) error { return nil }

func (noCache) Count(context.Context, string, time.Duration) (int64, error) { return 1, nil }
