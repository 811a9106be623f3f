package tokens_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"liminal/internal/tokens"
)

func open(t *testing.T, name string) *tokens.Tokenizer {
	t.Helper()
	k, err := tokens.Open(filepath.Join("testdata", name, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Each folder of testdata is a tokenizer made and run by Hugging Face's own
// library: ids and texts are compared one by one.
func TestTokensAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpt2", "llama3", "qwen2", "llama2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, name)
			raw, err := os.ReadFile(filepath.Join("testdata", name, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var rows [][3]json.RawMessage
			if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 100 {
				t.Fatal(len(rows), err)
			}
			for _, row := range rows {
				var text, decoded string
				var ids []int
				for i, to := range []any{&text, &ids, &decoded} {
					if err := json.Unmarshal(row[i], to); err != nil {
						t.Fatal(err)
					}
				}
				if got := k.Encode(text); !slices.Equal(got, ids) {
					t.Errorf("%q becomes %v, not %v", text, got, ids)
				}
				if got := k.Decode(ids); got != decoded {
					t.Errorf("%v is %q, not %q", ids, got, decoded)
				}
			}
		})
	}
}

// Characters of several tokens are given when they are whole.
func TestADecoderGivesWholeCharactersOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpt2", "llama2"} {
		k := open(t, name)
		const text = "naïve 🙂 東京 x"
		d := k.Decoder()
		got := ""
		for _, id := range k.Encode(text) {
			piece := d.Next(id)
			if strings.ContainsRune(piece, '\uFFFD') {
				t.Errorf("%s gives %q", name, piece)
			}
			got += piece
		}
		if got += d.Rest(); got != text {
			t.Errorf("%s gives %q", name, got)
		}
	}
	k := open(t, "gpt2")
	d := k.Decoder()
	smile := k.Encode("🙂")
	if got := d.Next(smile[0]) + d.Rest() + d.Rest(); got != "\uFFFD" {
		t.Errorf("half a character is %q", got)
	}
	if got := k.Decode([]int{-1, 1 << 30}); got != "" {
		t.Errorf("what is no token is %q", got)
	}
}

func TestWhatCannotBeReadIsRefusedByName(t *testing.T) {
	t.Parallel()
	for part, says := range map[string]string{
		`"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"\\p{L}+(?!x)"}}`: `(?!x)`,
		`"decoder":{"type":"CTC"}`: `"CTC"`,
		`"decoder":{"type":"Replace","pattern":{"String":"a"},"content":"b"}`: `"Replace"`,
		`"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}`:             "not of tokens",
		`"model":{"type":"BPE","vocab":{"a":0},"merges":[["a"]]}`:             "no pair",
		`"model":{"type":"BPE","vocab":{"a":0},"merges":["ab"]}`:              "no pair",
		`"model":{"type":"Charwise"}`:                                         `"Charwise"`,
		`"model":{"type":"BPE","vocab":{"a":99999999},"merges":[]}`:           "99999999",
	} {
		if !strings.Contains(part, `"model"`) {
			part += `,"model":{"type":"BPE","vocab":{"a":0},"merges":[]}`
		}
		if _, err := tokens.Read([]byte("{" + part + "}")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", part, err)
		}
	}
}

// A word without spaces takes n·log n steps to join, not n².
func BenchmarkALongWord(b *testing.B) {
	k, err := tokens.Open("testdata/gpt2/tokenizer.json")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("interface", 4000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		k.Encode(text)
	}
}

func FuzzDecode(f *testing.F) {
	k, err := tokens.Open("testdata/llama3/tokenizer.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("it's 1234 \r\n x")
	f.Fuzz(func(t *testing.T, text string) {
		got := k.Decode(k.EncodeText(text))
		if utf8.ValidString(text) && got != text || !utf8.ValidString(got) {
			t.Errorf("%q is read as %q", text, got)
		}
	})
}
