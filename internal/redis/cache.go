package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"liminal/internal/cache"
)

// Cache is the cache.Cache that all processes share.
type Cache struct{ m *Memory }

var _ cache.Cache = (*Cache)(nil)

// Cache returns the cache.
func (m *Memory) Cache() *Cache { return &Cache{m} }

// Get implements cache.Cache.
func (c *Cache) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return c.value(key, c.m.client.Get(ctx, c.m.key(key)))
}

// Set implements cache.Cache.
func (c *Cache) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl <= 0 {
		return c.Delete(ctx, key)
	}
	return c.told(key, c.m.client.Set(ctx, c.m.key(key), value, atLeastOne(ttl)).Err())
}

// Add implements cache.Cache.
func (c *Cache) Add(ctx context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	if ttl <= 0 {
		n, err := c.m.client.Exists(ctx, c.m.key(key)).Result()
		return n == 0, c.told(key, err)
	}
	err := c.m.client.SetArgs(ctx, c.m.key(key), value, redis.SetArgs{Mode: "NX", TTL: atLeastOne(ttl)}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, c.told(key, err)
}

// Take implements cache.Cache.
func (c *Cache) Take(ctx context.Context, key string) ([]byte, bool, error) {
	return c.value(key, c.m.client.GetDel(ctx, c.m.key(key)))
}

// Delete implements cache.Cache.
func (c *Cache) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	full := make([]string, len(keys))
	for i, key := range keys {
		full[i] = c.m.key(key)
	}
	return c.told(keys[0], c.m.client.Del(ctx, full...).Err())
}

// Count implements cache.Cache. A key that holds something else is an error.
func (c *Cache) Count(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	n, err := countScript.Run(ctx, c.m.client, []string{c.m.key(key)}, atLeastOne(ttl).Milliseconds()).Int64()
	return n, c.told(key, err)
}

func (c *Cache) value(key string, got *redis.StringCmd) ([]byte, bool, error) {
	value, err := got.Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	return value, err == nil, c.told(key, err)
}

func (c *Cache) told(key string, err error) error {
	if c.m.outage.saw(err); err != nil {
		return fmt.Errorf("redis: the cache's %s: %w", key, err)
	}
	return nil
}

// atLeastOne is a time Redis can count: whole milliseconds, one at least.
func atLeastOne(ttl time.Duration) time.Duration {
	return max(time.Millisecond, ttl.Truncate(time.Millisecond))
}
