package activities

import (
	"context"
	"errors"
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

// choose tells a tool which models to ask, and with which adapters. It gives the
// lessons, by id, that those are told.
func (s *Set) choose(ctx context.Context, in CallInput, spec tool.Spec, c *tool.Call) (lessons []string, err error) {
	policies, err := s.readPolicies(ctx, in)
	if err != nil {
		return nil, err
	}
	served, err := s.ask(ctx, in, spec, policies, c)
	if err != nil {
		return nil, err
	}
	c.Choose = s.chooser(policies, served, in.Run.Viewer.Plan)
	c.Adapters, lessons, err = s.adapters(ctx, in)
	return lessons, err
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

// adapters are those the run's routing chose, with their gates, and the lessons in
// them, by id.
func (s *Set) adapters(ctx context.Context, in CallInput) (out []model.Adapter, lessons []string, err error) {
	for _, pin := range in.Adapters {
		a, ok, err := at(ctx, s, in.Run.Viewer, pin.Pin, adaptation.ReadPinned)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			one, told, err := s.withLessons(ctx, in.Run.Viewer, a, in.Scope.Locale)
			if err != nil {
				return nil, nil, err
			}
			one.Weight = pin.Weight
			out, lessons = append(out, one), append(lessons, told...)
		}
	}
	return out, lessons, nil
}

// Lessons reads what adapters list by id, each time anew: what a person removed
// or switched off is not told to a model. *adaptation.Steps is one.
type Lessons interface {
	Tell(ctx context.Context, v identity.Viewer, lessons []string, examples []int64, locale string) (adaptation.Manner, error)
}

// withLessons is an adapter with the words of what it lists, and which lessons
// those are.
func (s *Set) withLessons(ctx context.Context, v identity.Viewer, a adaptation.Pinned, locale string) (model.Adapter, []string, error) {
	out := a.Adapter
	if s.Lessons == nil || len(a.Lessons)+len(a.Examples) == 0 {
		return out, nil, nil
	}
	told, err := s.Lessons.Tell(ctx, v, a.Lessons, a.Examples, locale)
	if err != nil {
		return out, nil, err
	}
	return a.With(told), told.Lessons, nil
}
