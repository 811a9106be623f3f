package static

import (
	"fmt"
	"hash"

	"liminal/internal/tensors"
)

// table is the vectors of the tokens: row mapping[id], or id, weighed.
type table struct {
	dim     int
	rows    []float32 // dim numbers each
	weights []float32 // of tokens; nil: all 1
	mapping []int     // of tokens to rows; nil: itself
}

// add adds the vector of a token to sum.
func (t *table) add(sum []float64, id int) {
	row, weight := id, float32(1)
	if t.mapping != nil {
		row = t.mapping[id]
	}
	if t.weights != nil {
		weight = t.weights[id]
	}
	for i, x := range t.rows[row*t.dim : (row+1)*t.dim] {
		sum[i] += float64(x * weight)
	}
}

// covers reports whether every token below n has a vector.
func (t *table) covers(n int) error {
	rows := len(t.rows) / t.dim
	switch {
	case t.mapping == nil && rows < n, t.mapping != nil && len(t.mapping) < n:
		return fmt.Errorf("the tokenizer has %d tokens, the table fewer vectors", n)
	case t.weights != nil && len(t.weights) < n:
		return fmt.Errorf("the tokenizer has %d tokens, the table %d weights", n, len(t.weights))
	}
	for _, row := range t.mapping {
		if row < 0 || row >= rows {
			return fmt.Errorf("a token is mapped to row %d of %d", row, rows)
		}
	}
	return nil
}

// readTable reads the vectors of a model, of each its first dim numbers; sum
// sees the bytes of all that is read.
func readTable(path, name string, dim int, sum hash.Hash) (t table, err error) {
	s, err := tensors.Open(path)
	if err != nil {
		return t, err
	}
	defer func() { _ = s.Close() }() // it was only read
	_, columns, err := s.Rows(name, dim, sum, func(_ int, numbers []float64) error {
		for _, x := range numbers {
			t.rows = append(t.rows, float32(x))
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	t.dim = min(columns, dim)
	if _, ok := s.Info("weights"); ok {
		if _, _, err = s.Rows("weights", 1, sum, func(_ int, numbers []float64) error {
			t.weights = append(t.weights, float32(numbers[0]))
			return nil
		}); err != nil {
			return t, err
		}
	}
	if _, ok := s.Info("mapping"); ok {
		_, _, err = s.Rows("mapping", 1, sum, func(_ int, numbers []float64) error {
			t.mapping = append(t.mapping, int(numbers[0]))
			return nil
		})
	}
	return t, err
}
