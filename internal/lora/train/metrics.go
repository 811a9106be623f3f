package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"io"
	"liminal/internal/tensors"
)

// Metric is one step, as a line of metrics.jsonl.
type Metric struct {
	Step     int      `json:"step"`
	Of       int      `json:"of"`
	Compared bool     `json:"compared,omitempty"` // with the base: the loss is that of DPO or KTO
	Loss     float64  `json:"loss"`               // of the batch, in nats a token
	Penalty  float64  `json:"penalty"`            // λ‖A,B‖²
	HeldOut  *float64 `json:"held_out,omitempty"` // the latest, of what is held out
	Gradient float64  `json:"gradient"`           // its length before it was clipped
	Speed    float64  `json:"tok_s"`
	ETA      float64  `json:"eta"` // seconds
}

// metrics is an open metrics.jsonl.
type metrics struct{ file *os.File }

// openMetrics opens the file to go on after a step: later lines, and one that was
// not written whole, are taken out.
func openMetrics(path string, step int) (*metrics, error) {
	list, err := ReadMetrics(path)
	if err != nil {
		return nil, err
	}
	_, err = tensors.Replace(path, func(w io.Writer) error {
		for _, m := range list {
			if m.Step > step {
				continue
			}
			if err := json.NewEncoder(w).Encode(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return &metrics{f}, err
}

func (m *metrics) write(one Metric) error {
	raw, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, err = m.file.Write(append(raw, '\n'))
	return err
}

func (m *metrics) sync() error { return m.file.Sync() }

func (m *metrics) close() { _ = m.file.Close() } // what matters was synced

// ReadMetrics reads a metrics.jsonl, also while it is written: the last line of
// each step, in their order. What is no whole line is passed over. There need be
// no file.
func ReadMetrics(path string) ([]Metric, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Metric
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m Metric
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.Step < 1 {
			continue
		}
		for len(list) > 0 && list[len(list)-1].Step >= m.Step {
			list = list[:len(list)-1]
		}
		list = append(list, m)
	}
	return list, lines.Err()
}
