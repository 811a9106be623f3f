package backends

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/poll"
	"liminal/internal/vault"
)

// Options of a registry. Store, Vault, Environment and Dial are required.
type Options struct {
	Store       Store
	Vault       *vault.Vault
	Environment Served // Name, Title and Choosable are filled in
	Protocols   []Protocol
	// Dial makes a model of a backend and its key. It asks nobody: whether the
	// server is there shows with the first call.
	Dial func(b Backend, key string) (model.Model, error)
	// Probe asks a server whether it is there, and what it has; nil: nobody asks.
	Probe func(ctx context.Context, b Backend, key string) Answered
	// Refuse says why a URL is never asked; nil: all may be.
	Refuse func(url string) error
	Logger *slog.Logger
	Now    func() time.Time
}

// Answered is what came of a test.
type Answered struct {
	OK     bool
	Says   string // a sentence of what answered, or of what did not
	Hint   string // what to do about it
	Model  string // that answered
	Text   string // its first words
	Models []string
	Took   time.Duration
}

// Registry is the backends of this process. It is safe for concurrent use.
type Registry struct {
	o   Options
	now atomic.Pointer[snapshot]

	mu      sync.Mutex // of loading
	checked time.Time  // when the store was asked last
}

// snapshot is the backends as they were read at a version.
type snapshot struct {
	version  int64
	standard string // the name of the default
	rows     map[string]Backend
	served   map[string]*Served
}

// again is how long a name that is not known is not looked for in the store
// once more.
const again = time.Second

// Open reads the backends.
func Open(ctx context.Context, o Options) (*Registry, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Registry{o: o}
	return r, r.Refresh(ctx)
}

// Refresh takes in what changed since.
func (r *Registry) Refresh(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checked = r.o.Now()
	before := r.now.Load()
	if before != nil {
		version, err := r.o.Store.BackendVersion(ctx)
		if err != nil || version == before.version {
			return err
		}
	}
	rows, version, err := r.o.Store.Backends(ctx)
	if err != nil {
		return err
	}
	r.now.Store(r.take(before, rows, version))
	return nil
}

// Follow refreshes every so often until stop is called: for processes that share
// a store with others. It reads one row each time.
func (r *Registry) Follow(ctx context.Context, every time.Duration) (stop func()) {
	return poll.Every(ctx, every, func(ctx context.Context) {
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			r.o.Logger.WarnContext(ctx, "the model backends were not read again; those known stay", "error", err)
		}
	})
}

// take makes a snapshot. A backend that is as it was keeps its model, with its
// connections.
func (r *Registry) take(before *snapshot, rows []Backend, version int64) *snapshot {
	s := &snapshot{version: version, standard: Environment, rows: map[string]Backend{}, served: map[string]*Served{}}
	for _, b := range rows {
		s.rows[b.Name] = b
		if b.Default {
			s.standard = b.Name
		}
		if b.Name == Environment {
			continue
		}
		if before != nil {
			if was, there := before.rows[b.Name]; there && was.UpdatedAt.Equal(b.UpdatedAt) && before.served[b.Name] != nil {
				s.served[b.Name] = before.served[b.Name]
				continue
			}
		}
		s.served[b.Name] = r.serve(b)
	}
	own := r.o.Environment
	own.Name, own.Title = Environment, cmp.Or(own.Title, own.Model.Name())
	own.Choosable = s.rows[Environment].Choosable
	own.Generates = own.Model.Generative()
	s.served[Environment] = &own
	return s
}

// serve makes a backend ready. What cannot be is ready to say why.
func (r *Registry) serve(b Backend) *Served {
	s := &Served{
		Name: b.Name, Title: b.Shown(), Protocol: b.Protocol, One: b.Model, Tiers: maps.Clone(b.Models),
		MaxTokens: b.MaxTokens, Choosable: b.Choosable, Generates: true,
	}
	m, err := r.dial(b)
	if err != nil {
		r.o.Logger.Warn("a model backend cannot be used", "backend", b.Name, "error", err)
		m = broken{name: b.Name, err: err}
	}
	s.Model, s.InProcess = m, model.IsInProcess(m)
	return s
}

func (r *Registry) dial(b Backend) (model.Model, error) {
	key, err := r.keyOf(b)
	if err != nil {
		return nil, err
	}
	if p := r.protocol(b.Protocol); p.Key && key == "" {
		return nil, fault.New(fault.Internal, "The model backend %s has no key: an administrator has to give it one.", b.Name).
			With(map[string]any{"reason": fault.NotConfigured})
	}
	b.Sealed = nil
	b.URL = cmp.Or(b.URL, r.protocol(b.Protocol).URL)
	return r.o.Dial(b, key)
}

func (r *Registry) keyOf(b Backend) (string, error) {
	if len(b.Sealed) == 0 {
		return "", nil
	}
	key, err := r.o.Vault.Open(b.Name, b.Sealed)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The key of the model backend %s does not open with this installation's key: an administrator has to give it again.", b.Name).
			With(map[string]any{"reason": fault.NotConfigured})
	}
	return key, nil
}

func (r *Registry) protocol(name string) Protocol {
	for _, p := range r.o.Protocols {
		if p.Name == name {
			return p
		}
	}
	return Protocol{Name: name}
}

// Served is a backend by its name; empty: the environment's. A name that is not
// known is looked for in the store, once a second: another process may have
// added it a moment ago. One that is not there is Gone.
func (r *Registry) Served(ctx context.Context, name string) (*Served, error) {
	name = cmp.Or(name, Environment)
	if s, ok := r.now.Load().served[name]; ok {
		return s, nil
	}
	r.mu.Lock()
	due := r.o.Now().Sub(r.checked) >= again
	r.mu.Unlock()
	if due {
		if err := r.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	if s, ok := r.now.Load().served[name]; ok {
		return s, nil
	}
	return nil, Gone(name)
}

// Default is the backend that answers where nobody chose.
func (r *Registry) Default() *Served {
	now := r.now.Load()
	return now.served[now.standard]
}

// Alone reports whether there is no backend but the environment's.
func (r *Registry) Alone() bool { return len(r.now.Load().served) == 1 }

// Generates reports whether any backend generates answers, and so may cost
// something.
func (r *Registry) Generates() bool {
	for _, s := range r.now.Load().served {
		if s.Generates {
			return true
		}
	}
	return false
}

// Network reports whether any backend is asked over the network.
func (r *Registry) Network() bool {
	for _, s := range r.now.Load().served {
		if !s.InProcess {
			return true
		}
	}
	return false
}

// MayChoose is nil for a backend that people may choose. The default is one:
// whoever chooses nothing is given it.
func (r *Registry) MayChoose(ctx context.Context, name string) error {
	s, err := r.Served(ctx, name)
	if err != nil {
		return err
	}
	if s.Choosable || s.Name == r.Default().Name {
		return nil
	}
	return Closed(name)
}

// Options are the backends people may choose, the default first and the rest by
// title. Of fewer than two there is nothing to choose, and they are none.
func (r *Registry) Options() []Option {
	now := r.now.Load()
	var list []Option
	for name, s := range now.served {
		if s.Choosable || name == now.standard {
			list = append(list, Option{Name: name, Title: s.Title, Model: s.Model.Name(), Default: name == now.standard})
		}
	}
	if len(list) < 2 {
		return nil
	}
	slices.SortFunc(list, func(a, b Option) int {
		if a.Default != b.Default {
			if a.Default {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// List is every backend, for administrators; without keys.
func (r *Registry) List(ctx context.Context, v identity.Viewer) ([]Backend, error) {
	if err := mayManage(v); err != nil {
		return nil, err
	}
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	now := r.now.Load()
	list := make([]Backend, 0, len(now.rows))
	for _, b := range now.rows {
		list = append(list, bare(b))
	}
	slices.SortFunc(list, func(a, b Backend) int {
		if (a.Name == Environment) != (b.Name == Environment) {
			if a.Name == Environment {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list, nil
}

// bare is a backend without its key; that there is one shows in HasKey.
func bare(b Backend) Backend {
	if len(b.Sealed) > 0 {
		b.Sealed = []byte{} // not nil: there is one
	}
	return b
}

// HasKey reports whether a backend has a key.
func (b Backend) HasKey() bool { return b.Sealed != nil }

// Protocols are the ways to speak to a server that a backend may have.
func (r *Registry) Protocols() []Protocol { return slices.Clone(r.o.Protocols) }

// Add adds a backend under a name.
func (r *Registry) Add(ctx context.Context, v identity.Viewer, name string, e Edit) (Backend, error) {
	if err := mayManage(v); err != nil {
		return Backend{}, err
	}
	if name == Environment {
		return Backend{}, invalid("name", "The name %q is that of the settings' backend.", name)
	}
	now := stamp(r.o.Now())
	b := Backend{Name: name, CreatedAt: now, UpdatedAt: now}
	fields, err := r.apply(&b, e)
	if err != nil {
		return Backend{}, err
	}
	if err := r.o.Store.AddBackend(ctx, b, r.entry(v, name, "added", fields)); err != nil {
		return Backend{}, err
	}
	return bare(b), r.Refresh(ctx)
}

// Change changes a backend; of the environment's only whether people may choose
// it. A key does not follow its backend to another server: it is forgotten,
// unless the change brings one.
func (r *Registry) Change(ctx context.Context, v identity.Viewer, name string, e Edit) (b Backend, err error) {
	if err := mayManage(v); err != nil {
		return b, err
	}
	if name == Environment && e != (Edit{Choosable: e.Choosable}) {
		return b, fault.New(fault.Invalid, "The backend of the environment is changed in the settings of the program, not here. Here you say whether people may choose it.")
	}
	err = r.o.Store.ChangeBackend(ctx, name, r.entry(v, name, "changed", nil), func(was *Backend) ([]string, error) {
		fields, err := r.apply(was, e)
		if err == nil && len(fields) > 0 {
			was.UpdatedAt = later(was.UpdatedAt, stamp(r.o.Now()))
		}
		b = *was
		return fields, err
	})
	if err != nil {
		return Backend{}, err
	}
	return bare(b), r.Refresh(ctx)
}

// later is now, and always after before: a clock that is set back must not make
// two states look like one.
func later(before, now time.Time) time.Time {
	if now.After(before) {
		return now
	}
	return before.Add(time.Microsecond)
}

// Remove removes a backend. Calls under way end as they would; what names it
// from then on is told that it is gone, or answered by the default where the
// policy of models says so.
func (r *Registry) Remove(ctx context.Context, v identity.Viewer, name string) error {
	if err := mayManage(v); err != nil {
		return err
	}
	if name == Environment {
		return fault.New(fault.Invalid, "The backend of the environment cannot be removed here: it is one of the program's settings.")
	}
	if err := r.o.Store.RemoveBackend(ctx, name, r.entry(v, name, "removed", nil)); err != nil {
		return err
	}
	return r.Refresh(ctx)
}

// MakeDefault has a backend answer where nobody chose.
func (r *Registry) MakeDefault(ctx context.Context, v identity.Viewer, name string) error {
	if err := mayManage(v); err != nil {
		return err
	}
	if err := r.o.Store.DefaultBackend(ctx, name, r.entry(v, name, "default", nil)); err != nil {
		return err
	}
	return r.Refresh(ctx)
}

// Entries are what was done to backends, latest first.
func (r *Registry) Entries(ctx context.Context, v identity.Viewer) ([]Entry, error) {
	if err := mayManage(v); err != nil {
		return nil, err
	}
	const shown = 100
	return r.o.Store.BackendEntries(ctx, shown)
}

func (r *Registry) entry(v identity.Viewer, name, action string, fields []string) Entry {
	return Entry{ID: id.New(), Backend: name, ActorID: v.UserID, Action: action, Fields: fields, At: stamp(r.o.Now())}
}

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// apply makes an edit and names the fields that it changed.
func (r *Registry) apply(b *Backend, e Edit) (fields []string, err error) {
	was := *b
	put(&b.Title, trimmed(e.Title), "title", &fields)
	put(&b.Protocol, e.Protocol, "protocol", &fields)
	address := trimmed(e.URL)
	if address != nil {
		*address = strings.TrimRight(*address, "/")
	}
	put(&b.URL, address, "url", &fields)
	put(&b.Model, trimmed(e.Model), "model", &fields)
	put(&b.APIVersion, trimmed(e.APIVersion), "api_version", &fields)
	put(&b.MaxTokens, e.MaxTokens, "max_tokens", &fields)
	put(&b.Choosable, e.Choosable, "choosable", &fields)
	if e.Models != nil && !maps.Equal(b.Models, *e.Models) {
		b.Models, fields = maps.Clone(*e.Models), append(fields, "models")
	}
	if e.Price != nil && !samePrice(b.Price, *e.Price) {
		b.Price, fields = *e.Price, append(fields, "price")
	}
	if b.Name != Environment {
		if err := b.check(r.o.Protocols); err != nil {
			return nil, err
		}
	}
	if b.URL != "" && r.o.Refuse != nil {
		if err := r.o.Refuse(b.URL); err != nil {
			return nil, invalid("url", "The server cannot be asked: %v.", err)
		}
	}
	switch {
	case e.Key != nil:
		key := strings.TrimSpace(*e.Key)
		if len(key) > maxKey || !printable(key) || strings.Contains(key, " ") {
			return nil, invalid("api_key", "A key is a word of at most %d characters.", maxKey)
		}
		if key == "" && b.Sealed == nil {
			break
		}
		b.Sealed, b.KeyEnd, fields = nil, "", append(fields, "api_key")
		if key != "" {
			b.Sealed, b.KeyEnd = r.o.Vault.Seal(b.Name, key), endOf(key)
		}
	case was.Sealed != nil && was.origin() != b.origin():
		b.Sealed, b.KeyEnd, fields = nil, "", append(fields, "api_key")
	}
	return fields, nil
}

func trimmed(s *string) *string {
	if s == nil {
		return nil
	}
	t := strings.TrimSpace(*s)
	return &t
}

func put[T comparable](field *T, value *T, name string, fields *[]string) {
	if value != nil && *field != *value {
		*field, *fields = *value, append(*fields, name)
	}
}

func samePrice(a, b *Price) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
