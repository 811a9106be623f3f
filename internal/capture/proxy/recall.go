package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
		return asker{viewer: p.viewer, token: token}
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
	owner  bool // whoever runs the proxy asks: for what is anybody's
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
		if a.owner || c.token == a.token {
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
			if !a.owner {
				a.viewer.counts.recalls.Add(1)
			}
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

// asideAnswer is what the control socket says of a block that is set aside.
type asideAnswer struct {
	recall.Block
	Others []string `json:"others,omitempty"` // those there are, where it is none of them
}

// aside gives whoever runs the proxy a result back as its agent gets it.
func (c *control) aside(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("block")
	var out asideAnswer
	status := http.StatusNotFound
	for _, b := range (asker{viewer: c.proxy.viewer, owner: true}).Blocks() {
		if b.Name == name || strings.HasPrefix(b.Name, name+"-") {
			out, status = asideAnswer{Block: b}, http.StatusOK
			break
		}
		if !slices.Contains(out.Others, b.Name) {
			out.Others = append(out.Others, b.Name)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // whoever asked may be gone
}

// Aside asks the proxy on a folder for a result that is set aside in what passed last,
// by its name or its number. Where it has none of that name, found is false, and others
// are the names it has. An error is ErrNone where none runs.
func Aside(ctx context.Context, dir, name string) (b recall.Block, found bool, others []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, controlURL("/aside?block="+url.QueryEscape(name)), nil)
	if err != nil {
		return b, false, nil, err
	}
	resp, err := Client(dir).Do(req)
	if err != nil {
		return b, false, nil, none(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var said asideAnswer
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "application/json" {
		return b, false, nil, fmt.Errorf("the proxy on %s cannot say what is set aside; it may be of an earlier version: stop it, and the command that holds it starts the new one", dir)
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return b, false, nil, err
	}
	return said.Block, resp.StatusCode == http.StatusOK, said.Others, nil
}
