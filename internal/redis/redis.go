// Package redis is the platform's hot state on one Redis that many processes
// share: the stream log of runs, the ledger of what people have spent, a
// cache, and what the workers know of the tools.
//
// Losing all of it loses no durable state (DATA-13). It implements stream.Log,
// quota.Ledger, cache.Cache, tool.Breakers and tool.Decodes; it may import
// those ports and go-redis, which nothing else may.
package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options of a Memory; the zero value is the defaults.
type Options struct {
	// Prefix is put before every key and channel. Empty: "liminal:".
	Prefix string
	// RunBytes bounds what is kept of one run; the oldest events go first. 0: 8 MiB.
	RunBytes int
	// Idle is how long a run that has not finished is remembered without an
	// event or a reader. 0: one hour.
	Idle time.Duration
	// Patience is how long a call goes on trying while Redis does not answer,
	// counted from when it was last heard. 0: five seconds.
	Patience time.Duration
	// Answer is how long Redis may take to answer one call. 0: two seconds.
	Answer time.Duration
	// Followers is how long those who follow a run go on trying. 0: a minute.
	Followers time.Duration
	// Lease is how long a place outlives the process that took it. Until then
	// a person whose answers it was giving gets no other. 0: three seconds.
	Lease  time.Duration
	Logger *slog.Logger // nil: silent
}

func (o Options) filled() Options {
	fill := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	fill(&o.Idle, time.Hour)
	fill(&o.Patience, 5*time.Second)
	fill(&o.Answer, 2*time.Second)
	fill(&o.Followers, time.Minute)
	fill(&o.Lease, 3*time.Second)
	if o.Prefix == "" {
		o.Prefix = "liminal:"
	}
	if o.RunBytes <= 0 {
		o.RunBytes = 8 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Memory is hot state on one Redis. It is safe for concurrent use. It keeps a
// pool of connections for commands and one connection that hears what other
// processes publish.
type Memory struct {
	o      Options
	client *redis.Client
	outage outage
	topics *topics
	leases *leases

	stop context.CancelFunc
	done sync.WaitGroup
}

// Open reaches the Redis of a connection string. It fails when that does not
// answer now; later it may come and go.
func Open(ctx context.Context, url string, o Options) (*Memory, error) {
	o = o.filled()
	client, err := connect(ctx, url, o.Answer)
	if err != nil {
		return nil, err
	}
	m := &Memory{o: o, client: client}
	m.outage.patience = m.o.Patience
	m.topics = newTopics(client, m.o.Logger)
	m.leases = newLeases(m)
	redis.SetLogger(driverLog{m.o.Logger})
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	m.done.Go(func() { m.topics.listen(background) })
	m.done.Go(func() { m.leases.renew(background) })
	return m, nil
}

// Close ends every follower and gives the connections back. Places that are
// held still end with their leases.
func (m *Memory) Close() error {
	m.stop()
	m.done.Wait()
	m.topics.close()
	return m.client.Close()
}

// Ping asks whether Redis answers now.
func (m *Memory) Ping(ctx context.Context) error {
	err := m.client.Ping(ctx).Err()
	m.outage.saw(err)
	return err
}

func connect(ctx context.Context, url string, answer time.Duration) (*redis.Client, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("the connection string of Redis cannot be read")
	}
	o.ContextTimeoutEnabled = true // otherwise a deadline does not end a read
	o.MaxRetries = -1              // an append must know that it is repeated; see outage
	o.DialerRetries = 1
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = answer, answer, answer
	if err := dial(ctx, o); err != nil {
		return nil, fmt.Errorf("Redis on %s cannot be reached: %w", o.Addr, err)
	}
	client := redis.NewClient(o)
	if err := usable(ctx, client); err != nil {
		_ = client.Close() // nothing to lose
		return nil, fmt.Errorf("Redis on %s %w", o.Addr, err)
	}
	return client, nil
}

// usable refuses a server that does not answer, or that says it is too old.
func usable(ctx context.Context, client *redis.Client) error {
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("does not answer PING: %w", err)
	}
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return nil // managed servers often forbid INFO
	}
	if version := field(info, "redis_version"); tooOld(version) {
		return fmt.Errorf("is version %s; use %s or later", version, oldest)
	}
	return nil
}

// oldest is the first version with all we use: GETDEL and XTRIM MINID.
const oldest = "6.2"

func tooOld(version string) bool {
	var have, need [2]int
	if _, err := fmt.Sscanf(oldest, "%d.%d", &need[0], &need[1]); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(version, "%d.%d", &have[0], &have[1]); err != nil {
		return false // it does not say
	}
	return slices.Compare(have[:], need[:]) < 0
}

// key names something: namespaced, so that one Redis may serve others too
// (DATA-10).
func (m *Memory) key(name string) string { return m.o.Prefix + name }

// again calls f until it succeeds, Redis itself answers with an error, ctx
// ends, or patience does.
func (m *Memory) again(ctx context.Context, f func() error) error {
	if m.outage.hopeless() {
		return errAway
	}
	wait := 10 * time.Millisecond
	for {
		err := f()
		if !m.outage.saw(err) || !m.outage.bearable(wait) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
		wait = min(2*wait, 250*time.Millisecond)
	}
}

// once does f, for what must not be done twice, or need not.
func (m *Memory) once(f func() error) error {
	if m.outage.hopeless() {
		return errAway
	}
	err := f()
	m.outage.saw(err)
	return err
}

// silent is the error of a script that answers nothing.
func silent(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// driverLog hands the lines of go-redis, which knows one log a program, to
// ours: they repeat what the errors say that calls return.
type driverLog struct{ log *slog.Logger }

func (d driverLog) Printf(ctx context.Context, format string, v ...any) {
	d.log.DebugContext(ctx, "redis: "+fmt.Sprintf(format, v...))
}
