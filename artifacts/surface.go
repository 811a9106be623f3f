package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// The protocols a surface may speak at /api/{path}.
const (
	SurfaceGrounded = "grounded" // a turn, and its stream with evidence and chips (STREAM-22)
	SurfaceSession  = "session"  // chat with sessions (STREAM-26)
)

// What a surface keeps of what is said there.
const (
	KeepsConversations = "conversations"
	KeepsNothing       = "nothing"
)

// What a turn of a surface leaves for administrators (GRND-30).
const (
	AuditOff      = "off"
	AuditRedacted = "redacted" // hashes and figures, no words
	AuditFull     = "full"
)

// Surface is a workflow with a page of its own: where it is, how it is spoken
// with, and what its turns may use. It is everybody's.
type Surface struct {
	Path       string            `json:"path"`
	Title      map[string]string `json:"title"` // by language, as all texts
	Tagline    map[string]string `json:"tagline"`
	Disclosure map[string]string `json:"disclosure"`
	Icon       string            `json:"icon"`
	Accent     string            `json:"accent"`
	Order      *int              `json:"order"`
	API        string            `json:"api"` // empty: it speaks no protocol of its own
	Keeps      string            `json:"keeps"`
	Audit      string            `json:"audit"`
	Limits     SurfaceLimits     `json:"limits"`

	WorkflowID string `json:"-"` // the artifact's id
	Name       string `json:"-"` // the artifact's
	Model      string `json:"-"` // that answers here; empty: the one its role has
	Disabled   bool   `json:"-"` // the operator has switched it off
	Idle       bool   `json:"-"` // a source its tools read is not set up
}

// SurfaceLimits are what turns of a surface may use; 0 is without limit.
type SurfaceLimits struct {
	Hourly       int `json:"hourly"` // turns of one person in an hour of the clock (GRND-27)
	Hint         int `json:"hint"`   // turns from which the person is told (SAFE-07)
	GlobalHourly int `json:"global_hourly"`
	InputTokens  int `json:"input_tokens"`  // the oldest messages are left out until it fits (GRND-26)
	RefuseTokens int `json:"refuse_tokens"` // above it a turn is refused
	OutputTokens int `json:"output_tokens"`
}

// SurfaceSetting is what the operator says of a surface; what is zero is as its
// document has it.
type SurfaceSetting struct {
	Enabled                   *bool
	Model, Audit              string
	Hourly, GlobalHourly      int
	InputTokens, OutputTokens int
}

// SurfaceOf reads the surface of a workflow document; false: it has no page of
// its own.
func SurfaceOf(doc json.RawMessage) (Surface, bool) {
	if !bytes.Contains(doc, []byte(`"surface"`)) {
		return Surface{}, false
	}
	var d struct {
		Surface Surface `json:"surface"`
	}
	if json.Unmarshal(doc, &d) != nil || d.Surface.Path == "" { // older than the member
		return Surface{}, false
	}
	s := d.Surface
	s.Keeps, s.Audit = cmp.Or(s.Keeps, KeepsConversations), cmp.Or(s.Audit, AuditOff)
	return s, true
}

// with is the surface as the operator has it.
func (s Surface) with(o SurfaceSetting) Surface {
	s.Disabled = o.Enabled != nil && !*o.Enabled
	s.Model, s.Audit = o.Model, cmp.Or(o.Audit, s.Audit)
	l := &s.Limits
	if o.Hourly > 0 {
		if l.Hourly > 0 { // the hint stays as far along
			l.Hint = l.Hint * o.Hourly / l.Hourly
		}
		l.Hourly = o.Hourly
	}
	l.GlobalHourly = cmp.Or(o.GlobalHourly, l.GlobalHourly)
	if o.InputTokens > 0 {
		if l.InputTokens > 0 { // so does what is refused
			l.RefuseTokens = l.RefuseTokens * o.InputTokens / l.InputTokens
		}
		l.InputTokens = o.InputTokens
	}
	l.OutputTokens = cmp.Or(o.OutputTokens, l.OutputTokens)
	return s
}

// Place is where it stands among the surfaces, the smallest first.
func (s Surface) Place() int {
	if s.Order == nil {
		return 100
	}
	return *s.Order
}

// surfacesFor is how long surfaces are known before they are looked at again:
// another process may have changed one.
const surfacesFor = 15 * time.Second

// SurfaceOptions is what surfaces stand on beside the library.
type SurfaceOptions struct {
	// Setting is what the operator says of the surface at a path.
	Setting func(path string) (SurfaceSetting, error)
	// HasSecret reports whether a source's connection string is set.
	HasSecret func(ctx context.Context, name string) (bool, error)
	Logger    *slog.Logger
	Now       func() time.Time // nil: time.Now
}

// Surfaces are the workflows with a page of their own, kept in memory: a turn
// asks for them without asking the store. It is safe for concurrent use.
type Surfaces struct {
	library *Library
	o       SurfaceOptions

	mu      sync.Mutex
	known   []Surface
	at      time.Time // zero: they are not known, or no longer right
	looking bool      // somebody looks again already
}

// NewSurfaces finds the surfaces of a library.
func NewSurfaces(l *Library, o SurfaceOptions) *Surfaces {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Surfaces{library: l, o: o}
	l.surfaces = s
	return s
}

// Forget has them looked at again the next time somebody asks: a workflow or a
// source has changed here.
func (s *Surfaces) Forget() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.at = time.Time{}
	s.mu.Unlock()
}

// Every is all surfaces there are, those that are not in use too, by their order.
func (s *Surfaces) Every(ctx context.Context) ([]Surface, error) {
	s.mu.Lock()
	known, age, fresh := s.known, s.o.Now().Sub(s.at), s.at.IsZero()
	again := !fresh && age > surfacesFor && !s.looking
	s.looking = s.looking || again
	s.mu.Unlock()
	switch {
	case fresh:
		return s.look(ctx)
	case again: // who asks does not wait for it
		go func() {
			if _, err := s.look(context.WithoutCancel(ctx)); err != nil {
				s.o.Logger.WarnContext(ctx, "the surfaces were not looked at again", "error", err)
			}
			s.mu.Lock()
			s.looking = false
			s.mu.Unlock()
		}()
	}
	return known, nil
}

// All is the surfaces in use, by their order.
func (s *Surfaces) All(ctx context.Context) ([]Surface, error) {
	every, err := s.Every(ctx)
	var out []Surface
	for _, one := range every {
		if !one.Disabled && !one.Idle {
			out = append(out, one)
		}
	}
	return out, err
}

// At finds the surface in use at a path. One that is switched off, or has no
// source, is NotFound as one that never was (GRND-02).
func (s *Surfaces) At(ctx context.Context, path string) (Surface, error) {
	all, err := s.All(ctx)
	if err != nil {
		return Surface{}, err
	}
	for _, one := range all {
		if one.Path == path {
			return one, nil
		}
	}
	return Surface{}, fault.New(fault.NotFound, "There is no surface at this path.")
}

// Of is the surface of a workflow, in use or not; false: it has none.
func (s *Surfaces) Of(ctx context.Context, workflowID string) (Surface, bool, error) {
	every, err := s.Every(ctx)
	for _, one := range every {
		if one.WorkflowID == workflowID {
			return one, true, err
		}
	}
	return Surface{}, false, err
}

func (s *Surfaces) look(ctx context.Context) ([]Surface, error) {
	began := s.o.Now()
	found, err := s.library.surfacesNow(ctx)
	if err != nil {
		return nil, err
	}
	for i := range found {
		setting, err := s.o.Setting(found[i].Path)
		if err != nil { // what cannot be read switches nothing on
			s.o.Logger.ErrorContext(ctx, "a surface is off: its settings cannot be read", "path", found[i].Path, "error", err)
			off := false
			setting = SurfaceSetting{Enabled: &off}
		}
		found[i] = found[i].with(setting)
		if found[i].Disabled {
			continue
		}
		ready, err := s.ready(ctx, found[i])
		if err != nil {
			return nil, err
		}
		found[i].Idle = !ready
	}
	s.mu.Lock()
	s.known, s.at = found, began
	s.mu.Unlock()
	return found, nil
}

// ready reports whether every source that its tools read is set up.
func (s *Surfaces) ready(ctx context.Context, of Surface) (bool, error) {
	names, err := s.library.sourcesOf(ctx, of.WorkflowID)
	if err != nil || s.o.HasSecret == nil {
		return true, err
	}
	for _, name := range names {
		source, err := s.library.Source(ctx, identity.System(), name)
		if errors.Is(err, fault.NotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if has, err := s.o.HasSecret(ctx, source.Secret); err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// surfacesNow are everybody's workflows with a page of their own. Of two with the
// same path the one that was there first has it.
func (l *Library) surfacesNow(ctx context.Context) ([]Surface, error) {
	var with []Artifact
	filter := Filter{Type: KindWorkflow, Visibility: Global, Status: activeStatus, Limit: 100}
	for {
		page, next, err := l.store.ListArtifacts(ctx, identity.System(), filter)
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			if _, has := SurfaceOf(a.Schema); has && !a.IsDraft() {
				with = append(with, a)
			}
		}
		if next == "" {
			break
		}
		filter.Cursor = next
	}
	slices.SortFunc(with, func(a, b Artifact) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	found := make([]Surface, 0, len(with))
	for _, a := range with {
		s, _ := SurfaceOf(a.Schema)
		if slices.ContainsFunc(found, func(o Surface) bool { return o.Path == s.Path }) {
			continue
		}
		s.WorkflowID, s.Name = a.ID, a.Name
		found = append(found, s)
	}
	slices.SortStableFunc(found, func(a, b Surface) int { return cmp.Or(cmp.Compare(a.Place(), b.Place()), cmp.Compare(a.Path, b.Path)) })
	return found, nil
}

// sourcesOf are the sources that the tools of a workflow read, by name.
func (l *Library) sourcesOf(ctx context.Context, workflowID string) ([]string, error) {
	a, err := l.store.Artifact(ctx, identity.System(), workflowID)
	if err != nil {
		return nil, err
	}
	bound, err := l.ToolsOf(ctx, identity.System(), a.Schema)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, b := range bound {
		if b.Via != nil && b.Via.Tool != nil {
			inner, err := l.Tools(ctx, identity.System(), b.Via.Tool.Name)
			if err != nil {
				return nil, err
			}
			b = inner[b.Via.Tool.Name]
		}
		if b.Via != nil && b.Via.Query != nil && !slices.Contains(names, b.Via.Query.Source) {
			names = append(names, b.Via.Query.Source)
		}
	}
	return names, nil
}

// taken are the first words of paths that are something else here.
var taken = []string{
	"admin", "agui", "api", "artifacts", "assets", "c", "chat", "consent", "contexts", "docs", "healthz", "langgraph", "login", "mcp", "metrics",
	"oauth", "operate", "r", "readyz", "settings", "signup", "v1",
}

// surface checks the page of its own that a workflow asks for. Who else has it
// is no fault: people copy what is everybody's, and a copy that is theirs alone
// has no page.
func (c *checking) surface() {
	s, has := SurfaceOf(c.doc)
	if !has {
		return
	}
	if slices.Contains(taken, s.Path) {
		c.add(check.References, "/surface/path", "choose another word", "/%s is something else here", s.Path)
	}
	if c.name == DefaultWorkflow || c.name == DocumentsWorkflow {
		c.add(check.Limits, "/surface/path", "give it to a workflow that people choose", "the workflow %q answers where nobody chose, and has no page", c.name)
	}
	l := s.Limits
	if l.InputTokens > 0 && l.RefuseTokens > 0 && l.RefuseTokens < l.InputTokens {
		c.add(check.Limits, "/surface/limits/refuse_tokens", "write at least input_tokens", "a turn would be refused before anything is left out of it")
	}
	if l.Hint > 0 && l.Hourly > 0 && l.Hint > l.Hourly {
		c.add(check.Limits, "/surface/limits/hint", "write at most hourly", "nobody would be told before they are refused")
	}
}
