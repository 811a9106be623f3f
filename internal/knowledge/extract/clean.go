package extract

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// Clean makes stored text of a file's bytes: UTF-8 (UTF-16 and Windows-1252
// are recognised, broken sequences become U+FFFD), NFC, lines ending in "\n",
// without NULs, control characters, soft hyphens and other invisible signs.
func Clean(raw []byte) string {
	return tidy(decode(raw))
}

// decode brings bytes to valid UTF-8.
func decode(raw []byte) string {
	if order := utf16Order(raw); order != nil {
		units := make([]uint16, 0, len(raw)/2)
		for i := 2; i+1 < len(raw); i += 2 {
			units = append(units, order.Uint16(raw[i:]))
		}
		return string(utf16.Decode(units))
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if utf8.Valid(raw) {
		return string(raw)
	}
	if good, bad := sequences(raw); bad > good {
		if s, err := charmap.Windows1252.NewDecoder().Bytes(raw); err == nil {
			return string(s)
		}
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// utf16Order is the byte order a UTF-16 mark at the start tells, or nil.
func utf16Order(raw []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	return nil
}

// sequences counts the valid and the invalid multi-byte sequences of raw.
func sequences(raw []byte) (good, bad int) {
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		raw = raw[n:]
	}
	return good, bad
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n", "\u2028", "\n", "\u2029", "\n\n", "\u0085", "\n")

func tidy(s string) string {
	s = lineEnds.Replace(s)
	s = strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(s)
}

func invisible(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\ufffe':
		return true
	}
	return unicode.IsControl(r)
}
