package proxy

import (
	"bytes"
	"hash/maphash"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"liminal/internal/capture"
	"liminal/internal/vault"
	"liminal/internal/view"
)

const (
	// mostClients bounds the histories that are in memory. Of one that was forgotten the
	// files say what is in force.
	mostClients = 1024
	// circleLength is how often an agent may ask the same of the same tool after an
	// epoch before it is taken to turn in a circle.
	circleLength = 3
)

// viewer changes requests where a view of their history is in force.
//
// A body is read only where there is such a view, or a plan for one. Whatever goes wrong
// here, the client's own body goes to the backend.
type viewer struct {
	views, epochs string // folders
	keys          *vault.Ring
	log           *slog.Logger
	now           func() time.Time
	seed          maphash.Seed
	counts        viewCounts

	mu      sync.Mutex
	began   time.Time // before it, nothing is known of who asked when
	clients map[string]*viewed
	// unaware are models whose backend does not know how to drop bound thinking.
	unaware unawareModels
}

// viewCounts are counted since the start.
type viewCounts struct {
	spliced, opened, invalid, unread, refused, suspended, lost, recalls atomic.Int64
}

// viewed is what is known of a history.
type viewed struct {
	mu   sync.Mutex
	key  string
	file string

	token   string    // the hash of the one it was asked with last
	last    time.Time // when it was asked last
	model   string
	tools   uint64
	summed  bool // a summary was asked for since
	loaded  bool
	lost    bool // there were epochs, and they cannot be read
	list    []view.Epoch
	plan    *view.Plan
	planned stamp
	checked map[string]uint64 // results that are those which replacements mean
	aside   map[string]aside  // what was set aside in the last request, by its block
}

// aside is a result that is set aside.
type aside struct {
	view.Replacement
	content []byte // its JSON, as it came
}

// forwarded is what is sent instead of a body.
type forwarded struct {
	capture.Sent
	client    *viewed
	raw, body []byte
	model     string
	beta      bool // the backend has to be told that block_binding may come
	stripped  bool
	tries     int
}

func newViewer(dir, upstream string, keys *vault.Ring, log *slog.Logger) *viewer {
	v := &viewer{
		views: filepath.Join(dir, viewsDir), epochs: filepath.Join(dir, epochsDir), keys: keys, log: log, now: time.Now, began: time.Now(), seed: maphash.MakeSeed(),
		clients: map[string]*viewed{}, unaware: unawareModels{file: filepath.Join(dir, unawareFile), upstream: upstream},
	}
	if err := v.unaware.read(v.now()); err != nil {
		log.Warn("which models do not know how to drop bound thinking cannot be read; each is asked once more", "file", v.unaware.file, "error", err)
	}
	return v
}

// forward is what is to be sent instead of a body; nil: the body itself.
func (v *viewer) forward(r capture.Request, token string, body []byte) *forwarded {
	path := strings.TrimSuffix(r.Path, "/")
	counts := strings.HasSuffix(path, "/messages/count_tokens")
	if r.Method != http.MethodPost || speaksOpenAI(path) || !counts && !strings.HasSuffix(path, "/messages") {
		return nil
	}
	c := v.client(r, body)
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := v.idle(c, !counts)
	c.token = token
	v.load(c)
	plan := v.planOf(c)
	if len(c.list) == 0 && !c.lost && (plan == nil || plan.Mode != view.Live) {
		return nil
	}
	if how := r.Header.Get("Content-Encoding"); how != "" && how != "identity" {
		v.counts.unread.Add(1)
		return nil
	}
	b, err := view.ReadBody(body)
	if err != nil {
		v.counts.unread.Add(1)
		v.log.Debug("a request is passed as it is", "client", c.key, "error", err)
		return nil
	}
	return v.decide(c, plan, b, counts, idle)
}

// client is whose history a request belongs to; nil where nothing says so.
func (v *viewer) client(r capture.Request, body []byte) *viewed {
	session := ""
	if !capture.SaysWho(r) {
		if !v.any() {
			return nil
		}
		session = capture.SessionOf([]byte(gjson.GetBytes(body, "metadata").Raw))
	}
	who := capture.ClientOf(r, session)
	if !who.Named {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.clients[who.Key]
	if c == nil {
		if len(v.clients) >= mostClients {
			v.forget()
		}
		c = &viewed{key: who.Key, file: view.FileName(who.Key), checked: map[string]uint64{}}
		v.clients[who.Key] = c
	}
	return c
}

// forget makes room. Since nobody knows any more when the forgotten asked last, their
// caches count as warm for a while.
func (v *viewer) forget() {
	clear(v.clients)
	v.began = v.now()
}

// idle is how long a history was not asked for; asks: it is now.
func (v *viewer) idle(c *viewed, asks bool) time.Duration {
	now := v.now()
	v.mu.Lock()
	last := v.began
	v.mu.Unlock()
	if c.last.After(last) {
		last = c.last
	}
	if asks {
		c.last = now
	}
	return now.Sub(last)
}

// decide is what is sent for a body that was read.
func (v *viewer) decide(c *viewed, plan *view.Plan, b *view.Body, counts bool, idle time.Duration) *forwarded {
	sums := bytes.Contains(b.Asks(), []byte(capture.SummaryOrder))
	tools := maphash.Bytes(v.seed, b.Of(b.Tools))
	cold := idle >= b.TTL || c.summed || c.model != "" && (c.model != b.Model || c.tools != tools)
	history := !counts && !sums && !b.Tools.Empty() // what goes on with it
	var f *forwarded
	if history {
		c.summed = false
		if e := c.current(); e != nil && b.NewTurn() && plan != nil && plan.Mode != view.Live {
			v.end(c, view.EndedPolicy)
		} else if e != nil && v.circles(c, b, e) {
			v.counts.suspended.Add(1)
			v.end(c, view.EndedCircle)
		} else if plan != nil && plan.Mode == view.Live {
			f = v.open(c, plan, b, cold)
		}
	}
	if f == nil {
		f = v.sent(c, b, c.newest())
	}
	switch {
	case history:
		c.model, c.tools = b.Model, tools
	case sums && !counts:
		c.summed = true
	}
	return f
}

// circles reports whether an agent asks for the same again and again.
func (v *viewer) circles(c *viewed, b *view.Body, e *view.Epoch) bool {
	if e.At == 0 || e.At > len(b.Messages) || len(e.Replace) == 0 {
		return false
	}
	tool := b.Circle(e.At, circleLength, e.Replace)
	if tool != "" {
		v.log.Warn("an agent asks for the same again and again; its history is sent whole from here on", "client", c.key, "tool", tool, "epoch", e.Number)
	}
	return tool != ""
}

// current is the epoch that is in force; nil: none is.
func (c *viewed) current() *view.Epoch {
	if e := c.newest(); e != nil && e.Ended == "" {
		return e
	}
	return nil
}

// newest is the last epoch there was; nil: none was.
func (c *viewed) newest() *view.Epoch {
	if len(c.list) == 0 {
		return nil
	}
	return &c.list[len(c.list)-1]
}

// sent is what an epoch makes of a body; nil: the body itself.
func (v *viewer) sent(c *viewed, b *view.Body, e *view.Epoch) *forwarded {
	if e == nil || e.Ended != "" {
		if c.lost || e != nil && v.changes(b, e) {
			return v.left(c, b, e)
		}
		return nil
	}
	f, _ := v.splice(c, b, e, v.isUnaware(b.Model))
	if f == nil && v.changes(b, e) {
		return v.left(c, b, e)
	}
	return f
}

// changes reports whether an epoch changed something that a body has: thinking in it may
// be bound to that.
func (v *viewer) changes(b *view.Body, e *view.Epoch) bool {
	if slices.ContainsFunc(e.Replace, func(r view.Replacement) bool { return mentions(b, r) }) {
		return true
	}
	edits, _, _ := born(b, e)
	return len(edits) > 0
}

func mentions(b *view.Body, r view.Replacement) bool {
	return bytes.Contains(b.Raw, []byte(`"`+r.Result+`"`))
}

// splice makes the request that an epoch wants, and what it sets aside in it. It makes
// none where that would not be a valid one.
func (v *viewer) splice(c *viewed, b *view.Body, e *view.Epoch, strip bool) (*forwarded, []view.Replacement) {
	edits, named, capped := born(b, e)
	set := b.SetAside(e.Replace, recalls(b, e), c.isMeant(v.seed), named)
	allowed := view.Allowed{Results: map[string]bool{}, Born: map[string]bool{}}
	for id := range named {
		allowed.Results[id], allowed.Born[id] = true, true
	}
	contents := map[string]aside{}
	for i, r := range capped {
		allowed.Results[r.Result], allowed.Born[r.Result] = true, true
		at := edits[len(edits)-len(capped)+i]
		contents[r.Block] = aside{r, b.Raw[at.From:at.To]}
	}
	for i, r := range set.Done {
		allowed.Results[r.Result] = true
		contents[r.Block] = aside{r, b.Raw[set.Edits[i].From:set.Edits[i].To]}
	}
	quotes, added := b.Quoted(e.Quotes)
	allowed.Quoted = added
	edits = slices.Concat(edits, set.Edits, quotes)
	f := &forwarded{Sent: capture.Sent{Epoch: e.Number, Client: c.key, Why: capture.SentView}, client: c, raw: b.Raw, model: b.Model}
	if len(set.Done) > 0 && b.Thinks {
		more, err := b.DropBlock()
		if allowed.Dropped = true; strip {
			allowed.Dropped, allowed.Stripped, f.stripped = false, true, true
			more, err = b.Strip()
		}
		if err != nil {
			v.void(c, e, err)
			return nil, nil
		}
		edits, f.beta = append(edits, more...), allowed.Dropped
	}
	if len(edits) == 0 {
		return nil, nil
	}
	slices.SortFunc(edits, func(a, b view.Edit) int { return a.From - b.From })
	is, err := b.Edited(edits)
	if err == nil {
		err = view.Valid(b, is, allowed)
	}
	if err != nil {
		v.void(c, e, err)
		return nil, nil
	}
	f.Edits, f.body, c.aside = edits, is.Raw, contents
	v.counts.spliced.Add(1)
	return f, set.Done
}

// void counts a request that a view would have broken.
func (v *viewer) void(c *viewed, e *view.Epoch, err error) {
	v.counts.invalid.Add(1)
	v.log.Warn("a view would make no valid request of this one; it is sent as it is", "client", c.key, "epoch", e.Number, "error", err)
}

// isMeant says whether a result is the one that a replacement means. That is a sum over
// its canonical form, which is made once.
func (c *viewed) isMeant(seed maphash.Seed) func(view.Replacement, []byte) bool {
	return func(r view.Replacement, result []byte) bool {
		as := maphash.Bytes(seed, result)
		if c.checked[r.Result+r.Sum] == as {
			return true
		}
		if view.SumOf(result) != r.Sum {
			return false
		}
		c.checked[r.Result+r.Sum] = as
		return true
	}
}

// left is the client's own body, with the wish that thinking be dropped which is bound
// to the view that is left; nil: the body itself, where that need not be wished.
func (v *viewer) left(c *viewed, b *view.Body, e *view.Epoch) *forwarded {
	edits, err := b.DropBlock()
	if err != nil || len(edits) == 0 || v.isUnaware(b.Model) {
		return nil
	}
	body, err := view.Edited(b.Raw, edits)
	if err != nil {
		return nil
	}
	f := &forwarded{Sent: capture.Sent{Client: c.key, Why: capture.SentLeft, Edits: edits}, client: c, raw: b.Raw, body: body, model: b.Model, beta: true}
	if e != nil {
		f.Epoch = e.Number
	}
	return f
}

func (v *viewer) isUnaware(model string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unaware.has(model)
}

// withBeta adds the value that has a backend take block_binding.
func withBeta(h http.Header) {
	const name = "Anthropic-Beta"
	values := h[name]
	if slices.ContainsFunc(values, func(s string) bool { return strings.Contains(s, view.Beta) }) {
		return
	}
	if len(values) == 0 {
		h[name] = []string{view.Beta}
		return
	}
	values = slices.Clone(values)
	values[len(values)-1] += "," + view.Beta
	h[name] = values
}

// whole is the client's own body where a view of its history failed: with the wish that
// bound thinking be dropped, if there is or was one.
func (v *viewer) whole(r capture.Request, body []byte) *forwarded {
	c := v.client(r, body)
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest() == nil && !c.lost {
		return nil
	}
	b, err := view.ReadBody(body)
	if err != nil {
		return nil
	}
	return v.left(c, b, c.newest())
}
