package telemetry

import (
	"context"
	"strings"

	"liminal/internal/cache"
)

// Cache counts the reads of c by the noun that owns the key, so that a cache
// that misses too often is seen (OBS-05). Tickets and counters are not reads.
func (m *Metrics) Cache(c cache.Cache) cache.Cache {
	if m == nil {
		return c
	}
	return &countedCache{Cache: c, metrics: m}
}

type countedCache struct {
	cache.Cache
	metrics *Metrics
}

// Get implements cache.Cache.
func (c *countedCache) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	value, ok, err = c.Cache.Get(ctx, key)
	result := "miss"
	switch {
	case err != nil:
		result = "error"
	case ok:
		result = "hit"
	}
	c.metrics.read(nounOf(key), result)
	return value, ok, err
}

// nounOf is a key without its last part, which is an id: "auth:session".
func nounOf(key string) string {
	if i := strings.LastIndexByte(key, ':'); i > 0 {
		return key[:i]
	}
	return "other"
}

func (m *Metrics) read(name, result string) {
	m.cacheAsked.WithLabelValues(m.cacheNames.of(name), result).Inc()
}
