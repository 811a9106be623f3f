package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Report is what a server said about itself.
type Report struct {
	Server string // its version, as in "7.2.4"; empty when it keeps that to itself
}

// Probe connects to the server of a connection string and asks it for a
// PING and its version. An error says in one sentence what did not answer; it
// never holds the password.
func Probe(ctx context.Context, url string) (Report, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return Report{}, errors.New("the connection string of Redis cannot be read")
	}
	o.ContextTimeoutEnabled = true // otherwise ctx does not end a blocked read
	o.MaxRetries = -1
	if err := dial(ctx, o); err != nil {
		return Report{}, fmt.Errorf("Redis on %s cannot be reached: %w", o.Addr, err)
	}
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }() // nothing to lose
	if err := c.Ping(ctx).Err(); err != nil {
		return Report{}, fmt.Errorf("Redis on %s does not answer PING: %w", o.Addr, err)
	}
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		return Report{}, nil // managed servers often forbid INFO; PING is enough
	}
	return Report{Server: field(info, "redis_version")}, nil
}

// dial connects once before the client does: the client would try five times
// and write each failure to standard error.
func dial(ctx context.Context, o *redis.Options) error {
	conn, err := redis.NewDialer(o)(ctx, o.Network, o.Addr)
	if err == nil {
		return conn.Close()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// field finds one line of INFO's answer.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
