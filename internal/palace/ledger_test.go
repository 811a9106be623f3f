package palace

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

// client talks as coding agents do: a long system prompt, tools, rounds with tools, and
// marks for the cache behind the system prompt and at the end of the conversation.
type client struct {
	random   *rand.Rand
	model    string
	org      string
	ttl      string // of marks; "": five minutes
	tools    []map[string]any
	system   []map[string]any
	messages []map[string]any
	more     map[string]any // other members of the body
	header   http.Header
	unmarked bool
	uses     int
}

func newClient(seed uint64) *client {
	c := &client{random: rand.New(rand.NewPCG(seed, 7)), model: "claude-opus-5-5", org: "org-1", more: map[string]any{"max_tokens": 1000, "stream": true}, header: http.Header{"Anthropic-Beta": {"one-2025,two-2026"}}}
	for i := range 12 {
		c.tools = append(c.tools, map[string]any{"name": fmt.Sprint("Tool", i), "description": c.words(60), "input_schema": map[string]any{"type": "object"}})
	}
	c.system = []map[string]any{
		{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1; cch=" + fmt.Sprint(seed)},
		{"type": "text", "text": c.words(30)}, {"type": "text", "text": c.words(500)},
	}
	return c
}

// words is a text of words as they are in prose and in code.
func (c *client) words(n int) string {
	const letters = "etaoinshrdlucmfwypvbgkqjxz"
	var b strings.Builder
	for range n {
		for range 1 + c.random.IntN(10) {
			b.WriteByte(letters[c.random.IntN(len(letters))])
		}
		b.WriteString([]string{" ", " ", " ", ", ", ".\n", "(x) ", " = "}[c.random.IntN(7)])
	}
	return b.String()
}

func (c *client) say(text string) {
	c.messages = append(c.messages, map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}}})
}

// answered adds what the model said, and with results what tools answered to it.
func (c *client) answered(results int) (said []any) {
	said = append(said, map[string]any{"type": "text", "text": c.words(5 + c.random.IntN(120))})
	var back []any
	for range results {
		c.uses++
		use := fmt.Sprint("toolu_", c.org, c.uses)
		said = append(said, map[string]any{"type": "tool_use", "id": use, "name": "Tool1", "input": map[string]any{"path": c.words(4)}})
		back = append(back, map[string]any{"type": "tool_result", "tool_use_id": use, "content": c.words(20 + c.random.IntN(600))})
	}
	c.messages = append(c.messages, map[string]any{"role": "assistant", "content": said})
	if results > 0 {
		c.messages = append(c.messages, map[string]any{"role": "user", "content": back})
	}
	return said
}

// body is the next request.
func (c *client) body(t testing.TB) []byte {
	t.Helper()
	mark := map[string]any{"type": "ephemeral"}
	if c.ttl != "" {
		mark["ttl"] = c.ttl
	}
	marked := func(block map[string]any) map[string]any {
		if c.unmarked {
			return block
		}
		out := map[string]any{"cache_control": mark}
		for k, v := range block {
			out[k] = v
		}
		return out
	}
	system := []any{c.system[0], marked(c.system[1]), marked(c.system[2])}
	messages := append([]map[string]any{}, c.messages...)
	last := messages[len(messages)-1]
	content := append([]any{}, last["content"].([]any)...)
	content[len(content)-1] = marked(content[len(content)-1].(map[string]any))
	messages[len(messages)-1] = map[string]any{"role": last["role"], "content": content}
	doc := map[string]any{"model": c.model, "tools": c.tools, "system": system, "messages": messages}
	for k, v := range c.more {
		doc[k] = v
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// books are a backend that bills, and what a ledger makes of it.
type books struct {
	testing.TB
	now    time.Time
	truth  *capturetest.PrefixCache
	cache  *view.Cache
	before map[string]view.Before
	off    []float64
	edited bool
}

func newBooks(t testing.TB) *books {
	b := &books{TB: t, now: time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC), cache: view.NewCache(), before: map[string]view.Before{}}
	b.truth = &capturetest.PrefixCache{Now: func() time.Time { return b.now }, Minimum: func(model string) int { return int(view.Minimum(model)) }}
	return b
}

func billed(bill capturetest.Bill) view.Billed {
	return view.Billed{Input: int64(bill.Input), Read: int64(bill.Read), Write5m: int64(bill.Write5m), Write1h: int64(bill.Write1h)}
}

// prompt is a body as it is taken in.
func (b *books) prompt(lineage string, c *client, body []byte) view.Prompt {
	p := promptOf(&capture.Exchange{
		Request: capture.Request{Started: b.now, Header: c.header}, Response: capture.Response{Header: http.Header{"Anthropic-Organization-Id": {c.org}}},
	}, newReader().readAsked(body, nil))
	p.Lineage = lineage
	return p
}

// ask sends the client's next request, and says what the ledger makes of it.
func (b *books) ask(lineage string, c *client) (*view.Miss, view.Forecast, view.Billed) {
	b.Helper()
	body := c.body(b)
	bill, err := b.truth.Bill(c.org, body)
	if err != nil {
		b.Fatal(err)
	}
	is := billed(bill)
	p := b.prompt(lineage, c, body)
	f := b.cache.Forecast(p)
	if f.Known {
		b.off = append(b.off, f.Off(is))
	}
	var miss *view.Miss
	if before, ok := b.before[lineage]; ok {
		miss = view.Explain(before, p, f, is, b.edited)
	}
	b.before[lineage] = view.Before{Prompt: p, Kept: is.Read + is.Written()}
	b.cache.Observe(p, f, is)
	return miss, f, is
}

// turn is a turn of a conversation, with rounds of tools.
func (b *books) turn(lineage string, c *client, rounds int) {
	b.Helper()
	c.say(c.words(10 + c.random.IntN(80)))
	for round := range rounds + 1 {
		b.now = b.now.Add(time.Duration(2+c.random.IntN(40)) * time.Second)
		if miss, f, is := b.ask(lineage, c); miss != nil {
			b.Errorf("a request that goes on missed: %+v, foretold %+v, billed %+v", miss, f.Billed, is)
		}
		said := c.answered(map[bool]int{true: 1 + c.random.IntN(4), false: 0}[round < rounds])
		raw, _ := json.Marshal(said)
		b.cache.Said(c.model, promptParts(parts(raw, capture.Span{To: len(raw)}, "assistant"), nil, view.InMessages), int64(tokensOf(said)))
	}
}

func tokensOf(said []any) (n int) {
	for _, block := range said {
		raw, _ := json.Marshal(block)
		n += capturetest.Tokens(string(raw))
	}
	return n
}

// Requirements: OBS-09
func TestTheRulerHoldsAgainstABackendThatBills(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	for seed := range uint64(8) {
		c, lineage := newClient(seed), fmt.Sprint("lineage-", seed)
		if seed%3 == 0 {
			c.ttl = "1h"
		}
		fresh := func(what string) { lineage += what } // what misses is another test
		for turn := range 7 {
			b.turn(lineage, c, c.random.IntN(6))
			switch {
			case turn == 2 && seed%2 == 0:
				b.now = b.now.Add(2 * time.Hour)
				fresh("/idle")
			case turn == 3 && seed%4 == 1:
				c.model = "claude-sonnet-5-5"
				fresh("/model")
			case turn == 4 && seed%4 == 1:
				c.model = "claude-opus-5-5"
				fresh("/back")
			case turn == 5 && seed%3 == 1:
				c.tools = append(c.tools, map[string]any{"name": "mcp__late", "description": c.words(80), "input_schema": map[string]any{}})
				fresh("/tools")
			case turn == 6 && seed%3 == 2:
				c.messages = nil
				c.say("What was said before: " + c.words(400))
				c.answered(0)
				fresh("/compact")
			}
		}
	}
	r := view.RulerOf(b.off)
	t.Logf("%d requests, p50 %.4f, p90 %.4f", r.N, r.P50, r.P90)
	if r.N < 120 || r.P90 > 0.01 || !r.Holds() {
		t.Errorf("the ruler is %+v; p90 should be 1 %% at most", r)
	}
	if (view.Ruler{N: 10, P90: 0.11}).Holds() || (view.Ruler{}).Holds() {
		t.Error("a ruler that is far off, or none, tells something")
	}
}

// missCase changes something between two turns, and says why the next request misses.
type missCase struct {
	name   string
	change func(b *books, c *client)
	cause  view.Cause
	where  string
}

var missCases = []missCase{
	{"a tool is added and one changed", func(_ *books, c *client) {
		c.tools = append([]map[string]any{}, c.tools...)
		c.tools[3] = map[string]any{"name": "Tool3", "description": "new", "input_schema": map[string]any{}}
		c.tools = append(c.tools, map[string]any{"name": "mcp__new", "description": "d", "input_schema": map[string]any{}})
	}, view.ToolsChanged, "~Tool3 +mcp__new"},
	{"tools come in another order", func(_ *books, c *client) { c.tools[0], c.tools[1] = c.tools[1], c.tools[0] }, view.ToolsChanged, "in another order"},
	{"the system prompt has another day", func(_ *books, c *client) {
		c.system = append([]map[string]any{}, c.system...)
		c.system[2] = map[string]any{"type": "text", "text": "another day " + c.words(500)}
	}, view.SystemChanged, "block 2"},
	{"a message is another", func(_ *books, c *client) {
		c.messages = append([]map[string]any{}, c.messages...)
		c.messages[0] = map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "edited"}}}
	}, view.MessageChanged, "message 1, block 1 (User)"},
	{"idle for longer than it is kept", func(b *books, _ *client) { b.now = b.now.Add(6 * time.Minute) }, view.Idle, "since the request before, kept for 5m"},
	{"another model", func(_ *books, c *client) { c.model = "claude-sonnet-5-5" }, view.ModelChanged, "claude-sonnet-5-5, before that claude-opus-5-5"},
	{"the key of another organisation", func(_ *books, c *client) { c.org = "org-2" }, view.OrganisationChanged, "organisation"},
	{"thinking is set otherwise", func(_ *books, c *client) { c.more["thinking"] = map[string]any{"type": "adaptive"} }, view.SettingsChanged, "thinking"},
	{"no marks any more", func(_ *books, c *client) { c.unmarked = true }, view.Unmarked, "no cache_control"},
	{"more blocks than are looked back", func(_ *books, c *client) {
		var many []any
		for range 30 {
			many = append(many, map[string]any{"type": "text", "text": c.words(40)})
		}
		c.messages = append(c.messages, map[string]any{"role": "user", "content": many})
		c.answered(0)
	}, view.LookedTooFar, "of which 20 are looked back"},
	{"the backend forgets", func(b *books, _ *client) { b.truth.Forget() }, view.UpstreamMissed, "identical and warm"},
	{"a beta is another, and the backend forgets", func(b *books, c *client) {
		b.truth.Forget()
		c.header = http.Header{"Anthropic-Beta": {"one-2025,three-2026"}}
	}, view.HeaderChanged, "anthropic-beta +three-2026 -two-2026"},
	{"effort is another, and the backend forgets", func(b *books, c *client) {
		b.truth.Forget()
		c.more["output_config"] = map[string]any{"effort": "low"}
	}, view.SettingsChanged, "output_config"},
	{"the backend clears the context", func(b *books, _ *client) { b.truth.Forget(); b.edited = true }, view.ContextEdited, "context_management"},
}

// Requirements: OBS-09
func TestEachCauseOfAMissIsNamed(t *testing.T) {
	t.Parallel()
	for _, m := range missCases {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b, c := newBooks(t), newClient(1)
			for range 3 {
				b.turn("l", c, 3)
			}
			c.say("go on " + c.words(20))
			m.change(b, c)
			b.now = b.now.Add(10 * time.Second)
			miss, f, is := b.ask("l", c)
			if miss == nil {
				t.Fatalf("no miss; foretold %+v, billed %+v", f.Billed, is)
			}
			if miss.Cause != m.cause || !strings.Contains(miss.Where, m.where) || miss.Tokens <= 0 {
				t.Errorf("it is laid to %s (%s), %d tokens", miss.Cause, miss.Where, miss.Tokens)
			}
			// The next request is warm again.
			c.answered(1)
			if m.cause == view.Unmarked {
				return
			}
			b.edited = false
			b.now = b.now.Add(10 * time.Second)
			if miss, f, is := b.ask("l", c); miss != nil {
				t.Errorf("the request after it is laid to %s (%s); foretold %+v, billed %+v", miss.Cause, miss.Where, f.Billed, is)
			}
		})
	}
}

// Another body than was sent is priced as the backend would have billed it.
func TestABodyThatWasNotSentIsPriced(t *testing.T) {
	t.Parallel()
	b, c := newBooks(t), newClient(3)
	other := b.cache.Beside()
	raw := &capturetest.PrefixCache{Now: b.truth.Now, Minimum: b.truth.Minimum}
	var was, is view.Billed
	add := func(to *view.Billed, b view.Billed) {
		to.Input, to.Read, to.Write5m, to.Write1h = to.Input+b.Input, to.Read+b.Read, to.Write5m+b.Write5m, to.Write1h+b.Write1h
	}
	c.say("begin")
	for round := range 40 {
		b.now = b.now.Add(20 * time.Second)
		whole := c.body(t)
		bill, err := raw.Bill(c.org, whole)
		if err != nil {
			t.Fatal(err)
		}
		add(&is, billed(bill))
		sent := *c
		if round >= 20 { // results of the first half are set aside
			sent.messages = setAside(c.messages, 20)
		}
		if miss, _, _ := b.ask("l", &sent); miss != nil && round != 20 {
			t.Errorf("request %d missed: %+v", round, miss)
		}
		add(&was, other.Suppose(b.prompt("l", c, whole)).Billed)
		c.answered(1)
	}
	for name, pair := range map[string][2]int64{"read": {was.Read, is.Read}, "written": {was.Written(), is.Written()}, "all": {was.Total(), is.Total()}} {
		if off := float64(pair[0]-pair[1]) / float64(pair[1]); off > 0.01 || off < -0.01 {
			t.Errorf("%s: %d tokens are supposed, %d would have been billed", name, pair[0], pair[1])
		}
	}
}

// setAside are messages whose first results say nothing any more.
func setAside(messages []map[string]any, n int) (out []map[string]any) {
	for _, m := range messages {
		content := m["content"].([]any)
		if block := content[0].(map[string]any); block["type"] == "tool_result" && n > 0 {
			n--
			m = map[string]any{"role": m["role"], "content": []any{map[string]any{"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": "[set aside]"}}}
		}
		out = append(out, m)
	}
	return out
}

// What a cache holds outlasts the process.
func TestACacheGoesOnFromWhatWasStored(t *testing.T) {
	t.Parallel()
	b, c := newBooks(t), newClient(5)
	b.turn("l", c, 4)
	raw, err := packState(b.cache.State(b.now, mostStored))
	if err != nil {
		t.Fatal(err)
	}
	var s view.CacheState
	if _, err := openState(raw, &s); err != nil {
		t.Fatal(err)
	}
	b.cache = view.NewCache()
	b.cache.Restore(s)
	c.say("go on")
	b.now = b.now.Add(time.Minute)
	miss, f, is := b.ask("l", c)
	if off := f.Off(is); miss != nil || !f.Known || off > 0.02 {
		t.Errorf("off by %.3f, %+v: foretold %+v, billed %+v", off, miss, f.Billed, is)
	}
}

func TestWhereTwoRequestsDifferIsShown(t *testing.T) {
	t.Parallel()
	c := newClient(6)
	c.system[2] = map[string]any{"type": "text", "text": "Grüße. Today is 2026-11-27, and so on."}
	c.say("one")
	was := c.body(t)
	c.answered(1)
	if d := differs(was, c.body(t)); d.Part != "" {
		t.Errorf("a request that only adds differs: %+v", d)
	}
	c.system[2] = map[string]any{"type": "text", "text": "Grüße. Today is 2026-11-28, and so on."}
	d := differs(was, c.body(t))
	if d.Part != "system: block 2" || d.At != len([]rune(`{"text":"Grüße. Today is 2026-11-2`))+1 || !strings.Contains(d.Was, "2026-11-27, and") || !strings.Contains(d.Is, "2026-11-28, and") {
		t.Errorf("they differ at %+v", d)
	}
	c.tools = c.tools[1:]
	if d := differs(was, c.body(t)); d.Part != "tools: -Tool0" || d.Was == d.Is {
		t.Errorf("they differ at %+v", d)
	}
	c = newClient(6)
	c.say("one")
	was = c.body(t)
	c.messages = nil
	c.say("two")
	if d := differs(was, c.body(t)); !strings.HasPrefix(d.Part, "message: message 1, block 1") || !strings.HasSuffix(d.Is, `two","type":"text"}`) {
		t.Errorf("they differ at %+v", d)
	}
}
