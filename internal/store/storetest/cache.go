package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"liminal/internal/cache"
)

// Cache proves cache.Cache. That values are forgotten in time is proved with
// the clock of each implementation.
func Cache(t *testing.T, open func(t testing.TB) cache.Cache) {
	t.Run("a value is kept, replaced and deleted", func(t *testing.T) { cacheKeeps(t, open(t)) })
	t.Run("of many who add one does", func(t *testing.T) { cacheAdds(t, open(t)) })
	t.Run("of many who take one gets the value", func(t *testing.T) { cacheTakes(t, open(t)) })
	t.Run("many count without a loss", func(t *testing.T) { cacheCounts(t, open(t)) })
	t.Run("what is kept for no time is not kept", func(t *testing.T) { cacheForgets(t, open(t)) })
}

func cacheKeeps(t *testing.T, c cache.Cache) {
	ctx := t.Context()
	holds := func(key string, expected string, there bool) {
		t.Helper()
		value, ok, err := c.Get(ctx, key)
		need(t, err)
		want(t, key+" is there", ok, there)
		want(t, key, string(value), expected)
	}
	holds("auth:session:1", "", false)
	need(t, c.Set(ctx, "auth:session:1", []byte("one"), time.Minute))
	need(t, c.Set(ctx, "auth:session:2", []byte{}, time.Minute))
	mine := []byte("three")
	need(t, c.Set(ctx, "auth:session:1", mine, time.Minute))
	mine[0] = 'T'
	holds("auth:session:1", "three", true)
	holds("auth:session:2", "", true)
	given, _, err := c.Get(ctx, "auth:session:1")
	need(t, err)
	given[0] = 'T'
	holds("auth:session:1", "three", true)
	need(t, c.Delete(ctx, "auth:session:1", "unknown"))
	need(t, c.Delete(ctx))
	holds("auth:session:1", "", false)
	holds("auth:session:2", "", true)
}

func cacheAdds(t *testing.T, c cache.Cache) {
	var added atomic.Int64
	need(t, errors.Join(race(writers, func(i int) error {
		ok, err := c.Add(t.Context(), "auth:denied:1", []byte(fmt.Sprint(i)), time.Minute)
		if ok {
			added.Add(1)
		}
		return err
	})...))
	want(t, "added", added.Load(), 1)
	need(t, c.Delete(t.Context(), "auth:denied:1"))
	want(t, "added after a delete", got(c.Add(t.Context(), "auth:denied:1", nil, time.Minute))(t), true)
}

func cacheTakes(t *testing.T, c cache.Cache) {
	need(t, c.Set(t.Context(), "auth:ticket:1", []byte("one"), time.Minute))
	var taken atomic.Int64
	need(t, errors.Join(race(writers, func(int) error {
		value, ok, err := c.Take(t.Context(), "auth:ticket:1")
		if ok && string(value) == "one" {
			taken.Add(1)
		}
		return err
	})...))
	want(t, "taken", taken.Load(), 1)
}

func cacheCounts(t *testing.T, c cache.Cache) {
	var sum atomic.Int64
	need(t, errors.Join(race(writers, func(int) error {
		n, err := c.Count(t.Context(), "auth:failures:1", time.Minute)
		sum.Add(n)
		return err
	})...))
	want(t, "the sum of the counts", sum.Load(), writers*(writers+1)/2)
	value, ok, err := c.Get(t.Context(), "auth:failures:1")
	need(t, err)
	want(t, "a counter is there", ok, true)
	want(t, "a counter reads as decimal", string(value), fmt.Sprint(writers))
	need(t, c.Delete(t.Context(), "auth:failures:1"))
	want(t, "the first count after a delete", got(c.Count(t.Context(), "auth:failures:1", time.Minute))(t), 1)
	need(t, c.Set(t.Context(), "auth:word", []byte("word"), time.Minute))
	if n, err := c.Count(t.Context(), "auth:word", time.Minute); err == nil {
		t.Errorf("counting what is no counter gave %d", n)
	}
}

func cacheForgets(t *testing.T, c cache.Cache) {
	need(t, c.Set(t.Context(), "k", []byte("v"), time.Minute))
	need(t, c.Set(t.Context(), "k", []byte("w"), 0))
	_, ok, err := c.Get(t.Context(), "k")
	need(t, err)
	want(t, "is there", ok, false)
	want(t, "added", got(c.Add(t.Context(), "l", nil, -time.Second))(t), true)
	_, ok, err = c.Get(t.Context(), "l")
	need(t, err)
	want(t, "is there", ok, false)
}
