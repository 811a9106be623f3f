package redis

import (
	"context"
	"fmt"
	"iter"
	"time"

	"liminal/internal/stream"
)

// look is how often a follower that hears nothing reads the log all the same:
// so it notices a loss, and the run of a reader does not count as idle.
const look = 10 * time.Second

// Follow implements stream.Log. While Redis is away it waits for it, for
// Options.Followers, and goes on where it was.
func (l *Log) Follow(ctx context.Context, run string, after int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		topic, leave := l.m.topics.join(l.keys(run)[0])
		defer leave()
		f := follower{log: l, run: run, topic: topic, after: after, yield: yield}
		f.follow(ctx)
	}
}

// follower is one reader's place in a run.
type follower struct {
	log   *Log
	run   string
	topic *topic
	yield func(stream.Event, error) bool

	after int64
	base  int64 // which life of the log after belongs to
	seen  *news
}

// follow reads what there is, then what arrives, and reads again when it may
// have missed something.
func (f *follower) follow(ctx context.Context) {
	for {
		f.seen = f.topic.latest.Load()
		if !f.read(ctx) {
			return
		}
		for again := false; !again; {
			var on bool
			if again, on = f.hear(ctx); !on {
				return
			}
		}
	}
}

// hear waits for news and hands it on. again says that the log must be read;
// on is false when the follower is done.
func (f *follower) hear(ctx context.Context) (again, on bool) {
	timer := time.NewTimer(f.log.every())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, false
	case <-timer.C:
		return true, true
	case <-f.seen.next:
	}
	f.seen = f.topic.latest.Load()
	b, ok := f.seen.read()
	switch {
	case f.log.m.topics.isClosed():
		return false, false
	case !ok, b.base != f.base, b.before > f.after:
		return true, true
	case b.before < f.after && b.last > f.after: // half of it was read
		return true, true
	case b.before == f.after && !f.hand(ctx, b.events):
		return false, false
	}
	return false, !b.finished
}

// every is how often to look: well within the time a run may be idle.
func (l *Log) every() time.Duration { return min(look, l.m.o.Idle/3) }

// read hands on everything the log has; false: the follower is done.
func (f *follower) read(ctx context.Context) bool {
	for {
		p, err := f.page(ctx)
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			f.yield(stream.Event{}, fmt.Errorf("redis: follow run %s: %w", f.run, err))
			return false
		case f.another(p):
			if !f.hand(ctx, []stream.Event{stream.Gap(p.base, time.Now())}) {
				return false
			}
			f.base = p.base
			continue
		case p.gap && !f.hand(ctx, []stream.Event{stream.Gap(p.at, time.Now())}):
			return false
		}
		f.after, f.base = p.at, p.base
		if !f.hand(ctx, merged(p.events)) {
			return false
		}
		if len(p.events) < pageSize {
			return !p.finished
		}
	}
}

// another reports whether the log is not the one the reader's place is of: it
// was lost, and has perhaps begun anew. The numbers alone do not say so when a
// clock was set back.
func (f *follower) another(p page) bool {
	if f.base == 0 {
		return !p.known && f.after != 0
	}
	return p.base != f.base
}

// page reads the next page. It leaves when ctx ends, whatever Redis does.
func (f *follower) page(ctx context.Context) (page, error) {
	type result struct {
		page page
		err  error
	}
	done := make(chan result, 1)
	go func() {
		p, err := f.patient(ctx)
		done <- result{p, err}
	}()
	select {
	case r := <-done:
		return r.page, r.err
	case <-ctx.Done():
		return page{}, ctx.Err()
	}
}

// patient reads a page, and tries again while Redis is away.
func (f *follower) patient(ctx context.Context) (p page, err error) {
	began, wait := time.Now(), 20*time.Millisecond
	for {
		if p, err = f.log.page(ctx, f.run, f.after); !f.log.m.outage.saw(err) || time.Since(began) > f.log.m.o.Followers {
			return p, err
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, time.Second)
	}
}

func (l *Log) page(ctx context.Context, run string, after int64) (page, error) {
	reply, err := readScript.Run(ctx, l.m.client, l.keys(run), after, pageSize, l.m.o.Idle.Milliseconds()).Slice()
	if err != nil {
		return page{}, err
	}
	return decodedPage(reply)
}

// hand yields events; false: nobody wants more.
func (f *follower) hand(ctx context.Context, events []stream.Event) bool {
	for _, e := range events {
		if ctx.Err() != nil || !f.yield(e, nil) {
			return false
		}
		f.after = e.Seq
	}
	return true
}
