package tokens

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoding is how the texts of tokens become text again.
type decoding struct {
	letters  map[rune]byte // of bytes; nil: tokens are text
	space    string        // the sign that stands for a space; "": none
	fallback bool          // <0x41> is a byte
	strip    bool          // a space the whole begins with is left out
	suffix   string        // ends a word
	prefix   string        // of a piece that continues a word
	apart    bool          // words have spaces between them
	clean    bool          // and signs have none before them
}

// decodingSpec is every field a decoder of the file may have.
type decodingSpec struct {
	Type        string            `json:"type"`
	Decoders    []json.RawMessage `json:"decoders"`
	Pattern     pattern           `json:"pattern"`
	Content     string            `json:"content"`
	Start       int               `json:"start"`
	Stop        int               `json:"stop"`
	Replacement string            `json:"replacement"`
	Scheme      string            `json:"prepend_scheme"`
	PrefixSpace *bool             `json:"add_prefix_space"`
	Prefix      string            `json:"prefix"`
	Suffix      string            `json:"suffix"`
	Cleanup     bool              `json:"cleanup"`
}

func newDecoding(raw json.RawMessage) (d decoding, err error) {
	if absent(raw) {
		return decoding{apart: true}, nil
	}
	return d, d.read(raw)
}

func (d *decoding) read(raw json.RawMessage) error {
	var s decodingSpec
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	switch s.Type {
	case "Sequence":
		for _, one := range s.Decoders {
			if err := d.read(one); err != nil {
				return err
			}
		}
		return nil
	case "ByteLevel":
		d.letters = map[rune]byte{}
		for b, letter := range byteLetters() {
			r, _ := utf8.DecodeRuneInString(letter)
			d.letters[r] = byte(b) //nolint:gosec // there are 256
		}
		return nil
	case "ByteFallback":
		d.fallback = true
		return nil
	case "Fuse":
		return nil
	case "Replace":
		if s.Pattern.String != nil && s.Content == " " {
			d.space = *s.Pattern.String
			return nil
		}
	case "Strip":
		if s.Content == " " && s.Stop == 0 && s.Start <= 1 {
			d.strip = d.strip || s.Start == 1
			return nil
		}
	case "Metaspace":
		d.space = s.Replacement
		d.strip = s.Scheme == "always" || s.Scheme == "first" || s.Scheme == "" && (s.PrefixSpace == nil || *s.PrefixSpace)
		return nil
	case "BPEDecoder":
		d.suffix = s.Suffix
		return nil
	case "WordPiece":
		d.prefix, d.apart, d.clean = s.Prefix, true, s.Cleanup
		return nil
	default:
	}
	return fmt.Errorf("its tokens are joined by %q, which cannot be read", s.Type)
}

// tight is what is written without a space before it.
var tight = strings.NewReplacer(" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " 's", "'s", " 've", "'ve", " 're", "'re")

// text is the bytes of one token; first says that none came before it.
func (d decoding) text(token string, first bool) string {
	if d.fallback && len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' {
		if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
			return string([]byte{byte(b)})
		}
	}
	if d.letters != nil {
		token = d.bytes(token)
	}
	if d.space != "" {
		token = strings.ReplaceAll(token, d.space, " ")
	}
	if d.suffix != "" {
		token = strings.ReplaceAll(token, d.suffix, " ")
	}
	if d.apart && !first {
		rest, continues := strings.CutPrefix(token, d.prefix)
		if token = rest; d.prefix == "" || !continues {
			token = " " + token
		}
	}
	if d.clean {
		token = tight.Replace(token)
	}
	if d.strip && first {
		token = strings.TrimPrefix(token, " ")
	}
	return token
}

// bytes reads the letters of bytes; a token with any other letter is text.
func (d decoding) bytes(token string) string {
	out := make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := d.letters[r]
		if !ok {
			return token
		}
		out = append(out, b)
	}
	return string(out)
}

// Decoder joins tokens to text one by one. What a token completes is given at
// once; the bytes of a character that is not whole yet wait for the next.
type Decoder struct {
	of      *Tokenizer
	begun   bool
	waiting []byte
}

// Decoder begins a text. It is for one goroutine.
func (t *Tokenizer) Decoder() *Decoder { return &Decoder{of: t} }

// Next is the text that a token completes: "" for special tokens, for what is
// no token, and for the first bytes of a character.
func (d *Decoder) Next(id int) string {
	t := d.of
	if id < 0 || id >= len(t.texts) || t.control[id] {
		return ""
	}
	text := t.decode.text(t.texts[id], !d.begun)
	d.begun = true
	d.waiting = append(d.waiting, text...)
	var out strings.Builder
	for len(d.waiting) > 0 && utf8.FullRune(d.waiting) {
		r, size := utf8.DecodeRune(d.waiting)
		out.WriteRune(r)
		d.waiting = d.waiting[size:]
	}
	return out.String()
}

// Rest is what the text ends with when no token follows: a replacement
// character for bytes that are no character.
func (d *Decoder) Rest() string {
	if len(d.waiting) == 0 {
		return ""
	}
	d.waiting = nil
	return string(utf8.RuneError)
}

// Decode joins tokens to text, special ones left out.
func (t *Tokenizer) Decode(ids []int) string {
	var b strings.Builder
	d := t.Decoder()
	for _, id := range ids {
		b.WriteString(d.Next(id))
	}
	return b.String() + d.Rest()
}
