package static_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/embed/static"
	"liminal/internal/fault"
)

func sentences(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/sentences.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// expected are the vectors model2vec gives, a row a sentence.
func expected(t *testing.T, dir string, rows int) [][]float32 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "expected.f32"))
	if err != nil {
		t.Fatal(err)
	}
	columns := len(raw) / 4 / rows
	out := make([][]float32, rows)
	for i := range out {
		for c := range columns {
			out[i] = append(out[i], math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(i*columns+c):])))
		}
	}
	return out
}

// Each folder of testdata is a model made and run by model2vec itself.
//
// Requirements: EMB-04, EMB-01, EMB-06
func TestVectorsAreThoseOfModel2vec(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/*/model.safetensors")
	if err != nil || len(dirs) < 7 {
		t.Fatalf("%d models: %v", len(dirs), err)
	}
	texts := sentences(t)
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			e, err := static.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, want := range expected(t, dir, len(texts)) {
				if d := distance(got[i], embed.Fit(want, embed.Dim)); d > 1e-4 {
					if wrong++; wrong <= 10 {
						t.Errorf("%q: off by %g", texts[i], d)
					}
				}
			}
			t.Logf("%d of %d sentences differ", wrong, len(texts))
		})
	}
}

// distance is the largest difference of two vectors' numbers.
func distance(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i]-b[i])))
	}
	return d
}

// Requirements: EMB-03
func TestATextWithoutKnownTokensHasTheFixedUnitVector(t *testing.T) {
	t.Parallel()
	e, err := static.Open("testdata/wordpiece")
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(t.Context(), []string{"", "\n", "☃☃☃"})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if !slices.Equal(v, embed.Fit(nil, embed.Dim)) {
			t.Errorf("%d: %v…", i, v[:3])
		}
	}
}

// Requirements: RAG-09
func TestTheVersionFollowsNameAndContents(t *testing.T) {
	t.Parallel()
	a, b := copied(t, "wordpiece"), copied(t, "wordpiece")
	first, second := version(t, a), version(t, b)
	if first != second || !strings.HasPrefix(first, "wordpiece-") || !strings.HasSuffix(first, "@64") {
		t.Errorf("versions %q and %q of the same model", first, second)
	}
	path := filepath.Join(b, "model.safetensors")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-2] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if changed := version(t, b); changed == first {
		t.Error("another table has the same version")
	}
}

func version(t *testing.T, dir string) string {
	t.Helper()
	e, err := static.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e.Version()
}

// copied is a model in a folder of its own.
func copied(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestACancelledCallEnds(t *testing.T) {
	t.Parallel()
	e, err := static.Open("testdata/wordpiece")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, []string{"one"}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAModelThatCannotBeUsedIsRefusedByName(t *testing.T) {
	t.Parallel()
	edit := func(file, from, to string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, file)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(raw), from, to, 1)
			if changed == string(raw) {
				t.Fatalf("%s does not hold %q", file, from)
			}
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		says  string
	}{
		"no tokenizer": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "tokenizer.json")); err != nil {
				t.Fatal(err)
			}
		}, "holds no static embedding model"},
		"another normalizer":    {edit("tokenizer.json", `"type":"BertNormalizer"`, `"type":"Nmt"`), `"Nmt"`},
		"another pre-tokenizer": {edit("tokenizer.json", `"type":"BertPreTokenizer"`, `"type":"UnicodeScripts"`), `"UnicodeScripts"`},
		"another model":         {edit("tokenizer.json", `"type":"WordPiece"`, `"type":"Charwise"`), `"Charwise"`},
		"no JSON":               {edit("tokenizer.json", `{`, `[`), "tokenizer.json"},
		"no unknown token":      {edit("tokenizer.json", `"unk_token":"[UNK]"`, `"unk_token":"[WHAT]"`), "unknown token"},
		"a negative token":      {edit("tokenizer.json", `"!":2,`, `"!":-2,`), `has the id -2`},
		"a token too far":       {edit("tokenizer.json", `"!":2,`, `"!":9223372036854775807,`), `has the id 9223372036854775807`},
		"an added one too far":  {edit("tokenizer.json", `"id":1,`, `"id":9223372036854775807,`), `has the id 9223372036854775807`},
		"another tensor":        {edit("model.safetensors", `"embeddings"`, `"embedding_"`), `no tensor "embeddings"`},
		"another type":          {edit("model.safetensors", `"F32"`, `"F8_"`), `"F8_"`},
		"fewer rows":            {edit("model.safetensors", `[500,66]`, `[400,66]`), "where the header says"},
		"a giant header":        {edit("model.safetensors", "\x00\x00\x00{", "\xff\x00\x00{"), "no safetensors file"},
		"odd length":            {edit("config.json", `"max_length": 512`, `"max_length": "no"`), "config.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, "wordpiece")
			c.spoil(t, dir)
			_, err := static.Open(dir)
			if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func BenchmarkEmbed(b *testing.B) {
	e, err := static.Open("testdata/wordpiece")
	if err != nil {
		b.Fatal(err)
	}
	text := []string{strings.Repeat("The garbage collector frees what is not reachable any more. ", 20)}
	b.SetBytes(int64(len(text[0])))
	for b.Loop() {
		if _, err := e.Embed(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}
