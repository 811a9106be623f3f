package tokens

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"unicode/utf8"
)

// unigram is SentencePiece's model: of all ways to cut a word, the likeliest.
type unigram struct {
	ids     map[string]int
	scores  []float64
	longest int // bytes of a piece
	unknown int // -1: none
	bytes   bool
	worst   float64 // score of a character that is no piece
}

func newUnigram(raw json.RawMessage) (pieces, string, error) {
	var spec struct {
		Vocab   [][2]any `json:"vocab"`
		Unknown *int     `json:"unk_id"`
		Bytes   bool     `json:"byte_fallback"`
	}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, "", err
	}
	m := &unigram{ids: map[string]int{}, unknown: -1, bytes: spec.Bytes}
	low := math.Inf(1)
	for id, entry := range spec.Vocab {
		text, isText := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isText || !isNumber {
			return nil, "", fmt.Errorf("its token %d is no text with a score", id)
		}
		m.ids[text] = id
		m.scores = append(m.scores, score)
		m.longest = max(m.longest, len(text))
		low = min(low, score)
	}
	m.worst = low - 10
	if spec.Unknown == nil {
		return m, "", nil
	}
	if *spec.Unknown < 0 || *spec.Unknown >= len(m.scores) {
		return nil, "", errors.New("its unknown token is outside of its vocabulary")
	}
	m.unknown = *spec.Unknown
	unknown, _ := spec.Vocab[m.unknown][0].(string)
	return m, unknown, nil
}

func (m *unigram) vocabulary() map[string]int {
	return maps.Clone(m.ids)
}

// step is the best way to a place of a word.
type step struct {
	score float64
	from  int
	id    int
	known bool
}

func (m *unigram) tokens(word string) []int {
	best := make([]step, len(word)+1)
	for i := range best {
		best[i].from = -1
	}
	best[0].from = 0
	for at := 0; at < len(word); {
		_, width := utf8.DecodeRuneInString(word[at:])
		m.extend(word, at, width, best)
		at += width
	}
	return m.trace(word, best)
}

// extend takes every piece that begins at a place reached already.
func (m *unigram) extend(word string, at, width int, best []step) {
	offer := func(end, id int, known bool, score float64) {
		score += best[at].score
		if best[end].from < 0 || score > best[end].score {
			best[end] = step{score, at, id, known}
		}
	}
	single := false
	for end := at + 1; end <= min(len(word), at+m.longest); end++ {
		if id, ok := m.ids[word[at:end]]; ok {
			offer(end, id, true, m.scores[id])
			single = single || end == at+width
		}
	}
	if !single {
		offer(at+width, m.unknown, false, m.worst)
	}
}

// trace reads the best way backwards. Neighbouring unknown characters are one
// unknown token, or their bytes where the model has tokens for those.
func (m *unigram) trace(word string, best []step) []int {
	var back []int
	for at := len(word); at > 0; {
		s := best[at]
		end := at
		at = s.from
		if s.known {
			back = append(back, s.id)
			continue
		}
		for at > 0 && !best[at].known {
			at = best[at].from
		}
		back = append(back, m.strange(word[at:end])...)
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// strange is the tokens of characters that are no piece, last first.
func (m *unigram) strange(text string) []int {
	if ids, ok := byteTokens(text, m.ids); m.bytes && ok {
		for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
			ids[i], ids[j] = ids[j], ids[i]
		}
		return ids
	}
	if m.unknown < 0 {
		return nil
	}
	return []int{m.unknown}
}

// byteTokens is a text as the tokens of its bytes, "<0x41>".
func byteTokens(text string, ids map[string]int) ([]int, bool) {
	var out []int
	for i := range len(text) {
		id, ok := ids[fmt.Sprintf("<0x%02X>", text[i])]
		if !ok {
			return nil, false
		}
		out = append(out, id)
	}
	return out, true
}
