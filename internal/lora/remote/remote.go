// Package remote has a model's server of somebody else, vLLM or LoRAX, answer with
// LoRA adapters that were made here.
//
// Such servers take one adapter a request. The adapters of a request, with their
// gates, are made into one that computes what they do together (peft.Compose),
// which is written once into a folder that the server reads too and asked for by
// its name. What cannot be made so is answered with the words of adapters, as on
// every server, and the log says why.
//
// The package may import model, lora/serve and what that imports.
package remote

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
)

// The servers that adapters can be handed to.
const (
	vllm  = "vllm"
	lorax = "lorax"
)

// Takes reports whether a backend can be handed adapters.
func Takes(backend string) bool { return backend == vllm || backend == lorax }

// Options say which server, and how it comes to adapters.
type Options struct {
	Model   model.Model   // answers, over the server's protocol
	Backend model.Backend // its row in the registry
	Server  Server
	Name    string // of the model that is served; empty: the only one
	Base    string // folder of that model here, with its config.json at least
	Root    string // adapters' folders are below it
	Store   *Store
	// ServerDir is the Store's folder as the server calls it; empty: the same.
	ServerDir string
	// Told says that vLLM is told of each adapter (load_lora_adapter); else it
	// finds it by its name (lora_filesystem_resolver).
	Told    bool
	MaxRank int // the server takes; 0: 16
	// Patience is how long an answer waits until the Base has been read, which is
	// done once; 0: two seconds.
	Patience time.Duration
	// Asked hears of each use of a composed adapter whether it was there; nil:
	// nobody.
	Asked  func(hit bool)
	Now    func() time.Time
	Logger *slog.Logger
}

// Model implements model.Model. It is safe for concurrent use.
type Model struct {
	Options
	base *base

	mu      sync.Mutex
	served  string // what the server calls the model it has read
	askedAt time.Time
	loaded  map[string]bool // by name, where the server is told
	refused map[string]time.Time
	tooWide map[string]bool
	telling sync.WaitGroup // of the server, beside answers
}

var _ model.Model = (*Model)(nil)

// New makes a model. Nobody is asked yet.
func New(o Options) *Model {
	o.MaxRank, o.Patience = cmp.Or(o.MaxRank, 16), cmp.Or(o.Patience, patience)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Asked == nil {
		o.Asked = func(bool) {}
	}
	o.Backend = o.Backend.Composing()
	return &Model{Options: o, base: &base{dir: o.Base, now: o.Now, patience: o.Patience}, loaded: map[string]bool{}, refused: map[string]time.Time{}, tooWide: map[string]bool{}}
}

// Name implements model.Model.
func (m *Model) Name() string { return m.Model.Name() }

// Generative implements model.Model.
func (m *Model) Generative() bool { return m.Model.Generative() }

// OnLoopback passes on whether what it is asked stays on this machine.
func (m *Model) OnLoopback() bool { return model.OnLoopback(m.Model) }

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		applied := model.Apply(m.Backend, req.Adapters)
		if len(applied.Local) == 0 {
			m.Model.Stream(ctx, req)(yield)
			return
		}
		begun := false
		for {
			with, release, err := m.compose(ctx, applied)
			if err != nil {
				m.refusing(ctx, applied.Local, err)
				m.words(ctx, req, applied)(yield)
				return
			}
			again := m.with(ctx, req, applied, with, &begun, yield)
			release()
			if !again {
				return
			}
		}
	}
}

// with answers with a composed adapter. It reports whether the server turned out
// not to have it, so that it is to be told again; nothing was answered then.
func (m *Model) with(ctx context.Context, req model.Request, applied model.Applied, with composed, begun *bool, yield func(model.Event, error) bool) (again bool) {
	for e, err := range m.Model.Stream(m.hearing(ctx, with), m.request(req, applied, with)) {
		if err != nil && !*begun && m.lost(err, with.name) {
			if m.forget(with.name) {
				return true
			}
			m.refusing(ctx, applied.Local, err)
			m.words(ctx, req, applied)(yield)
			return false
		}
		*begun = true
		if !yield(e, err) {
			return false
		}
	}
	return false
}

// refusing logs that weights are not used.
func (m *Model) refusing(ctx context.Context, list []model.Adapter, err error) {
	m.Logger.WarnContext(ctx, "adapter_refused", "adapters", ids(list), "error", err.Error(), "model", m.Name())
}

// composed is one adapter made of those of a request.
type composed struct {
	name string
	// path is the folder as the server calls it.
	path string
	left []model.Adapter // that did not fit in
	lost []model.Dropped
}

// request is the request as the server is asked it: for the composed adapter, with
// the words of all whose weights are not in it.
func (m *Model) request(req model.Request, applied model.Applied, with composed) model.Request {
	one := model.Adapter{ID: with.name, Mode: model.ModeRemote, RemoteModelID: with.name, RemoteID: with.path, Weight: 1}
	list := []model.Adapter{one}
	for _, a := range req.Adapters {
		in := slices.ContainsFunc(applied.Local, func(l model.Adapter) bool { return l.ID == a.ID }) &&
			!slices.ContainsFunc(with.left, func(l model.Adapter) bool { return l.ID == a.ID })
		if in {
			continue
		}
		if a, ok := spoken(a); ok {
			list = append(list, a)
		}
	}
	req.Adapters = list
	return req
}

// words answers without weights: hybrid adapters by what they say, and remote ones
// as the server knows them.
func (m *Model) words(ctx context.Context, req model.Request, applied model.Applied) iter.Seq2[model.Event, error] {
	list := make([]model.Adapter, 0, len(req.Adapters))
	for _, a := range req.Adapters {
		if a.Mode == model.ModeLocal && slices.ContainsFunc(applied.Local, func(l model.Adapter) bool { return l.ID == a.ID }) {
			continue
		}
		a.Dir = "" // its weights
		list = append(list, a)
	}
	req.Adapters = list
	return m.Model.Stream(model.WithApplied(ctx, func(a model.Applied) {
		model.TellApplied(ctx, a.Without(model.DroppedRefused, applied.Local...))
	}), req)
}

// spoken is what of an adapter goes beside a composed one: its words.
func spoken(a model.Adapter) (model.Adapter, bool) {
	if a.Mode == model.ModeLocal || a.Mode == model.ModeRemote || strings.TrimSpace(a.Instructions) == "" {
		return a, false
	}
	a.Mode, a.RemoteID, a.RemoteModelID = model.ModePrompt, "", ""
	return a, true
}

// hearing has whoever listens hear of the composed adapter, and of what was
// dropped before the server's protocol saw it.
func (m *Model) hearing(ctx context.Context, with composed) context.Context {
	return model.WithApplied(ctx, func(a model.Applied) {
		a.Composed, a.Dropped = with.name, append(slices.Clone(with.lost), a.Dropped...)
		model.TellApplied(ctx, a.Without(model.DroppedTooWide, with.left...))
	})
}

func ids(list []model.Adapter) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.ID
	}
	return out
}

// wide reports whether a combination is known to be of too high a rank.
func (m *Model) wide(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tooWide[name]
}

func (m *Model) widen(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tooWide) >= 1000 {
		clear(m.tooWide)
	}
	m.tooWide[name] = true
}

// beside are the adapters that only the server has, which a request with weights
// from here does without.
func (m *Model) beside(ctx context.Context, applied model.Applied) (lost []model.Dropped) {
	for _, p := range applied.Params {
		lost = append(lost, model.Dropped{ID: p.ID, Reason: model.DroppedForWeights, Weight: p.Weight})
	}
	if applied.Model != "" {
		lost = append(lost, model.Dropped{ID: applied.Model, Reason: model.DroppedForWeights})
	}
	for _, d := range lost {
		m.Logger.InfoContext(ctx, "adapter_dropped", "adapter", d.ID, "reason", d.Reason, "weight", d.Weight, "backend", m.Backend.Name, "model", m.Name())
	}
	for _, d := range applied.Dropped {
		m.Logger.InfoContext(ctx, "adapter_dropped", "adapter", d.ID, "reason", d.Reason, "weight", d.Weight, "backend", m.Backend.Name, "model", m.Name())
	}
	return append(lost, applied.Dropped...)
}

// asks is how long it is believed what a server said it serves.
const asks = 5 * time.Minute

// serves is what the server calls the model it has read.
func (m *Model) serves(ctx context.Context) (string, error) {
	m.mu.Lock()
	name, at := m.served, m.askedAt
	m.mu.Unlock()
	if name != "" && m.Now().Sub(at) < asks {
		return name, nil
	}
	now, err := m.Server.served(ctx, m.Backend.Name, m.Options.Name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && m.served == "" {
		return "", err
	}
	if err != nil {
		return m.served, nil // it was so a while ago
	}
	m.served, m.askedAt = now, m.Now()
	return now, nil
}

// tell has the server know an adapter, where it has to be told.
func (m *Model) tell(ctx context.Context, with composed) error {
	if !m.Told || m.Backend.Name != vllm {
		return nil
	}
	m.mu.Lock()
	known := m.loaded[with.name]
	m.mu.Unlock()
	if known {
		return nil
	}
	if err := m.Server.load(ctx, with.name, with.path); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loaded[with.name] = true
	return nil
}

// unload has the server forget what is no longer there, beside the answer. It
// would do without.
func (m *Model) unload(ctx context.Context, names []string) {
	if len(names) == 0 {
		return
	}
	m.mu.Lock()
	for _, name := range names {
		delete(m.loaded, name)
	}
	m.mu.Unlock()
	if m.Backend.Name != vllm {
		return
	}
	ctx = context.WithoutCancel(ctx)
	m.telling.Go(func() {
		for _, name := range names {
			if err := m.Server.unload(ctx, name); err != nil {
				m.Logger.InfoContext(ctx, "adapter_not_unloaded", "adapter", name, "error", err.Error())
			}
		}
	})
}

// Close waits for what the server is being told.
func (m *Model) Close() error {
	m.telling.Wait()
	return nil
}

// lost reports whether an error says that the server does not have an adapter, or
// cannot use it. What else is wrong with a request would be so without.
func (m *Model) lost(err error, name string) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.Invalid && e.Code != fault.Internal {
		return false
	}
	cause := errors.Unwrap(err)
	return cause != nil && strings.Contains(cause.Error(), name)
}

// refuse notes that the server does not take an adapter now.
func (m *Model) refuse(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused[name] = m.Now()
	for old, at := range m.refused {
		if m.Now().Sub(at) > again {
			delete(m.refused, old)
		}
	}
}

func (m *Model) refusedAt(name string) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.refused[name]
	return at, ok && m.Now().Sub(at) <= again
}

// forget notes that the server did not have an adapter. One that had been told of
// it was started anew since, and is to be told again; any other refuses it.
func (m *Model) forget(name string) (again bool) {
	m.mu.Lock()
	again = m.loaded[name]
	delete(m.loaded, name)
	m.served = "" // it may serve another model by now
	m.mu.Unlock()
	if !again {
		m.refuse(name)
	}
	return again
}

// Sweep takes away what was made of adapters that are gone, here and from the
// server.
func (m *Model) Sweep(ctx context.Context) error {
	gone, err := m.Store.Sweep()
	m.unload(ctx, gone)
	return err
}

// Check asks the server, and looks at the folder: whether a composed adapter would
// reach it. The error says what to do.
func (m *Model) Check(ctx context.Context) error {
	if _, err := m.serves(ctx); err != nil {
		return err
	}
	if m.Backend.Name != vllm {
		return nil
	}
	// A name that nobody has: a server that takes adapters says so, one that does
	// not has no such address.
	status, body, err := m.Server.ask(ctx, askLimit, "POST", m.Server.at("v1/unload_lora_adapter"), map[string]string{"lora_name": prefix + "nobody"})
	if err != nil {
		return err
	}
	if missing(status, body) {
		return errNotAllowed
	}
	return nil
}
