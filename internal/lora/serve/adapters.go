package serve

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"liminal/internal/lora/llm"
)

// AdapterKey is one version of an adapter.
type AdapterKey struct {
	ID, Version string
}

// Adapters keeps adapters in memory, those used last, up to a number of bytes
// (LORA-17). It is safe for concurrent use.
type Adapters struct {
	load func(AdapterKey) (*llm.Adapter, error)
	most int
	told func(hit bool)
	now  func() time.Time

	mu     sync.Mutex
	bytes  int
	recent *list.List // of *held, the last used first
	by     map[AdapterKey]*list.Element
	stats  AdapterStats
}

// AdapterStats are what the cache did, and holds now.
type AdapterStats struct {
	Adapters, Bytes       int
	Hits, Misses, Evicted int64
}

// held is an adapter, or one that is being read.
type held struct {
	key     AdapterKey
	adapter *llm.Adapter
	err     error
	ready   chan struct{}
	uses    int
	pinned  time.Time // until then; zero: never
}

// away is how long after their last request a person counts as gone.
const away = 30 * time.Minute

// NewAdapters makes a cache of at most most bytes over load, which is called
// once for an adapter, however many ask for it. told, if not nil, hears of each
// request whether the adapter was there (LORA-18). now is the clock by which
// people are away; nil: time.Now.
func NewAdapters(most int, load func(AdapterKey) (*llm.Adapter, error), told func(hit bool), now func() time.Time) *Adapters {
	if now == nil {
		now = time.Now
	}
	return &Adapters{load: load, most: most, told: told, now: now, recent: list.New(), by: map[AdapterKey]*list.Element{}}
}

// Use gives an adapter, reading it when it is not there. It stays in memory at
// least until release is called, once. The persona of somebody who is there is
// pinned: it is given up last, until nobody has asked for it so for 30 minutes.
func (c *Adapters) Use(key AdapterKey, pinned bool) (a *llm.Adapter, release func(), err error) {
	c.mu.Lock()
	at, hit := c.by[key]
	if !hit {
		at = c.recent.PushFront(&held{key: key, ready: make(chan struct{})})
		c.by[key] = at
	}
	h, _ := at.Value.(*held)
	h.uses++
	if pinned {
		h.pinned = c.now().Add(away)
	}
	c.recent.MoveToFront(at)
	if hit {
		c.stats.Hits++
	} else {
		c.stats.Misses++
	}
	c.mu.Unlock()
	if c.told != nil {
		c.told(hit)
	}
	if !hit {
		c.fill(h, at)
	}
	<-h.ready
	if h.err != nil {
		return nil, nil, h.err
	}
	return h.adapter, sync.OnceFunc(func() { c.release(h) }), nil
}

// fill reads an adapter and makes room for it. One that cannot be read is
// forgotten: the next who asks tries again.
func (c *Adapters) fill(h *held, at *list.Element) {
	defer close(h.ready)
	a, err := c.load(h.key)
	if err == nil && a.Bytes() > c.most {
		err = fmt.Errorf("the adapter %s has %d bytes, more than all adapters may have in memory (%d)", h.key.ID, a.Bytes(), c.most)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		h.err = err
		c.drop(at)
		return
	}
	h.adapter = a
	c.bytes += a.Bytes()
	c.evict()
}

func (c *Adapters) release(h *held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.uses--
	c.evict()
}

// evict forgets adapters that nobody uses, the longest unused first, pinned
// ones after all others, until they fit. What is in use stays, even when it
// does not fit.
func (c *Adapters) evict() {
	if c.bytes <= c.most {
		return
	}
	now := c.now()
	for _, pinned := range []bool{false, true} {
		for at := c.recent.Back(); at != nil && c.bytes > c.most; {
			h, _ := at.Value.(*held)
			before := at.Prev()
			if h.adapter != nil && h.uses == 0 && now.Before(h.pinned) == pinned {
				c.bytes -= h.adapter.Bytes()
				c.stats.Evicted++
				c.drop(at)
			}
			at = before
		}
	}
}

func (c *Adapters) drop(at *list.Element) {
	h, _ := at.Value.(*held)
	c.recent.Remove(at)
	delete(c.by, h.key)
}

// Forget drops an adapter that was erased, whoever asks for it next. Answers
// that use it end with it.
func (c *Adapters) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.by {
		h, _ := at.Value.(*held)
		if key.ID == id && h.adapter != nil {
			c.bytes -= h.adapter.Bytes()
			c.drop(at)
		}
	}
}

// Stats tells what the cache did.
func (c *Adapters) Stats() AdapterStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Adapters, s.Bytes = c.recent.Len(), c.bytes
	return s
}
