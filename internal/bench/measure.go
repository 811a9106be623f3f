package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/cputime"
)

// job does the measured thing once. n numbers the calls of one measurement,
// over all of its hands.
type job func(ctx context.Context, n int) error

// pace is how fast a job was, alone and with several at once, and what of the
// processors each took. Processor time is the steadiest figure there is on a
// machine that has other things to do.
type pace struct {
	alone           spread
	at16, at64      float64       // per second
	cpu, cpuCrowded time.Duration // of this process for one of them: alone, and with 16 at once
}

// spread is a distribution of durations.
type spread struct{ p50, p95, p99 time.Duration }

// alone runs a job count times, one after the other, after a warm-up, and gives
// the processor time of one of them too.
func alone(ctx context.Context, warm, count int, do job) (spread, time.Duration, error) {
	for n := range warm {
		if err := do(ctx, -1-n); err != nil {
			return spread{}, 0, err
		}
	}
	took := make([]time.Duration, count)
	used := cputime.Process()
	for n := range count {
		began := time.Now()
		if err := do(ctx, n); err != nil {
			return spread{}, 0, err
		}
		took[n] = time.Since(began)
	}
	return distribution(took), (cputime.Process() - used) / time.Duration(max(count, 1)), nil
}

// rate runs a job from so many hands for a while and returns how many were
// done per second, and the processor time of one. What was begun in time is
// finished, and counted with the time it took.
func rate(ctx context.Context, hands int, during time.Duration, do job) (float64, time.Duration, error) {
	var (
		next   atomic.Int64
		done   atomic.Int64
		errs   = make([]error, hands)
		group  sync.WaitGroup
		began  = time.Now()
		enough = began.Add(during)
		used   = cputime.Process()
	)
	for h := range hands {
		group.Go(func() {
			// Each hand does one: a machine that pauses first measures something too.
			for more := true; more; more = time.Now().Before(enough) {
				if errs[h] = do(ctx, int(next.Add(1))); errs[h] != nil {
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	each := (cputime.Process() - used) / time.Duration(max(done.Load(), 1))
	return float64(done.Load()) / time.Since(began).Seconds(), each, errors.Join(errs...)
}

// all runs a job count times from so many hands and returns how long it took.
func all(ctx context.Context, hands, count int, do job) (time.Duration, error) {
	var (
		next  atomic.Int64
		errs  = make([]error, hands)
		group sync.WaitGroup
		began = time.Now()
	)
	for h := range hands {
		group.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= count {
					return
				}
				if errs[h] = do(ctx, n); errs[h] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(began), errors.Join(errs...)
}

func distribution(took []time.Duration) spread {
	took = slices.Clone(took)
	slices.Sort(took)
	return spread{quantile(took, 0.50), quantile(took, 0.95), quantile(took, 0.99)}
}

// quantile of sorted durations, by the nearest rank.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// paceOf measures a job alone, then from 16 and from 64 hands.
func paceOf(ctx context.Context, s sizes, do job) (p pace, err error) {
	if p.alone, p.cpu, err = alone(ctx, s.warm, s.alone, do); err != nil {
		return p, err
	}
	// Each call keeps a number of its own over all three measurements.
	var last atomic.Int64
	last.Store(int64(s.alone))
	next := func(ctx context.Context, _ int) error { return do(ctx, int(last.Add(1))) }
	if p.at16, p.cpuCrowded, err = rate(ctx, 16, s.during, next); err != nil {
		return p, err
	}
	p.at64, _, err = rate(ctx, 64, s.during, next)
	return p, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
