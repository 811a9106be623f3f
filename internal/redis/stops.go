package redis

import (
	"context"
	"fmt"
)

// Stops carries the cancels of runs to all workers.
type Stops struct{ m *Memory }

// Stops returns them.
func (m *Memory) Stops() *Stops { return &Stops{m} }

// Announce tells every process that listens of a cancelled run. Who is away
// misses it.
func (s *Stops) Announce(ctx context.Context, runID string) error {
	ctx, cancel := context.WithTimeout(ctx, s.m.o.Answer)
	defer cancel()
	err := s.m.client.Publish(ctx, s.m.key("stops"), runID).Err()
	s.m.outage.saw(err)
	if err != nil {
		return fmt.Errorf("redis: announce a cancelled run: %w", err)
	}
	return nil
}

// Listen calls stop with the runs that are announced, one after the other, until
// ctx ends. It reconnects by itself.
func (s *Stops) Listen(ctx context.Context, stop func(runID string)) {
	conn := s.m.client.Subscribe(ctx, s.m.key("stops"))
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // which ends the channel
	for message := range conn.Channel() {
		stop(message.Payload)
	}
}
