package model

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CiteByNumber tells a model without citations of its own how to cite the
// passages Numbered has shown it.
const CiteByNumber = "The numbered passages are sources. Directly behind each statement that rests on one, write its number in square brackets, like [1]; " +
	"write [1][2] where several support it. Use no other form of reference, invent no number, and never cite a passage that does not say it."

// Numbered is a passage as a block of a prompt, for a provider without
// citations of its own. Passages are numbered from 1 over the whole request.
// The text stands in a frame and the title on one line, so that a passage
// cannot pass for another; rows have the names of their columns above them.
func Numbered(n int, passage Block) string {
	head, text := fmt.Sprintf("[%d]", n), passage.Text
	if s := passage.Source; s != nil {
		parts := []string{cmp.Or(s.Title, s.Path)}
		if s.Heading != "" {
			parts = append(parts, s.Heading)
		}
		if s.Page > 0 {
			parts = append(parts, "page "+strconv.Itoa(s.Page))
		}
		head += " " + titled(strings.Join(parts, ", "))
		if s.Columns != "" {
			text = s.Columns + "\n" + text
		}
	}
	return head + ":\n" + Frame("passage", text)
}

// maxTitle bounds the title of a passage, in characters.
const maxTitle = 200

func titled(s string) string {
	s = oneLine(s)
	if runes := []rune(s); len(runes) > maxTitle {
		return string(runes[:maxTitle]) + "…"
	}
	return s
}

// Passages are the passages of messages in the order they are numbered in.
func Passages(messages []Message) []Block {
	var out []Block
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Type == Passage {
				out = append(out, b)
			}
		}
	}
	return out
}

// Citer reads the text of an answer as it comes and makes Citation events of
// its [n] markers. A marker is taken out of the text: whoever shows the answer
// writes the number of the citation in its place. What looks like a marker but
// names no passage, stands in code, or begins a Markdown link stays text.
// Nothing is held back but a marker that may still be incomplete.
//
// It is for one answer and not safe for concurrent use.
type Citer struct {
	passages []Block
	held     string // not yet decided: it begins with a bracket or ends with backticks
	claim    string // the text since the last citation, at most maxClaim bytes
	before   string // the claim of the last citation, for a second marker beside it
	code     codeState
}

// maxClaim is how much of the text before a marker is looked at, in bytes.
const maxClaim = 4 << 10

// NewCiter makes a Citer of passages as they were numbered.
func NewCiter(passages []Block) *Citer { return &Citer{passages: passages} }

// Add reads a piece of text and gives what is decided by it.
func (c *Citer) Add(text string) []Event {
	c.held += text
	return c.read(false)
}

// End gives what was held back when the answer is over.
func (c *Citer) End() []Event { return c.read(true) }

func (c *Citer) read(last bool) []Event {
	var out []Event
	var plain strings.Builder
	say := func() {
		if plain.Len() > 0 {
			out = append(out, Event{Type: TextDelta, Text: plain.String()})
			plain.Reset()
		}
	}
	for c.held != "" {
		n := c.certain(last)
		plain.WriteString(c.advance(n))
		if c.held == "" {
			break
		}
		length, numbers, sure := c.marker(last)
		if !sure {
			break
		}
		cited := c.cite(numbers)
		if len(cited) == 0 {
			plain.WriteString(c.advance(length))
			continue
		}
		say()
		out = append(out, cited...)
		c.held = c.held[length:]
	}
	say()
	return out
}

// certain is how many bytes of what is held are surely no marker. Code is
// followed as far as that.
func (c *Citer) certain(last bool) int {
	if len(c.passages) == 0 {
		return len(c.held)
	}
	for i := 0; i < len(c.held); {
		run := backticks(c.held[i:])
		switch {
		case run > 0 && i+run == len(c.held) && !last:
			return i // more of them may follow
		case run > 0:
			c.code, i = c.code.after(run), i+run
		case c.held[i] == '[' && c.code == inProse:
			return i
		default:
			if c.held[i] == '\n' && c.code < fence {
				c.code = inProse
			}
			i++
		}
	}
	return len(c.held)
}

// advance gives the first n bytes of what is held, as text of the answer.
func (c *Citer) advance(n int) string {
	text := c.held[:n]
	c.held = c.held[n:]
	c.claim += text
	if over := len(c.claim) - maxClaim; over > 0 {
		c.claim = strings.ToValidUTF8(c.claim[over:], "")
	}
	return text
}

var (
	wholeMarker = regexp.MustCompile(`^\[\s?(\d{1,3}(?:\s?[,;]\s?\d{1,3})*)\s?\]`)
	begunMarker = regexp.MustCompile(`^\[[\d\s,;]*$`)
	numerals    = regexp.MustCompile(`\d+`)
)

// maxMarker bounds a marker, in bytes.
const maxMarker = 40

// marker reads the bracket that what is held begins with: the bytes it takes
// and the numbers in it; none for one that is no marker. It is not sure while
// more text may still decide.
func (c *Citer) marker(last bool) (length int, numbers []int, sure bool) {
	if c.held[0] != '[' {
		return 0, nil, last // backticks at the end
	}
	whole := wholeMarker.FindStringSubmatch(c.held)
	if whole == nil {
		return 1, nil, last || len(c.held) > maxMarker || !begunMarker.MatchString(c.held)
	}
	length = len(whole[0])
	if length == len(c.held) && !last {
		return 0, nil, false // a link has a parenthesis behind it
	}
	if strings.HasPrefix(c.held[length:], "(") {
		return length, nil, true
	}
	for _, digits := range numerals.FindAllString(whole[1], -1) {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > len(c.passages) {
			return length, nil, true
		}
		numbers = append(numbers, n)
	}
	return length, numbers, true
}

// cite gives the citations of the passages with those numbers, for the text
// before them; none when one of them has nothing to quote.
func (c *Citer) cite(numbers []int) []Event {
	claim := c.claim
	if strings.TrimSpace(claim) == "" {
		claim = c.before
	}
	var out []Event
	for _, n := range slices.Compact(numbers) {
		e, ok := Quote(c.passages[n-1], claim)
		if !ok {
			return nil
		}
		out = append(out, e)
	}
	if len(out) > 0 {
		c.before, c.claim = claim, ""
	}
	return out
}

// codeState is the run of backticks that began the code a text is in; 0 in
// prose.
type codeState int

const (
	inProse codeState = 0
	fence   codeState = 3 // backticks and more begin a block of lines
)

// after is the state behind a run of n backticks.
func (s codeState) after(n int) codeState {
	switch {
	case s == inProse:
		return codeState(n)
	case s >= fence && n >= int(s), int(s) == n:
		return inProse
	}
	return s
}

func backticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
