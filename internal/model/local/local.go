// Package local is a language model that runs in this process: a small one, in
// a folder, on the CPU, with the LoRA adapters a request brings
// (MODEL_BACKEND=local_lora).
//
// Small models write sentences. They do not keep to a schema and do not choose
// tools; what asks for that is answered by Options.Rules, as without a model,
// and where the rules choose no tool the model speaks. Models of less than a
// hundred million numbers do not read documents either: they talk, and what rests
// on passages is quoted by the rules. Answers end for the reason they say, and
// tokens are counted, not estimated.
//
// The package may import model, lora/serve and what that imports.
package local

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
)

// backend is our row in the capability registry.
const backend = "local_lora"

// Options say which model, and what is beside it.
type Options struct {
	Dir   string // the model's folder
	Root  string // adapters' folders are below it
	Rules model.Model
	// AdapterBytes is how much memory adapters have (LORA-17); 0: 6 GB.
	AdapterBytes int
	// Asked hears of each read of the cache of adapters (LORA-18); nil: nobody.
	Asked func(hit bool)
	Serve serve.Options
	Seed  func() uint64 // of an answer; nil: random
	// Now is the clock by which people are away, and their personas not held for
	// them (LORA-17); nil: time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Model implements model.Model over one folder. It is safe for concurrent use.
type Model struct {
	Options
	folder   *serve.Folder
	engine   *serve.Engine
	adapters *serve.Adapters
	base     func() (peft.Base, error) // reads the whole model once, when the first adapter is asked for
}

var _ model.Model = (*Model)(nil)

// Open reads the model. What is wrong with it is an Invalid fault that names
// the folder and the file.
func Open(o Options) (*Model, error) {
	f, err := serve.Open(o.Dir)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The language model in %s cannot be used: %v.", o.Dir, err)
	}
	if o.AdapterBytes == 0 {
		o.AdapterBytes = 6 << 30
	}
	if o.Seed == nil {
		o.Seed = rand.Uint64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Model{Options: o, folder: f, engine: serve.New(f.Model, o.Serve)}
	m.base = sync.OnceValues(func() (peft.Base, error) {
		sum, err := llm.Fingerprint(o.Dir)
		return peft.Base{Config: f.Model.Config, Name: f.Name, Fingerprint: sum}, err
	})
	m.adapters = serve.NewAdapters(o.AdapterBytes, m.read, o.Asked, o.Now)
	return m, nil
}

// Close gives the model's files back. No answer may be under way.
func (m *Model) Close() error { return m.folder.Model.Close() }

// Name is the name of the folder.
func (m *Model) Name() string { return m.folder.Name }

// Generative is true.
func (*Model) Generative() bool { return true }

// OnLoopback is true: it answers here.
func (*Model) OnLoopback() bool { return true }

// Stats tells what the engine and the cache of adapters did.
func (m *Model) Stats() (serve.Stats, serve.AdapterStats) {
	return m.engine.Stats(), m.adapters.Stats()
}

// Rows is how many requests are answered at once at most.
func (m *Model) Rows() int { return m.engine.Rows() }

// read reads a version of an adapter: the key's version is its folder, and the
// checksum it must have.
func (m *Model) read(key serve.AdapterKey) (*llm.Adapter, error) {
	b, err := m.base()
	if err != nil {
		return nil, err
	}
	dir, checksum, _ := strings.Cut(key.Version, "\x00")
	return serve.ReadAdapter(dir, checksum, b)
}

// Stream answers a request.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if m.Rules != nil && (req.Schema != nil || m.leaves(req)) {
			m.Rules.Stream(ctx, req)(yield)
			return
		}
		if m.Rules != nil && len(req.Tools) > 0 {
			events, calls, err := chosen(ctx, m.Rules, req)
			switch {
			case err != nil:
				yield(model.Event{}, err)
				return
			case calls:
				for _, e := range events {
					if !yield(e, nil) {
						return
					}
				}
				return
			}
		}
		a := &answer{m: m, ctx: ctx, req: req, yield: yield}
		if err := a.write(); err != nil && !errors.Is(err, errGone) {
			yield(model.Event{}, err)
		}
	}
}

// reads is how many numbers a model has at least that reads documents. Smaller
// ones write what sounds like them.
const reads = 100_000_000

// leaves reports whether a small model leaves a request to the rules: whatever is
// no talk, or rests on passages or on what tools gave.
func (m *Model) leaves(req model.Request) bool {
	if m.folder.Model.Parameters() >= reads {
		return false
	}
	if !slices.Contains([]string{"", "chat", "agent"}, req.Task) {
		return true
	}
	return slices.ContainsFunc(req.Messages, func(msg model.Message) bool {
		return slices.ContainsFunc(msg.Content, func(b model.Block) bool { return b.Type == model.Passage || b.Type == model.ToolResult })
	})
}

// chosen is what the rules answer, and whether it calls a tool.
func chosen(ctx context.Context, rules model.Model, req model.Request) (events []model.Event, calls bool, err error) {
	for e, err := range rules.Stream(ctx, req) {
		if err != nil {
			return nil, false, err
		}
		events = append(events, e)
		calls = calls || e.Type == model.ToolCall
	}
	return events, calls, nil
}
