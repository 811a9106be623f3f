package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"time"

	"liminal/internal/cell"
	"liminal/internal/fault"
)

// The bounds of reading one document in a process of its own. The time grows
// with the file: what is small as a file and endless as work is an attack.
const (
	readMemory  = 256 << 20
	readLarge   = 640 << 20 // of a file above largeFile
	largeFile   = 16 << 20
	readOutput  = 96 << 20
	readAtLeast = 30 * time.Second // of computing
	readAMiB    = 3 * time.Second
	readAtMost  = 5 * time.Minute
	// What bounds a reading is its computing. The clock only ends one that a busy
	// machine lets wait for ever, below what a step of taking in may take, and one
	// that has stopped.
	readWall  = 55 * time.Minute
	readStill = 5 * time.Minute
	readers   = 4 // processes at once

	// maxHere is how large a file of plain text may be that is read in this
	// process: starting another takes longer than reading it.
	maxHere = 1 << 20
)

// NewConfined returns Parsers that read whatever can be costly in processes of
// program, which must call Serve. dir is a folder for what they keep: the PDF
// reader in the machine's own code, and temporary files. log, if given, hears which
// bounds this machine does not have.
func NewConfined(program cell.Program, dir string, log ...*slog.Logger) *Parsers {
	code := filepath.Join(dir, "code")
	program.Args = append(program.Args[:len(program.Args):len(program.Args)], code)
	_ = os.MkdirAll(code, 0o700) // without it each process translates the reader again
	p := New()
	p.atLeast = readAtLeast
	o := cell.Options{Dir: filepath.Join(dir, "work"), Most: readers, Writes: []string{code}}
	if len(log) > 0 {
		o.Logger = log[0]
	}
	p.cell = cell.New(program, o)
	return p
}

// readTask is a document as a reading process is told of it.
type readTask struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
}

// readAnswer is what came of it. A refusal is one for a person.
type readAnswer struct {
	Document    Document   `json:"document"`
	Refused     string     `json:"refused,omitempty"`
	Code        fault.Code `json:"code,omitempty"`
	Unsupported bool       `json:"unsupported,omitempty"`
}

// readSoFar is how far it is.
type readSoFar struct {
	Done      int  `json:"done"`
	Total     int  `json:"total"`
	Preparing bool `json:"preparing,omitempty"`
}

// Serve is the work of a process that the Parsers of NewConfined start: it reads
// files from in and writes their texts to out until in ends. code is the folder
// for the machine code of the PDF reader.
func Serve(in io.Reader, out io.Writer, code string) error {
	p := New()
	p.code = code
	defer func() { _ = p.Close() }() // the process ends
	return cell.Serve(in, out, func(w cell.Work) (any, error) {
		var task readTask
		if err := json.Unmarshal(w.Task, &task); err != nil {
			return nil, err
		}
		ctx := WithProgress(context.Background(), func(at Progress) { w.Tell(readSoFar(at)) })
		x, err := p.Parse(ctx, task.Name, task.MIME, w.Body, w.Size)
		if err == nil {
			return readAnswer{Document: x}, nil
		}
		f, told := errors.AsType[*fault.Error](err)
		if !told {
			return nil, err
		}
		return readAnswer{Refused: f.Message, Code: f.Code, Unsupported: errors.Is(err, ErrUnsupported)}, nil
	})
}

// costly reports whether reading a file may take much more than it is large.
func (f format) costly(size int64) bool { return f.dangerous || size > maxHere }

// confined reads a document in a process of its own.
func (p *Parsers) confined(ctx context.Context, name, mime string, r io.ReaderAt, size int64) (Document, error) {
	raw, err := p.cell.Do(ctx, cell.Job{
		Task: readTask{path.Base(name), mime}, Body: io.NewSectionReader(r, 0, size), Size: size,
		Limits: cell.Limits{Memory: memoryFor(size), CPU: p.timeFor(size), Wall: readWall, Still: readStill, Output: readOutput},
		Told: func(raw json.RawMessage) {
			var at readSoFar
			if json.Unmarshal(raw, &at) == nil {
				report(ctx, Progress(at))
			}
		},
	})
	if ended, ok := errors.AsType[*cell.Failure](err); ok {
		return Document{}, ended.Fault(fmt.Sprintf("The document %q", path.Base(name)))
	}
	if err != nil {
		return Document{}, named(ctx, name, err)
	}
	var got readAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return Document{}, named(ctx, name, err)
	}
	if got.Refused != "" {
		var cause error
		if got.Unsupported {
			cause = ErrUnsupported
		}
		return Document{}, fault.Wrap(got.Code, cause, "%s", got.Refused)
	}
	return got.Document, got.Document.sound()
}

// timeFor is how long the reading of a file may compute.
func (p *Parsers) timeFor(size int64) time.Duration {
	return min(p.atLeast+time.Duration(size>>20)*readAMiB, readAtMost)
}

// memoryFor has two sizes only: a process is used again for another file of the
// same one.
func memoryFor(size int64) int64 {
	if size > largeFile {
		return readLarge
	}
	return readMemory
}

// sound refuses a document that is not what Parse promises. It came from a
// process that read what a stranger wrote.
func (x Document) sound() error {
	if len(x.Text) > MaxText {
		return tooLong()
	}
	last := 0
	for _, b := range x.Blocks {
		if b.Start < last || b.End < b.Start || b.End > len(x.Text) {
			return fault.New(fault.Internal, "The reading of a document gave a piece that is not in its text.")
		}
		last = b.End
	}
	return nil
}
