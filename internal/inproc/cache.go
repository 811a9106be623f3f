package inproc

import (
	"container/list"
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"liminal/internal/cache"
)

const (
	cacheBytes    = 64 << 20 // what a cache holds by default
	cacheOverhead = 200      // bytes an item takes beside its key and value
)

// Cache is a cache.Cache in process. It holds a bounded number of bytes: when
// it is full, what has not been used for longest goes. It is safe for
// concurrent use and starts no goroutines.
type Cache struct {
	limit int

	mu    sync.Mutex
	items map[string]*list.Element
	used  *list.List // of *item, the latest used first
	bytes int
	swept time.Time
}

type item struct {
	key   string
	value []byte
	until time.Time
}

var _ cache.Cache = (*Cache)(nil)

// NewCache returns an empty cache of at most limit bytes; 0: 64 MiB.
func NewCache(limit int) *Cache {
	if limit <= 0 {
		limit = cacheBytes
	}
	return &Cache{limit: limit, items: map[string]*list.Element{}, used: list.New(), swept: time.Now()}
}

// Cache is the memory's cache: always the same one.
func (m *Memory) Cache() *Cache { return m.cache }

// Get implements cache.Cache.
func (c *Cache) Get(_ context.Context, key string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.find(key)
	if !ok {
		return nil, false, nil
	}
	return append([]byte{}, i.value...), true, nil
}

// Set implements cache.Cache.
func (c *Cache) Set(_ context.Context, key string, value []byte, ttl time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, value, ttl)
	return nil
}

// Add implements cache.Cache.
func (c *Cache) Add(_ context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.find(key); ok {
		return false, nil
	}
	c.keep(key, value, ttl)
	return true, nil
}

// Take implements cache.Cache.
func (c *Cache) Take(_ context.Context, key string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.find(key)
	if !ok {
		return nil, false, nil
	}
	c.remove(key)
	return i.value, true, nil
}

// Delete implements cache.Cache.
func (c *Cache) Delete(_ context.Context, keys ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		c.remove(key)
	}
	return nil
}

// Count implements cache.Cache. A key that holds something else is an error.
func (c *Cache) Count(_ context.Context, key string, ttl time.Duration) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.find(key)
	if !ok {
		c.keep(key, []byte("1"), ttl)
		return 1, nil
	}
	n, err := strconv.ParseInt(string(i.value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the cache holds no counter under %s", key)
	}
	c.keep(key, strconv.AppendInt(nil, n+1, 10), time.Until(i.until))
	return n + 1, nil
}

// find returns what a key holds now, as just used.
func (c *Cache) find(key string) (*item, bool) {
	e, ok := c.items[key]
	if !ok {
		return nil, false
	}
	i := e.Value.(*item)
	if !time.Now().Before(i.until) {
		c.remove(key)
		return nil, false
	}
	c.used.MoveToFront(e)
	return i, true
}

// keep holds a copy of value. What is kept for no time is not kept.
func (c *Cache) keep(key string, value []byte, ttl time.Duration) {
	c.remove(key)
	if ttl <= 0 {
		return
	}
	now := time.Now()
	c.sweep(now)
	i := &item{key: key, value: append([]byte{}, value...), until: now.Add(ttl)}
	c.items[key] = c.used.PushFront(i)
	c.bytes += i.size()
	for c.bytes > c.limit {
		c.remove(c.used.Back().Value.(*item).key)
	}
}

func (c *Cache) remove(key string) {
	e, ok := c.items[key]
	if !ok {
		return
	}
	delete(c.items, key)
	c.bytes -= c.used.Remove(e).(*item).size()
}

// sweep forgets, now and then, what nobody asked for again.
func (c *Cache) sweep(now time.Time) {
	if now.Sub(c.swept) < sweepEvery {
		return
	}
	c.swept = now
	for key, e := range c.items {
		if !now.Before(e.Value.(*item).until) {
			c.remove(key)
		}
	}
}

func (i *item) size() int { return cacheOverhead + len(i.key) + len(i.value) }
