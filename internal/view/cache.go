package view

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// The provider keeps prefixes of requests, and charges less for what it need not read
// again. Its documentation says how, and this file follows it:
//
//   - a prefix is tools, then system, then messages. It is kept where a request marks
//     its end with cache_control, at four places at most, for 5 minutes or an hour, and
//     anew with each use;
//   - from each mark up to 20 blocks are looked back, the marked one among them, for a
//     prefix that was kept;
//   - one that is shorter than the model's minimum is not kept;
//   - another model, organisation or tool list shares nothing with it; tool_choice and
//     thinking are part of what messages begin with, speed of what system begins with.

// lookBack is how many blocks a mark is compared at.
const lookBack = 20

// Lifetimes of a prefix, as a mark says.
const (
	TTL5m = 5 * time.Minute
	TTL1h = time.Hour
)

// Section is where a part of a request stands, in the order in which a model reads.
type Section uint8

// The sections.
const (
	InTools Section = iota
	InSystem
	InMessages
)

// PromptPart is what of a request counts as one block: a tool, a block of the system
// prompt or of a message.
type PromptPart struct {
	Section Section `json:"s"`
	Key     string  `json:"k"`           // what it says, wherever a mark stands; parts that say the same have the same
	Name    string  `json:"n,omitempty"` // of a tool; of another part its type, for people
	Message int     `json:"m,omitempty"` // which one it is in, from 1
	Bytes   int     `json:"b"`
	// Media tells of an image or a document, whose bytes say little of its tokens.
	Media bool          `json:"i,omitempty"`
	Mark  time.Duration `json:"t,omitempty"` // how long the prefix that ends here is to be kept; 0: no mark
}

// Prompt is a request as the cache sees it.
type Prompt struct {
	Lineage      string // whose rate of tokens a byte it has
	Model        string
	Organisation string    // whose cache it is, as the answer says; "": it does not
	At           time.Time // it was sent
	Began        time.Time // its answer began: what it wrote can be read from then on
	Parts        []PromptPart
	Settings     map[string]string // other members of the body that change how it is read, by hash
	Headers      map[string]string // of the request, those that could
	Epoch        int               // of our own that was in force
}

// Billed is what a request is charged for, in tokens.
type Billed struct{ Input, Read, Write5m, Write1h int64 }

// Total is everything the model read.
func (b Billed) Total() int64 { return b.Input + b.Read + b.Write5m + b.Write1h }

// Written is what of it was kept.
func (b Billed) Written() int64 { return b.Write5m + b.Write1h }

// Forecast is what a request should be charged for.
type Forecast struct {
	Billed
	// Known is false as long as no request of the model was charged: nothing tells how
	// many tokens its bytes are.
	Known bool

	sums  []prefixSum // of the parts up to each
	sizes []float64   // of each part, in tokens
	fresh []bool      // parts whose size nobody has told yet
	hit   int         // the last part that is read; -1: none
	marks []int
}

// Off is how far a forecast is from what was charged, as a share of the request.
func (f Forecast) Off(b Billed) float64 {
	total := b.Total()
	if total == 0 {
		return 0
	}
	return float64(max(distance(f.Read, b.Read), distance(f.Written(), b.Written()))) / float64(total)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// prefixSum is of what a request begins with.
type prefixSum [16]byte

// MarshalText writes the sum in hexadecimal.
func (s prefixSum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *prefixSum) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(s) {
		return errors.New("it is no sum of a prefix")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// Prefix is one that the provider keeps.
type Prefix struct {
	Sum     prefixSum     `json:"s"`
	Tokens  int64         `json:"n"`
	Lives   time.Duration `json:"l"`
	From    time.Time     `json:"f"` // it can be read from then on
	Expires time.Time     `json:"e"`
}

// CacheState is what of a cache is stored.
type CacheState struct {
	Kept  []Prefix              `json:"kept"`
	Rates map[string][2]float64 `json:"rates"` // bytes and their tokens, by model
}

// Cache is what the provider should hold, learnt from requests and what they were
// charged for. It is used by one goroutine.
type Cache struct {
	kept   map[prefixSum]*Prefix
	models map[string]*modelReading
}

// NewCache is a cache that holds nothing, and has seen nothing.
func NewCache() *Cache {
	return &Cache{kept: map[prefixSum]*Prefix{}, models: map[string]*modelReading{}}
}

// mostKept bounds the prefixes that are remembered.
const mostKept = 4096

// Beside is a cache that holds nothing, and knows the sizes of parts that c learns:
// the world in which other bodies were sent.
func (c *Cache) Beside() *Cache { return &Cache{kept: map[prefixSum]*Prefix{}, models: c.models} }

// minimums are the shortest prefixes that are kept, by the beginning of a model's
// name, the longest that fits.
var minimums = map[string]int64{
	"claude-fable": 512, "claude-mythos": 512, "claude-opus-5": 512, "claude-opus-4-7": 2048, "claude-opus-4-6": 4096, "claude-opus-4-5": 4096,
	"claude-haiku-4-5": 4096, "claude-3-5-haiku": 2048, "claude-3-haiku": 2048,
}

// Minimum is the shortest prefix that is kept of a model, in tokens.
func Minimum(model string) int64 {
	at := ""
	for name := range minimums {
		if strings.HasPrefix(model, name) && len(name) > len(at) {
			at = name
		}
	}
	if at == "" {
		return 1024
	}
	return minimums[at]
}

// chain are the sums of what the request begins with, up to each part.
func (p Prompt) chain() []prefixSum {
	out := make([]prefixSum, len(p.Parts))
	sum := sha256.Sum256([]byte(p.Organisation + "\x00" + p.Model))
	buf := make([]byte, 0, 256)
	section := InTools
	for i, part := range p.Parts {
		buf = append(buf[:0], sum[:]...)
		if section < InSystem && part.Section >= InSystem {
			buf = append(buf, p.Settings["speed"]...)
		}
		if section < InMessages && part.Section == InMessages {
			buf = append(append(append(buf, p.Settings["tool_choice"]...), 0), p.Settings["thinking"]...)
		}
		section = part.Section
		sum = sha256.Sum256(append(buf, part.Key...))
		copy(out[i][:], sum[:])
	}
	return out
}

// marks are the parts with a mark.
func (p Prompt) marks() (list []int) {
	for i, part := range p.Parts {
		if part.Mark > 0 {
			list = append(list, i)
		}
	}
	return list
}

// Forecast says what a request should be charged for, whether or not it is sent.
// Nothing changes.
func (c *Cache) Forecast(p Prompt) Forecast {
	r := c.reading(p.Model)
	perByte, known := r.rate(p.Lineage)
	f := Forecast{Known: known, sums: p.chain(), sizes: make([]float64, len(p.Parts)), fresh: make([]bool, len(p.Parts)), hit: -1, marks: p.marks()}
	for i, part := range p.Parts {
		size, told := r.sizes[part.Key]
		switch {
		case told:
		case part.Media:
			size = mediaTokens
		default:
			size = perByte * float64(part.Bytes)
		}
		f.sizes[i], f.fresh[i] = size, !told
	}
	hit, k := c.find(p, f)
	f.bill(p, hit, k)
	return f
}

// find is the longest prefix of a request that is kept.
func (c *Cache) find(p Prompt, f Forecast) (at int, k *Prefix) {
	for _, m := range slices.Backward(f.marks) {
		for i := m; i >= 0 && i > m-lookBack; i-- {
			if k := c.kept[f.sums[i]]; k != nil && !p.At.After(k.Expires) && !p.At.Before(k.From) {
				return i, k
			}
		}
	}
	return -1, nil
}

// bill charges the request, of which a prefix is kept or not.
func (f *Forecast) bill(p Prompt, hit int, k *Prefix) {
	f.hit = hit
	if k != nil {
		f.Read = k.Tokens
	}
	upTo, done := float64(f.Read), float64(f.Read)
	marks := f.marks
	for i := hit + 1; i < len(p.Parts); i++ {
		upTo += f.sizes[i]
		for len(marks) > 0 && marks[0] < i {
			marks = marks[1:]
		}
		if len(marks) == 0 || marks[0] != i || upTo < float64(Minimum(p.Model)) {
			continue
		}
		if p.Parts[i].Mark >= TTL1h {
			f.Write1h += int64(upTo - done + 0.5)
		} else {
			f.Write5m += int64(upTo - done + 0.5)
		}
		done = upTo
	}
	f.Input = int64(upTo - done + 0.5)
}

// Observe learns from what a request was charged for: how long its parts are, and
// what is kept from now on. f is its forecast.
func (c *Cache) Observe(p Prompt, f Forecast, b Billed) {
	if len(p.Parts) == 0 || b.Total() == 0 {
		return
	}
	r := c.reading(p.Model)
	upTo := r.measure(p, f, b)
	if b.Read+b.Written() == 0 {
		return // it was too short, or nothing is kept here
	}
	c.keep(p, f, func(i int) int64 { return int64(upTo[i] + 0.5) })
}

// Suppose takes a request as if it had been sent, and says what it would have been
// charged for: so another body is priced than was sent, in a cache Beside that of what
// was.
func (c *Cache) Suppose(p Prompt) Forecast {
	f := c.Forecast(p)
	if len(p.Parts) == 0 {
		return f
	}
	upTo := make([]int64, len(p.Parts))
	sum := 0.0
	for i, size := range f.sizes {
		if sum += size; i == f.hit {
			sum = float64(f.Read)
		}
		upTo[i] = int64(sum + 0.5)
	}
	c.keep(p, f, func(i int) int64 { return upTo[i] })
	return f
}

// Said tells the sizes of what a model answered, which comes back in the next request.
func (c *Cache) Said(model string, parts []PromptPart, tokens int64) {
	size := 0
	for _, part := range parts {
		size += part.Bytes
	}
	if size == 0 || tokens <= 0 {
		return
	}
	r := c.reading(model)
	for _, part := range parts {
		if _, told := r.sizes[part.Key]; !told {
			r.put(part.Key, float64(tokens)*float64(part.Bytes)/float64(size))
		}
	}
}

// keep notes what a request wrote and used.
func (c *Cache) keep(p Prompt, f Forecast, tokens func(part int) int64) {
	if f.hit >= 0 {
		k := c.kept[f.sums[f.hit]]
		k.Expires = latest(k.Expires, p.At.Add(k.Lives))
	}
	from := p.Began
	if from.Before(p.At) {
		from = p.At
	}
	for _, m := range f.marks {
		n := tokens(m)
		if n < Minimum(p.Model) {
			continue
		}
		k := c.kept[f.sums[m]]
		if k == nil || p.At.After(k.Expires) {
			c.kept[f.sums[m]] = &Prefix{Sum: f.sums[m], Tokens: n, Lives: p.Parts[m].Mark, From: from, Expires: p.At.Add(p.Parts[m].Mark)}
			continue
		}
		k.Tokens, k.Expires = n, latest(k.Expires, p.At.Add(k.Lives))
		if from.Before(k.From) {
			k.From = from
		}
	}
	if len(c.kept) > mostKept {
		c.Restore(c.State(p.At, mostKept/2))
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// State is what a cache holds at a time: of its prefixes those that live longest, at
// most so many.
func (c *Cache) State(at time.Time, most int) (s CacheState) {
	for k := range maps.Values(c.kept) {
		if !at.After(k.Expires) {
			s.Kept = append(s.Kept, *k)
		}
	}
	slices.SortFunc(s.Kept, func(a, b Prefix) int {
		return cmp.Or(b.Expires.Compare(a.Expires), bytes.Compare(a.Sum[:], b.Sum[:]))
	})
	s.Kept = s.Kept[:min(len(s.Kept), most)]
	s.Rates = map[string][2]float64{}
	for model, r := range c.models {
		if r.all.known() {
			s.Rates[model] = [2]float64{r.all.bytes, r.all.tokens}
		}
	}
	return s
}

// Restore makes a cache hold that, and nothing else.
func (c *Cache) Restore(s CacheState) {
	clear(c.kept)
	for _, k := range s.Kept {
		c.kept[k.Sum] = &k
	}
	for model, r := range s.Rates {
		c.reading(model).all = byteRate{r[0], r[1]}
	}
}
