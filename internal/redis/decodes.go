package redis

import (
	"context"
	"time"

	"liminal/internal/tool"
)

// knock is how often who waits for a place asks again without being told of
// one: a process that died with its place does not say so.
const knock = time.Second

// Decodes is the tool.Decodes of all workers: so many answers a person over
// all of them. While Redis is away each process counts for itself, so that
// models go on answering.
type Decodes struct {
	m     *Memory
	each  int
	alone *tool.Slots
}

var _ tool.Decodes = (*Decodes)(nil)

// Decodes gives each person so many places.
func (m *Memory) Decodes(each int) *Decodes {
	each = max(1, each)
	return &Decodes{m: m, each: each, alone: tool.NewSlots(each)}
}

// Enter implements tool.Decodes.
func (d *Decodes) Enter(ctx context.Context, userID string) (leave func(), err error) {
	key := d.m.key("rl:decodes:" + userID)
	freed, part := d.m.topics.join(key)
	defer part()
	ask := time.NewTicker(knock)
	defer ask.Stop()
	for {
		seen := freed.latest.Load()
		release, ok, err := d.m.leases.acquire(ctx, key, d.each)
		switch {
		case ok:
			return release, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			d.m.o.Logger.WarnContext(ctx, "redis: the answers under way are counted in this process alone", "error", err)
			return d.alone.Enter(ctx, userID)
		}
		select {
		case <-seen.next:
		case <-ask.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
