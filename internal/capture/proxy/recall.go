package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"liminal/internal/capture/recall"
	"liminal/internal/view"
)

// recallPath is where an agent asks back what a view set aside.
const recallPath = "/mcp"

type askerKey struct{}

// recalls serves the tools that give back what is set aside, to whoever has a token.
func (p *Proxy) recalls() http.Handler {
	return recall.Handler("1", p.log, func(r *http.Request) recall.Source {
		token, _ := r.Context().Value(askerKey{}).(string)
		return asker{p.viewer, token}
	})
}

// asking is a request of an agent that asks back.
func asking(r *http.Request, token string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), askerKey{}, hashOf(token)))
}

// asker is an agent that asks for what was set aside in the requests that came last with
// its token.
type asker struct {
	viewer *viewer
	token  string
}

// each goes over what is set aside, until do has enough.
func (a asker) each(do func(c *viewed, b aside) bool) {
	a.viewer.mu.Lock()
	var list []*viewed
	for _, c := range a.viewer.clients {
		list = append(list, c)
	}
	a.viewer.mu.Unlock()
	for _, c := range list {
		c.mu.Lock()
		more := true
		if c.token == a.token {
			for _, b := range c.aside {
				if more = do(c, b); !more {
					break
				}
			}
		}
		c.mu.Unlock()
		if !more {
			return
		}
	}
}

func blockOf(b aside) recall.Block {
	return recall.Block{Name: b.Replacement.Block, Label: b.Label, Text: view.Said(b.content)}
}

// Block implements recall.Source.
func (a asker) Block(name string) (out recall.Block, found bool) {
	a.each(func(_ *viewed, b aside) bool {
		if found = b.Replacement.Block == name; found {
			out = blockOf(b)
			a.viewer.counts.recalls.Add(1)
		}
		return !found
	})
	return out, found
}

// Blocks implements recall.Source.
func (a asker) Blocks() (list []recall.Block) {
	a.each(func(_ *viewed, b aside) bool {
		list = append(list, blockOf(b))
		return true
	})
	slices.SortFunc(list, func(a, b recall.Block) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Keep implements recall.Source: the epoch notes it, where the platform finds it.
func (a asker) Keep(name, why string) (err error) {
	err = fmt.Errorf("block %s is not set aside any more", name)
	a.each(func(c *viewed, b aside) bool {
		if b.Replacement.Block != name {
			return true
		}
		if c.current() == nil {
			return false
		}
		list := slices.Clone(c.list)
		e := &list[len(list)-1]
		e.Kept = append(slices.Clone(e.Kept), view.Kept{Block: name, Result: b.Result, Why: why, At: a.viewer.now().UTC()})
		err = a.viewer.save(c, list)
		return false
	})
	return err
}
