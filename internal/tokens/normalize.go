package tokens

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites a text before it is cut.
type normalizer func(string) string

func same(s string) string { return s }

// absent reports whether a part of the file is left out or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// normalizerSpec is every field a normalizer of the file may have.
type normalizerSpec struct {
	Type        string            `json:"type"`
	Normalizers []json.RawMessage `json:"normalizers"`
	Clean       bool              `json:"clean_text"`
	Chinese     bool              `json:"handle_chinese_chars"`
	Accents     *bool             `json:"strip_accents"`
	Lower       bool              `json:"lowercase"`
	Left        bool              `json:"strip_left"`
	Right       bool              `json:"strip_right"`
	Prepend     string            `json:"prepend"`
	Pattern     pattern           `json:"pattern"`
	Content     string            `json:"content"`
	Charsmap    string            `json:"precompiled_charsmap"`
}

func newNormalizer(raw json.RawMessage) (normalizer, error) {
	if absent(raw) {
		return same, nil
	}
	var n normalizerSpec
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, err
	}
	switch n.Type {
	case "Sequence":
		return sequence(n.Normalizers)
	case "BertNormalizer":
		return n.bert, nil
	case "Lowercase":
		return lower, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "StripAccents":
		return func(s string) string { return without(s, unicode.Mn) }, nil
	case "Strip":
		return n.strip, nil
	case "Prepend":
		return n.before, nil
	case "Replace":
		return n.replace()
	case "Precompiled":
		return newCharsmap(n.Charsmap)
	default:
		return nil, fmt.Errorf("its texts are normalized by %q, which cannot be read", n.Type)
	}
}

func sequence(list []json.RawMessage) (normalizer, error) {
	var all []normalizer
	for _, raw := range list {
		n, err := newNormalizer(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return func(s string) string {
		for _, n := range all {
			s = n(s)
		}
		return s
	}, nil
}

// bert is the normalizer of BERT.
func (n normalizerSpec) bert(s string) string {
	if n.Clean {
		s = clean(s)
	}
	if n.Chinese {
		s = spaced(s)
	}
	if n.Accents != nil && *n.Accents || n.Accents == nil && n.Lower {
		s = without(norm.NFD.String(s), unicode.Mn)
	}
	if n.Lower {
		s = lower(s)
	}
	return s
}

// clean removes control characters and makes every white space a space.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r':
			return ' '
		case r == 0, r == unicode.ReplacementChar, other(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}

// other reports whether a character is a control, a format, private or not
// assigned.
func other(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)
}

// spaced puts spaces around Chinese characters: each is a word.
func spaced(s string) string {
	if !strings.ContainsFunc(s, ideograph) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if ideograph(r) {
			b.WriteString(" " + string(r) + " ")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func ideograph(r rune) bool {
	for _, block := range [][2]rune{
		{0x4E00, 0x9FFF},
		{0x3400, 0x4DBF},
		{0x20000, 0x2A6DF},
		{0x2A700, 0x2B73F},
		{0x2B740, 0x2B81F},
		{0x2B920, 0x2CEAF},
		{0xF900, 0xFAFF},
		{0x2F800, 0x2FA1F},
	} {
		if r >= block[0] && r <= block[1] {
			return true
		}
	}
	return false
}

// lower folds each character by itself: a final sigma is a sigma.
func lower(s string) string {
	return strings.Map(unicode.ToLower, strings.ReplaceAll(s, "İ", "i̇"))
}

func without(s string, marks *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(marks, r) {
			return -1
		}
		return r
	}, s)
}

func (n normalizerSpec) strip(s string) string {
	if n.Left {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if n.Right {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	}
	return s
}

func (n normalizerSpec) before(s string) string {
	if s == "" {
		return s
	}
	return n.Prepend + s
}

func (n normalizerSpec) replace() (normalizer, error) {
	re, err := n.Pattern.compile()
	if err != nil {
		return nil, err
	}
	return func(s string) string { return re.ReplaceAllLiteralString(s, n.Content) }, nil
}

// pattern is a text or a regular expression to look for.
type pattern struct {
	String *string
	Regex  *string
}

func (p pattern) compile() (*regexp.Regexp, error) {
	switch {
	case p.String != nil:
		return regexp.Compile(regexp.QuoteMeta(*p.String))
	case p.Regex != nil:
		re, err := regexp.Compile(*p.Regex)
		if err != nil {
			return nil, fmt.Errorf("the regular expression %q is of a kind that cannot be read", *p.Regex)
		}
		return re, nil
	}
	return nil, fmt.Errorf("a pattern is neither a text nor a regular expression")
}
