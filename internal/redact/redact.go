// Package redact finds what should not be kept in plain text: people's
// addresses and numbers, and the secrets that open doors. Logs and error
// reports pass through Text, documents and messages through Personal.
//
// It errs on the side of ordinary prose: dates, versions, UUIDs, hashes and
// amounts stay as they are. It looks at shapes only, in time linear in the
// text, and imports the standard library only.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Kind is what a span holds.
type Kind string

// The kinds that are told apart. The first four are personal, the others
// secret.
const (
	Email     Kind = "email"
	Phone     Kind = "phone"
	Card      Kind = "card" // payment card, Luhn-checked
	IBAN      Kind = "iban" // checked with mod 97
	Token     Kind = "token"
	Key       Kind = "key"
	Password  Kind = "password"
	Signature Kind = "signature"
)

// Span is one find: text[Start:End] of the original, in bytes.
type Span struct {
	Start, End int
	Kind       Kind
}

// Text returns s with personal data and secrets replaced by their kind in
// brackets, such as [email] (OBS-03, SAFE-08).
func Text(s string) string {
	if !suspect(s) {
		return s
	}
	return replaced(s, merged(append(secrets(s), personal(s)...)))
}

// Personal returns s with personal data replaced by its kind in brackets, and
// what was found where in s, in order and without overlap.
func Personal(s string) (clean string, found []Span) {
	if !suspect(s) {
		return s, nil
	}
	found = merged(personal(s))
	return replaced(s, found), found
}

// suspect reports whether s may hold anything at all: each shape has a digit,
// an @, a : or an =, or five hyphens. Most log values are settled here.
func suspect(s string) bool {
	return strings.ContainsAny(s, "0123456789@:=") || strings.Contains(s, "-----BEGIN")
}

func personal(s string) []Span {
	return slices.Concat(emails(s), ibans(s), numbers(s))
}

// merged sorts spans and joins those that overlap, so that no part of either
// is left to be read. The one that begins first names the whole.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	out := spans[:0]
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.Start < out[last].End {
			out[last].End = max(out[last].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

func replaced(s string, spans []Span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, p := range spans {
		b.WriteString(s[at:p.Start])
		b.WriteByte('[')
		b.WriteString(string(p.Kind))
		b.WriteByte(']')
		at = p.End
	}
	b.WriteString(s[at:])
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isAlpha(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }
func isWord(c byte) bool  { return isAlpha(c) || isDigit(c) || c == '_' || c >= 0x80 }

// before is the byte left of i, or a space at the beginning.
func before(s string, i int) byte {
	if i == 0 {
		return ' '
	}
	return s[i-1]
}

// at is the byte at i, or a space past the end.
func at(s string, i int) byte {
	if i >= len(s) {
		return ' '
	}
	return s[i]
}

// Secrets returns s with what opens doors replaced by its kind in brackets, and whether
// there was any. People's addresses and numbers stay.
func Secrets(s string) (clean string, found bool) {
	if !suspect(s) {
		return s, false
	}
	spans := merged(secrets(s))
	return replaced(s, spans), len(spans) > 0
}
