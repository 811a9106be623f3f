package bert

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"liminal/internal/embed"
	"liminal/internal/store/storetest"
)

// published writes small encoders as ONNX Runtime's quantizer does, and keeps what
// it wrote as plain numbers.
type published struct {
	file    []byte
	tensors map[string][]float64
	random  *rand.Rand
}

const (
	testSize   = 64
	testWide   = 96
	testLayers = 2
	testPlaces = 24
)

var testWords = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "sat", "stick", "##s", "usb", "?", "."}

func testTokenizer(t *testing.T) []byte {
	t.Helper()
	vocabulary := map[string]int{}
	for i, w := range testWords {
		vocabulary[w] = i
	}
	raw, err := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (p *published) field(num protowire.Number, inner []byte) {
	p.file = protowire.AppendBytes(protowire.AppendTag(p.file, num, protowire.BytesType), inner)
}

func message(parts ...any) (out []byte) {
	for i := 0; i < len(parts); i += 2 {
		num := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			out = protowire.AppendVarint(protowire.AppendTag(out, num, protowire.VarintType), uint64(v))
		case string:
			out = protowire.AppendString(protowire.AppendTag(out, num, protowire.BytesType), v)
		case []byte:
			out = protowire.AppendBytes(protowire.AppendTag(out, num, protowire.BytesType), v)
		}
	}
	return out
}

func tensorOf(name string, kind int, raw []byte, dims ...int) []byte {
	var parts []any
	for _, d := range dims {
		parts = append(parts, tensorDims, d)
	}
	return message(append(parts, tensorType, kind, tensorName, name, tensorRaw, raw)...)
}

func floats32(x []float64) (raw []byte) {
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
	}
	return raw
}

func (p *published) floats(name string, n int, around float64) {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(around + p.random.NormFloat64()*0.2))
	}
	p.tensors[name] = x
	p.field(graphInitializer, tensorOf(name, typeFloat, floats32(x), n))
}

// bytes writes numbers of a byte each; columns says whether each column has a
// scale and a zero of its own.
func (p *published) bytes(name string, kind, rows, cols int, columns bool) {
	n := 1
	of := []int{}
	if columns {
		n, of = cols, []int{cols}
	}
	scales, zeros, raw := make([]float64, n), make([]byte, n), make([]byte, rows*cols)
	for i := range n {
		scales[i], zeros[i] = float64(float32(0.002+p.random.Float64()*0.002)), byte(p.random.IntN(40))
	}
	x := make([]float64, rows*cols)
	for i := range raw {
		raw[i] = byte(p.random.UintN(256))
		c := min(i%cols, n-1)
		q := float64(raw[i]) - float64(zeros[c])
		if kind == typeInt8 {
			q = float64(int8(raw[i])) - float64(int8(zeros[c]))
		}
		x[i] = scales[c] * q
	}
	base := strings.TrimSuffix(name, "_quantized")
	p.tensors[name] = x
	p.field(graphInitializer, tensorOf(name, kind, raw, rows, cols))
	p.field(graphInitializer, tensorOf(base+"_scale", typeFloat, floats32(scales), of...))
	p.field(graphInitializer, tensorOf(base+"_zero_point", kind, zeros, of...))
}

func (p *published) product(name string, in, out int) {
	weights := fmt.Sprintf("onnx::MatMul_%d_quantized", len(p.tensors))
	p.bytes(weights, typeInt8, in, out, true)
	p.tensors[name] = p.tensors[weights]
	p.floats(name+".bias", out, 0)
	p.field(graphNode, message(nodeInput, "x_quantized", nodeInput, weights, nodeName, nodeOf(name), nodeOp, "MatMulInteger"))
}

func publish() *published {
	p := &published{tensors: map[string][]float64{}, random: rand.New(rand.NewPCG(1, 2))}
	p.bytes(wordTable, typeUint8, len(testWords), testSize, false)
	p.bytes(placeTable, typeUint8, testPlaces, testSize, false)
	p.bytes(kindTable, typeUint8, 2, testSize, false)
	norm := func(name string) { p.floats(name+"weight", testSize, 1); p.floats(name+"bias", testSize, 0) }
	norm("embeddings.LayerNorm.")
	for l := range testLayers {
		name := fmt.Sprintf("encoder.layer.%d.", l)
		for _, part := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			p.product(name+part, testSize, testSize)
		}
		p.product(name+"intermediate.dense", testSize, testWide)
		p.product(name+"output.dense", testWide, testSize)
		norm(name + "attention.output.LayerNorm.")
		norm(name + "output.LayerNorm.")
	}
	p.file = message(modelGraph, p.file)
	return p
}

// plainly computes one text as the paper of BERT says, number by number.
func (p *published) plainly(ids []int) [][]float64 {
	norm := func(x []float64, name string) {
		mean, variance := 0.0, 0.0
		for _, v := range x {
			mean += v / testSize
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / testSize
		}
		for i := range x {
			x[i] = (x[i]-mean)/math.Sqrt(variance+layerNormEpsilon)*p.tensors[name+"weight"][i] + p.tensors[name+"bias"][i]
		}
	}
	times := func(x []float64, name string, out int) []float64 {
		y := make([]float64, out)
		for o := range y {
			y[o] = p.tensors[name+".bias"][o]
			for i, v := range x {
				y[o] += v * p.tensors[name][i*out+o]
			}
		}
		return y
	}
	var x [][]float64
	for place, id := range ids {
		row := make([]float64, testSize)
		for i := range row {
			row[i] = p.tensors[wordTable][id*testSize+i] + p.tensors[placeTable][place*testSize+i] + p.tensors[kindTable][i]
		}
		norm(row, "embeddings.LayerNorm.")
		x = append(x, row)
	}
	for l := range testLayers {
		name := fmt.Sprintf("encoder.layer.%d.", l)
		var q, k, v [][]float64
		for _, row := range x {
			q = append(q, times(row, name+"attention.self.query", testSize))
			k = append(k, times(row, name+"attention.self.key", testSize))
			v = append(v, times(row, name+"attention.self.value", testSize))
		}
		for i := range x {
			seen := make([]float64, testSize)
			for h := 0; h < testSize; h += headSize {
				total, weights := 0.0, make([]float64, len(x))
				for j := range x {
					dot := 0.0
					for d := h; d < h+headSize; d++ {
						dot += q[i][d] * k[j][d]
					}
					weights[j] = math.Exp(dot / math.Sqrt(headSize))
					total += weights[j]
				}
				for j := range x {
					for d := h; d < h+headSize; d++ {
						seen[d] += weights[j] / total * v[j][d]
					}
				}
			}
			for d, y := range times(seen, name+"attention.output.dense", testSize) {
				x[i][d] += y
			}
			norm(x[i], name+"attention.output.LayerNorm.")
			wide := times(x[i], name+"intermediate.dense", testWide)
			for d, y := range wide {
				wide[d] = y / 2 * (1 + math.Erf(y/math.Sqrt2))
			}
			for d, y := range times(wide, name+"output.dense", testSize) {
				x[i][d] += y
			}
			norm(x[i], name+"output.LayerNorm.")
		}
	}
	return x
}

// Requirements: RAG-12
func TestVectorsAreThoseOfThePaper(t *testing.T) {
	t.Parallel()
	p := publish()
	m, err := read(p.file, testTokenizer(t))
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]int{m.cut("A cat sat."), m.cut("USB sticks?"), m.cut("")}
	if fmt.Sprint(texts) != "[[2 4 5 6 11 3] [2 9 7 8 10 3] [2 3]]" {
		t.Fatalf("the texts are cut as %v", texts)
	}
	got, ends := m.encode(texts)
	row := 0
	for i, text := range texts {
		for j, want := range p.plainly(text) {
			for d, w := range want {
				if g := float64(got[row*testSize+d]); math.Abs(g-w) > 2e-4 {
					t.Fatalf("text %d, token %d, number %d is %v, want %v", i, j, d, g, w)
				}
			}
			row++
		}
		if ends[i] != row {
			t.Errorf("text %d ends at token %d, want %d", i, ends[i], row)
		}
	}
}

func TestATextIsLikeItselfWhateverElseIsCompared(t *testing.T) {
	t.Parallel()
	m, err := read(publish().file, testTokenizer(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Compare(t.Context(), "a cat", []string{"usb stick", "a cat", "", strings.Repeat("cat ", 100)})
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, %v", got, err)
	}
	if got[1].Whole < 0.9999 || got[1].Parts < 0.9999 {
		t.Errorf("a text is like itself by %v", got[1])
	}
	if got[2].Parts != 0 || got[0].Parts >= got[1].Parts {
		t.Errorf("an empty text is like it by %v, another one by %v", got[2], got[0])
	}
	alone, err := m.Compare(t.Context(), "a cat", []string{"usb stick"})
	if err != nil || alone[0] != got[0] {
		t.Errorf("alone it is %v, %v; among others %v", alone, err, got[0])
	}
}

func TestFilesThatAreNoModelAreRefused(t *testing.T) {
	t.Parallel()
	whole := publish().file
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"empty":       {nil, "no numbers"},
		"cut short":   {whole[:len(whole)/2], "unexpected EOF"},
		"other names": {bytes.ReplaceAll(whole, []byte("word_embeddings"), []byte("word_embeddingz")), "no tables of words"},
		"no products": {bytes.ReplaceAll(whole, []byte("MatMulInteger"), []byte("MatMulIntegex")), "no product /encoder/layer.0/attention/self/query/MatMul_quant"},
		"not finite":  {bytes.Replace(whole, floats32(publish().tensors["embeddings.LayerNorm.weight"][:1]), []byte{0, 0, 0xc0, 0x7f}, 1), "number that is none"},
	} {
		if _, err := read(c.file, testTokenizer(t)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestAnotherFileThanThePublishedOneIsRefused(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), MiniLM.File())
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for file, content := range map[string][]byte{"x.onnx": publish().file, "x-tokenizer.json": testTokenizer(t)} {
		f, err := w.Create(file)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := MiniLM.Open(name); !errors.Is(err, ErrOther) {
		t.Errorf("another model is opened: %v", err)
	}
	if m, err := unpack(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil || len(m.layers) != testLayers {
		t.Errorf("the archive itself can be read: %v", err)
	}
}

// The cosines are those of ONNX Runtime 1.32 with the same file, which also makes
// bytes of what is multiplied with the weights.
//
// Requirements: RAG-12
func TestThePublishedModelKnowsMeaning(t *testing.T) {
	t.Parallel()
	m, err := MiniLM.Open(storetest.Server(t, "LANE_RERANKER"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Compare(t.Context(), "How do I format a USB stick?", []string{
		"Removable media such as pen drives are erased with mkfs.", "A cat sat on the mat.",
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.477, 0.081} {
		if math.Abs(got[i].Whole-want) > 0.02 {
			t.Errorf("text %d is like it by %.3f, want %.3f", i, got[i].Whole, want)
		}
	}
	if got[0].Parts < got[1].Parts+0.1 {
		t.Errorf("by its parts it is as like %v as %v", got[0], got[1])
	}
	if m.Version() != "bert:all-MiniLM-L6-v2" {
		t.Errorf("it calls itself %s", m.Version())
	}
}

func BenchmarkCompare(b *testing.B) {
	m, err := MiniLM.Open(storetest.Server(b, "LANE_RERANKER"))
	if err != nil {
		b.Fatal(err)
	}
	texts := make([]string, 16)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("word %d ", i), 38)
	}
	var last []embed.Likeness
	for b.Loop() {
		if last, err = m.Compare(b.Context(), "How do I format a USB stick?", texts); err != nil {
			b.Fatal(err)
		}
	}
	_ = last
}
