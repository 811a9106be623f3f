package redis

import (
	"context"
	"fmt"
	"time"

	"liminal/internal/tool"
)

// remembered is how long a tool that rests and is not called is remembered.
const remembered = time.Hour

// Breakers is the tool.Breakers of all workers (ISO-09): five failures trip a
// breaker wherever they happen, and one worker's probe closes it for all.
type Breakers struct{ m *Memory }

var _ tool.Breakers = (*Breakers)(nil)

// Breakers returns the breakers.
func (m *Memory) Breakers() *Breakers { return &Breakers{m} }

// Enter implements tool.Breakers. A probe whose worker died is given up after
// tool.CoolDown.
func (b *Breakers) Enter(ctx context.Context, name string) (leave func(tool.Verdict), rest time.Duration, err error) {
	keys := []string{b.m.key("cb:" + name)}
	var answer []int64
	err = b.m.once(func() (err error) {
		answer, err = enterScript.Run(ctx, b.m.client, keys, tool.CoolDown.Milliseconds(), remembered.Milliseconds()).Int64Slice()
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("redis: the breaker of %s: %w", name, err)
	}
	allowed, probe := answer[0] == 1, answer[1]
	if !allowed {
		return nil, time.Duration(answer[2]) * time.Millisecond, nil
	}
	return func(v tool.Verdict) {
		if probe == 0 && v != tool.Broken {
			return // nothing changes
		}
		b.leave(context.WithoutCancel(ctx), keys, probe, v)
	}, 0, nil
}

func (b *Breakers) leave(ctx context.Context, keys []string, probe int64, v tool.Verdict) {
	ctx, cancel := context.WithTimeout(ctx, b.m.o.Answer)
	defer cancel()
	err := b.m.once(func() error {
		return silent(leaveScript.Run(ctx, b.m.client, keys, string(v), probe, tool.BreakerTrips, tool.BreakerWindow.Milliseconds(),
			tool.CoolDown.Milliseconds(), remembered.Milliseconds()).Err())
	})
	if err != nil {
		b.m.o.Logger.WarnContext(ctx, "redis: how a tool fared was not recorded", "breaker", keys[0], "verdict", v, "error", err)
	}
}
