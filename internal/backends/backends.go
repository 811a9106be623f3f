// Package backends is the model backends of an installation: the one of the
// settings, and those that administrators set up while it runs.
//
// A Registry keeps what a turn needs of them in memory, so that no turn asks the
// store, and takes changes in without a restart: at once in the process that
// makes them, and within moments in every other (see Follow). Keys are sealed
// where they are kept, and nobody is shown one again.
//
// It may import fault, identity, id, model, poll and vault. What speaks to a server
// is handed to it.
package backends

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// Environment is the name of the backend of the settings. It is always there
// and nobody changes it here.
const Environment = "environment"

// The bounds of a backend, in characters.
const (
	maxTitle  = 80
	maxURL    = 500
	maxModel  = 256
	maxKey    = 4096
	maxTiers  = 20
	maxTokens = 1_000_000
	// MaxBackends is how many there may be beside the one of the settings.
	MaxBackends = 50
)

// Backend is a model backend as it is kept.
type Backend struct {
	Name       string            // of policies and of URLs; never changes
	Title      string            // for people; empty: Name
	Protocol   string            // one of Protocols
	URL        string            // of the server; empty: the protocol's usual one
	Model      string            // asked where nothing names another; empty: the server's or the provider's choice
	Models     map[string]string // by tier of policy.models; nil: those that policies name
	APIVersion string            // of azure
	Sealed     []byte            // the key, sealed under Name; nil: none
	KeyEnd     string            // what is shown of the key: its end
	MaxTokens  int               // of one answer; 0: no bound of its own
	Price      *Price            // nil: as far as the program knows one
	Choosable  bool              // people may choose it for a conversation
	Default    bool              // it answers where nobody chose
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Price is what a million tokens of each class cost, in US dollars.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// Shown is what people call it.
func (b Backend) Shown() string {
	if b.Title != "" {
		return b.Title
	}
	return b.Name
}

// Protocol is a way to speak to a server.
type Protocol struct {
	Name string
	URL  string // the usual server; empty: there is none, and a backend names its own
	Key  bool   // it cannot answer without a key
}

// Edit names what is to change; nil leaves a field as it is.
type Edit struct {
	Title      *string
	Protocol   *string
	URL        *string
	Model      *string
	Models     *map[string]string
	APIVersion *string
	Key        *string // empty: none any more
	MaxTokens  *int
	Price      **Price
	Choosable  *bool
}

// Entry is one line of what was done to backends.
type Entry struct {
	ID      string
	Backend string
	ActorID string   // who did it; empty: they are gone
	Actor   string   // their address
	Action  string   // added, changed, removed, default
	Fields  []string // that were changed, without their values
	At      time.Time
}

// Store keeps backends. Each change is written with its entry, in one
// transaction, and raises the version. Whether somebody may is asked before.
type Store interface {
	// BackendVersion changes with every change.
	BackendVersion(ctx context.Context) (int64, error)
	// Backends lists them all, the environment's first, then by name.
	Backends(ctx context.Context) ([]Backend, int64, error)
	// AddBackend adds one: a Conflict when the name is taken or there are
	// MaxBackends.
	AddBackend(ctx context.Context, b Backend, e Entry) error
	// ChangeBackend gives the one there is to change, and keeps what it makes of
	// it and the fields it names; NotFound when there is none.
	ChangeBackend(ctx context.Context, name string, e Entry, change func(*Backend) (fields []string, err error)) error
	// RemoveBackend removes one that is not the default: that is a Conflict.
	RemoveBackend(ctx context.Context, name string, e Entry) error
	// DefaultBackend makes one the default in place of the other.
	DefaultBackend(ctx context.Context, name string, e Entry) error
	// BackendEntries are what was done, latest first.
	BackendEntries(ctx context.Context, limit int) ([]Entry, error)
}

// named is the form of a backend's name. Policies name it as they name those of
// the settings.
var named = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,39}$`)

// invalid is a fault that names the field it is about.
func invalid(field, sentence string, args ...any) error {
	return fault.New(fault.Invalid, sentence, args...).With(map[string]any{"field": field})
}

// check says what is wrong with a backend that is to be kept.
func (b *Backend) check(protocols []Protocol) error {
	at := slices.IndexFunc(protocols, func(p Protocol) bool { return p.Name == b.Protocol })
	switch {
	case !named.MatchString(b.Name) || b.Name == Environment:
		return invalid("name", "The name of a backend is up to 40 small letters, digits and . _ - and begins with a letter or digit; %q is not, or is taken.", b.Name)
	case utf8.RuneCountInString(b.Title) > maxTitle || !printable(b.Title):
		return invalid("title", "The title is a line of at most %d characters.", maxTitle)
	case at < 0:
		return invalid("protocol", "There is no protocol %q.", b.Protocol)
	case len(b.Model) > maxModel || !printable(b.Model):
		return invalid("model", "The name of a model is a line of at most %d characters.", maxModel)
	case len(b.APIVersion) > maxTitle || !printable(b.APIVersion):
		return invalid("api_version", "The version of the API is a line of at most %d characters.", maxTitle)
	case b.MaxTokens < 0 || b.MaxTokens > maxTokens:
		return invalid("max_tokens", "The longest answer is between 1 and %d tokens; 0 is no bound.", maxTokens)
	}
	if err := b.checkURL(protocols[at]); err != nil {
		return err
	}
	if err := b.checkModels(); err != nil {
		return err
	}
	if p := b.Price; p != nil && !(min(p.Input, p.Output, p.CacheRead, p.CacheWrite) >= 0 && max(p.Input, p.Output, p.CacheRead, p.CacheWrite) <= 1e6) {
		return invalid("price", "A price is 0 to 1000000 dollars for a million tokens.")
	}
	return nil
}

func (b *Backend) checkURL(p Protocol) error {
	if b.URL == "" {
		if p.URL == "" {
			return invalid("url", "A backend of the protocol %s needs the URL of its server.", p.Name)
		}
		return nil
	}
	u, err := url.Parse(b.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(b.URL) > maxURL:
		return invalid("url", "The address of the server is no URL that begins with http:// or https://.")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return invalid("url", "The URL of the server has no user, no password, no ? and no # in it: a key has its own field, which is sealed.")
	}
	return nil
}

func (b *Backend) checkModels() error {
	if len(b.Models) > maxTiers {
		return invalid("models", "A backend names at most %d models.", maxTiers)
	}
	for tier, name := range b.Models {
		if !named.MatchString(tier) || name == "" || len(name) > maxModel || !printable(name) {
			return invalid("models", "Models are named by a tier, such as small or large; %q: %q is not.", tier, name)
		}
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// origin is whom a key is sent to.
func (b *Backend) origin() string {
	u, err := url.Parse(b.URL)
	if err != nil {
		return b.Protocol + " " + b.URL
	}
	return b.Protocol + " " + u.Scheme + "://" + strings.ToLower(u.Host)
}

// endOf is what is shown of a key: nothing of one that is short.
func endOf(key string) string {
	const shown, longEnough = 4, 12
	if len(key) < longEnough {
		return ""
	}
	return key[len(key)-shown:]
}

// Policy is what the policies of models of a run say of backends. Names in it
// may be of backends there are not.
type Policy struct {
	Own     string // the person's own policy; only one that people may choose
	All     string // everybody's, for the person's plan
	Instead bool   // where one that is named is not there, the default answers
}

// Served is a backend ready to be asked. It is immutable.
type Served struct {
	Name      string
	Title     string
	Protocol  string
	Model     model.Model
	One       string            // the model of every role; empty: those Tiers and policies name
	Tiers     map[string]string // by tier
	MaxTokens int
	InProcess bool
	Choosable bool
	Generates bool
}

// Choose gives the model of a role on this backend, as policies say for a plan:
// the backend's own names of tiers go before theirs, and where nobody has a row
// for it, the names its protocol has in policies are meant.
func (s *Served) Choose(policies []model.Policy, plan, role string) model.Choice {
	var c model.Choice
	switch {
	case s.One != "" && len(s.Tiers) == 0:
		c = model.Choose(policies, "", plan, role)
	default:
		own := model.Policy{Backends: map[string]map[string]string{s.Name: s.Tiers}}
		c = model.Choose(append([]model.Policy{own}, policies...), s.Name, plan, role)
		if c.Model == "" && s.One == "" {
			c.Model = model.Choose(policies, s.Protocol, plan, role).Model
		}
	}
	if s.MaxTokens > 0 {
		if c.Most == 0 || c.Most > s.MaxTokens {
			c.Most = s.MaxTokens
		}
		if c.MaxTokens > c.Most {
			c.MaxTokens = c.Most
		}
	}
	return c
}

// Option is a backend people may choose.
type Option struct {
	Name, Title, Model string
	Default            bool
}

// mayManage refuses everybody but administrators.
func mayManage(v identity.Viewer) error {
	if v.IsAdmin() {
		return nil
	}
	return fault.New(fault.Forbidden, "Only administrators see and change model backends.")
}

// Gone is the fault of a backend that is named and not there.
func Gone(name string) error {
	return fault.New(fault.Invalid, "The model backend %q is not there, or not any more. Choose another one, or ask an administrator.", name).
		With(map[string]any{"reason": "backend", "backend": name})
}

// Closed is the fault of a backend that is not a person's to choose.
func Closed(name string) error {
	return fault.New(fault.Forbidden, "The model backend %q is not one that people may choose. Choose another one, or ask an administrator.", name).
		With(map[string]any{"reason": "backend", "backend": name})
}

// Named is what a name of a model says where a graph gives one: "@backend" is
// the backend's own choice, "@backend/model" a model of it, and anything else a
// model of the backend that answers the turn.
func Named(text string) (backend, name string) {
	rest, ok := strings.CutPrefix(text, "@")
	if !ok {
		return "", text
	}
	backend, name, _ = strings.Cut(rest, "/")
	return backend, name
}

// InGraph are the backends that the document of a graph names, in order, and
// whether it has names of models that it finds out only as it runs.
func InGraph(doc []byte) (names []string, found bool) {
	var v any
	if json.Unmarshal(doc, &v) != nil {
		return nil, false
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, one := range v {
				if text, ok := one.(string); ok && key == "model" {
					backend, _ := Named(text)
					switch {
					case strings.Contains(text, "${"):
						found = true
					case backend != "":
						names = append(names, backend)
					}
				}
				walk(one)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(v)
	slices.Sort(names)
	return slices.Compact(names), found
}

// String is for logs: it has no key.
func (b Backend) String() string { return fmt.Sprintf("%s (%s at %s)", b.Name, b.Protocol, b.URL) }

// GoString is String: a key, sealed or not, is in no log.
func (b Backend) GoString() string { return b.String() }
