package cell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Work is one job inside a process.
type Work struct {
	Task json.RawMessage
	Body io.ReaderAt
	Size int64
	Tell func(any) // says something on the way
}

// maxInMemory is how much of a body is kept in memory; a longer one goes to a
// temporary file.
const maxInMemory = 32 << 20

// maxOrder bounds what a job says of itself.
const maxOrder = 1 << 20

// The last words of a process whose time is up: that of the processors, and that of the
// clock, of which whoever started it should have told it.
const (
	outOfTime  = "the job took longer than it may"
	outOfClock = "the job was not ended in time"
)

// Serve does jobs until the input ends, which it does with the program that
// started this one, also when that was killed. An error of handle, or a panic,
// ends the process: the one who asked takes it for a crash.
func Serve(in io.Reader, out io.Writer, handle func(Work) (any, error)) error {
	orders := make(chan received)
	go func() {
		for {
			r := receive(in)
			if errors.Is(r.err, io.EOF) || errors.Is(r.err, io.ErrUnexpectedEOF) {
				os.Exit(0) // also in the middle of a job: nobody waits for it
			}
			orders <- r
			if r.err != nil {
				return
			}
		}
	}()
	bound := false
	for r := range orders {
		if r.err != nil {
			return r.err
		}
		if !bound {
			if err := within(r.order.Own, r.order.Reads, r.order.Writes); err != nil {
				return fmt.Errorf("leave the process its folders: %w", err)
			}
			if err := confine(r.order.Memory + slack); err != nil {
				return fmt.Errorf("set the limits of the process: %w", err)
			}
			bound = true
		}
		if err := perform(r, out, handle); err != nil {
			return err
		}
	}
	return nil
}

func perform(r received, out io.Writer, handle func(Work) (any, error)) error {
	defer r.close()
	alarm := time.AfterFunc(r.order.Wall+time.Second, func() { // whoever started this should have ended it by now
		fmt.Fprintln(os.Stderr, outOfClock)
		os.Exit(1)
	})
	defer alarm.Stop()
	lift := compute(r.order.CPU, func() {
		fmt.Fprintln(os.Stderr, outOfTime)
		os.Exit(1)
	})
	defer lift()
	var mu sync.Mutex
	send := func(kind byte, v any) error {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return write(out, kind, b.Bytes())
	}
	answer, err := handle(Work{
		Task: r.order.Task, Body: r.body, Size: r.order.Size,
		Tell: func(v any) { _ = send(kindTold, v) }, // the answer will show that nobody listens
	})
	if err != nil {
		return err
	}
	return send(kindAnswer, answer)
}

// received is a job as it came in.
type received struct {
	order order
	body  io.ReaderAt
	close func()
	err   error
}

func receive(in io.Reader) (r received) {
	kind, raw, err := read(in, maxOrder)
	switch {
	case err != nil:
		return received{err: err}
	case kind != kindOrder:
		return received{err: fmt.Errorf("a job begins with %q", kind)}
	}
	if err := json.Unmarshal(raw, &r.order); err != nil {
		return received{err: err}
	}
	r.close = func() {}
	if r.order.Size <= maxInMemory {
		b := make([]byte, r.order.Size)
		_, r.err = io.ReadFull(in, b)
		r.body = bytes.NewReader(b)
		return r
	}
	f, err := os.CreateTemp("", "body-")
	if err != nil {
		return received{err: err}
	}
	r.body, r.close = f, func() {
		_ = f.Close()           // it was only read
		_ = os.Remove(f.Name()) // the folder goes with the process
	}
	_, r.err = io.CopyN(f, in, r.order.Size)
	return r
}
