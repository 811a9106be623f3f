package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"liminal/internal/cache"
)

// Cache is the cache.Cache that all processes share. While Redis is away its
// calls fail, and nobody waits for it.
type Cache struct{ m *Memory }

var _ cache.Cache = (*Cache)(nil)

// Cache returns the cache.
func (m *Memory) Cache() *Cache { return &Cache{m} }

// Get implements cache.Cache.
func (c *Cache) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = c.do(key, func(key string) (err error) {
		value, err = c.m.client.Get(ctx, key).Bytes()
		ok = err == nil
		return silent(err)
	})
	return value, ok, err
}

// Set implements cache.Cache.
func (c *Cache) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl <= 0 {
		return c.Delete(ctx, key)
	}
	return c.do(key, func(key string) error {
		return c.m.client.Set(ctx, key, value, atLeastOne(ttl)).Err()
	})
}

// Add implements cache.Cache.
func (c *Cache) Add(ctx context.Context, key string, value []byte, ttl time.Duration) (added bool, err error) {
	err = c.do(key, func(key string) error {
		if ttl <= 0 {
			n, err := c.m.client.Exists(ctx, key).Result()
			added = n == 0 && err == nil
			return err
		}
		err := c.m.client.SetArgs(ctx, key, value, redis.SetArgs{Mode: "NX", TTL: atLeastOne(ttl)}).Err()
		added = err == nil
		return silent(err)
	})
	return added, err
}

// Take implements cache.Cache.
func (c *Cache) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = c.do(key, func(key string) (err error) {
		value, err = c.m.client.GetDel(ctx, key).Bytes()
		ok = err == nil
		return silent(err)
	})
	return value, ok, err
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
	return c.do(keys[0], func(string) error { return c.m.client.Del(ctx, full...).Err() })
}

// Count implements cache.Cache. A key that holds something else is an error.
func (c *Cache) Count(ctx context.Context, key string, ttl time.Duration) (n int64, err error) {
	err = c.do(key, func(key string) (err error) {
		n, err = countScript.Run(ctx, c.m.client, []string{key}, atLeastOne(ttl).Milliseconds()).Int64()
		return err
	})
	return n, err
}

// do runs one command about a key, which f gets with its namespace.
func (c *Cache) do(key string, f func(key string) error) error {
	if err := c.m.once(func() error { return f(c.m.key(key)) }); err != nil {
		return fmt.Errorf("redis: the cache's %s: %w", key, err)
	}
	return nil
}

// atLeastOne is a time Redis can count: whole milliseconds, one at least.
func atLeastOne(ttl time.Duration) time.Duration {
	return max(time.Millisecond, ttl.Truncate(time.Millisecond))
}
