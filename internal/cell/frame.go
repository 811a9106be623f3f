package cell

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A frame is its kind, the length of what follows, and that. The body of a job
// follows its order without one.
const (
	kindOrder  byte = 'o'
	kindTold   byte = 't'
	kindAnswer byte = 'a'
)

// order is what a process is told of a job.
type order struct {
	Task   json.RawMessage `json:"task"`
	Size   int64           `json:"size"`
	Memory int64           `json:"memory"`
	CPU    time.Duration   `json:"cpu"`
	Wall   time.Duration   `json:"wall"`
	Own    string          `json:"own"` // folder of the process
	Reads  []string        `json:"reads,omitempty"`
	Writes []string        `json:"writes,omitempty"`
}

// errLong is a frame longer than it may be.
var errLong = errors.New("an answer is longer than it may be")

func write(w io.Writer, kind byte, raw []byte) error {
	head := make([]byte, 9)
	head[0] = kind
	binary.BigEndian.PutUint64(head[1:], uint64(len(raw)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(raw)
	return err
}

// read reads a frame of at most so many bytes. It takes memory for what has
// come, not for what was announced.
func read(r io.Reader, most int64) (kind byte, raw []byte, err error) {
	head := make([]byte, 9)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint64(head[1:])
	if size > uint64(max(most, 0)) { //nolint:gosec // it is not negative
		return 0, nil, fmt.Errorf("%w: %d bytes of %d", errLong, size, most)
	}
	raw, err = io.ReadAll(io.LimitReader(r, int64(size))) //nolint:gosec // it is less than most
	if err == nil && uint64(len(raw)) < size {
		err = io.ErrUnexpectedEOF
	}
	return head[0], raw, err
}
