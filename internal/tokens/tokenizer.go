// Package tokens cuts texts into the tokens of a language model and joins them
// again, as the tokenizer.json of Hugging Face's tokenizers describes: added
// tokens, a normalizer, a pre-tokenizer, a model (BPE, WordPiece, WordLevel or
// Unigram) and a decoder. It knows the ways models write a dialogue (Template)
// and learns a byte-level BPE of texts (Learn).
//
// What cannot be read is refused by name, never read as something else. Of what
// only decorates a tokenizer's output, a post-processor, padding and truncation
// are not used. The package imports the standard library and x/text.
package tokens

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"unicode/utf8"
)

// maxTokens bounds the ids believed of a file: an id is the number of a row.
const maxTokens = 4 << 20

// Tokenizer cuts texts into tokens. It is safe for concurrent use.
type Tokenizer struct {
	added     *added // as they stand in the text
	late      *added // as they stand in the normalized text
	normalize normalizer
	split     splitter
	model     pieces
	decode    decoding
	ids       map[string]int
	texts     []string // of ids; "" where there is none
	control   []bool   // ids of tokens that are no text
	unknown   int      // -1: none
	median    int      // length of a token
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
	Decoder      json.RawMessage `json:"decoder"`
}

// Open reads the tokenizer.json at path.
func Open(path string) (*Tokenizer, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(raw)
}

// Read makes a tokenizer of the bytes of a tokenizer.json.
func Read(raw []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	t := &Tokenizer{unknown: -1}
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
	if t.decode, err = newDecoding(f.Decoder); err != nil {
		return nil, err
	}
	t.ids = t.model.vocabulary()
	if id, ok := t.ids[unknown]; ok && unknown != "" {
		t.unknown = id
	}
	for _, a := range f.Added {
		t.ids[a.Content] = a.ID
		if a.Content == unknown {
			t.unknown = a.ID
		}
	}
	if err := t.measure(); err != nil {
		return nil, err
	}
	for _, a := range f.Added {
		t.control[a.ID] = a.Special
		t.texts[a.ID] = a.Content
	}
	t.added = newAdded(f.Added, false, nil)
	t.late = newAdded(f.Added, true, t.normalize)
	return t, nil
}

// measure notes the texts of the ids and the median length of all tokens.
func (t *Tokenizer) measure() error {
	var lengths []int
	size := 0
	for token, id := range t.ids {
		if id < 0 || id >= maxTokens {
			return fmt.Errorf("the token %q has the id %d", token, id)
		}
		lengths = append(lengths, utf8.RuneCountInString(token))
		size = max(size, id+1)
	}
	slices.Sort(lengths)
	if n := len(lengths); n > 0 {
		t.median = (lengths[n/2] + lengths[(n-1)/2]) / 2
	}
	t.texts, t.control = make([]string, size), make([]bool, size)
	for _, token := range slices.Sorted(maps.Keys(t.ids)) {
		t.texts[t.ids[token]] = token
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

// Size is one more than the largest id.
func (t *Tokenizer) Size() int { return len(t.texts) }

// Unknown is the id of what the vocabulary lacks; -1: there is none.
func (t *Tokenizer) Unknown() int { return t.unknown }

// MedianLength is the median length of all tokens, in characters.
func (t *Tokenizer) MedianLength() int { return t.median }

// ID is the id of a token by its text in the file; false: there is none.
func (t *Tokenizer) ID(token string) (int, bool) {
	id, ok := t.ids[token]
	return id, ok
}

// Token is the text of an id as it stands in the file; "" when there is none.
func (t *Tokenizer) Token(id int) string {
	if id < 0 || id >= len(t.texts) {
		return ""
	}
	return t.texts[id]
}

// IsSpecial reports whether an id is a special token: a sign to the model, no
// text.
func (t *Tokenizer) IsSpecial(id int) bool {
	return id >= 0 && id < len(t.control) && t.control[id]
}

// Encode cuts a text into ids. Texts of special tokens become those tokens.
func (t *Tokenizer) Encode(text string) []int { return t.encode(text, true) }

// EncodeText is Encode for words of other people: what reads like a special
// token, such as the end of a turn, is text like any other.
func (t *Tokenizer) EncodeText(text string) []int { return t.encode(text, false) }

func (t *Tokenizer) encode(text string, special bool) []int {
	var ids []int
	for _, outer := range t.added.cut(text, special) {
		if outer.id >= 0 {
			ids = append(ids, outer.id)
			continue
		}
		for _, inner := range t.late.cut(t.normalize(outer.text), special) {
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
