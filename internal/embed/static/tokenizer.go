package static

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"slices"
)

// tokenizer cuts a text into the tokens of a model, as the tokenizer.json of
// Hugging Face's tokenizers describes: added tokens, a normalizer, a
// pre-tokenizer and a model, in this order. What only decorates its output (a
// post-processor, padding, truncation) is not used by static models.
type tokenizer struct {
	added     *added // as they stand in the text
	late      *added // as they stand in the normalized text
	normalize normalizer
	split     splitter
	model     pieces
	unknown   int // id of the unknown token, which has no vector; -1: none
	size      int // one more than the largest id
	median    int // length of a token
}

// pieces cuts one word into ids.
type pieces interface {
	tokens(word string) []int
	vocabulary() map[string]int
}

// file is a tokenizer.json.
type file struct {
	Added        []addedToken    `json:"added_tokens"`
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Model        json.RawMessage `json:"model"`
}

// readTokenizer reads the file at path; sum has seen its bytes.
func readTokenizer(path string) (*tokenizer, hash.Hash, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, wrong(path, err)
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, nil, wrong(path, err)
	}
	t, err := newTokenizer(f)
	if err != nil {
		return nil, nil, wrong(path, err)
	}
	sum := sha256.New()
	sum.Write(raw)
	return t, sum, nil
}

func newTokenizer(f file) (*tokenizer, error) {
	t := &tokenizer{}
	var err error
	if t.normalize, err = newNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	if t.split, err = newSplitter(f.PreTokenizer); err != nil {
		return nil, err
	}
	var unknown string
	if t.model, unknown, err = newPieces(f.Model); err != nil {
		return nil, err
	}
	all := t.model.vocabulary()
	t.unknown = -1
	if id, ok := all[unknown]; ok && unknown != "" {
		t.unknown = id
	}
	for _, a := range f.Added {
		all[a.Content] = a.ID
		if a.Content == unknown {
			t.unknown = a.ID
		}
	}
	if err := t.measure(all); err != nil {
		return nil, err
	}
	t.added = newAdded(f.Added, false, nil)
	t.late = newAdded(f.Added, true, t.normalize)
	return t, nil
}

// measure notes the largest id and the median length of all tokens. An id is
// the number of a row.
func (t *tokenizer) measure(all map[string]int) error {
	var lengths []int
	for token, id := range all {
		if id < 0 || id >= maxRows {
			return fmt.Errorf("the token %q has the id %d", token, id)
		}
		lengths = append(lengths, runeCount(token))
		t.size = max(t.size, id+1)
	}
	slices.Sort(lengths)
	if n := len(lengths); n > 0 {
		t.median = (lengths[n/2] + lengths[(n-1)/2]) / 2
	}
	return nil
}

// newPieces reads the model; unknown is the text of its unknown token.
func newPieces(raw json.RawMessage) (model pieces, unknown string, err error) {
	kind, err := kindOf(raw)
	if err != nil {
		return nil, "", err
	}
	switch kind {
	case "WordPiece":
		return newWordPiece(raw)
	case "WordLevel":
		return newWordLevel(raw)
	case "Unigram":
		return newUnigram(raw)
	case "BPE":
		return newBPE(raw)
	default:
		return nil, "", fmt.Errorf("its tokens are made by the model %q; WordPiece, WordLevel, Unigram and BPE can be read", kind)
	}
}

// kindOf is the "type" of one part of the file. Older files leave that of
// their model out: it is a BPE when it has merges, else a WordPiece.
func kindOf(raw json.RawMessage) (string, error) {
	var part struct {
		Type   string          `json:"type"`
		Merges json.RawMessage `json:"merges"`
	}
	if err := json.Unmarshal(raw, &part); err != nil {
		return "", err
	}
	switch {
	case part.Type != "":
		return part.Type, nil
	case part.Merges != nil:
		return "BPE", nil
	}
	return "WordPiece", nil
}

// encode cuts a text into ids.
func (t *tokenizer) encode(text string) []int {
	var ids []int
	for _, outer := range t.added.cut(text) {
		if outer.id >= 0 {
			ids = append(ids, outer.id)
			continue
		}
		for _, inner := range t.late.cut(t.normalize(outer.text)) {
			if inner.id >= 0 {
				ids = append(ids, inner.id)
				continue
			}
			for _, word := range t.split([]string{inner.text}) {
				ids = append(ids, t.model.tokens(word)...)
			}
		}
	}
	return ids
}
