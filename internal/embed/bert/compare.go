package bert

import (
	"context"
	"math"

	"liminal/internal/embed"
	"liminal/internal/lora/kernels"
)

// maxTokens is how much of a text is read, in tokens: quotes are shorter, and time
// grows with it.
const maxTokens = 192

var _ embed.Comparer = (*Model)(nil)

// Quick reports whether this machine compares while a person waits: without the
// instructions of AVX2 a question takes seconds, not a third of one.
func Quick() bool { return kernels.Current() != kernels.Plain }

// Version names the encoder.
func (m *Model) Version() string { return m.version }

// Compare returns how near each text is to the question. A text of more than 192
// tokens is read up to there.
func (m *Model) Compare(ctx context.Context, question string, texts []string) ([]embed.Likeness, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	cut := make([][]int, 0, len(texts)+1)
	for _, t := range append([]string{question}, texts...) {
		cut = append(cut, m.cut(t))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x, ends := m.encode(cut)
	whole := make([][]float32, len(cut)) // before the tokens become unit vectors
	from := 0
	for i, end := range ends {
		whole[i] = mean(x[from*m.size:end*m.size], m.size)
		from = end
	}
	units(x, m.size)
	asked := x[m.size : (ends[0]-1)*m.size] // without the first and the last token
	out := make([]embed.Likeness, len(texts))
	for i := range out {
		out[i] = embed.Likeness{
			Whole: embed.Cosine(whole[0], whole[i+1]),
			Parts: nearest(asked, x[(ends[i]+1)*m.size:(ends[i+1]-1)*m.size], m.size),
		}
	}
	return out, ctx.Err()
}

// cut is a text in tokens, between the first and the last.
func (m *Model) cut(text string) []int {
	ids := m.tokens.EncodeText(text)
	ids = ids[:min(len(ids), m.longest-2)]
	return append(append([]int{m.first}, ids...), m.last)
}

func mean(x []float32, size int) []float32 {
	out := make([]float32, size)
	for i, v := range x {
		out[i%size] += v
	}
	return out
}

// units makes each row one of length one.
func units(x []float32, size int) {
	for at := 0; at < len(x); at += size {
		sum := float32(0)
		row := x[at : at+size]
		for _, v := range row {
			sum += v * v
		}
		if sum > 0 {
			f := float32(1 / math.Sqrt(float64(sum)))
			for i := range row {
				row[i] *= f
			}
		}
	}
}

// nearest is the cosine of each row of a with the nearest of b, on average; 0
// where one of them has none.
func nearest(a, b []float32, size int) float64 {
	rows, cols := len(a)/size, len(b)/size
	if rows == 0 || cols == 0 {
		return 0
	}
	products := make([]float32, rows*cols)
	kernels.Matrix{Rows: cols, Cols: size, F32: b}.Forward(products, a, rows)
	sum := 0.0
	for r := range rows {
		best := float32(-1)
		for _, p := range products[r*cols : (r+1)*cols] {
			best = max(best, p)
		}
		sum += float64(best)
	}
	return sum / float64(rows)
}
