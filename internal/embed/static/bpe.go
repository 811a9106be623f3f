package static

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// bpe is byte-pair encoding: the pieces of a word are joined, the pair that
// was learned first before the others.
type bpe struct {
	Vocab   map[string]int  `json:"vocab"`
	Merges  json.RawMessage `json:"merges"`
	Unknown *string         `json:"unk_token"`
	Prefix  *string         `json:"continuing_subword_prefix"`
	Suffix  *string         `json:"end_of_word_suffix"`
	Fuse    bool            `json:"fuse_unk"`
	Bytes   bool            `json:"byte_fallback"`
	Ignore  bool            `json:"ignore_merges"`
	ranks   map[[2]string]int
	prefix  string
	suffix  string
	unknown string
}

func newBPE(raw json.RawMessage) (pieces, string, error) {
	m := &bpe{ranks: map[[2]string]int{}}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, "", err
	}
	merges, err := merges(m.Merges)
	if err != nil {
		return nil, "", err
	}
	for rank, pair := range merges {
		m.ranks[pair] = rank
	}
	for field, to := range map[*string]*string{m.Prefix: &m.prefix, m.Suffix: &m.suffix, m.Unknown: &m.unknown} {
		if field != nil {
			*to = *field
		}
	}
	return m, m.unknown, nil
}

// merges reads pairs in either of the ways they are written: "a b", or
// ["a","b"].
func merges(raw json.RawMessage) ([][2]string, error) {
	var pairs [][2]string
	if json.Unmarshal(raw, &pairs) == nil {
		return pairs, nil
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, fmt.Errorf("its merges cannot be read: %w", err)
	}
	pairs = nil
	for _, line := range lines {
		a, b, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("its merge %q is no pair", line)
		}
		pairs = append(pairs, [2]string{a, b})
	}
	return pairs, nil
}

func (m *bpe) vocabulary() map[string]int { return maps.Clone(m.Vocab) }

func (m *bpe) tokens(word string) []int {
	if id, ok := m.Vocab[word]; ok && m.Ignore {
		return []int{id}
	}
	list := m.characters(word)
	for {
		at := m.first(list)
		if at < 0 {
			return m.ids(list)
		}
		list[at].text = m.join(list[at].text, list[at+1].text)
		list = slices.Delete(list, at+1, at+2)
	}
}

// symbol is a piece of a word; known says that the vocabulary has it.
type symbol struct {
	text  string
	known bool
}

// characters are the pieces a word begins as.
func (m *bpe) characters(word string) []symbol {
	var out []symbol
	for at, r := range word {
		text, end := string(r), at+len(string(r))
		if at > 0 {
			text = m.prefix + text
		}
		if end == len(word) {
			text += m.suffix
		}
		if _, ok := m.Vocab[text]; ok || !m.Bytes {
			out = append(out, symbol{text, ok})
			continue
		}
		out = append(out, m.asBytes(string(r))...)
	}
	return out
}

func (m *bpe) asBytes(character string) []symbol {
	if _, ok := byteTokens(character, m.Vocab); !ok {
		return []symbol{{character, false}}
	}
	var out []symbol
	for i := range len(character) {
		out = append(out, symbol{fmt.Sprintf("<0x%02X>", character[i]), true})
	}
	return out
}

// first is where the pair stands that was learned first; -1: none is left.
func (m *bpe) first(list []symbol) int {
	at, best := -1, len(m.ranks)
	for i := 0; i+1 < len(list); i++ {
		if rank, ok := m.ranks[[2]string{list[i].text, list[i+1].text}]; ok && rank < best && list[i].known && list[i+1].known {
			at, best = i, rank
		}
	}
	return at
}

func (m *bpe) join(a, b string) string { return a + strings.TrimPrefix(b, m.prefix) }

// ids looks the pieces up; unknown ones in a row are one where the model says
// so.
func (m *bpe) ids(list []symbol) []int {
	var out []int
	fused := false
	for _, s := range list {
		if s.known {
			out = append(out, m.Vocab[s.text])
			fused = false
			continue
		}
		id, ok := m.Vocab[m.unknown]
		if ok && m.unknown != "" && (!fused || !m.Fuse) {
			out = append(out, id)
		}
		fused = true
	}
	return out
}
