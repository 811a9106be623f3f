package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// maxCached bounds the decoded specs that are kept.
const maxCached = 4000

// maxDocuments bounds the workflows whose tools are remembered, and maxRemembered
// their size in bytes.
const (
	maxDocuments  = 1000
	maxRemembered = 16 << 10
)

// maxSpecs bounds how many specs a wildcard or a listing looks at.
const maxSpecs = 2000

// Bound is a tool.spec at one version.
type Bound struct {
	tool.Spec
	ArtifactID string
	Version    int
	Under      []run.Pin // what a spec with via stands on: a source, an MCP server, or a tool and what that stands on

	names *schemaNames // of a spec that the library keeps decoded; nil: Graph reads them
}

// schemaNames are what a graph is checked against of a tool's two schemas. They
// are shared by all runs: nobody changes them.
type schemaNames struct{ outputs, required, inputs []string }

func namesOf(s tool.Spec) *schemaNames {
	return &schemaNames{outputs: s.Outputs(), required: s.Required(), inputs: s.Inputs()}
}

// Pin names the version, for the run that opens with it.
func (b Bound) Pin() run.Pin {
	return run.Pin{ArtifactID: b.ArtifactID, Name: b.Name, Version: b.Version}
}

// Graph is what the machine must know of the tool.
func (b Bound) Graph() graph.Tool {
	names := b.names
	if names == nil {
		names = namesOf(b.Spec)
	}
	return graph.Tool{
		Name: b.Name, Idempotent: b.IsIdempotent(), Privileged: b.Privileged, Confirm: b.Confirm.Asks, Approval: b.approval(),
		Workflow: b.Workflow, Outputs: names.outputs, Required: names.required, Inputs: names.inputs,
	}
}

// approval is how a person is asked before a call; nil for yes or no. What they
// allow for a conversation they allow of this very version, over what it stands on.
func (b Bound) approval() *graph.Approval {
	c := b.Confirm
	if !c.Asks || c.Plain() {
		return nil
	}
	a := &graph.Approval{Remember: c.Remember, Key: b.ArtifactID + "@" + strconv.Itoa(b.Version)}
	for _, pin := range b.Under {
		a.Key += "/" + pin.ArtifactID + "@" + strconv.Itoa(pin.Version)
	}
	if c.Message != nil {
		a.Message = map[string]any{}
		for _, language := range []string{"en", "de"} {
			a.Message[language] = c.Message.In(language)
		}
	}
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(b.InputSchema, &in) // it was checked when it was written
	for _, name := range c.Edit {
		if field, there := in.Properties[name]; there {
			a.Edit = append(a.Edit, graph.Editable{Name: name, Schema: labelled(field, c.Labels[name])})
		}
	}
	return a
}

// labelled is a field as a form shows it, under what people call it.
func labelled(field json.RawMessage, label tool.Words) json.RawMessage {
	var schema map[string]any
	if label == nil || json.Unmarshal(field, &schema) != nil || schema == nil {
		return field
	}
	schema["title"] = map[string]any{"en": label.In("en"), "de": label.In("de")}
	delete(schema, "description") // it is for models
	raw, err := json.Marshal(schema)
	if err != nil {
		return field
	}
	return raw
}

// GraphTools is Graph of all of them.
func GraphTools(bound map[string]Bound) graph.Tools {
	tools := make(graph.Tools, len(bound))
	for name, b := range bound {
		tools[name] = b.Graph()
	}
	return tools
}

type pinned struct {
	id      string
	version int
}

type cached struct {
	owner string
	bound Bound
}

// Tools finds tools by name as the viewer sees them; prefix.* means all whose
// name begins so. Unknown names are left out: what refuses them is Parse when
// a graph is written and the Box when it runs (TOOL-11).
func (l *Library) Tools(ctx context.Context, v identity.Viewer, names ...string) (map[string]Bound, error) {
	found := make(map[string]Bound, len(names))
	var single []string
	for _, name := range names {
		if prefix, wild := strings.CutSuffix(name, "*"); wild {
			if err := l.toolsLike(ctx, v, prefix, found); err != nil {
				return nil, err
			}
			continue
		}
		if !described(name) {
			single = append(single, name)
		}
	}
	single = slices.DeleteFunc(single, func(name string) bool { _, done := found[name]; return done })
	all, err := l.usableAll(ctx, v, KindTool, single)
	if err != nil {
		return nil, err
	}
	for name, a := range all {
		if found[name], err = l.boundNow(ctx, v, a); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (l *Library) toolsLike(ctx context.Context, v identity.Viewer, prefix string, into map[string]Bound) error {
	all, err := l.Specs(ctx, v)
	if err != nil {
		return err
	}
	for _, b := range all {
		if strings.HasPrefix(b.Name, prefix) {
			into[b.Name] = b
		}
	}
	return nil
}

// Specs lists every tool the viewer may see, by name; one of their own hides
// a global one of the same name (TOOL-02).
func (l *Library) Specs(ctx context.Context, v identity.Viewer) ([]Bound, error) {
	byName := map[string]Bound{}
	own := map[string]bool{}
	filter := Filter{Type: KindTool, Limit: 100}
	for seen := 0; seen < maxSpecs; {
		page, next, err := l.store.ListArtifacts(ctx, v, filter)
		if err != nil {
			return nil, err
		}
		// Drafts do not count: proposals crowd nothing out.
		page = slices.DeleteFunc(page, Artifact.IsDraft)
		seen += len(page)
		for _, a := range page {
			if described(a.Name) {
				continue
			}
			b, err := l.boundNow(ctx, v, a)
			if err != nil {
				return nil, err
			}
			if !own[b.Name] {
				byName[b.Name], own[b.Name] = b, a.OwnerID != "" && a.OwnerID == v.UserID
			}
		}
		if next == "" {
			break
		}
		filter.Cursor = next
	}
	specs := make([]Bound, 0, len(byName))
	for _, b := range byName {
		specs = append(specs, b)
	}
	slices.SortFunc(specs, func(a, b Bound) int { return strings.Compare(a.Name, b.Name) })
	return specs, nil
}

// Readable lists the extensions of the files that tools the viewer may use make
// text of, beside those the program reads itself (RAG-02).
func (l *Library) Readable(ctx context.Context, v identity.Viewer) ([]string, error) {
	all, err := l.Specs(ctx, v)
	var list []string
	for _, b := range all {
		for _, kind := range b.Reads {
			if strings.HasPrefix(kind, ".") {
				list = append(list, strings.ToLower(kind))
			}
		}
	}
	return list, err
}

// ToolsOf finds the tools a workflow document may call (PLAT-08 pins them).
func (l *Library) ToolsOf(ctx context.Context, v identity.Viewer, doc json.RawMessage) (map[string]Bound, error) {
	return l.Tools(ctx, v, l.named(doc)...)
}

// named is toolNames, which is read once of each document.
func (l *Library) named(doc json.RawMessage) []string {
	l.mu.Lock()
	names, ok := l.names[string(doc)]
	l.mu.Unlock()
	if ok {
		return names
	}
	names = toolNames(doc)
	if len(doc) <= maxRemembered {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.names) >= maxDocuments {
			clear(l.names)
		}
		l.names[string(doc)] = names
	}
	return names
}

// SpecAt gives a tool as it was at the version a run pinned, and under it what it
// stood on then (PLAT-08).
func (l *Library) SpecAt(ctx context.Context, v identity.Viewer, pin run.Pin, under ...run.Pin) (Bound, error) {
	l.mu.Lock()
	c, ok := l.specs[pinned{pin.ArtifactID, pin.Version}]
	l.mu.Unlock()
	if !ok || c.owner != "" && c.owner != v.UserID {
		a, err := l.At(ctx, v, pin.ArtifactID, pin.Version)
		if err != nil {
			return Bound{}, err
		}
		if c.bound, err = l.bind(a); err != nil {
			return Bound{}, err
		}
	}
	return l.standing(ctx, v, c.bound, under)
}

// boundNow is a spec with what it stands on at its current version.
func (l *Library) boundNow(ctx context.Context, v identity.Viewer, a Artifact) (Bound, error) {
	b, err := l.bind(a)
	if err != nil {
		return b, err
	}
	return l.standing(ctx, v, b, nil)
}

// standing adds to a spec with via what it stands on: as pinned, or as it is now
// where nothing is. What is not there is left out: whoever calls the tool is told.
func (l *Library) standing(ctx context.Context, v identity.Viewer, b Bound, pins []run.Pin) (Bound, error) {
	if b.Via == nil || b.Via.HTTP != nil {
		return b, nil
	}
	kind, name := KindSource, ""
	if b.Via.Tool != nil {
		kind, name = KindTool, b.Via.Tool.Name
	} else if b.Via.Query != nil {
		name = b.Via.Query.Source
	} else if b.Via.MCP != nil {
		kind, name = KindMCPServer, b.Via.MCP.Server
	}
	var a Artifact
	var err error
	if len(pins) > 0 {
		a, err = l.At(ctx, v, pins[0].ArtifactID, pins[0].Version)
	} else {
		a, err = l.usable(ctx, v, kind, name)
	}
	if errors.Is(err, fault.NotFound) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	b.Under = []run.Pin{{ArtifactID: a.ID, Name: a.Name, Version: a.Version}}
	switch kind {
	case KindSource:
		b.Over = &tool.Over{Source: a.Schema}
		return b, nil
	case KindMCPServer:
		b.Over = &tool.Over{Server: a.Schema}
		return b, nil
	}
	inner, err := l.bind(a)
	if err != nil {
		return b, err
	}
	if inner.Via != nil && inner.Via.Tool != nil {
		return b, nil // one tool under another is enough; write time says so
	}
	if inner, err = l.standing(ctx, v, inner, pins[min(len(pins), 1):]); err != nil {
		return b, err
	}
	b.Under = append(b.Under, inner.Under...)
	b.Spec = over(b.Spec, inner.Spec)
	return b, nil
}

// over is a spec that stands on another: never less guarded than that, and run
// where that runs (TOOL-05, TOOL-16).
func over(s, inner tool.Spec) tool.Spec {
	s.Over = &tool.Over{Spec: &inner}
	s.Privileged = s.Privileged || inner.Privileged
	s.Confirm = s.Confirm.AtLeast(inner.Confirm)
	s.ReadOnly = s.ReadOnly && inner.ReadOnly
	if !inner.IsIdempotent() {
		s.Idempotent = inner.Idempotent
	}
	if s.ContentType == "" {
		s.ContentType = inner.ContentType
	}
	s.Runs, s.Queue = inner.Runs, inner.Queue
	return s
}

// bind decodes a tool.spec, once for each version.
func (l *Library) bind(a Artifact) (Bound, error) {
	key := pinned{a.ID, a.Version}
	l.mu.Lock()
	c, ok := l.specs[key]
	l.mu.Unlock()
	if ok {
		return c.bound, nil
	}
	spec, err := tool.Decode(a.Schema)
	if err != nil {
		return Bound{}, fault.Wrap(fault.Internal, err, "The tool.spec %s at version %d is not readable.", a.Name, a.Version)
	}
	b := Bound{Spec: l.guarded(spec), ArtifactID: a.ID, Version: a.Version}
	b.names = namesOf(b.Spec) // each turn asks for them
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.specs) >= maxCached {
		clear(l.specs)
	}
	l.specs[key] = cached{a.OwnerID, b}
	return b, nil
}

// guarded keeps what the program says of its own tool's dangers, whatever an
// artifact of the same name says (TOOL-05, TOOL-16). Only what the program itself
// carries out is a step of its work.
func (l *Library) guarded(s tool.Spec) tool.Spec {
	own, ok := l.known[s.Name]
	s.Step = ok && own.Step && s.Workflow == "" && s.Via == nil
	if !ok || s.Workflow != "" {
		return s
	}
	s.Privileged = s.Privileged || own.Privileged
	s.Confirm = s.Confirm.AtLeast(own.Confirm)
	if !own.IsIdempotent() {
		s.Idempotent = own.Idempotent
	}
	return s
}

// toolNames are the tools a workflow document names, in order. A document of
// another shape names none; Parse says what is wrong with it.
func toolNames(doc json.RawMessage) []string {
	var d struct {
		Tools []string `json:"tools"`
		Nodes []struct {
			Type  string   `json:"type"`
			Tool  string   `json:"tool"`
			Tools []string `json:"tools"`
		} `json:"nodes"`
	}
	var mistyped *json.UnmarshalTypeError // what could be read is there all the same
	if err := json.Unmarshal(doc, &d); err != nil && !errors.As(err, &mistyped) {
		return nil
	}
	names := slices.Clone(d.Tools)
	for _, n := range d.Nodes {
		if n.Tool != "" {
			names = append(names, n.Tool)
		}
		names = append(names, n.Tools...)
		if n.Type == string(graph.Agent) {
			names = append(names, graph.StepTool)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == graph.CallerTools }) // they have no specs
	slices.Sort(names)
	return slices.Compact(names)
}
