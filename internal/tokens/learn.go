package tokens

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
)

// Learn makes a byte-level BPE of size tokens of texts and returns it as a
// tokenizer.json: the special tokens first, then a letter for each byte, then
// what was joined, the most frequent pair first. Words are cut as Qwen2 does.
// The same texts give the same bytes.
func Learn(texts iter.Seq[string], size int, special []string) ([]byte, error) {
	letters := byteLetters()
	vocab, list := map[string]int{}, []string{}
	add := func(token string) {
		vocab[token] = len(list)
		list = append(list, token)
	}
	for _, s := range special {
		add(s)
	}
	for _, l := range letters {
		add(l)
	}
	if len(vocab) != len(special)+256 || size < len(list) {
		return nil, errors.New("a vocabulary has room for its special tokens, each once, and all bytes")
	}
	l := newLearner(texts, letters, vocab)
	merges := [][2]string{}
	for len(list) < size {
		best, ok := l.best()
		if !ok {
			break
		}
		a, b := list[best[0]], list[best[1]]
		if _, twice := vocab[a+b]; !twice {
			add(a + b)
		}
		merges = append(merges, [2]string{a, b})
		l.join(best, vocab[a+b])
	}
	added := []addedToken{}
	for i, s := range special {
		added = append(added, addedToken{ID: i, Content: s, Special: true})
		delete(vocab, s)
	}
	no := false
	return json.Marshal(map[string]any{
		"version": "1.0", "added_tokens": added,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Split", "behavior": "Isolated", "invert": no, "pattern": map[string]string{"Regex": qwen2Pattern}},
			map[string]any{"type": "ByteLevel", "add_prefix_space": no, "use_regex": no, "trim_offsets": no},
		}},
		"decoder": map[string]any{"type": "ByteLevel"},
		"model":   map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	})
}

// learner holds the words of the texts as ids, how often each occurs, and where
// pairs of ids stand.
type learner struct {
	words  [][]int
	times  []int
	counts map[[2]int]int
	places map[[2]int]map[int]bool
}

func newLearner(texts iter.Seq[string], letters *alphabet, vocab map[string]int) *learner {
	found := map[string]int{}
	for text := range texts {
		for _, w := range qwen2.words(text) {
			found[w]++
		}
	}
	l := &learner{counts: map[[2]int]int{}, places: map[[2]int]map[int]bool{}}
	for _, w := range slices.Sorted(maps.Keys(found)) {
		ids := make([]int, len(w))
		for i := range len(w) {
			ids[i] = vocab[letters[w[i]]]
		}
		l.words, l.times = append(l.words, ids), append(l.times, found[w])
		l.note(len(l.words)-1, 1)
	}
	return l
}

// note adds the pairs of a word to the counts, or takes them away.
func (l *learner) note(word, sign int) {
	ids := l.words[word]
	for i := 0; i+1 < len(ids); i++ {
		p := [2]int{ids[i], ids[i+1]}
		if l.counts[p] += sign * l.times[word]; l.counts[p] == 0 {
			delete(l.counts, p)
		}
		if sign < 0 {
			delete(l.places[p], word)
			continue
		}
		if l.places[p] == nil {
			l.places[p] = map[int]bool{}
		}
		l.places[p][word] = true
	}
}

// best is the most frequent pair, of equal ones that of the lowest ids; false:
// none occurs twice.
func (l *learner) best() (best [2]int, ok bool) {
	most := 1
	for p, n := range l.counts {
		if n > most || n == most && n > 1 && cmp.Or(cmp.Compare(p[0], best[0]), cmp.Compare(p[1], best[1])) < 0 {
			best, most = p, n
		}
	}
	return best, most > 1
}

// join makes a pair one id wherever it stands.
func (l *learner) join(p [2]int, id int) {
	for _, word := range slices.Sorted(maps.Keys(l.places[p])) {
		l.note(word, -1)
		ids := l.words[word]
		joined := ids[:0]
		for i := 0; i < len(ids); i++ {
			if i+1 < len(ids) && ids[i] == p[0] && ids[i+1] == p[1] {
				joined = append(joined, id)
				i++
				continue
			}
			joined = append(joined, ids[i])
		}
		l.words[word] = joined
		l.note(word, 1)
	}
}
