package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
	"liminal/schemas"
)

// Desk is where changes are proposed; *changes.Desk is one.
type Desk interface {
	Propose(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error)
	ProposeFetched(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error)
	List(ctx context.Context, v identity.Viewer, f changes.Filter) ([]changes.Patch, string, error)
}

// Library finds artifacts; *artifacts.Library is one.
type Library interface {
	MCPServer(ctx context.Context, v identity.Viewer, name string) (tool.MCPServer, error)
	Named(ctx context.Context, v identity.Viewer, kind, name string) (artifacts.Artifact, error)
	Specs(ctx context.Context, v identity.Viewer) ([]artifacts.Bound, error)
}

// Importer proposes tools of servers as tool.specs, and what became of those that
// were approved.
type Importer struct {
	Client  *Client
	Library Library
	Desk    Desk
	Logger  *slog.Logger
}

// Imported is what came of an import.
type Imported struct {
	Server  string         `json:"server"`
	Patches []int64        `json:"patches"` // that wait to be decided; 16 tools are in one
	Tools   []ImportedTool `json:"tools"`
}

// ImportedTool is a tool of a server, and what is proposed of it.
type ImportedTool struct {
	Name  string   `json:"name"`  // of the tool.spec
	Tool  string   `json:"tool"`  // as the server calls it
	State string   `json:"state"` // new, changed, unchanged, proposed already, skipped
	Notes []string `json:"notes"` // why it was skipped, and what to look at
}

// The states of an ImportedTool.
const (
	stateNew       = "new"
	stateChanged   = "changed"
	stateUnchanged = "unchanged"
	stateProposed  = "proposed"
	stateSkipped   = "skipped"
)

// Import reads the tools of a server, those named or else all, and proposes those
// that are new or have changed, in the house's name: nothing of them was written by
// the administrator who asked. Every description is the server's, without what
// nobody sees, until somebody writes another; every tool asks before it acts and is
// done once, whatever the server says of it.
func (i *Importer) Import(ctx context.Context, v identity.Viewer, name string, only []string) (Imported, error) {
	out := Imported{Server: name, Patches: []int64{}, Tools: []ImportedTool{}}
	if !v.IsAdmin() {
		return out, fault.New(fault.Forbidden, "Only administrators import the tools of MCP servers.")
	}
	s, err := i.Library.MCPServer(ctx, v, name)
	if errors.Is(err, fault.NotFound) {
		return out, fault.New(fault.NotFound, "There is no MCP server %q: write an artifact of the kind mcp.server first.", name)
	}
	if err != nil {
		return out, err
	}
	tools, err := i.Client.Tools(ctx, Server{Viewer: v, Name: name, MCPServer: s})
	if err != nil {
		return out, err
	}
	for _, one := range only {
		if _, there := find(tools, one); !there {
			return out, fault.New(fault.NotFound, "%s has no tool %q.", s.Title, one)
		}
	}
	others, err := i.others(ctx, v, tools)
	if err != nil {
		return out, err
	}
	var list []changes.ProposedChange
	var about []ImportedTool
	taken := map[string]bool{}
	for _, t := range tools {
		if len(only) > 0 && !slices.Contains(only, t.Name) {
			continue
		}
		spec, row := specOf(name, s.Title, t, others)
		if taken[spec.Name] {
			row.State, row.Notes = stateSkipped, append(row.Notes, "another tool of the server has the same name here")
		}
		taken[spec.Name] = true
		change, err := i.change(ctx, &row, spec)
		if err != nil {
			return out, err
		}
		out.Tools = append(out.Tools, row)
		if change != nil {
			list, about = append(list, *change), append(about, row)
		}
	}
	for from := 0; from < len(list); from += changes.MaxChanges {
		to := min(from+changes.MaxChanges, len(list))
		p, err := i.Desk.ProposeFetched(ctx, v, changes.Proposal{Changes: list[from:to], Justification: because(name, s.Title, about[from:to])})
		if err != nil {
			return out, err
		}
		out.Patches = append(out.Patches, p.ID)
	}
	return out, nil
}

// others are the names a description may not lean on: of the tools there are here,
// and of the server's.
func (i *Importer) others(ctx context.Context, v identity.Viewer, tools []Tool) ([]string, error) {
	all, err := i.Library.Specs(ctx, v)
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names, err
}

// change is what is to be proposed of a tool; nil: nothing.
func (i *Importer) change(ctx context.Context, row *ImportedTool, spec spec) (*changes.ProposedChange, error) {
	if row.State == stateSkipped {
		return nil, nil //nolint:nilnil // nothing is an answer
	}
	doc, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	old, err := i.Library.Named(ctx, identity.System(), artifacts.KindTool, spec.Name)
	switch {
	case errors.Is(err, fault.NotFound):
		row.State = stateNew
		return created(spec, doc), nil
	case err != nil:
		return nil, err
	case old.IsDraft():
		row.State = stateNew
		waits, err := i.waits(ctx, old.ID, "", true)
		if err == nil && waits {
			row.State = stateProposed
			return nil, nil //nolint:nilnil // nothing is an answer
		}
		return created(spec, doc), err
	}
	before, err := tool.Decode(old.Schema)
	if err != nil || before.Via == nil || before.Via.MCP == nil {
		row.State, row.Notes = stateSkipped, append(row.Notes, "another kind of tool has the name")
		return nil, nil //nolint:nilnil,nilerr // nothing is an answer
	}
	if before.Via.MCP.SHA256 == spec.Via.MCP.SHA256 {
		row.State = stateUnchanged
		return nil, nil //nolint:nilnil // nothing is an answer
	}
	row.State = stateChanged
	if waits, err := i.waits(ctx, old.ID, spec.Via.MCP.SHA256, true); err != nil || waits {
		row.State = stateProposed
		return nil, err
	}
	return drifted(old, spec)
}

func created(spec spec, doc json.RawMessage) *changes.ProposedChange {
	return &changes.ProposedChange{Create: &artifacts.Draft{Type: artifacts.KindTool, Name: spec.Name, Visibility: artifacts.Global, Schema: doc}}
}

// waits reports whether a patch of an artifact that holds a text waits to be
// decided; with open false, whether there ever was one.
func (i *Importer) waits(ctx context.Context, artifactID, holds string, open bool) (bool, error) {
	list, _, err := i.Desk.List(ctx, identity.Steward(), changes.Filter{ArtifactID: artifactID, Limit: 100})
	return slices.ContainsFunc(list, func(p changes.Patch) bool {
		return (!open || p.Status == changes.Pending || p.Status == changes.Approved) && slices.ContainsFunc(p.Changes, func(c changes.Change) bool {
			return c.ArtifactID == artifactID && strings.Contains(string(c.Ops), holds)
		})
	}), err
}

// drifted is the change of an approved tool to what its server says now. What was
// approved of its dangers was approved of another tool.
func drifted(old artifacts.Artifact, next spec) (*changes.ProposedChange, error) {
	type op struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	ops, err := json.Marshal([]op{
		{"add", "/description", next.Description}, {"add", "/input_schema", next.Input}, {"add", "/output_schema", next.Output},
		{"add", "/confirm", true}, {"add", "/idempotent", false}, {"add", "/read_only", false}, {"add", "/via", next.Via},
	})
	return &changes.ProposedChange{ArtifactID: old.ID, Patch: ops, Base: old.Version}, err
}

// Drift proposes what a server says now of a tool that was approved otherwise, once:
// when it was turned down, it is not proposed again.
func (i *Importer) Drift(ctx context.Context, approved tool.Spec, now Tool) {
	if err := i.drift(context.WithoutCancel(ctx), approved, now); err != nil && i.Logger != nil {
		i.Logger.WarnContext(ctx, "a changed tool of an MCP server was not proposed", "tool", approved.Name, "error", err)
	}
}

func (i *Importer) drift(ctx context.Context, approved tool.Spec, now Tool) error {
	old, err := i.Library.Named(ctx, identity.System(), artifacts.KindTool, approved.Name)
	if err != nil || old.IsDraft() {
		return err
	}
	current, err := tool.Decode(old.Schema)
	if err != nil || current.Via == nil || current.Via.MCP == nil || current.Via.MCP.SHA256 != approved.Via.MCP.SHA256 {
		return err // it was read since
	}
	m := approved.Via.MCP
	title := m.Server
	if s, err := i.Library.MCPServer(ctx, identity.System(), m.Server); err == nil {
		title = s.Title
	}
	others, err := i.others(ctx, identity.Steward(), nil)
	if err != nil {
		return err
	}
	next, row := specOf(m.Server, title, now, others)
	if row.State == stateSkipped {
		return fault.New(fault.Invalid, "The tool can no longer be used: %s", strings.Join(row.Notes, "; "))
	}
	if known, err := i.waits(ctx, old.ID, next.Via.MCP.SHA256, false); err != nil || known {
		return err
	}
	change, err := drifted(old, next)
	if err != nil {
		return err
	}
	change.ArtifactType, row.State = "", stateChanged
	_, err = i.Desk.Propose(ctx, identity.Steward(), changes.Proposal{
		Changes:       []changes.ProposedChange{*change},
		Justification: "The server says another thing of this tool than what was approved. It rests until this is applied.\n\n" + because(m.Server, title, []ImportedTool{row}),
	})
	return err
}

// spec is a tool.spec as it is proposed.
type spec struct {
	Kind        string          `json:"kind"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input_schema"`
	Output      json.RawMessage `json:"output_schema"`
	Idempotent  bool            `json:"idempotent"`
	ReadOnly    bool            `json:"read_only"`
	Confirm     bool            `json:"confirm"`
	Via         tool.Via        `json:"via"`
}

// TextOutput is the schema of a result that is a text.
const TextOutput = `{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}`

// maxDescription bounds a description, in bytes.
const maxDescription = 4000

// specOf is what is proposed of a tool, and what to look at.
func specOf(server, title string, t Tool, others []string) (spec, ImportedTool) {
	s := spec{
		Kind: artifacts.KindTool, Name: specName(server, t.Name), Confirm: true,
		Via: tool.Via{MCP: &tool.MCP{Server: server, Tool: t.Name, SHA256: t.SHA256()}},
	}
	row := ImportedTool{Name: s.Name, Tool: webaccess.Plain(t.Name), State: stateNew, Notes: []string{}}
	skip := func(format string, args ...any) {
		row.State, row.Notes = stateSkipped, append(row.Notes, fmt.Sprintf(format, args...))
	}
	if webaccess.Plain(t.Name) != t.Name || len(t.Name) > 256 {
		skip("its name holds what nobody sees, or is too long")
	}
	s.Description = words(t.Description, maxDescription-10)
	hidden := webaccess.Plain(t.Description) != strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(t.Description))
	if s.Description == "" {
		s.Description = t.Name + " of " + title
	}
	var err error
	var veiled bool
	if s.Input, veiled, err = schemaOf(t.Input); err != nil {
		skip("its inputs cannot be described here: %s", schemas.Reason(err))
	}
	hidden = hidden || veiled
	s.Output = json.RawMessage(TextOutput)
	if len(t.Output) > 0 {
		if output, veiled, err := schemaOf(t.Output); err == nil {
			s.Output, hidden = output, hidden || veiled
		} else {
			row.Notes = append(row.Notes, "its result is given as text: the schema of it cannot be used here")
		}
	}
	if hidden {
		row.Notes = append(row.Notes, "it held characters that nobody sees, which were taken out")
	}
	texts := append([]string{s.Description}, textsIn(s.Input)...)
	others = slices.DeleteFunc(slices.Clone(others), func(name string) bool { return name == t.Name || name == s.Name })
	for _, text := range texts {
		for _, said := range artifacts.Steering(text, others) {
			if !slices.Contains(row.Notes, said) {
				row.Notes = append(row.Notes, said)
			}
		}
	}
	return s, row
}

// textsIn are the texts of a schema.
func textsIn(schema json.RawMessage) (texts []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	var doc any
	if json.Unmarshal(schema, &doc) == nil {
		walk(doc)
	}
	slices.Sort(texts)
	return texts
}

// schemaOf is a schema of an object that can be used here, without what nobody sees.
func schemaOf(raw json.RawMessage) (schema json.RawMessage, veiled bool, err error) {
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil || doc == nil {
		return nil, false, errors.New("it is no object")
	}
	delete(doc, "$schema")
	if kind, said := doc["type"]; said && kind != "object" {
		return nil, false, errors.New("its type is not object")
	}
	doc["type"] = "object"
	clean := withoutUnseen(doc)
	if schema, err = json.Marshal(clean); err != nil {
		return nil, false, err
	}
	before, err := json.Marshal(doc)
	if err != nil {
		return nil, false, err
	}
	if keys(doc) != keys(clean) {
		return nil, false, errors.New("its names hold what nobody sees")
	}
	_, err = schemas.Compile(schema)
	return schema, string(before) != string(schema), err
}

// keys are the names of members, without what nobody sees where that is a
// difference.
func keys(v any) string {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name, inner := range v {
			if webaccess.Plain(name) != strings.TrimSpace(name) {
				return "\x00"
			}
			names = append(names, name+keys(inner))
		}
		slices.Sort(names)
		return strings.Join(names, ",")
	case []any:
		var all strings.Builder
		for _, inner := range v {
			all.WriteString(keys(inner))
		}
		return all.String()
	}
	return ""
}

var (
	humps   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	unnamed = regexp.MustCompile(`[^a-z0-9]+`)
)

// maxName bounds the name of a tool.spec, in bytes.
const maxName = 64

// specName is what a tool of a server is called here: mcp.{server}.{tool}.
func specName(server, name string) string {
	word := strings.Trim(unnamed.ReplaceAllString(strings.ToLower(humps.ReplaceAllString(name, "${1}_$2")), "_"), "_")
	if word == "" || word[0] < 'a' {
		word = strings.TrimSuffix("t_"+word, "_")
	}
	full := "mcp." + server + "." + word
	if len(full) > maxName {
		sum := Tool{Name: name}.SHA256()[:8]
		full = strings.Trim(full[:maxName-9], "_") + "_" + sum
	}
	return full
}

// because is what people read: what is proposed, and what to look at.
func because(server, title string, tools []ImportedTool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Tools of the MCP server %s (%s), as it tells them now. A model reads these descriptions once this is applied.", title, server)
	flagged := 0
	for _, t := range tools {
		if len(t.Notes) > 0 {
			flagged++
		}
	}
	if flagged > 0 {
		fmt.Fprintf(&b, " Look at %d of them with care.", flagged)
	}
	for _, t := range tools {
		fmt.Fprintf(&b, "\n- %s, %s", t.Name, t.State)
		for _, note := range t.Notes {
			fmt.Fprintf(&b, "\n  ! %s", note)
		}
	}
	return words(b.String(), changes.MaxJustification-10)
}
