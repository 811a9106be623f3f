package redis

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	quiet      = 10 * time.Second // without a message before the connection is asked whether it lives
	reconnect  = 50 * time.Millisecond
	reconnects = 500 * time.Millisecond // the longest pause between two tries
)

// topics hears what is published, for everybody in this process over one
// connection: a connection for each of a thousand readers that wait would
// cost Redis and us a thousand of them.
type topics struct {
	client *redis.Client
	log    *slog.Logger

	mu      sync.Mutex
	heard   map[string]*topic
	closed  bool
	changed chan struct{} // holds one value when heard has changed
}

// topic is a channel somebody here listens to.
type topic struct {
	name    string
	readers int // under the lock of topics
	latest  atomic.Pointer[news]
}

// news is what was last published on a topic. Who is slower than the
// publishers misses some, and reads the log instead.
type news struct {
	payload string        // empty: something may have happened
	next    chan struct{} // closed when there is later news

	once  sync.Once
	batch batch
	err   error
}

func newTopics(client *redis.Client, log *slog.Logger) *topics {
	return &topics{client: client, log: log, heard: map[string]*topic{}, changed: make(chan struct{}, 1)}
}

// join listens to a topic until leave is called.
func (t *topics) join(name string) (mine *topic, leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine, ok := t.heard[name]
	if !ok {
		mine = &topic{name: name}
		mine.latest.Store(&news{next: make(chan struct{})})
		t.heard[name] = mine
		t.signal()
	}
	mine.readers++
	return mine, sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.readers--; mine.readers == 0 {
			delete(t.heard, name)
			t.signal()
		}
	})
}

func (t *topics) signal() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// publish hands news to those who listen here.
func (t *topics) publish(name, payload string) {
	t.mu.Lock()
	mine := t.heard[name]
	t.mu.Unlock()
	if mine != nil {
		last := mine.latest.Swap(&news{payload: payload, next: make(chan struct{})})
		close(last.next)
	}
}

// close wakes everybody for the last time.
func (t *topics) close() {
	t.mu.Lock()
	t.closed = true
	names := make([]string, 0, len(t.heard))
	for name := range t.heard {
		names = append(names, name)
	}
	t.mu.Unlock()
	for _, name := range names {
		t.publish(name, "")
	}
}

func (t *topics) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// listen hears until ctx ends, over one connection after another.
func (t *topics) listen(ctx context.Context) {
	for wait := reconnect; ctx.Err() == nil; wait = min(2*wait, reconnects) {
		began := time.Now()
		err := t.session(ctx)
		if ctx.Err() != nil {
			return
		}
		level := slog.LevelDebug
		if time.Since(began) > reconnects { // the first of an outage
			wait, level = reconnect, slog.LevelWarn
		}
		t.log.Log(ctx, level, "redis: the connection that hears of events ended; a new one follows", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// session hears over one connection until that fails.
func (t *topics) session(ctx context.Context) error {
	conn := t.client.Subscribe(ctx)
	ctx, cancel := context.WithCancel(ctx)
	var subscriber sync.WaitGroup
	defer subscriber.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends a blocked receive
	defer stop()
	subscriber.Go(func() {
		defer cancel()
		t.subscribe(ctx, conn)
	})
	return t.receive(ctx, conn)
}

// subscribe keeps the connection's channels the topics that are listened to.
func (t *topics) subscribe(ctx context.Context, conn *redis.PubSub) {
	have := map[string]bool{}
	for {
		join, leave := t.difference(have)
		if len(join) > 0 && conn.Subscribe(ctx, join...) != nil {
			return
		}
		if len(leave) > 0 && conn.Unsubscribe(ctx, leave...) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-t.changed:
		}
	}
}

// difference says what to join and to leave, and makes have the outcome.
func (t *topics) difference(have map[string]bool) (join, leave []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.heard {
		if !have[name] {
			join = append(join, name)
			have[name] = true
		}
	}
	for name := range have {
		if t.heard[name] == nil {
			leave = append(leave, name)
			delete(have, name)
		}
	}
	return join, leave
}

// receive hands on what arrives. A topic that has just been joined may have
// missed something: its listeners are told to look.
func (t *topics) receive(ctx context.Context, conn *redis.PubSub) error {
	asked := false
	for {
		message, err := conn.ReceiveTimeout(ctx, quiet)
		late, ok := errors.AsType[net.Error](err)
		switch {
		case ok && late.Timeout() && !asked:
			asked = true
			if err := conn.Ping(ctx); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		asked = false
		switch m := message.(type) {
		case *redis.Message:
			t.publish(m.Channel, m.Payload)
		case *redis.Subscription:
			if m.Kind == "subscribe" {
				t.publish(m.Channel, "")
			}
		default: // the answer to a ping
		}
	}
}
