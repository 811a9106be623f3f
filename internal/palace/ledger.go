package palace

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"liminal/internal/capture"
	"liminal/internal/view"
)

// Charge is what an exchange cost, and what of it was foretold.
type Charge struct {
	// USD is what it costs by the list of prices; nil: the model has none, or nothing
	// was charged.
	USD *float64 `json:"usd" nullable:"true"`
	// ListPrice tells that a subscription pays for it in another way than by token.
	ListPrice bool `json:"at_list_price"`
	// PredictedRead and PredictedWrite are what the cache was expected to give and take,
	// in tokens; nil: that was not foretold.
	PredictedRead  *int64 `json:"predicted_read" nullable:"true"`
	PredictedWrite *int64 `json:"predicted_write" nullable:"true"`
	Miss           *Miss  `json:"miss,omitempty"`
}

// Miss is what the cache had and did not give.
type Miss struct {
	Cause view.Cause `json:"cause"`
	Where string     `json:"where"`
	// Reason is what the backend itself says, where it was asked: tools_changed, say.
	Reason string   `json:"reason,omitempty"`
	Tokens int64    `json:"tokens"`
	USD    *float64 `json:"usd" nullable:"true"` // more than if they had been read
}

// Cost is an exchange in the ledger.
type Cost struct {
	Charge
	ExchangeID, AgentID, LineageID string
	Kind                           Kind
	Model                          string
	At                             time.Time
	Usage                          Usage
	Off                            *float64 // how far the forecast was off; nil: there was none
}

// PriceFunc is what a usage of a model costs, in US dollars; nil: its price is not
// known.
type PriceFunc func(model string, u Usage) *float64

const (
	// mostEnds bounds the lineages whose last requests are in memory.
	mostEnds = 256
	// mostStored bounds the prefixes that are stored.
	mostStored = 512
)

// ledger is what intake knows of the provider's cache, and what it has yet to store.
type ledger struct {
	price   PriceFunc
	cache   *view.Cache // nil: not read yet
	ends    map[string]view.Before
	touched map[string]bool // lineages whose last request is to be stored
	// beside is the provider's cache as it would be if clients' own bodies had been sent,
	// of the lineages that are in apart.
	beside *view.Cache
	apart  map[string]bool
	costs  []Cost
}

func newLedger(price PriceFunc) *ledger {
	if price == nil {
		price = func(string, Usage) *float64 { return nil }
	}
	return &ledger{price: price, ends: map[string]view.Before{}, touched: map[string]bool{}, apart: map[string]bool{}}
}

// ready reads what was stored before this process began.
func (l *ledger) ready(tx Tx) error {
	if l.cache != nil {
		return nil
	}
	raw, err := tx.CacheState()
	if err != nil {
		return err
	}
	l.cache = view.NewCache()
	var s view.CacheState
	if found, err := openState(raw, &s); err != nil || !found {
		return err
	}
	l.cache.Restore(s)
	return nil
}

// end is the last request of a lineage.
func (l *ledger) end(tx Tx, lineage string) (b view.Before, found bool, err error) {
	if b, found = l.ends[lineage]; found || lineage == "" {
		return b, found, nil
	}
	raw, err := tx.LastPrompt(lineage)
	if err != nil {
		return b, false, err
	}
	if found, err = openState(raw, &b); found && err == nil {
		l.put(lineage, b)
	}
	return b, found, err
}

func (l *ledger) put(lineage string, b view.Before) {
	if len(l.ends) >= mostEnds {
		for id := range l.ends { // those that wait for being stored stay
			if !l.touched[id] {
				delete(l.ends, id)
			}
		}
	}
	l.ends[lineage] = b
}

// flush stores what the exchanges of a transaction cost, and what it left of the cache.
func (l *ledger) flush(tx Tx) error {
	if len(l.costs) == 0 {
		return nil
	}
	if err := tx.PutCosts(l.costs); err != nil {
		return err
	}
	for _, lineage := range slices.Sorted(maps.Keys(l.touched)) {
		raw, err := packState(l.ends[lineage])
		if err != nil {
			return err
		}
		if err := tx.PutLastPrompt(lineage, raw); err != nil {
			return err
		}
	}
	clear(l.touched)
	if l.cache == nil {
		return nil
	}
	raw, err := packState(l.cache.State(l.costs[len(l.costs)-1].At, mostStored))
	if err != nil {
		return err
	}
	return tx.PutCacheState(raw)
}

// taken are the costs since it was called last.
func (l *ledger) taken() (list []Cost) {
	list, l.costs = l.costs, nil
	return list
}

func packState(of any) ([]byte, error) {
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	return packed(raw)
}

func openState(p []byte, into any) (found bool, err error) {
	if len(p) == 0 {
		return false, nil
	}
	raw, err := unpacked(p)
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(raw, into)
}

// charge says what the exchange cost, and holds it against what the provider's cache
// should have made of it. l is its lineage as it was before; nil: it is in none.
func (t *taking) charge(l *known) error {
	u := t.e.Usage
	if u.Total()+u.Output == 0 {
		return nil // nothing was charged
	}
	led := t.memory.ledger
	c := Cost{
		ExchangeID: t.e.ID, AgentID: t.e.AgentID, LineageID: t.e.LineageID, Kind: t.e.Kind, Model: t.e.Model, At: t.e.StartedAt, Usage: u,
		Charge: Charge{USD: led.price(t.e.Model, u), ListPrice: t.subscription},
	}
	if err := t.foretell(led, l, &c); err != nil {
		return err
	}
	led.costs = append(led.costs, c)
	return nil
}

// foretell compares the exchange with its forecast, and learns from it.
func (t *taking) foretell(led *ledger, l *known, c *Cost) error {
	p := t.prompt
	if len(p.Parts) == 0 {
		return nil // its body is not kept, or it is of another protocol
	}
	if err := led.ready(t.tx); err != nil {
		return err
	}
	p.Lineage = c.LineageID
	billed := view.Billed{Input: c.Usage.Input, Read: c.Usage.Read, Write5m: c.Usage.Write5m, Write1h: c.Usage.Write1h}
	f := led.cache.Forecast(p)
	if l != nil {
		if f.Known {
			read, write, off := f.Read, f.Written(), f.Off(billed)
			c.PredictedRead, c.PredictedWrite, c.Off = &read, &write, &off
		}
		m, err := t.missed(led, l, p, f, billed)
		if err != nil {
			return err
		}
		if m != nil {
			c.Miss = &Miss{Cause: m.Cause, Where: m.Where, Reason: t.answer.reason, Tokens: m.Tokens, USD: led.more(c, m.Tokens)}
		}
		led.put(l.ID, view.Before{Prompt: p, Kept: billed.Read + billed.Written()})
		led.touched[l.ID] = true
	}
	t.suppose(led, c)
	led.cache.Observe(p, f, billed)
	if t.e.Status < 400 {
		led.cache.Said(p.Model, promptParts(t.answer.parts, nil, view.InMessages), c.Usage.Output)
	}
	return nil
}

// suppose says what the exchange should have cost if the client's own body had been
// sent. Whoever has not followed a history since its view began does not know what the
// provider would hold of it, and says nothing until the next request.
func (t *taking) suppose(led *ledger, c *Cost) {
	if c.LineageID == "" || t.e.Sent == nil && !led.apart[c.LineageID] {
		return
	}
	if led.beside == nil {
		led.beside = led.cache.Beside()
	}
	if t.e.Sent != nil {
		t.e.Sent.Raw, t.e.Sent.RawUSD = nil, nil // of a transaction that is run again
	}
	followed := led.apart[c.LineageID]
	if !followed {
		led.beside.Adopt(led.cache)
		led.apart[c.LineageID] = true
		followed = t.opens
	}
	p := t.whole
	if t.e.Sent == nil {
		p = t.prompt
	}
	p.Lineage = c.LineageID
	f := led.beside.Suppose(p)
	if !followed || !f.Known || t.e.Sent == nil || len(p.Parts) == 0 {
		return
	}
	u := Usage{Input: f.Input, Read: f.Read, Write5m: f.Write5m, Write1h: f.Write1h, Output: c.Usage.Output}
	t.e.Sent.Raw, t.e.Sent.RawUSD = &u, led.price(c.Model, u)
}

// missed is what of the cache of its lineage a request did not read.
func (t *taking) missed(led *ledger, l *known, p view.Prompt, f view.Forecast, b view.Billed) (*view.Miss, error) {
	if l.Exchanges > 0 {
		before, found, err := led.end(t.tx, l.ID)
		if err != nil || !found {
			return nil, err
		}
		return view.Explain(before, p, f, b, t.answer.edited), nil
	}
	why, begins := map[string]view.Cause{Compacted: view.AfterCompact, Clear: view.AfterClear, Rewind: view.AfterRewind}[l.Why]
	if !begins {
		return nil, nil
	}
	before, found, err := led.end(t.tx, l.Supersedes)
	if err != nil || !found {
		return nil, err
	}
	return view.Begun(before.Kept, why, b), nil
}

// more is what so many tokens cost more than if the cache had given them; nil: their
// price is not known.
func (l *ledger) more(c *Cost, tokens int64) *float64 {
	u := c.Usage
	for _, class := range []*int64{&u.Write1h, &u.Write5m, &u.Input} {
		n := min(*class, tokens-(u.Read-c.Usage.Read))
		*class -= n
		u.Read += n
	}
	other := l.price(c.Model, u)
	if c.USD == nil || other == nil {
		return nil
	}
	usd := *c.USD - *other
	return &usd
}

// billingLine begins what clients put before the system prompt for the provider's own
// books. It takes it out before anything is read.
const billingLine = "x-anthropic-billing-header:"

// promptOf is a request as the provider's cache sees it.
func promptOf(r *capture.Exchange, a asked) view.Prompt {
	if protocolOf(r.Request.Path) != anthropic { // whose cache is another
		return view.Prompt{}
	}
	p := view.Prompt{
		Model: a.model, Organisation: r.Response.Header.Get("Anthropic-Organization-Id"), At: r.Request.Started, Began: r.Request.Started,
		Settings: a.settings, Headers: map[string]string{},
	}
	if marks := r.Response.Marks; len(marks) > 0 {
		p.Began = p.At.Add(time.Duration(marks[0].After) * time.Microsecond)
	}
	for _, name := range []string{"Anthropic-Beta", "Anthropic-Version"} {
		if value := strings.Join(r.Request.Header.Values(name), ","); value != "" {
			p.Headers[strings.ToLower(name)] = value
		}
	}
	p.Parts = slices.Concat(a.offered, promptParts(a.system, nil, view.InSystem), promptParts(a.messages, a.counts, view.InMessages))
	if last := len(p.Parts) - 1; last >= 0 && p.Parts[last].Mark == 0 {
		p.Parts[last].Mark = a.auto
	}
	return p
}

// sentPrompt is the request that reached the backend, as the cache sees it: what was
// charged is that one, which need not be the client's.
func (r *reader) sentPrompt(raw *capture.Exchange, asked asked) view.Prompt {
	epoch := 0
	if raw.Sent != nil {
		epoch = raw.Sent.Epoch
		if body, err := raw.Sent.Of(raw.Asked); err == nil { // else something in it is masked: nearly that
			asked = r.readAsked(body, nil)
		}
	}
	p := promptOf(raw, asked)
	p.Epoch = epoch
	return p
}

// promptParts are parts as the cache sees them. counts are how many of them each
// message has; nil: that is not asked.
func promptParts(list []part, counts []int, in view.Section) []view.PromptPart {
	out := make([]view.PromptPart, 0, len(list))
	message, left := 0, 0
	for _, p := range list {
		for left == 0 && message < len(counts) {
			left = counts[message]
			message++
		}
		left--
		if in == view.InSystem && strings.HasPrefix(p.label, billingLine) {
			continue
		}
		out = append(out, view.PromptPart{Section: in, Key: p.hash[:keyLength], Name: string(p.typ), Message: message, Bytes: p.span.To - p.span.From, Media: p.typ == Media, Mark: p.mark})
	}
	return out
}

// keyLength is how much of a hash tells parts apart, in characters.
const keyLength = 24

// offeredTools are the tools of a request as the cache sees them: those whose loading
// is put off are none of its beginning.
func offeredTools(raw []byte) (list []view.PromptPart) {
	for e := range capture.Elements(raw, 0) {
		v, ok := decoded(raw[e.From:e.To]).(map[string]any)
		if !ok || v["defer_loading"] == true {
			continue
		}
		name, _ := v["name"].(string)
		p := view.PromptPart{Section: view.InTools, Name: shortened(name), Bytes: e.To - e.From, Mark: markOf(v["cache_control"])}
		p.Key = hashOfBlock("tool", v)[:keyLength]
		list = append(list, p)
	}
	return list
}

// markOf is how long the prefix is to be kept that ends with a block; 0: it is not
// marked.
func markOf(control any) time.Duration {
	switch c, ok := control.(map[string]any); {
	case !ok:
		return 0
	case c["ttl"] == "1h":
		return view.TTL1h
	}
	return view.TTL5m
}

// subscribed reports whether somebody pays by subscription, and not by token.
func subscribed(r *capture.Exchange) bool {
	for name := range r.Response.Header {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), "Anthropic-Ratelimit-Unified") {
			return true
		}
	}
	return strings.Contains(strings.Join(r.Request.Header.Values("Anthropic-Beta"), ","), "oauth-")
}

// note notes a member of a request's body that may change how the rest is read.
func (a *asked) note(name string, raw []byte) {
	switch name {
	case "cache_control":
		a.auto = markOf(decoded(raw))
		return
	case "model", "system", "tools", "messages", "metadata", "stream", "max_tokens", "stop_sequences", "diagnostics":
		return
	}
	if a.settings == nil {
		a.settings = map[string]string{}
	}
	a.settings[name] = hashOf(raw)[:keyLength]
}
