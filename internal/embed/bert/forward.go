package bert

import (
	"math"
	"strings"

	"liminal/internal/lora/kernels"
)

// nodeOf is the node of the ONNX graph that multiplies by the weights of a name:
// PyTorch's exporter and ONNX Runtime's quantizer name it so.
func nodeOf(name string) string {
	layer, part, _ := strings.Cut(strings.TrimPrefix(name, "encoder.layer."), ".")
	return "/encoder/layer." + layer + "/" + strings.ReplaceAll(part, ".", "/") + "/MatMul_quant"
}

// encode computes the vectors of the tokens of several texts, one after the
// other; ends are where each text ends, in tokens.
func (m *Model) encode(texts [][]int) (x []float32, ends []int) {
	total := 0
	for _, t := range texts {
		total += len(t)
		ends = append(ends, total)
	}
	x = make([]float32, total*m.size)
	m.begin(x, texts)
	h := m.buffers(total)
	for i := range m.layers {
		m.layers[i].run(x, h, ends, m.size)
	}
	return x, ends
}

// begin writes what the words and their positions are.
func (m *Model) begin(x []float32, texts [][]int) {
	row := 0
	for _, t := range texts {
		for place, id := range t {
			to := x[row*m.size : (row+1)*m.size]
			word := m.words.at[id*m.size : (id+1)*m.size]
			for i, w := range word {
				to[i] = m.words.scale[i] * float32(w)
			}
			m.norm.add(to, m.places[place*m.size:(place+1)*m.size])
			row++
		}
	}
}

// buffers are what a layer writes between.
type buffers struct{ q, k, v, attended, out, wide []float32 }

func (m *Model) buffers(rows int) buffers {
	wide := m.layers[0].up.w.Rows
	all := make([]float32, rows*(5*m.size+wide))
	take := func(n int) (b []float32) { b, all = all[:rows*n:rows*n], all[rows*n:]; return b }
	return buffers{take(m.size), take(m.size), take(m.size), take(m.size), take(m.size), take(wide)}
}

func (l *layer) run(x []float32, b buffers, ends []int, size int) {
	rows := len(x) / size
	kernels.Forwards(x, rows, l.query.output(b.q), l.key.output(b.k), l.value.output(b.v))
	l.query.finish(b.q, nil)
	l.key.finish(b.k, nil)
	l.value.finish(b.v, nil)
	attend(b, ends, size)
	kernels.Forwards(b.attended, rows, l.out.output(b.out))
	l.out.finish(b.out, nil)
	l.attended.add(x, b.out)
	wide := b.wide[:rows*l.up.w.Rows]
	kernels.Forwards(x, rows, l.up.output(wide))
	l.up.finish(wide, gelu)
	kernels.Forwards(wide, rows, l.down.output(b.out))
	l.down.finish(b.out, nil)
	l.done.add(x, b.out)
}

// attend lets each token of a text look at all of that text, head by head.
func attend(b buffers, ends []int, size int) {
	heads := size / headSize
	kernels.Parallel(len(ends)*heads, 1, func(lo, hi int) {
		var h head
		for job := lo; job < hi; job++ {
			text, from := job/heads, 0
			if text > 0 {
				from = ends[text-1]
			}
			h.attend(b, from, ends[text], job%heads*headSize, size)
		}
	})
}

// head is what one head of one text computes in, its numbers side by side.
type head struct{ q, k, v, out, scores []float32 }

func (h *head) attend(b buffers, from, to, at, size int) {
	rows := to - from
	h.q, h.k, h.v = gather(h.q, b.q, from, to, at, size), gather(h.k, b.k, from, to, at, size), gather(h.v, b.v, from, to, at, size)
	h.out, h.scores = zeros(h.out, rows*headSize), zeros(h.scores, rows*rows)
	kernels.Matrix{Rows: rows, Cols: headSize, F32: h.k}.ForwardHere(h.scores, h.q, rows)
	scale := float32(1 / math.Sqrt(headSize))
	for i := range h.scores {
		h.scores[i] *= scale
	}
	for i := range rows {
		kernels.Softmax(h.scores[i*rows : (i+1)*rows])
	}
	kernels.Matrix{Rows: rows, Cols: headSize, F32: h.v}.BackwardHere(h.out, h.scores, rows)
	for i := range rows {
		copy(b.attended[(from+i)*size+at:][:headSize], h.out[i*headSize:])
	}
}

// gather copies the part of rows from to to that one head looks at.
func gather(dst, x []float32, from, to, at, size int) []float32 {
	dst = dst[:0]
	for r := from; r < to; r++ {
		dst = append(dst, x[r*size+at:][:headSize]...)
	}
	return dst
}

func zeros(x []float32, n int) []float32 {
	if cap(x) < n {
		return make([]float32, n)
	}
	clear(x[:n])
	return x[:n]
}
