package tokens

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
)

// charsmap is SentencePiece's table of replacements: a double-array trie whose
// values are places in a list of texts, each ended by a zero byte.
type charsmap struct {
	units []uint32
	texts string
}

func newCharsmap(encoded string) (normalizer, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) < 4 {
		return nil, errors.New("its precompiled normalizer is not readable")
	}
	size := int(binary.LittleEndian.Uint32(raw))
	if size%4 != 0 || size > len(raw)-4 {
		return nil, errors.New("its precompiled normalizer is shorter than it says")
	}
	c := charsmap{texts: string(raw[4+size:])}
	for at := 4; at < 4+size; at += 4 {
		c.units = append(c.units, binary.LittleEndian.Uint32(raw[at:]))
	}
	return c.apply, nil
}

// apply replaces short clusters of characters that stand in the table whole,
// and of others each character that does.
func (c charsmap) apply(s string) string {
	var b strings.Builder
	for s != "" {
		n := cluster(s)
		one := s[:n]
		s = s[n:]
		if len(one) < 6 {
			if text, ok := c.lookUp(one); ok {
				b.WriteString(text)
				continue
			}
		}
		for _, r := range one {
			text, ok := c.lookUp(string(r))
			if !ok {
				text = string(r)
			}
			b.WriteString(text)
		}
	}
	return b.String()
}

// cluster is the length of what is read as one character: it and the marks on
// it.
func cluster(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	for at, r := range s {
		if at > 0 && !unicode.IsMark(r) && r != '\u200d' {
			return at
		}
	}
	return len(s)
}

// lookUp finds the text for the shortest prefix of key in the table.
func (c charsmap) lookUp(key string) (string, bool) {
	unit := func(at uint32) uint32 {
		if int(at) >= len(c.units) {
			return 0
		}
		return c.units[at]
	}
	offset := func(u uint32) uint32 { return (u >> 10) << ((u & (1 << 9)) >> 6) }
	at := offset(unit(0))
	for i := range len(key) {
		at ^= uint32(key[i])
		u := unit(at)
		if u&(1<<31|0xff) != uint32(key[i]) {
			return "", false
		}
		at ^= offset(u)
		if u>>8&1 == 1 {
			return c.text(unit(at) &^ (1 << 31))
		}
	}
	return "", false
}

func (c charsmap) text(at uint32) (string, bool) {
	if int(at) >= len(c.texts) {
		return "", false
	}
	text, _, _ := strings.Cut(c.texts[at:], "\x00")
	return text, true
}
