package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"

	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// recordedForm is the form of a recorded run that Pack writes.
const recordedForm = 1

// MaxRecord bounds a recorded run as JSON, in bytes. Who records cuts what is
// larger and says so with Partial.
const MaxRecord = 16 << 20

// Record is a run that happened, as far as a rehearsal needs it (CFG-11).
// Values that were kept by reference are the references still, as the machine
// saw them.
type Record struct {
	Form    int                 `json:"form,omitempty"` // set by Pack
	Input   graph.Input         `json:"input"`
	Outputs map[string][]Output `json:"outputs"` // by effect id; one for each attempt, in order
	// Order is the effect of each output in the order in which the machine took
	// them in. Where it is missing, the time they took decides.
	Order   []string     `json:"order,omitempty"`
	Pins    []run.Pin    `json:"pins,omitempty"`
	Steps   []graph.Step `json:"steps,omitempty"` // the way it really went
	Outcome Ending       `json:"outcome,omitzero"`
	// Router is what the turn was routed by, and Gates what came of it, by
	// adapter id; nil: it was not routed.
	Router  *routing.Input     `json:"router,omitempty"`
	Gates   map[string]float64 `json:"gates,omitempty"`
	Partial bool               `json:"partial,omitempty"` // something was cut
}

// The kinds of Output.
const (
	OutputCall  = "call" // also when none is given
	OutputAsk   = "ask"
	OutputSpawn = "spawn"
)

// Output is what came of one attempt of an effect: the result of a call or of a
// spawned workflow, the answer to a question, or a failure.
type Output struct {
	// Tool of a call, workflow of a spawn; empty for a question. It lets a
	// renamed node find its output.
	Tool    string         `json:"tool,omitempty"`
	Kind    string         `json:"kind,omitempty"` // OutputCall where none is given
	Result  map[string]any `json:"result,omitempty"`
	Failure *graph.Failure `json:"failure,omitempty"`
	// Took is from when the machine asked for the effect to when it had this
	// output; of a question, while a person thought.
	Took  time.Duration `json:"took,omitempty"`
	Model string        `json:"model,omitempty"` // that answered, if one did
	Usage *model.Usage  `json:"usage,omitempty"`
}

// MaxResponse bounds the Response of an Ending, in bytes.
const MaxResponse = 2 << 10

// Ending is how a recorded run came to its end.
type Ending struct {
	Response   string         `json:"response,omitempty"` // cut to MaxResponse
	Err        *graph.Failure `json:"error,omitempty"`
	Cancelled  bool           `json:"cancelled,omitempty"`
	Suppressed bool           `json:"suppressed,omitempty"`
}

// compressors are those at rest. Each takes over a megabyte, and making one
// takes ten times as long as what a turn has for it.
var compressors = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // only a level there is not has an error
	return w
}}

// Pack is the form in which a recorded run is kept: JSON, compressed.
func Pack(rec Record) ([]byte, error) {
	rec.Form = recordedForm
	plain, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("pack a recorded run: %w", err)
	}
	if len(plain) > MaxRecord {
		return nil, fmt.Errorf("pack a recorded run: it has %d bytes, the limit is %d", len(plain), MaxRecord)
	}
	var packed bytes.Buffer
	w, _ := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(&packed)
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack a recorded run: %w", err)
	}
	return packed.Bytes(), nil
}

// Unpack reads what Pack wrote. What is damaged, larger than MaxRecord, or of
// a form this program does not know is an error.
func Unpack(packed []byte) (Record, error) {
	r := flate.NewReader(bytes.NewReader(packed))
	plain, err := io.ReadAll(io.LimitReader(r, MaxRecord+1))
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("read a recorded run: %w", err)
	case len(plain) > MaxRecord:
		return Record{}, fmt.Errorf("read a recorded run: it has more than %d bytes", MaxRecord)
	}
	var rec Record
	if err := json.Unmarshal(plain, &rec); err != nil {
		return Record{}, fmt.Errorf("read a recorded run: %w", err)
	}
	if rec.Form != recordedForm {
		return Record{}, fmt.Errorf("read a recorded run: it has form %d, this program reads %d", rec.Form, recordedForm)
	}
	return rec, nil
}

// BranchOf names the way a run went by the nodes it took, however often and in
// whichever order: 16 hexadecimal digits; empty where it took none.
func BranchOf(steps []graph.Step) string {
	nodes := make([]string, 0, len(steps))
	for _, s := range steps {
		if s.Outcome != graph.ResultSkipped {
			nodes = append(nodes, s.Node)
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	slices.Sort(nodes)
	h := fnv.New64a()
	for _, node := range slices.Compact(nodes) {
		h.Write([]byte(node + "\n")) // a hash takes everything in
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
