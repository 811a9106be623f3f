// Package bert runs small encoders of the BERT family on the CPU: a text becomes
// one vector for each of its tokens.
//
// It reads the ONNX files such models are published in, with weights of one byte,
// and multiplies in float32: there is no ONNX here, only the numbers are taken from
// the file. What a file holds is checked before it is used. The package imports
// embed, tokens, lora/kernels and protowire.
package bert

import (
	"fmt"
	"math"

	"liminal/internal/lora/kernels"
	"liminal/internal/tokens"
)

// maxLayers bounds the layers of a file.
const maxLayers = 48

// headSize is how many numbers of a vector one head attends to. The file does
// not say it; it is that of all-MiniLM-L6-v2 and of the others of 384 numbers.
const headSize = 32

// layerNormEpsilon is what BERT adds to a variance.
const layerNormEpsilon = 1e-12

// Model is an encoder. It is safe for concurrent use.
type Model struct {
	version string
	tokens  *tokens.Tokenizer
	first   int // token a text begins with
	last    int // and ends with
	size    int // numbers in a vector
	longest int // tokens in a text, with the first and the last
	words   table
	places  []float32 // of positions, with that of the kind of a text added
	norm    norm
	layers  []layer
}

// norm is the weights of one normalization.
type norm struct{ weight, bias []float32 }

// linear is y = scale · x·wᵀ + bias; w are whole numbers, which bfloat16 holds
// exactly.
type linear struct {
	w     kernels.Matrix
	scale []float32
	bias  []float32
}

type layer struct {
	query, key, value, out linear
	attended               norm
	up, down               linear
	done                   norm
}

// read makes a model of an ONNX file and its tokenizer.json.
func read(onnx, tokenizer []byte) (*Model, error) {
	t, err := tokens.Read(tokenizer)
	if err != nil {
		return nil, fmt.Errorf("its tokenizer: %w", err)
	}
	m := &Model{tokens: t}
	var ok, also bool
	m.first, ok = t.ID("[CLS]")
	m.last, also = t.ID("[SEP]")
	if !ok || !also {
		return nil, fmt.Errorf("its tokenizer has no [CLS] or no [SEP]")
	}
	g, err := readGraph(onnx)
	if err != nil {
		return nil, err
	}
	if err := m.embeddings(g); err != nil {
		return nil, err
	}
	for len(m.layers) < maxLayers {
		name := fmt.Sprintf("encoder.layer.%d.", len(m.layers))
		if _, more := g.tensors[name+"output.dense.bias"]; !more {
			break
		}
		l, err := m.layer(g, name)
		if err != nil {
			return nil, err
		}
		m.layers = append(m.layers, l)
	}
	if len(m.layers) == 0 {
		return nil, fmt.Errorf("it has no layers named as those of BERT")
	}
	return m, nil
}

// The names of the tables vectors begin with.
const (
	wordTable  = "embeddings.word_embeddings.weight_quantized"
	placeTable = "embeddings.position_embeddings.weight_quantized"
	kindTable  = "embeddings.token_type_embeddings.weight_quantized"
)

func (m *Model) embeddings(g graph) (err error) {
	words, places, kinds := g.tensors[wordTable], g.tensors[placeTable], g.tensors[kindTable]
	if len(words.dims) != 2 || len(places.dims) != 2 || len(kinds.dims) != 2 || kinds.dims[0] < 1 {
		return fmt.Errorf("it has no tables of words, positions and kinds, in bytes")
	}
	m.size, m.longest = words.dims[1], min(places.dims[0], maxTokens)
	if m.size == 0 || m.size%headSize != 0 || m.longest < 3 {
		return fmt.Errorf("it has vectors of %d numbers and %d positions", m.size, m.longest)
	}
	if words.dims[0] < m.tokens.Size() {
		return fmt.Errorf("it has %d words, and its tokenizer %d", words.dims[0], m.tokens.Size())
	}
	if m.words, err = g.quantized(wordTable, words.dims[0], m.size); err != nil {
		return err
	}
	place, err := g.quantized(placeTable, places.dims[0], m.size)
	if err != nil {
		return err
	}
	kind, err := g.quantized(kindTable, kinds.dims[0], m.size)
	if err != nil {
		return err
	}
	m.places = make([]float32, m.longest*m.size)
	for i := range m.places {
		m.places[i] = place.scale[i%m.size]*float32(place.at[i]) + kind.scale[i%m.size]*float32(kind.at[i%m.size])
	}
	m.norm, err = m.normed(g, "embeddings.LayerNorm.")
	return err
}

func (m *Model) normed(g graph, name string) (n norm, err error) {
	if n.weight, err = g.floats(name+"weight", m.size); err != nil {
		return n, err
	}
	n.bias, err = g.floats(name+"bias", m.size)
	return n, err
}

// layer reads one; the names of its products say which weights they take.
func (m *Model) layer(g graph, name string) (l layer, err error) {
	bias, known := g.tensors[name+"intermediate.dense.bias"]
	if !known || len(bias.dims) != 1 {
		return l, fmt.Errorf("it has no %sintermediate.dense.bias", name)
	}
	wide := bias.dims[0]
	for _, part := range []struct {
		to        *linear
		name      string
		in, outer int
	}{
		{&l.query, "attention.self.query", m.size, m.size},
		{&l.key, "attention.self.key", m.size, m.size},
		{&l.value, "attention.self.value", m.size, m.size},
		{&l.out, "attention.output.dense", m.size, m.size},
		{&l.up, "intermediate.dense", m.size, wide},
		{&l.down, "output.dense", wide, m.size},
	} {
		if *part.to, err = g.linear(name+part.name, part.in, part.outer); err != nil {
			return l, err
		}
	}
	if l.attended, err = m.normed(g, name+"attention.output.LayerNorm."); err != nil {
		return l, err
	}
	l.done, err = m.normed(g, name+"output.LayerNorm.")
	return l, err
}

// linear reads weights that are stored [in, out], and turns them round.
func (g graph) linear(name string, in, out int) (linear, error) {
	weights, ok := g.weights[nodeOf(name)]
	if !ok {
		return linear{}, fmt.Errorf("it has no product %s", nodeOf(name))
	}
	b, err := g.quantized(weights, in, out)
	if err != nil {
		return linear{}, err
	}
	l := linear{scale: b.scale, w: kernels.Matrix{Rows: out, Cols: in, BF16: make([]uint16, in*out)}}
	for i := range in {
		for o := range out {
			l.w.BF16[o*in+i] = kernels.ToBF16(float32(b.at[i*out+o]))
		}
	}
	l.bias, err = g.floats(name+".bias", out)
	return l, err
}

func (l linear) output(y []float32) kernels.Output { return kernels.Output{W: l.w, To: y} }

// finish makes what the matrix gave the result: in place, and through f.
func (l linear) finish(y []float32, f func(float32) float32) {
	kernels.Parallel(len(y)/len(l.bias), 8, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := y[r*len(l.bias) : (r+1)*len(l.bias)]
			for i, b := range l.bias {
				row[i] = row[i]*l.scale[i] + b
				if f != nil {
					row[i] = f(row[i])
				}
			}
		}
	})
}

// gelu is x·Φ(x), as BERT was trained with it.
func gelu(x float32) float32 {
	return x * 0.5 * (1 + erf(x*float32(1/math.Sqrt2)))
}

// erf is the error function within 3·10⁻⁷ (Abramowitz and Stegun, 7.1.28): several
// times faster than that of package math.
func erf(x float32) float32 {
	a := min(float32(math.Abs(float64(x))), 6)
	p := 1 + a*(0.0705230784+a*(0.0422820123+a*(0.0092705272+a*(0.0001520143+a*(0.0002765672+a*0.0000430638)))))
	p *= p
	p *= p
	p *= p
	y := 1 - 1/(p*p)
	if x < 0 {
		return -y
	}
	return y
}

// add writes the normalized sum of x and y to x, row by row.
func (n norm) add(x, y []float32) {
	size := len(n.weight)
	kernels.Parallel(len(x)/size, 8, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row, more := x[r*size:(r+1)*size], y[r*size:(r+1)*size]
			mean := float32(0)
			for i := range row {
				row[i] += more[i]
				mean += row[i]
			}
			mean /= float32(size)
			variance := float32(0)
			for _, v := range row {
				variance += (v - mean) * (v - mean)
			}
			f := float32(1 / math.Sqrt(float64(variance/float32(size))+layerNormEpsilon))
			for i, v := range row {
				row[i] = (v-mean)*f*n.weight[i] + n.bias[i]
			}
		}
	})
}
