package api

import (
	"context"
	"time"

	"liminal/internal/backends"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// Backends are the model backends: who may use them, and how administrators
// change them. *backends.Registry is one.
type Backends interface {
	List(ctx context.Context, v identity.Viewer) ([]backends.Backend, error)
	Protocols() []backends.Protocol
	Add(ctx context.Context, v identity.Viewer, name string, e backends.Edit) (backends.Backend, error)
	Change(ctx context.Context, v identity.Viewer, name string, e backends.Edit) (backends.Backend, error)
	Remove(ctx context.Context, v identity.Viewer, name string) error
	MakeDefault(ctx context.Context, v identity.Viewer, name string) error
	Test(ctx context.Context, v identity.Viewer, name string) (backends.Answered, error)
	Entries(ctx context.Context, v identity.Viewer) ([]backends.Entry, error)
	Default() *backends.Served
	Options() []backends.Option
	MayChoose(ctx context.Context, name string) error
}

// EnvironmentBackend is what administrators are shown of the backend of the
// settings.
type EnvironmentBackend struct {
	Protocol, URL, Model string
	KeySet               bool
}

func (s *server) backendRoutes() {
	add(s, route("GET /v1/backends", "backends", "Model backends, for administrators; the first is that of the program's settings", scopeAdmin), s.listBackends)
	add(s, route("POST /v1/backends", "addBackend", "Add one, for administrators"), s.addBackend)
	add(s, route("GET /v1/backends/options", "backendOptions", "Those I may choose for a conversation, the default first; none when there is nothing to choose", scopeChat, scopeRead), s.backendOptions)
	add(s, route("GET /v1/backends/changes", "backendChanges", "What was done to them, latest first, for administrators", scopeAdmin), s.backendChanges)
	add(s, route("PATCH /v1/backends/{name}", "changeBackend", "Change one, for administrators; what runs takes it in without a restart"), s.changeBackend)
	add(s, route("DELETE /v1/backends/{name}", "removeBackend", "Remove one, for administrators", scopeAdmin), s.removeBackend)
	add(s, route("POST /v1/backends/{name}/default", "defaultBackend", "Have one answer where nobody chose, for administrators", scopeAdmin), s.defaultBackend)
	add(s, route("POST /v1/backends/{name}/test", "testBackend", "Ask one whether it answers, for administrators", scopeAdmin), s.testBackend)
}

// ModelBackend is a model backend as administrators see it. Its key is written
// and never read.
type ModelBackend struct {
	Name       string                 `json:"name"`
	Title      string                 `json:"title"`
	Protocol   string                 `json:"protocol"`
	URL        string                 `json:"url" doc:"empty: the protocol's usual server"`
	Model      string                 `json:"model" doc:"asked where nothing names another; empty: the server's choice"`
	Models     map[string]string      `json:"models" doc:"by tier of policy.models"`
	APIVersion string                 `json:"api_version"`
	KeySet     bool                   `json:"key_set"`
	KeyEnd     string                 `json:"key_end" doc:"the last four characters of the key; empty for a short one"`
	MaxTokens  int                    `json:"max_tokens" doc:"of one answer; 0: no bound of its own"`
	Price      Nullable[BackendPrice] `json:"price" doc:"null: as far as the program knows one"`
	Choosable  bool                   `json:"people_may_choose"`
	Default    bool                   `json:"is_default" doc:"it answers where nobody chose"`
	Changeable bool                   `json:"changeable" doc:"false: it is set in the environment"`
	UpdatedAt  Nullable[time.Time]    `json:"updated_at"`
}

// BackendPrice is what a million tokens of each class cost.
type BackendPrice struct {
	Input      float64 `json:"input" minimum:"0"`
	Output     float64 `json:"output" minimum:"0"`
	CacheRead  float64 `json:"cache_read,omitempty" minimum:"0"`
	CacheWrite float64 `json:"cache_write,omitempty" minimum:"0"`
}

// BackendProtocol is a way to speak to a server.
type BackendProtocol struct {
	Name string `json:"name"`
	URL  string `json:"url" doc:"of its usual server; empty: a backend names its own"`
	Key  bool   `json:"key_needed"`
}

// ModelBackends is the list, and what one may be made of.
type ModelBackends struct {
	Data      []ModelBackend    `json:"data"`
	Protocols []BackendProtocol `json:"protocols"`
}

func (s *server) backendView(b backends.Backend) ModelBackend {
	out := ModelBackend{
		Name: b.Name, Title: b.Shown(), Protocol: b.Protocol, URL: b.URL, Model: b.Model, Models: b.Models, APIVersion: b.APIVersion,
		KeySet: b.HasKey(), KeyEnd: b.KeyEnd, MaxTokens: b.MaxTokens, Choosable: b.Choosable, Default: b.Default, Changeable: true,
	}
	if out.Models == nil {
		out.Models = map[string]string{}
	}
	if p := b.Price; p != nil {
		out.Price.V = (*BackendPrice)(p)
	}
	if b.Name == backends.Environment {
		e := s.Environment
		out.Title, out.Changeable = s.Model.Name, false
		out.Protocol, out.URL, out.Model, out.KeySet = e.Protocol, e.URL, e.Model, e.KeySet
		return out
	}
	at := b.UpdatedAt.UTC()
	out.UpdatedAt.V = &at
	return out
}

func (s *server) listBackends(ctx context.Context, _ *struct{}) (ModelBackends, error) {
	list, err := s.Backends.List(ctx, viewerOf(ctx))
	if err != nil {
		return ModelBackends{}, err
	}
	out := ModelBackends{Data: make([]ModelBackend, 0, len(list)), Protocols: []BackendProtocol{}}
	for _, b := range list {
		out.Data = append(out.Data, s.backendView(b))
	}
	for _, p := range s.Backends.Protocols() {
		out.Protocols = append(out.Protocols, BackendProtocol(p))
	}
	return out, nil
}

// BackendEdit names what a backend is to be; what is left out stays.
type BackendEdit struct {
	Title      *string            `json:"title,omitempty" maxLength:"80"`
	Protocol   *string            `json:"protocol,omitempty" doc:"one of protocols"`
	URL        *string            `json:"url,omitempty" maxLength:"500" doc:"of the server, up to and with /v1. A key does not follow its backend to another server"`
	Model      *string            `json:"model,omitempty" maxLength:"256"`
	Models     *map[string]string `json:"models,omitempty" doc:"names of models by tier, such as small and large"`
	APIVersion *string            `json:"api_version,omitempty" maxLength:"80"`
	APIKey     *string            `json:"api_key,omitempty" maxLength:"4096" doc:"sealed, and never shown again; empty: none any more"`
	MaxTokens  *int               `json:"max_tokens,omitempty" minimum:"0" maximum:"1000000"`
	Price      *BackendPrice      `json:"price,omitempty" doc:"US dollars a million tokens"`
	NoPrice    bool               `json:"no_price,omitempty" doc:"true: forget the price"`
	Choosable  *bool              `json:"people_may_choose,omitempty"`
}

func (b BackendEdit) edit() backends.Edit {
	e := backends.Edit{
		Title: b.Title, Protocol: b.Protocol, URL: b.URL, Model: b.Model, Models: b.Models, APIVersion: b.APIVersion,
		Key: b.APIKey, MaxTokens: b.MaxTokens, Choosable: b.Choosable,
	}
	if b.Price != nil || b.NoPrice {
		price := (*backends.Price)(b.Price)
		if b.NoPrice {
			price = nil
		}
		e.Price = &price
	}
	return e
}

type addBackendInput struct {
	Body struct {
		Name string `json:"name" maxLength:"40" doc:"small letters, digits and . _ -; policies and graphs name it so, and it does not change"`
		BackendEdit
	}
}

// There is no Idempotency-Key: what is kept for one is kept longer than a key
// should be, and a repeat is told that the name is taken.
func (s *server) addBackend(ctx context.Context, in *addBackendInput) (ModelBackend, error) {
	b, err := s.Backends.Add(ctx, viewerOf(ctx), in.Body.Name, in.Body.edit())
	if err != nil {
		return ModelBackend{}, err
	}
	return s.backendView(b), nil
}

// BackendName is the path of a backend.
type BackendName struct {
	Name string `path:"name" maxLength:"40"`
}

type changeBackendInput struct {
	BackendName
	Body BackendEdit
}

func (s *server) changeBackend(ctx context.Context, in *changeBackendInput) (ModelBackend, error) {
	b, err := s.Backends.Change(ctx, viewerOf(ctx), in.Name, in.Body.edit())
	if err != nil {
		return ModelBackend{}, err
	}
	return s.backendView(b), nil
}

func (s *server) removeBackend(ctx context.Context, in *BackendName) (Nothing, error) {
	return Nothing{}, s.Backends.Remove(ctx, viewerOf(ctx), in.Name)
}

func (s *server) defaultBackend(ctx context.Context, in *BackendName) (Nothing, error) {
	return Nothing{}, s.Backends.MakeDefault(ctx, viewerOf(ctx), in.Name)
}

// BackendAnswer is what came of a test.
type BackendAnswer struct {
	OK     bool     `json:"ok"`
	Says   string   `json:"says" doc:"a sentence of what answered, or did not"`
	Hint   string   `json:"hint,omitempty"`
	Model  string   `json:"model,omitempty" doc:"that answered"`
	Text   string   `json:"text,omitempty" doc:"what it said"`
	Models []string `json:"models,omitempty" doc:"that the server lists"`
	MS     int64    `json:"ms,omitempty" doc:"until its answer was over"`
}

func (s *server) testBackend(ctx context.Context, in *BackendName) (BackendAnswer, error) {
	v := viewerOf(ctx)
	if v.IsAdmin() {
		if err := s.Limits.Spend(ctx, quota.PlanOf(v.Plan).Chat, v.UserID); err != nil {
			return BackendAnswer{}, err
		}
	}
	a, err := s.Backends.Test(ctx, v, in.Name)
	if err != nil {
		return BackendAnswer{}, err
	}
	const listed = 200
	if len(a.Models) > listed {
		a.Models = a.Models[:listed]
	}
	return BackendAnswer{OK: a.OK, Says: a.Says, Hint: a.Hint, Model: a.Model, Text: a.Text, Models: a.Models, MS: a.Took.Milliseconds()}, nil
}

// BackendOption is a backend a person may choose.
type BackendOption struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Model   string `json:"model"`
	Default bool   `json:"is_default"`
}

// BackendOptions are those there are.
type BackendOptions struct {
	Data []BackendOption `json:"data"`
}

func (s *server) backendOptions(_ context.Context, _ *struct{}) (BackendOptions, error) {
	out := BackendOptions{Data: []BackendOption{}}
	for _, o := range s.Backends.Options() {
		out.Data = append(out.Data, BackendOption(o))
	}
	return out, nil
}

// BackendChange is one line of what was done to backends.
type BackendChange struct {
	ID      string    `json:"id" format:"uuid"`
	Backend string    `json:"backend"`
	ActorID string    `json:"actor_id" doc:"empty: they are gone"`
	Actor   string    `json:"actor" doc:"their address"`
	Action  string    `json:"action" enum:"added,changed,removed,default"`
	Fields  []string  `json:"fields" doc:"that were changed; their values are not kept"`
	At      time.Time `json:"at"`
}

// BackendChanges are the latest.
type BackendChanges struct {
	Data []BackendChange `json:"data"`
}

func (s *server) backendChanges(ctx context.Context, _ *struct{}) (BackendChanges, error) {
	list, err := s.Backends.Entries(ctx, viewerOf(ctx))
	if err != nil {
		return BackendChanges{}, err
	}
	out := BackendChanges{Data: make([]BackendChange, 0, len(list))}
	for _, e := range list {
		if e.Fields == nil {
			e.Fields = []string{}
		}
		out.Data = append(out.Data, BackendChange{
			ID: e.ID, Backend: e.Backend, ActorID: e.ActorID, Actor: e.Actor, Action: e.Action, Fields: e.Fields, At: e.At.UTC(),
		})
	}
	return out, nil
}

// mayChoose is nil for a backend that people may choose, and for nil and empty,
// which choose none.
func (s *server) mayChoose(ctx context.Context, name *string) error {
	if name == nil || *name == "" {
		return nil
	}
	return s.Backends.MayChoose(ctx, *name)
}

// modelNow says which model answers where nobody chose.
func (s *server) modelNow() ModelInfo {
	d := s.Backends.Default()
	if d == nil || d.Name == backends.Environment {
		return s.Model
	}
	return ModelInfo{Name: d.Model.Name(), Generative: d.Generates}
}
