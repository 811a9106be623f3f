package tokens

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// bpe is byte-pair encoding: the pieces of a word are joined, the pair that
// was learned first before the others.
type bpe struct {
	vocab   map[string]int
	joins   map[[2]int]join
	unknown int // id; -1: none
	prefix  string
	suffix  string
	fuse    bool
	bytes   bool
	ignore  bool // a word that is a token is not cut at all
}

// join is what a pair of pieces becomes, and when.
type join struct{ rank, to int }

func newBPE(raw json.RawMessage) (pieces, string, error) {
	var spec struct {
		Vocab   map[string]int  `json:"vocab"`
		Merges  json.RawMessage `json:"merges"`
		Unknown *string         `json:"unk_token"`
		Prefix  *string         `json:"continuing_subword_prefix"`
		Suffix  *string         `json:"end_of_word_suffix"`
		Fuse    bool            `json:"fuse_unk"`
		Bytes   bool            `json:"byte_fallback"`
		Ignore  bool            `json:"ignore_merges"`
	}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, "", err
	}
	m := &bpe{vocab: spec.Vocab, joins: map[[2]int]join{}, unknown: -1, fuse: spec.Fuse, bytes: spec.Bytes, ignore: spec.Ignore}
	unknown := ""
	for field, to := range map[*string]*string{spec.Prefix: &m.prefix, spec.Suffix: &m.suffix, spec.Unknown: &unknown} {
		if field != nil {
			*to = *field
		}
	}
	if id, ok := m.vocab[unknown]; ok && unknown != "" {
		m.unknown = id
	}
	pairs, err := merges(spec.Merges)
	if err != nil {
		return nil, "", err
	}
	for rank, pair := range pairs {
		if err := m.learn(rank, pair); err != nil {
			return nil, "", err
		}
	}
	return m, unknown, nil
}

func (m *bpe) learn(rank int, pair [2]string) error {
	a, okA := m.vocab[pair[0]]
	b, okB := m.vocab[pair[1]]
	to, ok := m.vocab[pair[0]+strings.TrimPrefix(pair[1], m.prefix)]
	if !okA || !okB || !ok {
		return fmt.Errorf("its merge %q and %q is not of tokens", pair[0], pair[1])
	}
	if _, twice := m.joins[[2]int{a, b}]; !twice {
		m.joins[[2]int{a, b}] = join{rank, to}
	}
	return nil
}

// merges reads pairs in either of the ways they are written: "a b", or
// ["a","b"].
func merges(raw json.RawMessage) ([][2]string, error) {
	var lists [][]string
	if json.Unmarshal(raw, &lists) == nil {
		pairs := make([][2]string, len(lists))
		for i, l := range lists {
			if len(l) != 2 {
				return nil, errors.New("one of its merges is no pair")
			}
			pairs[i] = [2]string(l)
		}
		return pairs, nil
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, fmt.Errorf("its merges cannot be read: %w", err)
	}
	var pairs [][2]string
	for _, line := range lines {
		a, b, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("its merge %q is no pair", line)
		}
		pairs = append(pairs, [2]string{a, b})
	}
	return pairs, nil
}

func (m *bpe) vocabulary() map[string]int { return maps.Clone(m.vocab) }

func (m *bpe) tokens(word string) []int {
	if id, ok := m.vocab[word]; ok && m.ignore {
		return []int{id}
	}
	list := m.characters(word)
	if len(list) > 1 {
		m.join(list)
	}
	return m.ids(list)
}

// symbol is a piece of a word in a list linked both ways. Its id is -1 when the
// vocabulary lacks it, and gone when it became part of the one before it.
type symbol struct{ id, before, after int }

const gone = -2

// characters are the pieces a word begins as.
func (m *bpe) characters(word string) []symbol {
	var out []symbol
	add := func(id int) { out = append(out, symbol{id, len(out) - 1, len(out) + 1}) }
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		text, character := word[at:at+size], word[at:at+size]
		if at > 0 && m.prefix != "" {
			text = m.prefix + text
		}
		if at += size; at == len(word) {
			text += m.suffix
		}
		if id, ok := m.vocab[text]; ok {
			add(id)
			continue
		}
		ids, ok := byteTokens(character, m.vocab)
		if !m.bytes || !ok {
			ids = []int{-1}
		}
		for _, id := range ids {
			add(id)
		}
	}
	return out
}

// pair is two neighbours that can be joined.
type pair struct{ rank, at, left, right, to int }

// pairs is a heap: the pair learned first, of equal ones the leftmost, is on
// top.
type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].at < p[j].at
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) } //nolint:forcetypeassert // only pairs are pushed
func (p *pairs) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}

// join joins pieces until no pair is left that was learned. A pair whose pieces
// changed since it was found is passed over.
func (m *bpe) join(list []symbol) {
	var open pairs
	found := func(at int) (pair, bool) {
		if at < 0 || list[at].after >= len(list) {
			return pair{}, false
		}
		a, b := list[at].id, list[list[at].after].id
		j, ok := m.joins[[2]int{a, b}]
		return pair{j.rank, at, a, b, j.to}, ok
	}
	for at := range list {
		if p, ok := found(at); ok {
			open = append(open, p)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		p := heap.Pop(&open).(pair) //nolint:forcetypeassert // only pairs are pushed
		next := list[p.at].after
		if list[p.at].id != p.left || next >= len(list) || list[next].id != p.right {
			continue
		}
		list[p.at].id, list[p.at].after = p.to, list[next].after
		if list[next].after < len(list) {
			list[list[next].after].before = p.at
		}
		list[next].id = gone
		for _, at := range []int{list[p.at].before, p.at} {
			if q, ok := found(at); ok {
				heap.Push(&open, q)
			}
		}
	}
}

// ids are those of the pieces left; unknown ones in a row are one where the
// model says so.
func (m *bpe) ids(list []symbol) []int {
	out := make([]int, 0, len(list))
	fused := false
	for _, s := range list {
		switch {
		case s.id == gone:
			continue
		case s.id >= 0:
			out = append(out, s.id)
			fused = false
			continue
		case m.unknown >= 0 && (!fused || !m.fuse):
			out = append(out, m.unknown)
		}
		fused = true
	}
	return out
}
