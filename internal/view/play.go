package view

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Recorded is a lineage as it was recorded, request by request.
type Recorded struct {
	Lineage  string
	Blocks   []Block // all of them, in order
	Requests []Sent
	Window   int64 // tokens its model can read; 0: nobody knows
	// Totals are the requests of lineages that have ended, to expect from.
	Totals []int
	// Off is how far the model of the cache was off on it, as a share of what was read;
	// Told says that this was measured.
	Off  float64
	Told bool
}

// Sent is a request of a recorded lineage.
type Sent struct {
	Blocks int // how many of the lineage it had
	At     time.Time
	Model  string
	Hour   bool // its cache keeps what is written for an hour
	// Input, Read and Write are the tokens that its model read: not from the cache,
	// from it, and into it. Output is those of the answer.
	Input, Read, Write, Output int64
	Unit                       float64 // what one token of input costs, in dollars
	Price                      Price
}

// Total is everything the model read.
func (s Sent) Total() int64 { return s.Input + s.Read + s.Write }

// cost is what a request costs that is read and written so, in dollars.
func (s Sent) cost(input, read, write int64) float64 {
	return s.Unit * (float64(input) + s.Price.Read*float64(read) + s.Price.write(s.Hour)*float64(write) + s.Price.Output*float64(s.Output))
}

// Opened is an epoch that would have been opened.
type Opened struct {
	Request int      `json:"request"` // the first that follows it, from 1
	Why     string   `json:"why"`
	Results []string `json:"results"` // tool_use ids
	Tokens  int64    `json:"tokens"`
}

// Played is what a policy would have done with a recorded lineage.
type Played struct {
	Lineage string   `json:"lineage"`
	Epochs  []Opened `json:"epochs"`
	// Results and Tokens are what would have been set aside.
	Results int   `json:"results"`
	Tokens  int64 `json:"tokens"`
	// Born is how many tokens fewer results had from the first on.
	Born int64 `json:"born"`
	// Raw is what the requests cost as they were recorded, Cost what they would have,
	// in dollars.
	Raw  float64 `json:"raw_usd"`
	Cost float64 `json:"usd"`
	// Thinking is how many tokens of thinking would not have been valid any more.
	Thinking int64 `json:"thinking"`
	// Invalid is how many requests a backend would have refused.
	Invalid int `json:"invalid"`
	// Regretted are the results that were needed again after they were set aside.
	Regretted int `json:"regretted"`
}

// Play follows a policy through a recorded lineage, as if its mode was view. What the
// model answered is what was recorded: it is not known what it would have said.
func (p *Policy) Play(r Recorded) Played {
	pl := player{policy: p, r: r, aside: map[string]Replacement{}, since: map[string]int{}, out: Played{Lineage: r.Lineage, Epochs: []Opened{}}}
	pl.history = historyOf(r.Blocks)
	pl.perByte = rate(r.Blocks)
	pl.born = p.born(r.Blocks, pl.perByte)
	for _, n := range pl.born {
		pl.out.Born += n
	}
	for i := range r.Requests {
		pl.request(i)
	}
	pl.regret()
	return pl.out
}

// Unchanged is what a policy does that changes nothing.
func Unchanged(r Recorded) Played {
	out := Played{Lineage: r.Lineage, Epochs: []Opened{}}
	for _, s := range r.Requests {
		if s.Price == (Price{}) {
			s.Price = UsualPrice
		}
		out.Raw += s.cost(s.Input, s.Read, s.Write)
	}
	out.Cost = out.Raw
	return out
}

// player is a policy on its way through a lineage.
type player struct {
	policy  *Policy
	r       Recorded
	history history
	perByte float64
	aside   map[string]Replacement // by the result
	order   []Replacement
	since   map[string]int // how many blocks there were when a result was set aside
	born    []int64        // how many tokens fewer each block has from its birth on
	out     Played
}

func (pl *player) request(i int) {
	s := pl.r.Requests[i]
	if s.Price == (Price{}) {
		s.Price = UsualPrice
	}
	blocks := pl.r.Blocks[:min(s.Blocks, len(pl.r.Blocks))]
	pl.out.Raw += s.cost(s.Input, s.Read, s.Write)
	first := -1 // the first block that an epoch changes now
	if i > 0 && turn(blocks) {
		first = pl.open(i, blocks)
	}
	less := pl.less(blocks)
	if less == 0 {
		pl.out.Cost += s.cost(s.Input, s.Read, s.Write)
		return
	}
	if pl.broken(blocks) {
		pl.out.Invalid++
	}
	read, write := s.Read, s.Write
	if first >= 0 && read > 0 { // what stands before it is read, the rest is written
		before := pl.before(blocks, first, s)
		if before < read {
			write += read - before
			read = before
		}
		write -= less
	} else if read >= less { // what is aside is in the beginning that is read
		read -= less
	} else {
		write -= less
	}
	input := s.Input
	if write < 0 {
		input, write = max(0, input+write), 0
	}
	pl.out.Cost += s.cost(input, read, write)
}

// turn reports whether a request begins a turn: its last message is no result that an
// open round waits for.
func turn(blocks []Block) bool {
	i := len(blocks) - 1
	for ; i >= 0 && blocks[i].Role != "assistant"; i-- {
		if blocks[i].Type == resultType {
			return false
		}
	}
	return i < len(blocks)-1
}

// open opens an epoch before a request, where the policy says so, and gives the first
// block that it changes; -1: none.
func (pl *player) open(i int, blocks []Block) int {
	s, before := pl.r.Requests[i], pl.r.Requests[i-1]
	end := len(blocks)
	for end > 0 && blocks[end-1].Role != "assistant" {
		end--
	}
	if end == 0 {
		return -1
	}
	plan := pl.policy.plan(Situation{
		Lineage: pl.r.Lineage, Aside: pl.order, Hour: s.Hour, Price: s.Price, Requests: Expect(i, pl.r.Totals),
		Context: before.Total() + before.Output, Window: pl.r.Window, Now: s.At,
	}, pl.history, end)
	why, from := "", 0
	switch {
	case len(plan.Replace) == 0:
	case plan.Full:
		why = Full
	case s.At.Sub(before.At) > TTL(before.Hour) || s.Model != before.Model:
		why, from = Cold, plan.Cold
	case plan.Pays:
		why, from = Pays, plan.Warm
	}
	if why == "" || from == len(plan.Replace) {
		return -1
	}
	o := Opened{Request: i + 1, Why: why, Results: []string{}}
	for _, r := range plan.Replace[from:] {
		pl.aside[r.Result], pl.since[r.Result] = r, len(blocks)
		pl.order = append(pl.order, r)
		o.Results, o.Tokens = append(o.Results, r.Result), o.Tokens+r.Tokens
	}
	pl.out.Epochs = append(pl.out.Epochs, o)
	pl.out.Results, pl.out.Tokens = pl.out.Results+len(o.Results), pl.out.Tokens+o.Tokens
	first := slices.IndexFunc(blocks, func(b Block) bool { return b.Type == resultType && b.Use == o.Results[0] })
	for _, b := range blocks[max(first, 0):] {
		if b.Type == "Thinking" {
			pl.out.Thinking += b.Tokens
		}
	}
	return first
}

// less is how many tokens fewer a request has.
func (pl *player) less(blocks []Block) (n int64) {
	for i := range blocks {
		if r, ok := pl.aside[blocks[i].Use]; ok && blocks[i].Type == resultType {
			n += blocks[i].Tokens - r.noteTokens(pl.perByte)
			continue
		}
		n += pl.born[i]
	}
	return n
}

// born is how many tokens fewer the results of a history have by what is decided of
// them before they are sent first.
func (p *Policy) born(blocks []Block, perByte float64) []int64 {
	out, first := make([]int64, len(blocks)), map[string]*Block{}
	for i := range blocks {
		b := &blocks[i]
		if b.Type != resultType || b.Sum == "" {
			continue
		}
		if before := first[b.Sum]; p.Birth.Duplicates && before != nil {
			out[i] = max(0, b.Tokens-int64(float64(len(BirthNote(before)))*perByte+1))
			continue
		}
		first[b.Sum] = b
		out[i] = b.Tokens - p.read(b)
	}
	return out
}

// before is how many tokens of a request stand before a block: the rest of what it
// had, system prompts and tools included.
func (pl *player) before(blocks []Block, first int, s Sent) int64 {
	var behind int64
	for i := first; i < len(blocks); i++ {
		behind += blocks[i].Tokens
	}
	return max(0, s.Total()-behind)
}

// broken reports whether a backend would refuse a request, or should never have been
// sent it: a result that is aside and answers no use of the message before its own, or
// stands in the last message.
func (pl *player) broken(blocks []Block) bool {
	last := len(blocks)
	for last > 0 && blocks[last-1].Role != "assistant" {
		last--
	}
	uses, role := map[string]bool{}, ""
	for i := range blocks {
		b := &blocks[i]
		if b.Role != role && b.Role == "assistant" {
			clear(uses)
		}
		role = b.Role
		if b.Type == useType {
			uses[b.Use] = true
		}
		r, ok := pl.aside[b.Use]
		if ok && b.Type == resultType && (i >= last || !uses[b.Use] || r.Sum != b.Sum) {
			return true
		}
	}
	return false
}

// leastQuote is the length from which an edit that repeats what a result said has
// needed it, in bytes.
const leastQuote = 40

// regret counts the results that were needed after they were set aside: called again
// with the same input, asked back, or quoted by an edit where nothing else that was in
// view held the words.
func (pl *player) regret() {
	if len(pl.aside) == 0 {
		return
	}
	results := map[string]int{}
	for i := range pl.r.Blocks {
		if b := &pl.r.Blocks[i]; b.Type == resultType {
			results[b.Use] = i
		}
	}
	regretted := map[string]bool{}
	for at := range pl.r.Blocks {
		b := &pl.r.Blocks[at]
		if b.Type != useType {
			continue
		}
		quotes := quotesOf(b)
		for id, r := range pl.aside {
			if regretted[id] || at < pl.since[id] {
				continue
			}
			was := &pl.r.Blocks[results[id]]
			switch {
			case b.Tool == RecallTool && strings.Contains(b.Text, `"`+r.Block+`"`),
				b.Input != "" && b.Input == was.Input:
				regretted[id] = true
			case slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(withoutLineNumbers(was), q) && !pl.visible(at, q) }):
				regretted[id] = true
			}
		}
	}
	pl.out.Regretted = len(regretted)
}

// visible reports whether a block before another holds words and was in view.
func (pl *player) visible(at int, words string) bool {
	for i := range pl.r.Blocks[:at] {
		b := &pl.r.Blocks[i]
		if since, ok := pl.since[b.Use]; ok && b.Type == resultType && at >= since {
			continue
		}
		text := withoutLineNumbers(b)
		if b.Type == useType {
			text = unescape.Replace(text)
		}
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// quotesOf are the words that an edit replaces, where they are long enough.
func quotesOf(b *Block) (list []string) {
	if !slices.Contains(edits, b.Tool) {
		return nil
	}
	type edit struct {
		Old string `json:"old_string"`
	}
	var in struct {
		edit
		Edits []edit `json:"edits"`
	}
	if json.Unmarshal([]byte(b.Text), &in) != nil {
		return nil
	}
	for _, e := range append(in.Edits, in.edit) {
		if len(e.Old) >= leastQuote {
			list = append(list, e.Old)
		}
	}
	return list
}

var numbered = regexp.MustCompile(`(?m)^ *[0-9]+(→|\t)`)

// withoutLineNumbers is what a block says, of a file without the numbers of its lines.
func withoutLineNumbers(b *Block) string {
	if b.Type == resultType && slices.Contains(reads, b.Tool) {
		return numbered.ReplaceAllString(b.Text, "")
	}
	return b.Text
}
