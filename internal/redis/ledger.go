package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"liminal/internal/quota"
)

// Ledger is the quota.Ledger that all processes share, by the clock of the
// Redis server. When Redis is away its calls fail; nothing is spent then.
type Ledger struct{ m *Memory }

var _ quota.Ledger = (*Ledger)(nil)

// Ledger returns the ledger.
func (m *Memory) Ledger() *Ledger { return &Ledger{m} }

// Take implements quota.Ledger (SAFE-04). A token whose answer is lost on the
// way is spent: it is not taken twice by trying again.
func (l *Ledger) Take(ctx context.Context, key string, rate float64, burst int) (time.Duration, error) {
	var wait int64
	err := l.m.once(func() (err error) {
		wait, err = takeScript.Run(ctx, l.m.client, []string{l.m.key("rl:" + key)}, strconv.FormatFloat(rate, 'g', -1, 64), burst).Int64()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("redis: take from the bucket of %s: %w", key, err)
	}
	return time.Duration(wait) * time.Microsecond, nil
}

// Acquire implements quota.Ledger. The place is held until release, also over
// a loss of Redis; of a process that died it is free after Options.Lease.
func (l *Ledger) Acquire(ctx context.Context, key string, most int) (release func(), ok bool, err error) {
	return l.m.leases.acquire(ctx, l.m.key("rl:places:"+key), most)
}
