package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// CheckOps refuses what is no JSON Patch at all, whichever document it is for.
func CheckOps(ops json.RawMessage) error {
	_, err := operationsOf(ops)
	return err
}

func operationsOf(ops json.RawMessage) (jsonpatch.Patch, error) {
	if len(ops) > MaxSize {
		return nil, fault.New(fault.Invalid, "The patch has %d bytes; %d are allowed.", len(ops), MaxSize)
	}
	operations, err := jsonpatch.DecodePatch(ops)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The patch is no JSON Patch: it is a list of operations such as {\"op\":\"replace\",\"path\":\"/entrypoint\",\"value\":\"start\"} (%s).", err)
	}
	if len(operations) == 0 || len(operations) > maxOperations {
		return nil, fault.New(fault.Invalid, "The patch has %d operations; 1 to %d are allowed.", len(operations), maxOperations)
	}
	return operations, nil
}

// Applied is a document after a patch; nothing is stored or checked. Errors:
// Invalid, or Conflict when a test operation fails.
func Applied(doc, ops json.RawMessage) (json.RawMessage, error) { return apply(doc, ops) }

// Prospect is an artifact and what a patch would make of it.
type Prospect struct {
	Artifact Artifact // at the version the patch is for; version 0: not stored yet
	Ops      json.RawMessage
	As       identity.Viewer // on whose behalf the document is checked: its owner
	// After and Problems are what Preview finds: the document, null where the
	// patch does not apply, and what is wrong with it, by check.
	After    json.RawMessage
	Problems map[string][]Problem
	Warnings map[string][]Problem // what the patch brings and what does not stop it, likewise; of a document without problems
}

// Preview applies patches that belong together and checks each document
// against the library as it would be with all of them, which it gives too.
// Nothing is stored. The error is a failure of ours, never one of a document.
func (l *Library) Preview(ctx context.Context, list []Prospect) ([]Prospect, *Library, error) {
	list = slices.Clone(list)
	next := map[string]Artifact{}
	for i := range list {
		p := &list[i]
		p.Problems = map[string][]Problem{}
		after, err := apply(p.Artifact.Schema, p.Ops)
		if err != nil {
			p.add(Problem{Message: fault.From(err).Message})
			continue
		}
		p.After = after
		a := p.Artifact
		a.Version, a.Schema, a.Rollout = a.Version+1, after, nil
		next[a.ID] = a
		p.unchanged()
	}
	ahead := l.ahead(list, next)
	for i := range list {
		p := &list[i]
		if p.After == nil {
			continue
		}
		a := p.Artifact
		err := ahead.check(ctx, p.As, a.Type, a.Name, p.After)
		found := Problems(err)
		if err != nil && found == nil {
			if !errors.Is(err, fault.Invalid) {
				return nil, nil, err
			}
			found = []Problem{{Message: fault.From(err).Message}}
		}
		for _, problem := range found {
			p.add(problem)
		}
		if len(p.Problems) > 0 {
			continue
		}
		if err := p.warn(ctx, ahead); err != nil {
			return nil, nil, err
		}
	}
	return list, ahead, nil
}

// warn keeps the warnings that the patch brings: those of the document before
// are not its doing. A draft has counted for nothing so far.
func (p *Prospect) warn(ctx context.Context, ahead *Library) error {
	var known []Problem
	if !isDraft(p.Artifact.Schema) {
		var err error
		if known, err = ahead.Warnings(ctx, p.As, p.Artifact.Type, p.Artifact.Schema); err != nil {
			return err
		}
	}
	found, err := ahead.Warnings(ctx, p.As, p.Artifact.Type, p.After)
	p.Warnings = map[string][]Problem{}
	for _, w := range found {
		if !slices.ContainsFunc(known, func(old Problem) bool { return old.Message == w.Message }) {
			p.Warnings[CheckOf(w)] = append(p.Warnings[CheckOf(w)], w)
		}
	}
	return err
}

func (p *Prospect) add(problem Problem) {
	check := CheckOf(problem)
	p.Problems[check] = append(p.Problems[check], problem)
}

// alike reports whether two documents mean the same. What is different, Diff
// tells; of long lists that takes a square of time and memory.
func alike(before, after json.RawMessage) bool {
	var a, b any
	return json.Unmarshal(before, &a) == nil && json.Unmarshal(after, &b) == nil && reflect.DeepEqual(a, b)
}

// unchanged tells of a patch without an effect, and of a draft that stays one.
func (p *Prospect) unchanged() {
	if alike(p.Artifact.Schema, p.After) {
		p.add(Problem{Message: "the document is the same with the patch as without it", Hint: "there is nothing to decide"})
	}
	if isDraft(p.After) {
		p.add(Problem{Path: "/status", Message: "the document is a draft still", Hint: `remove it: {"op":"remove","path":"/status"}`})
	}
}

// ahead is the library as it would be with other versions of some artifacts.
func (l *Library) ahead(list []Prospect, next map[string]Artifact) *Library {
	o := overlay{Store: l.store, next: next, made: map[string]bool{}}
	for _, p := range list {
		o.made[p.Artifact.ID] = p.Artifact.Version == 0
	}
	return &Library{
		store: o, kinds: l.kinds, shipped: l.shipped, known: l.known, operations: l.operations,
		log: l.log, adapterMode: l.adapterMode, references: l.references, specs: map[pinned]cached{}, names: map[string][]string{},
	}
}

// overlay is a store in which some artifacts have another version already. It
// is read only: nobody is given it to write to.
type overlay struct {
	Store
	next map[string]Artifact
	made map[string]bool // what the store below does not have
}

func (o overlay) seen(v identity.Viewer, a Artifact) bool {
	return a.OwnerID == "" || a.OwnerID == v.UserID
}

func (o overlay) Artifact(ctx context.Context, v identity.Viewer, id string) (Artifact, error) {
	a, ok := o.next[id]
	if ok && o.made[id] && o.seen(v, a) {
		return a, nil
	}
	below, err := o.Store.Artifact(ctx, v, id)
	if err == nil && ok {
		return a, nil
	}
	return below, err
}

func (o overlay) ArtifactNamed(ctx context.Context, v identity.Viewer, kind, name string) (Artifact, error) {
	found, err := o.Store.ArtifactNamed(ctx, v, kind, name)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return found, err
	}
	for _, a := range o.next {
		if a.Type != kind || a.Name != name || !o.seen(v, a) {
			continue
		}
		if err != nil || a.ID == found.ID || found.IsDraft() || o.made[a.ID] && a.OwnerID != "" {
			found, err = a, nil
		}
	}
	return found, err
}

func (o overlay) ArtifactsNamed(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]Artifact, error) {
	return EachNamed(ctx, o, v, kind, names)
}

// EachNamed is ArtifactsNamed of a store that looks for one name at a time.
func EachNamed(ctx context.Context, s interface {
	ArtifactNamed(ctx context.Context, v identity.Viewer, kind, name string) (Artifact, error)
}, v identity.Viewer, kind string, names []string) (map[string]Artifact, error) {
	found := make(map[string]Artifact, len(names))
	for _, name := range names {
		a, err := s.ArtifactNamed(ctx, v, kind, name)
		if err == nil {
			found[name] = a
		} else if !errors.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	return found, nil
}

func (o overlay) ListArtifacts(ctx context.Context, v identity.Viewer, f Filter) ([]Artifact, string, error) {
	page, cursor, err := o.Store.ListArtifacts(ctx, v, f)
	for i, a := range page {
		if next, ok := o.next[a.ID]; ok {
			page[i] = next
		}
	}
	if f.Cursor != "" || err != nil {
		return page, cursor, err
	}
	for id, a := range o.next {
		if o.made[id] && o.seen(v, a) && (f.Type == "" || f.Type == a.Type) && (f.Visibility == "" || f.Visibility == a.Visibility) {
			page = append(page, a)
		}
	}
	return page, cursor, nil
}

// Written mirrors versions that a store appended by itself (DATA-15).
func (l *Library) Written(ctx context.Context, list ...Artifact) {
	for _, a := range list {
		l.mirror(ctx, a)
	}
}
