package activities

import (
	"context"
	"errors"
	"maps"
	"slices"

	"liminal/artifacts"
	"liminal/internal/backends"
	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// Backends are the model backends of the installation. They are known without
// asking the store. *backends.Registry is one.
type Backends interface {
	// Served is a backend by its name, empty for the environment's; one that is
	// not there is a fault of the reason "backend".
	Served(ctx context.Context, name string) (*backends.Served, error)
	Default() *backends.Served
	// MayChoose is nil for a backend that people may choose.
	MayChoose(ctx context.Context, name string) error
	Alone() bool   // there is none but the environment's
	Network() bool // some is not in this process
}

// speaks reports whether calls of a tool ask a model.
func speaks(b artifacts.Bound) bool { return b.On() == tool.QueueModels }

// policies reads the policies of models that hold for the viewer, once.
func (o *opening) policies(ctx context.Context) ([]artifacts.Artifact, error) {
	if o.asked {
		return o.found, nil
	}
	found, err := o.set.Artifacts.Models(ctx, o.in.Viewer)
	if err == nil {
		o.found, o.asked = found, true
	}
	return found, err
}

// policyOf is an artifact as a policy, read once in a process.
func (s *Set) policyOf(a artifacts.Artifact) (model.Policy, error) {
	key := policyKey{a.ID, a.Version}
	if known, ok := s.pinned.get(key); ok {
		if p, ok := known.(model.Policy); ok {
			return p, nil
		}
	}
	p, err := model.ReadPolicy(a.Schema)
	if err == nil {
		s.pinned.put(key, p)
	}
	return p, err
}

// backend finds the model backend of a run, which it then keeps to: the one its
// person chose, else the one a policy of models names, else the default. What
// the run's graph names beside it is found too, and whether all of them answer
// in this process.
func (o *opening) backend(ctx context.Context, a artifacts.Artifact, bound map[string]artifacts.Bound) error {
	o.elsewhere, o.out.Named = false, nil
	if o.set.Backends == nil {
		return nil
	}
	asks := false
	for _, b := range bound {
		asks = asks || speaks(b)
	}
	if o.out.Backend == "" && (o.chosen != "" || o.routed.Name != "" || asks) {
		if err := o.choose(ctx); err != nil {
			return err
		}
	}
	if !asks || o.out.Backend == "" && o.set.Backends.Alone() {
		return nil
	}
	served, err := o.set.Backends.Served(ctx, o.out.Backend)
	if err == nil {
		o.elsewhere = !served.InProcess
	}
	names, open := backends.InGraph(a.Schema)
	if a.OwnerID == "" {
		o.out.Named = names // whoever wrote it may write for everybody
	}
	for _, name := range names {
		if served, err := o.set.Backends.Served(ctx, name); err == nil && !served.InProcess {
			o.elsewhere = true
		}
	}
	if open && o.set.Backends.Network() {
		o.elsewhere = true // which one shows only when the call comes
	}
	return nil
}

// choose sets the run's backend.
func (o *opening) choose(ctx context.Context) error {
	stored, err := o.policies(ctx)
	if err != nil {
		return err
	}
	read := make([]model.Policy, 0, len(stored))
	for _, a := range stored {
		p, err := o.set.policyOf(a)
		if err != nil {
			return err
		}
		read = append(read, p)
	}
	own, all, instead := model.BackendFor(read, o.in.Viewer.Plan)
	known := o.set.Backends
	name, theirs := o.preferred(own, all)
	switch {
	case name == "":
		name = known.Default().Name
	case theirs:
		err = known.MayChoose(ctx, name)
	default:
		_, err = known.Served(ctx, name)
	}
	if err == nil {
		o.out.Backend = name
	}
	if err != nil && instead && fault.Reason(err) == "backend" {
		o.set.logger().WarnContext(ctx, "the default answers in place of a model backend", "run", o.in.RunID, "error", err)
		o.out.Backend, err = known.Default().Name, nil
	}
	if o.out.Backend == backends.Environment && known.Alone() {
		o.out.Backend = "" // as it was before there were others
	}
	if err == nil && o.out.Backend != "" {
		o.stage("backend", o.out.Backend)
	}
	return err
}

// preferred is the backend that goes before the others, and whether the person
// named it: what a routing policy insists on, what they chose, what a routing
// policy names, and what the policies of models do, own and everybody's.
func (o *opening) preferred(own, all string) (name string, theirs bool) {
	switch {
	case o.routed.Firm:
		return o.routed.Name, o.routed.Own
	case o.chosen != "":
		return o.chosen, true
	case o.routed.Name != "":
		return o.routed.Name, o.routed.Own
	case own != "":
		return own, true
	}
	return all, false
}

// inProcess reports whether the models of the run answer in this process.
func (o *opening) inProcess() bool {
	if o.out.Backend != "" && o.out.Backend != backends.Environment {
		return !o.elsewhere
	}
	return o.set.ModelInProcess && !o.elsewhere
}

// ask tells a call of a tool that asks a model which backend that is. An input
// "model" that names one goes before the run's. One that is gone since the run
// began is a fault, or the default answers where everybody's policy says so.
func (s *Set) ask(ctx context.Context, in CallInput, spec tool.Spec, policies []model.Policy, c *tool.Call) (*backends.Served, error) {
	if s.Backends == nil || spec.On() != tool.QueueModels {
		return nil, nil
	}
	name := in.Backend
	text, _ := c.Inputs["model"].(string)
	if named, rest := backends.Named(text); text != rest {
		if err := s.mayAsk(ctx, in, named); err != nil {
			return nil, err
		}
		name, c.Inputs = named, maps.Clone(c.Inputs)
		if c.Inputs["model"] = rest; rest == "" {
			delete(c.Inputs, "model")
		}
	}
	served, err := s.Backends.Served(ctx, name)
	if err != nil {
		_, _, instead := model.BackendFor(policies, in.Run.Viewer.Plan)
		if !instead || fault.Reason(err) != "backend" {
			return nil, err
		}
		s.logger().WarnContext(ctx, "the default answers in place of a model backend", "run", in.Run.RunID, "error", err)
		served = s.Backends.Default()
	}
	if served.Name == backends.Environment {
		return nil, nil
	}
	if inline(ctx) && !served.InProcess {
		return nil, fault.New(fault.Conflict, "This run began when no model was asked over the network, and now the backend %s is to be. Ask again.", served.Title).
			With(map[string]any{"reason": "backend", "backend": served.Name})
	}
	c.Model, c.Backend = served.Model, served.Name
	return served, nil
}

// mayAsk is nil for a backend that a call may name: the run's own, one that a
// graph for everybody names, and those that people may choose.
func (s *Set) mayAsk(ctx context.Context, in CallInput, name string) error {
	if name == in.Backend || slices.Contains(in.Named, name) || in.Run.Viewer.IsAdmin() {
		return nil
	}
	return s.Backends.MayChoose(ctx, name)
}

// readPolicies are the policies of models that a run has pinned, the nearest
// first.
func (s *Set) readPolicies(ctx context.Context, in CallInput) ([]model.Policy, error) {
	var policies []model.Policy
	for _, pin := range in.Models {
		p, ok, err := at(ctx, s, in.Run.Viewer, pin, func(a artifacts.Artifact) (model.Policy, error) { return model.ReadPolicy(a.Schema) })
		if err != nil {
			return nil, err
		}
		if ok {
			policies = append(policies, p)
		}
	}
	return policies, nil
}

// chosenBackend is the backend that the person of a conversation chose for it; a
// run that is no turn of it keeps to it as well.
func (o *opening) chosenBackend(ctx context.Context) error {
	if o.set.Backends == nil || o.set.Backends.Alone() || o.row.ConversationID == "" || o.in.Kind == run.KindChat {
		return nil
	}
	c, err := o.set.Conversations.Conversation(ctx, o.in.Viewer, o.row.ConversationID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	o.chosen = c.Backend
	return err
}
