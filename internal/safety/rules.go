package safety

import (
	"bytes"
	"context"
	_ "embed" // the default rules
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed rules.json
var standard []byte

// The bounds of what is held back of an answer.
const (
	maxWithin = 1000 // bytes a match may span, but for one that ends at a mark
	maxWord   = 200  // bytes without a space after which a word is no word
	maxOpen   = 64   // bytes the beginning of a match may have
)

// Rule is one rule, as its document says it. Patterns are RE2 and see the text
// as it reads: see plainly.
type Rule struct {
	ID     string      `json:"id"`
	Reason string      `json:"reason"` // what it finds, in a few words
	On     []Direction `json:"on"`
	Action Action      `json:"action"`
	Risk   Risk        `json:"risk"`
	// Open is where a match may begin: one word, without spaces. An answer is
	// held back from there for Within bytes.
	Open string `json:"open"`
	// Match is what is found. It begins where Open does and spans Within bytes
	// at most, unless it ends at a mark of its own or at the end of the text.
	Match  string `json:"match"`
	Within int    `json:"within"`
	Then   string `json:"then,omitempty"`   // must follow: the span goes on to its end
	Also   string `json:"also,omitempty"`   // must stand within Within bytes around a match
	Times  int    `json:"times,omitempty"`  // how often Also must; 0: once
	Except string `json:"except,omitempty"` // a match that holds this is none
}

// Document is rules as they are written down.
type Document struct {
	Policy string `json:"policy"` // their name, and version
	Rules  []Rule `json:"rules"`
}

// Rules is a Classifier by rules. It never fails.
type Rules struct {
	policy string
	rules  []compiled
	open   *regexp.Regexp // of all rules for answers
}

type compiled struct {
	Rule
	open, match, then, also, except *regexp.Regexp
}

var _ Holder = (*Rules)(nil)

// Standard is the rules that are part of the program.
func Standard() (*Rules, error) { return Read(standard) }

// Read compiles a document. The error names the rule at fault.
func Read(doc []byte) (*Rules, error) {
	var d Document
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("the safety rules are not readable: %w", err)
	}
	r := &Rules{policy: d.Policy}
	var opens []string
	for _, one := range d.Rules {
		c, err := compile(one)
		if err != nil {
			return nil, fmt.Errorf("the safety rule %q: %w", one.ID, err)
		}
		r.rules = append(r.rules, c)
		if slices.Contains(one.On, Output) {
			opens = append(opens, "(?:"+one.Open+")")
		}
	}
	if len(opens) > 0 {
		r.open = regexp.MustCompile(strings.Join(opens, "|"))
	}
	return r, nil
}

// gap is a pattern that could match a space.
var gap = regexp.MustCompile(`\\s|\\W|\\D|[^\\]\.|^\.| |\[\^|\\n|\\t`)

func compile(r Rule) (c compiled, err error) {
	c.Rule = r
	switch {
	case r.ID == "" || r.Reason == "" || len(r.On) == 0:
		return c, fmt.Errorf("it needs an id, a reason and what it is on")
	case !slices.Contains([]Action{Note, Redact, Block}, r.Action):
		return c, fmt.Errorf("there is no action %q", r.Action)
	case !slices.Contains([]Risk{Low, Med, High}, r.Risk):
		return c, fmt.Errorf("there is no risk %q", r.Risk)
	case r.Within < 1 || r.Within > maxWithin:
		return c, fmt.Errorf("within is 1 to %d", maxWithin)
	case r.Open == "" || gap.MatchString(r.Open):
		return c, fmt.Errorf("open is one word: it must not be able to match a space")
	}
	for _, p := range []struct {
		text string
		into **regexp.Regexp
	}{{r.Open, &c.open}, {r.Match, &c.match}, {r.Then, &c.then}, {r.Also, &c.also}, {r.Except, &c.except}} {
		if p.text == "" {
			continue
		}
		if *p.into, err = regexp.Compile(p.text); err != nil {
			return c, err
		}
	}
	if c.match == nil {
		return c, fmt.Errorf("it matches nothing")
	}
	return c, nil
}

// Classify implements Classifier.
func (r *Rules) Classify(_ context.Context, text string, d Direction) (Verdict, error) {
	v := Verdict{Risk: Low, Policy: r.policy}
	p := plainly(text)
	for _, rule := range r.rules {
		if !slices.Contains(rule.On, d) {
			continue
		}
		for _, at := range rule.find(p.text) {
			v.Findings = append(v.Findings, Finding{
				Rule: rule.ID, Start: p.original(at[0]), End: p.original(at[1]), Action: rule.Action, Reason: rule.Reason,
			})
			v.Risk = worse(v.Risk, rule.Risk)
		}
	}
	v.Findings = orderly(v.Findings)
	return v, nil
}

// Settle implements Holder. What Hold lets go begins no match that ends behind
// it, so text without any beginning of one is settled by that.
func (r *Rules) Settle(ctx context.Context, before, text string) (Verdict, error) {
	if r.open == nil || !r.open.MatchString(plainly(text).text) {
		return Verdict{Risk: Low, Policy: r.policy}, nil
	}
	v, err := r.Classify(ctx, before+text, Output)
	v.Findings = within(v.Findings, len(before))
	return v, err
}

// find gives the bounds of what the rule finds.
func (c compiled) find(text string) (found [][]int) {
	for _, at := range c.spans(text) {
		around := text[max(0, at[0]-c.Within):min(len(text), at[1]+c.Within)]
		if c.except != nil && c.except.MatchString(text[at[0]:at[1]]) {
			continue
		}
		if c.also == nil || len(c.also.FindAllStringIndex(around, -1)) >= max(c.Times, 1) {
			found = append(found, at)
		}
	}
	return found
}

// spans gives the bounds of what the rule may find.
func (c compiled) spans(text string) [][]int {
	if !c.open.MatchString(text) {
		return nil
	}
	all := c.match.FindAllStringIndex(text, -1)
	if c.then == nil {
		return all
	}
	var out [][]int
	for _, at := range all {
		after := text[at[1]:max(at[1], min(len(text), at[0]+c.Within+maxOpen))]
		if next := c.then.FindStringIndex(after); next != nil {
			out = append(out, []int{at[0], at[1] + next[1]})
		}
	}
	return out
}

// Hold implements Holder: an answer is judged up to its last whole word, and
// no further than where a match may have begun that is not over yet. Of one
// that broke off no more is judged either: half a secret is one.
func (r *Rules) Hold(text string, e Ending) int {
	if e == Whole || r.open == nil {
		return len(text)
	}
	hold := lastWord(text)
	p := plainly(text)
	if !r.open.MatchString(p.text) {
		return hold
	}
	for _, rule := range r.rules {
		if slices.Contains(rule.On, Output) {
			hold = min(hold, rule.pending(p))
		}
	}
	return r.whole(p, hold)
}

// pending is where a match of the rule may have begun that could still come
// about.
func (c compiled) pending(p plain) int {
	for _, at := range c.open.FindAllStringIndex(p.text, -1) {
		if at[0]+c.Within+c.look() > len(p.text) {
			return p.original(at[0])
		}
	}
	return p.original(len(p.text))
}

// look is how far the rule looks behind Within bytes.
func (c compiled) look() int {
	n := 0
	if c.then != nil {
		n += maxOpen
	}
	if c.also != nil {
		n += c.Within
	}
	return n
}

// whole moves hold to the left until it cuts no match.
func (r *Rules) whole(p plain, hold int) int {
	for again := true; again; {
		again = false
		for _, rule := range r.rules {
			if !slices.Contains(rule.On, Output) {
				continue
			}
			for _, at := range rule.spans(p.text) {
				// One that ends with the text may still go on.
				if start := p.original(at[0]); start < hold && (p.original(at[1]) > hold || at[1] == len(p.text)) {
					hold, again = start, true
				}
			}
		}
	}
	return hold
}

// lastWord is where the last word of a text begins, which may still go on. A
// script without spaces has a word in each sign; what is too long for a word
// is judged but for its end.
func lastWord(text string) int {
	for i := len(text); i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		if unicode.IsSpace(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer) {
			return i
		}
		i -= n
		if len(text)-i > maxWord {
			return boundary(text, len(text)-maxOpen)
		}
	}
	return 0
}

// boundary is the beginning of the character that byte i is part of.
func boundary(text string, i int) int {
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
