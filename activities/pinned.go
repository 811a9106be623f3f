package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"sync"

	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/backends"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// pinned is what a process has read of artifacts at a version, which never
// changes.
type pinned struct {
	mu   sync.Mutex
	read map[policyKey]any
}

// maxPinned bounds how many versions a process keeps.
const maxPinned = 512

func (p *pinned) get(key policyKey) (any, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, ok := p.read[key]
	return value, ok
}

func (p *pinned) put(key policyKey, value any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read == nil || len(p.read) >= maxPinned {
		p.read = map[policyKey]any{}
	}
	p.read[key] = value
}

// at reads an artifact at the version a run has pinned. Whether the viewer may
// use it was asked when the run opened. One that is gone since then is none:
// the run goes on without it.
func at[T any](ctx context.Context, s *Set, v identity.Viewer, pin run.Pin, read func(artifacts.Artifact) (T, error)) (value T, ok bool, err error) {
	key := policyKey{pin.ArtifactID, pin.Version}
	if known, there := s.pinned.get(key); there {
		value, ok = known.(T)
		return value, ok, nil
	}
	a, err := s.Artifacts.At(ctx, v, pin.ArtifactID, pin.Version)
	if errors.Is(err, fault.NotFound) {
		s.logger().WarnContext(ctx, "an artifact a run has pinned is gone", "artifact", pin.ArtifactID, "version", pin.Version)
		return value, false, nil
	}
	if err != nil {
		return value, false, err
	}
	if value, err = read(a); err != nil {
		return value, false, err
	}
	s.pinned.put(key, value)
	return value, true, nil
}

// choose tells a tool which models to ask, and with which adapters.
func (s *Set) choose(ctx context.Context, in CallInput, spec tool.Spec, c *tool.Call) error {
	policies, err := s.readPolicies(ctx, in)
	if err != nil {
		return err
	}
	served, err := s.ask(ctx, in, spec, policies, c)
	if err != nil {
		return err
	}
	c.Choose = s.chooser(policies, served, in.Run.Viewer.Plan)
	c.Adapters, err = s.adapters(ctx, in)
	return err
}

// chooser gives the model of a role as the run's policies say for a plan and a
// backend (LORA-26), nil being the environment's; nil when nothing says
// anything.
func (s *Set) chooser(policies []model.Policy, served *backends.Served, plan string) func(role string) model.Choice {
	switch {
	case served != nil:
		return func(role string) model.Choice { return served.Choose(policies, plan, role) }
	case len(policies) == 0:
		return nil
	}
	return func(role string) model.Choice { return model.Choose(policies, s.Backend, plan, role) }
}

// adapters are those the run's routing chose, with their gates.
func (s *Set) adapters(ctx context.Context, in CallInput) ([]model.Adapter, error) {
	var out []model.Adapter
	for _, pin := range in.Adapters {
		a, ok, err := at(ctx, s, in.Run.Viewer, pin.Pin, readAdapter)
		if err != nil {
			return nil, err
		}
		if ok {
			one, err := s.withLessons(ctx, in.Run.Viewer, a, in.Scope.Locale)
			if err != nil {
				return nil, err
			}
			one.Weight = pin.Weight
			out = append(out, one)
		}
	}
	return out, nil
}

// Lessons reads what adapters list by id, each time anew: what a person removed
// or switched off is not told to a model. *adaptation.Steps is one.
type Lessons interface {
	Tell(ctx context.Context, v identity.Viewer, lessons []string, examples []int64, locale string) (adaptation.Manner, error)
}

// pinnedAdapter is an adapter at a version, which never changes, with the ids
// of what is read when a model is asked with it.
type pinnedAdapter struct {
	model.Adapter
	lessons  []string
	examples []int64
}

// withLessons is an adapter with the words of what it lists.
func (s *Set) withLessons(ctx context.Context, v identity.Viewer, a pinnedAdapter, locale string) (model.Adapter, error) {
	out := a.Adapter
	if s.Lessons == nil || len(a.lessons)+len(a.examples) == 0 {
		return out, nil
	}
	told, err := s.Lessons.Tell(ctx, v, a.lessons, a.examples, locale)
	if err != nil {
		return out, err
	}
	if out.Instructions != "" && told.Instructions != "" {
		out.Instructions += "\n\n"
	}
	out.Instructions += told.Instructions
	out.Directives = told.Directives
	return out, nil
}

// followed are the lessons that the models of a run were told, by id.
func (s *Set) followed(ctx context.Context, v identity.Viewer, pins []AdapterPin) ([]string, error) {
	var out []string
	for _, pin := range pins {
		a, ok, err := at(ctx, s, v, pin.Pin, readAdapter)
		if err != nil {
			return nil, err
		}
		if !ok || s.Lessons == nil || len(a.lessons) == 0 {
			continue
		}
		told, err := s.Lessons.Tell(ctx, v, a.lessons, nil, "")
		if err != nil {
			return nil, err
		}
		out = append(out, told.Lessons...)
	}
	return out, nil
}

// readAdapter reads what a provider is told of an adapter.
func readAdapter(a artifacts.Artifact) (pinnedAdapter, error) {
	var d struct {
		Type          string   `json:"type"`
		Mode          string   `json:"mode"`
		Backend       string   `json:"backend"`
		RemoteModelID string   `json:"remote_model_id"`
		RemoteID      string   `json:"remote_adapter_id"`
		Dir           string   `json:"fs_dir"`
		Version       int      `json:"current_version"`
		Checksum      string   `json:"checksum"`
		Instructions  string   `json:"prompt_instructions"`
		Lessons       []string `json:"lessons"`
		Examples      []int64  `json:"examples"`
	}
	if err := json.Unmarshal(a.Schema, &d); err != nil {
		return pinnedAdapter{}, fault.Wrap(fault.Internal, err, "The adapter %s cannot be read.", a.Name)
	}
	return pinnedAdapter{
		Adapter: model.Adapter{
			ID: a.ID, Mode: model.ModeOf(d.Mode, d.Backend, d.Instructions != ""),
			RemoteModelID: d.RemoteModelID, RemoteID: d.RemoteID, Dir: cmp.Or(weightsOf(a.OwnerID, d.Dir), a.FSPath), Instructions: d.Instructions,
			Version: d.Version, Checksum: strings.TrimPrefix(d.Checksum, "sha256:"),
			Persona: d.Type == personaType,
		},
		lessons: d.Lessons, examples: d.Examples,
	}, nil
}

// personaType is what the document of a person's manner says it is.
const personaType = "persona"

// weightsOf is the folder of an adapter's weights, below the shared root. What a
// person writes into their document opens what is theirs and what is everybody's,
// never what another person's adapter learnt; empty otherwise.
func weightsOf(owner, dir string) string {
	dir = path.Clean("/" + dir)[1:]
	if owner == "" || strings.HasPrefix(dir, "shared/") || strings.HasPrefix(dir, "users/"+owner+"/") {
		return dir
	}
	return ""
}
