// Package serve answers several requests with one model at once.
//
// Requests are rows of one batch. They come and go between two tokens
// (continuous batching): a prompt is read in pieces beside the answers that are
// being written, rows with the same adapters are computed together (LORA-20),
// and who cancels gives the place back before the next token (LORA-21). What a
// row is answered does not depend on the others. The keys and values of ended
// answers are kept for a while: the next turn of a dialogue reads its new words
// only.
//
// A model is a folder (Open), an adapter a folder for it (ReadAdapter). The engine
// knows ids of tokens only. The package may import llm, peft, tokens, fault and
// what they import.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/llm"
)

// Options bound an Engine. Zero values are the defaults.
type Options struct {
	Rows    int // answered at once; 8
	Chunk   int // tokens of prompts between two tokens of answers; 64
	Context int // tokens of a prompt and its answer; the model's own, at most 8,192
	Waiting int // requests that may wait for a row; 64
	Memory  int // bytes of keys and values, those that are kept among them; 1 GiB or twice what one request may need
}

func (o Options) withDefaults(c llm.Config) Options {
	o.Rows = cmp.Or(o.Rows, 8)
	o.Chunk = cmp.Or(o.Chunk, 64)
	o.Context = min(cmp.Or(o.Context, 8192), c.Context)
	o.Waiting = cmp.Or(o.Waiting, 64)
	o.Memory = max(cmp.Or(o.Memory, max(1<<30, 2*c.CacheBytes(o.Context))), c.CacheBytes(o.Context))
	return o
}

// Request is one answer that is wanted.
type Request struct {
	Prompt      []int // at least one token
	MaxTokens   int   // of the answer, at least one
	Temperature float64
	TopP        float64 // 0: all
	TopK        int     // 0: all
	Penalty     float64 // of llm.Sampler; 0: none
	Seed        uint64
	Stops       []int // tokens that end it and are not part of it
	Adapters    []llm.Gated
	// Owner is whose dialogue it is. Keys and values are not shared between
	// owners: how much of a prompt was read before tells what was asked before.
	Owner string
}

// End is why an answer ended.
type End string

// The ends of an answer.
const (
	Going   End = ""        // it has not ended
	Reading End = "reading" // it has not begun: more of the prompt was read
	Stopped End = "stopped" // by one of the tokens that end it
	Full    End = "full"    // it is as long as it may be
)

// Event is one token of an answer, or its end; before the first token, about once
// a second, that the prompt is being read.
type Event struct {
	Token  int // of an answer that is Going
	Read   int // tokens of the prompt so far, of one that is Reading
	End    End
	Reused int // tokens of the prompt that were not read again
}

// Stats are what an engine did since it was made, and does now.
type Stats struct {
	Rows, Waiting, Kept int // now
	Memory              int // bytes of keys and values, now
	Requests, Cancelled int64
	Prompt, Reused      int64 // tokens of prompts: read, and not read again
	Answered            int64 // tokens of answers
	Steps, StepRows     int64 // passes through the model, and the rows in all of them
}

// Engine answers requests. It is safe for concurrent use, works while it has
// requests, and needs no closing.
type Engine struct {
	m *llm.Model
	o Options
	r *llm.Runner // used by the one goroutine that works

	mu      sync.Mutex
	waiting []*row
	kept    []*past // oldest first
	working bool
	stats   Stats
}

// New makes an engine for a model.
func New(m *llm.Model, o Options) *Engine {
	return &Engine{m: m, o: o.withDefaults(m.Config), r: m.NewRunner()}
}

// Rows is how many requests are answered at once at most.
func (e *Engine) Rows() int { return e.o.Rows }

// Context is how many tokens a prompt and its answer have at most.
func (e *Engine) Context() int { return e.o.Context }

// Stats tells what the engine did.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

// row is a request on its way.
type row struct {
	Request
	seq     *llm.Sequence
	tokens  []int // the sequence has
	todo    []int // it gets next
	sampler *llm.Sampler
	made    int
	reused  int
	read    atomic.Int64 // of todo, while the prompt is read
	events  chan Event   // has room for all, so that nobody waits for a reader
	failed  error        // set before events is closed
	left    atomic.Bool
}

// Answer answers a request token by token. The last event has an End; an error
// ends it too. Cancelling ctx ends it at once with ctx's error, and the row is
// free before the next token.
func (e *Engine) Answer(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Event{}, err)
			return
		}
		r, err := e.enter(req)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer r.left.Store(true)
		tick := time.NewTicker(readingEvery)
		defer tick.Stop()
		told := int64(0)
		for {
			select {
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			case <-tick.C:
				read := r.read.Load()
				if read > told && !yield(Event{End: Reading, Read: int(read)}, nil) {
					return
				}
				told = read
			case event, open := <-r.events:
				switch {
				case !open:
					yield(Event{}, r.failed)
					return
				case ctx.Err() != nil: // both were ready
					yield(Event{}, ctx.Err())
					return
				case !yield(event, nil), event.End != Going:
					return
				}
				tick.Stop()
			}
		}
	}
}

// readingEvery is how often it is told that a prompt is being read.
const readingEvery = time.Second

// enter puts a request in the queue and sees that somebody works.
func (e *Engine) enter(req Request) (*row, error) {
	if len(req.Prompt) == 0 || req.MaxTokens < 1 {
		return nil, errors.New("a request has a prompt and wants at least one token")
	}
	if i := slices.IndexFunc(req.Prompt, func(id int) bool { return id < 0 || id >= e.m.Vocab }); i >= 0 {
		return nil, fmt.Errorf("token %d of the prompt is %d; the model has %d", i, req.Prompt[i], e.m.Vocab)
	}
	for _, a := range req.Adapters {
		if err := a.Fits(e.m.Config); err != nil {
			return nil, err
		}
	}
	if len(req.Prompt) >= e.o.Context {
		return nil, fault.New(fault.Invalid, "The question with what belongs to it has %d tokens; the model reads %d. Ask with less.", len(req.Prompt), e.o.Context-1)
	}
	req.MaxTokens = min(req.MaxTokens, e.o.Context-len(req.Prompt))
	r := &row{Request: req, sampler: llm.NewSampler(req.Temperature, req.TopP, req.Seed), events: make(chan Event, req.MaxTokens+1)}
	r.sampler.TopK, r.sampler.Penalty = req.TopK, req.Penalty
	r.sampler.See(req.Prompt...)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) >= e.o.Waiting {
		return nil, fault.New(fault.RateLimited, "Too many people are waiting for the model. Try again in a minute.")
	}
	e.waiting = append(e.waiting, r)
	e.stats.Requests++
	e.stats.Waiting = len(e.waiting)
	if !e.working {
		e.working = true
		go e.work()
	}
	return r, nil
}

// work passes through the model until no request is left.
func (e *Engine) work() {
	var rows []*row
	for {
		rows = e.admit(rows)
		if len(rows) == 0 {
			if e.rest() {
				return
			}
			continue
		}
		if err := e.step(rows); err != nil {
			for _, r := range rows {
				r.fail(err)
			}
		}
	}
}

// rest ends the work unless somebody came in the meantime.
func (e *Engine) rest() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) > 0 {
		return false
	}
	e.working = false
	return true
}

// fail ends a row with an error.
func (r *row) fail(err error) {
	if r.ended() {
		return
	}
	r.failed, r.todo, r.tokens = err, nil, nil
	close(r.events)
	r.left.Store(true)
}

// admit lets go of rows that ended or were left, and takes in who waits, as
// long as there is a row and memory.
func (e *Engine) admit(rows []*row) []*row {
	e.mu.Lock()
	defer e.mu.Unlock()
	rows = slices.DeleteFunc(rows, func(r *row) bool {
		if r.left.Load() {
			e.release(r)
			return true
		}
		return false
	})
	e.waiting = slices.DeleteFunc(e.waiting, func(r *row) bool {
		if r.left.Load() {
			e.stats.Cancelled++
			return true
		}
		return false
	})
	for len(e.waiting) > 0 && len(rows) < e.o.Rows {
		r := e.waiting[0]
		if !e.seat(r, len(rows) == 0) {
			break
		}
		e.waiting = e.waiting[1:]
		rows = append(rows, r)
	}
	rows = together(rows)
	e.stats.Rows, e.stats.Waiting, e.stats.Kept = len(rows), len(e.waiting), len(e.kept)
	return rows
}

// together puts rows with the same adapters beside each other: they are one
// product (LORA-20).
func together(rows []*row) []*row {
	out := make([]*row, 0, len(rows))
	for i, r := range rows {
		if r == nil {
			continue
		}
		for j, other := range rows[i:] {
			if other != nil && slices.Equal(other.Adapters, r.Adapters) {
				out, rows[i+j] = append(out, other), nil
			}
		}
	}
	return out
}

// ended reports whether a row wants no more tokens.
func (r *row) ended() bool { return r.todo == nil }

// step passes once through the model: one token of each answer, and some of the
// prompts. A panic there ends the rows, not the program.
func (e *Engine) step(rows []*row) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Wrap(fault.Internal, fmt.Errorf("the model: %v", p), "The model failed on this question. Try again; if it stays, tell whoever runs this server.")
			e.r = e.m.NewRunner()
		}
	}()
	var steps []llm.Step
	var taking []*row
	left, prompt := e.o.Chunk, 0
	for _, r := range rows {
		n := len(r.todo)
		if r.made == 0 {
			n = min(n, left)
			left -= n
			prompt += n
		}
		if n > 0 {
			steps, taking = append(steps, llm.Step{Sequence: r.seq, Tokens: r.todo[:n]}), append(taking, r)
		}
	}
	logits := e.r.Forward(steps...)
	answered := 0
	for i, r := range taking {
		r.tokens = append(r.tokens, steps[i].Tokens...)
		r.todo = r.todo[len(steps[i].Tokens):]
		r.read.Add(int64(len(steps[i].Tokens)))
		if len(r.todo) == 0 {
			r.next(logits[i*e.m.Vocab : (i+1)*e.m.Vocab])
			answered++
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Steps++
	e.stats.StepRows += int64(len(steps))
	e.stats.Prompt += int64(prompt)
	e.stats.Answered += int64(answered)
	return nil
}

// next chooses the row's next token and tells of it.
func (r *row) next(logits []float32) {
	id := r.sampler.Next(logits)
	if slices.Contains(r.Stops, id) {
		r.end(Stopped)
		return
	}
	r.made++
	r.events <- Event{Token: id, Reused: r.reused}
	r.todo = []int{id}
	if r.made == r.MaxTokens {
		r.end(Full)
	}
}

func (r *row) end(why End) {
	r.todo = nil
	r.events <- Event{End: why, Reused: r.reused}
	r.left.Store(true)
}
