package tokens

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// splitter cuts pieces of a text into smaller ones.
type splitter func([]string) []string

// each makes a splitter of a cut of one piece.
func each(cut func(string) []string) splitter {
	return func(list []string) []string {
		var out []string
		for _, s := range list {
			for _, piece := range cut(s) {
				if piece != "" {
					out = append(out, piece)
				}
			}
		}
		return out
	}
}

// splitterSpec is every field a pre-tokenizer of the file may have.
type splitterSpec struct {
	Type        string            `json:"type"`
	List        []json.RawMessage `json:"pretokenizers"`
	Behavior    string            `json:"behavior"`
	Invert      bool              `json:"invert"`
	Pattern     pattern           `json:"pattern"`
	Individual  bool              `json:"individual_digits"`
	Replacement string            `json:"replacement"`
	Scheme      string            `json:"prepend_scheme"`
	PrefixSpace *bool             `json:"add_prefix_space"`
	Split       *bool             `json:"split"`
	UseRegex    *bool             `json:"use_regex"`
}

func newSplitter(raw json.RawMessage) (splitter, error) {
	if absent(raw) {
		return func(list []string) []string { return list }, nil
	}
	var s splitterSpec
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	switch s.Type {
	case "Sequence":
		return s.sequence()
	case "BertPreTokenizer":
		return each(func(piece string) []string { return isolated(strings.FieldsFunc(piece, unicode.IsSpace), punctuation) }), nil
	case "WhitespaceSplit":
		return each(func(piece string) []string { return strings.FieldsFunc(piece, unicode.IsSpace) }), nil
	case "Whitespace":
		return each(words), nil
	case "Punctuation":
		return s.byClass(punctuation)
	case "Digits":
		if s.Individual {
			s.Behavior = "Isolated"
		} else {
			s.Behavior = "Contiguous"
		}
		return s.byClass(unicode.IsNumber)
	case "Split":
		return s.byPattern()
	case "Metaspace":
		return each(s.metaspace), nil
	case "ByteLevel":
		return s.byteLevel(), nil
	default:
		return nil, fmt.Errorf("its texts are cut by %q, which cannot be read", s.Type)
	}
}

func (s splitterSpec) sequence() (splitter, error) {
	var all []splitter
	for _, raw := range s.List {
		one, err := newSplitter(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return func(list []string) []string {
		for _, one := range all {
			list = one(list)
		}
		return list
	}, nil
}

// punctuation is what BERT takes for it: that of Unicode and every ASCII sign.
func punctuation(r rune) bool {
	return unicode.IsPunct(r) || r < 0x80 && unicode.IsSymbol(r)
}

// isolated makes every character of a class a piece of its own.
func isolated(list []string, class func(rune) bool) []string {
	var out []string
	for _, s := range list {
		from := 0
		for at, r := range s {
			if class(r) {
				end := at + len(string(r))
				out = append(out, s[from:at], s[at:end])
				from = end
			}
		}
		out = append(out, s[from:])
	}
	return out
}

// words cuts into runs of letters and digits, and runs of other signs.
func words(s string) []string {
	var out []string
	from, kind := 0, 0
	for at, r := range s {
		now := 2
		switch {
		case wordly(r):
			now = 1
		case unicode.IsSpace(r):
			now = 0
		}
		if now == kind {
			continue
		}
		if kind > 0 {
			out = append(out, s[from:at])
		}
		from, kind = at, now
	}
	if kind > 0 {
		out = append(out, s[from:])
	}
	return out
}

func (s splitterSpec) byClass(class func(rune) bool) (splitter, error) {
	find := func(text string) [][]int {
		var out [][]int
		for at, r := range text {
			if class(r) {
				out = append(out, []int{at, at + len(string(r))})
			}
		}
		return out
	}
	return s.behave(find)
}

// byPattern cuts at a regular expression. Those that look ahead, which the
// standard library's do not, are known by their text.
func (s splitterSpec) byPattern() (splitter, error) {
	if s.Pattern.Regex != nil {
		if g, ok := scanners[*s.Pattern.Regex]; ok {
			return s.behave(g.find)
		}
	}
	re, err := s.Pattern.compile()
	if err != nil {
		return nil, err
	}
	return s.behave(func(text string) [][]int { return re.FindAllStringIndex(text, -1) })
}

// behave makes a splitter of what is found in a text and of what is to be done
// with it.
func (s splitterSpec) behave(find func(string) [][]int) (splitter, error) {
	switch s.Behavior {
	case "", "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous":
	default:
		return nil, fmt.Errorf("it cuts texts in the manner %q, which cannot be read", s.Behavior)
	}
	return each(func(text string) []string { return s.arrange(parts(text, find(text), s.Invert)) }), nil
}

// part is a run of a text; match says that it is what was looked for.
type part struct {
	text  string
	match bool
}

func parts(text string, found [][]int, invert bool) []part {
	var out []part
	from := 0
	for _, f := range found {
		if f[0] > from {
			out = append(out, part{text[from:f[0]], invert})
		}
		if f[1] > f[0] {
			out = append(out, part{text[f[0]:f[1]], !invert})
		}
		from = f[1]
	}
	if from < len(text) {
		out = append(out, part{text[from:], invert})
	}
	return out
}

func (s splitterSpec) arrange(list []part) []string {
	var out []string
	for i, p := range list {
		joins := false
		switch s.Behavior {
		case "Removed":
			if p.match {
				continue
			}
		case "MergedWithPrevious":
			joins = i > 0 && p.match && !list[i-1].match
		case "MergedWithNext":
			joins = i > 0 && !p.match && list[i-1].match
		case "Contiguous":
			joins = i > 0 && p.match == list[i-1].match
		default:
		}
		if joins {
			out[len(out)-1] += p.text
			continue
		}
		out = append(out, p.text)
	}
	return out
}

// metaspace writes spaces as the replacement sign, and cuts before it.
func (s splitterSpec) metaspace(text string) []string {
	sign := s.Replacement
	text = strings.ReplaceAll(text, " ", sign)
	prepend := s.Scheme == "always" || s.Scheme == "first" || s.Scheme == "" && (s.PrefixSpace == nil || *s.PrefixSpace)
	if prepend && !strings.HasPrefix(text, sign) {
		text = sign + text
	}
	if s.Split != nil && !*s.Split {
		return []string{text}
	}
	re := regexp.MustCompile(regexp.QuoteMeta(sign))
	s.Behavior = "MergedWithNext"
	return s.arrange(parts(text, re.FindAllStringIndex(text, -1), false))
}
