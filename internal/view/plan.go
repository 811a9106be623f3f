package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Situation is what a plan is made for: a lineage after an exchange.
type Situation struct {
	Client, Lineage string
	Policy          string // which version of it is pinned
	Blocks          []Block
	// Aside are what is set aside already, by epochs in force.
	Aside []Replacement
	// Hour says that its cache keeps what is written for an hour, not five minutes.
	Hour  bool
	Price Price // zero: UsualPrice
	// Requests is how many are expected (Expect).
	Requests float64
	// Context is how many tokens the next request will have at least, Window how many
	// its model can read; 0: nobody knows.
	Context, Window int64
	Asked           bool // a person said that the epoch is to open
	Now             time.Time
}

// Plan is what could be set aside of a lineage (design of views: "Opening"). Every
// result from which on the rest is set aside is tried, and the best one kept: what is
// set aside early changes all behind it, so less may be more.
func (p *Policy) Plan(s Situation) Plan { return p.plan(s, historyOf(s.Blocks), len(s.Blocks)) }

// plan is Plan for the beginning of a history that is known already.
func (p *Policy) plan(s Situation, h history, length int) Plan {
	s.Blocks = h.blocks[:length]
	if s.Price == (Price{}) {
		s.Price = UsualPrice
	}
	out := Plan{
		Client: s.Client, Lineage: s.Lineage, Policy: s.Policy, Mode: p.Mode, Birth: p.Birth, Replace: []Replacement{}, Asked: s.Asked, MadeAt: s.Now,
		Full: s.Window > 0 && float64(s.Context) > p.Epoch.Context*float64(s.Window),
	}
	if p.Birth.CapBytes > 0 {
		out.Whole = p.Keep.Tools
	}
	perByte := rate(s.Blocks)
	d := p.decider(h, length, s.Now, Focus{})
	at := []int{}
	for _, i := range p.movable(s.Blocks, h.turns, s.Aside) {
		r := p.replacement(&s.Blocks[i])
		if r.Tokens > r.noteTokens(perByte) && d.decide(i).Do == Aside { // else nothing would be won
			out.Replace, at = append(out.Replace, r), append(at, i)
		}
	}
	if len(at) > 0 {
		p.cut(&out, s, at, perByte)
	}
	for i := range s.Blocks { // what is aside does not come back, it is quoted
		b := &s.Blocks[i]
		if b.Type == resultType && b.Person == Show && slices.ContainsFunc(s.Aside, func(r Replacement) bool { return r.Result == b.Use }) {
			out.Quote = append(out.Quote, b.Use)
		}
	}
	return out
}

// movable are the results that may be set aside in an epoch: none of the last answers
// or of the open round, none that a birth note names, none that was asked back.
func (p *Policy) movable(blocks []Block, turns []int, aside []Replacement) (list []int) {
	done := map[string]bool{}
	for _, r := range aside {
		done[r.Result] = true
	}
	last := len(blocks) // what stands behind the last answer is the last message, or the open round
	for last > 0 && blocks[last-1].Role != "assistant" {
		last--
	}
	if last == 0 {
		return nil
	}
	open := map[string]bool{}
	for i := last - 1; i >= 0 && blocks[i].Role == "assistant"; i-- {
		open[blocks[i].Use] = true
	}
	born := p.births(blocks)
	for i := range blocks[:last] {
		b := &blocks[i]
		if b.Type == resultType && b.Sum != "" && b.Use != "" && !done[b.Use] && !open[b.Use] && !born[i] && turns[last-1]-turns[i] >= p.Keep.Turns &&
			b.Tool != RecallTool && !slices.Contains(p.Keep.Tools, b.Tool) {
			list = append(list, i)
		}
	}
	return list
}

// births are the results that say what another one says, where that is noted when
// they are sent first: the note, and what it names.
func (p *Policy) births(blocks []Block) map[int]bool {
	out := map[int]bool{}
	if !p.Birth.Duplicates {
		return out
	}
	first := map[string]int{}
	for i := range blocks {
		b := &blocks[i]
		if b.Type != resultType || b.Sum == "" {
			continue
		}
		if at, ok := first[b.Sum]; ok {
			out[at], out[i] = true, true
			continue
		}
		first[b.Sum] = i
	}
	return out
}

// cut finds from which of the replacements on it is best to set aside, while the
// cache is warm and while it is not.
func (p *Policy) cut(out *Plan, s Situation, at []int, perByte float64) {
	aside := map[string]Replacement{}
	for _, r := range s.Aside {
		aside[r.Result] = r
	}
	// Behind each block, from the end: all tokens, and those of thinking.
	behind, thinking := make([]int64, len(s.Blocks)+1), make([]int64, len(s.Blocks)+1)
	for i := len(s.Blocks) - 1; i >= 0; i-- {
		b := &s.Blocks[i]
		tokens := p.read(b)
		if r, ok := aside[b.Use]; ok && b.Type == resultType {
			tokens = r.noteTokens(perByte)
		}
		behind[i], thinking[i] = behind[i+1]+tokens, thinking[i+1]
		if b.Type == "Thinking" {
			thinking[i] += tokens
		}
	}
	var removed, placed int64
	var warm, cold float64
	out.Warm, out.Cold = len(at), len(at)
	for i := len(at) - 1; i >= 0; i-- {
		removed += out.Replace[i].Tokens
		placed += out.Replace[i].noteTokens(perByte)
		e := s.Price.Estimate(Estimate{Behind: behind[at[i]], Removed: removed, Placed: placed, Thinking: thinking[at[i]], Requests: s.Requests}, s.Hour)
		if won := s.Requests*e.Gain - e.Extra; out.Warm == len(at) || won > warm {
			out.Warm, out.Estimate, warm = i, e, won
		}
		// Cold, all is written anew anyway: what is set aside is not.
		won := s.Requests*e.Gain + s.Price.write(s.Hour)*float64(removed-placed) - s.Price.thinking(e.Thinking)
		if out.Cold == len(at) || won > cold {
			out.Cold, cold = i, won
		}
	}
	if cold <= 0 {
		out.Cold = len(at)
	}
	e := out.Estimate
	out.Pays = e.Removed >= p.Epoch.MinTokens && e.Gain > 0 && s.Requests*e.Gain >= (1+p.Epoch.Margin)*e.Extra
}

func (p *Policy) replacement(b *Block) Replacement {
	return Replacement{Result: b.Use, Sum: b.Sum, Block: b.Mark(), Label: Label(b), Bytes: b.Bytes, Tokens: p.read(b)}
}

// read is how many tokens of a block a model reads, of a result that is capped those that
// are left.
func (p *Policy) read(b *Block) int64 {
	c := p.Birth.CapBytes
	if c <= 0 || b.Type != resultType || b.Bytes <= c || slices.Contains(p.Keep.Tools, b.Tool) {
		return b.Tokens
	}
	return b.Tokens * int64(c) / int64(b.Bytes)
}

// Mark is the name of a block that a person and a recall use: its display id and the
// end of its UUID. The beginning is the same for blocks of one moment.
func (b *Block) Mark() string {
	number := "x"
	if b.Display >= 0 {
		number = strconv.Itoa(b.Display)
	}
	uuid := strings.ReplaceAll(b.UUID, "-", "")
	return number + "-" + uuid[max(0, len(uuid)-markLength):]
}

const markLength = 4

// longestName is how much of what a use asks for its label says, in characters.
const longestName = 60

// Label names a use or its result in a few words: "Read src/auth.go".
func Label(b *Block) string {
	what := strings.Join(strings.FieldsFunc(b.About, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '[' || r == ']' || r == utf8.RuneError }), " ")
	if runes := []rune(what); len(runes) > longestName {
		what = string(runes[:longestName-1]) + "…"
	}
	return strings.TrimSpace(b.Tool + " " + what)
}

// Note is what stands in the place of a result that is set aside. Where the agent has
// the tool to ask for it back, it says how.
func (r Replacement) Note(recall bool) string {
	back := "Run the tool again if you need it."
	if recall {
		back = fmt.Sprintf(`%s {"block":%q} returns it`, RecallTool, r.Block)
	}
	return fmt.Sprintf("[palace: block %s set aside: %s, %d bytes. %s]", r.Block, r.Label, r.Bytes, back)
}

// BirthNote is what stands in the place of a result that says what an earlier one
// says.
func BirthNote(earlier *Block) string {
	return fmt.Sprintf("[identical to the result of %s above: %s]", earlier.Use, Label(earlier))
}

// usualRate is how many tokens a byte has where nobody has counted.
const usualRate = 0.28

// noteTokens is how many tokens the note has.
func (r Replacement) noteTokens(perByte float64) int64 {
	return int64(float64(len(r.Note(true)))*perByte + 1)
}

// rate is how many tokens a byte of a lineage has.
func rate(blocks []Block) float64 {
	var tokens, bytes int64
	for i := range blocks {
		tokens, bytes = tokens+blocks[i].Tokens, bytes+int64(blocks[i].Bytes)
	}
	if tokens <= 0 || bytes <= 0 {
		return usualRate
	}
	return float64(tokens) / float64(bytes)
}
