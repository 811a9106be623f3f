package tokens

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"unicode/utf8"
)

// wordPiece is the model of BERT: the longest piece first, and a word that
// does not fall into pieces is unknown as a whole.
type wordPiece struct {
	Vocab   map[string]int `json:"vocab"`
	Unknown string         `json:"unk_token"`
	Prefix  *string        `json:"continuing_subword_prefix"`
	Most    int            `json:"max_input_chars_per_word"`
	prefix  string
}

func newWordPiece(raw json.RawMessage) (pieces, string, error) {
	var m wordPiece
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, "", err
	}
	m.prefix = "##"
	if m.Prefix != nil {
		m.prefix = *m.Prefix
	}
	m.Most = cmp.Or(m.Most, 100)
	if _, ok := m.Vocab[m.Unknown]; !ok {
		return nil, "", errors.New("its vocabulary lacks the unknown token")
	}
	return m, m.Unknown, nil
}

func (m wordPiece) vocabulary() map[string]int { return maps.Clone(m.Vocab) }

func (m wordPiece) tokens(word string) []int {
	unknown := []int{m.Vocab[m.Unknown]}
	if utf8.RuneCountInString(word) > m.Most {
		return unknown
	}
	var out []int
	for at := 0; at < len(word); {
		id, end := m.longest(word, at)
		if end == at {
			return unknown
		}
		out = append(out, id)
		at = end
	}
	return out
}

// longest is the longest piece at a place of the word and where it ends.
func (m wordPiece) longest(word string, at int) (id, end int) {
	prefix := ""
	if at > 0 {
		prefix = m.prefix
	}
	for end = len(word); end > at; {
		if id, ok := m.Vocab[prefix+word[at:end]]; ok {
			return id, end
		}
		_, n := utf8.DecodeLastRuneInString(word[at:end])
		end -= n
	}
	return 0, at
}

// wordLevel knows whole words only.
type wordLevel struct {
	Vocab   map[string]int `json:"vocab"`
	Unknown string         `json:"unk_token"`
}

func newWordLevel(raw json.RawMessage) (pieces, string, error) {
	var m wordLevel
	err := json.Unmarshal(raw, &m)
	return m, m.Unknown, err
}

func (m wordLevel) vocabulary() map[string]int { return maps.Clone(m.Vocab) }

func (m wordLevel) tokens(word string) []int {
	if id, ok := m.Vocab[word]; ok {
		return []int{id}
	}
	if id, ok := m.Vocab[m.Unknown]; ok {
		return []int{id}
	}
	return nil
}
