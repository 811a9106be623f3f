package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/check"
	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// Source finds a data.source by name, as the viewer may use it.
func (l *Library) Source(ctx context.Context, v identity.Viewer, name string) (data.Source, error) {
	a, err := l.usable(ctx, v, KindSource, name)
	if err != nil {
		return data.Source{}, err
	}
	s, err := data.Decode(a.Schema)
	if err != nil {
		return s, fault.Wrap(fault.Internal, err, "The data.source %s is not readable.", name)
	}
	return s, nil
}

// source checks a data.source: its statements, and what only examples may say.
func (c *checking) source() {
	if !c.v.IsAdmin() {
		c.add(check.Limits, "", "ask an administrator", "only administrators write a data.source: it says who sees what")
	}
	s, err := data.Decode(c.doc)
	if err != nil {
		return // the schema has said so
	}
	c.merge(s.Faults())
	if s.Viewer.Aliases != nil && !c.v.IsSystem() {
		c.add(check.Limits, "/viewer/aliases", "leave it out", "people of another name are for the examples that ship with the program")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Entities)) {
		e := s.Entities[name]
		if e.Href != "" && !strings.HasPrefix(e.Href, "/") && !strings.HasPrefix(e.Href, "https://") {
			c.add(check.Schema, "/entities/"+name+"/href", "write /… or https://…", "a link leads to a page of this program or of another over https")
		}
	}
}

// via checks a tool.spec that is carried out by what it says in via.
func (c *checking) via(spec tool.Spec, known bool) {
	if known {
		c.add(check.References, "/name", "give your tool another name", "%q is one of the program's own tools", spec.Name)
	}
	if spec.Via.Tool == nil && !c.v.IsAdmin() {
		c.add(check.Limits, "/via", "ask an administrator, or rename a tool there is with via.tool", "only administrators write queries and requests")
	}
	switch {
	case spec.Via.Query != nil:
		c.query(spec)
	case spec.Via.Tool != nil:
		c.renamed(spec)
	case spec.Via.HTTP != nil:
		c.request(spec)
	case spec.Via.MCP != nil:
		c.mcpTool(spec)
	}
	if !c.v.IsAdmin() {
		c.reserved(spec, known)
	}
}

// query checks a tool over a source: that each statement can be made, and that
// every parameter is known.
func (c *checking) query(spec tool.Spec) {
	q := spec.Via.Query
	s, ok := c.sourceNamed(q.Source)
	if !ok {
		return
	}
	inputs := spec.Described()
	for _, name := range slices.Sorted(maps.Keys(q.Parts)) {
		path := "/via/query/parts/" + name + "/sql"
		p, err := s.Statement(q.Parts[name].SQL)
		if err != nil {
			c.add(check.Expressions, path, "write one SELECT over the source's relations", "%s", err)
			continue
		}
		for _, param := range p.Names {
			if !data.IsSession(param) && !slices.Contains(inputs, param) {
				c.add(check.References, path, "name an input of the tool, or :viewer, :today and the like", "nothing sets :%s", param)
			}
		}
	}
	for i, shown := range spec.Shows {
		_, known := s.Entities[shown.Entity]
		_, part := q.Parts[shown.In]
		switch {
		case shown.Entity != "" && !known:
			c.add(check.References, pointer("/shows", i)+"/entity", "name one of the source's entities", "the source %q has no entity %q", q.Source, shown.Entity)
		case shown.In != "" && !part:
			c.add(check.References, pointer("/shows", i)+"/in", "name a part of the query", "the result has no member %q", shown.In)
		}
	}
}

// sourceNamed finds the source of a query.
func (c *checking) sourceNamed(name string) (data.Source, bool) {
	doc, ships, err := c.shipped(KindSource, name)
	var s data.Source
	switch {
	case err != nil:
	case ships:
		s, err = data.Decode(doc)
	default:
		s, err = c.library.Source(c.ctx, c.v, name)
	}
	switch {
	case errors.Is(err, fault.NotFound):
		c.add(check.References, "/via/query/source", "write the name of a data.source", "there is no source %q", name)
	case err != nil:
		c.err = err
	}
	return s, err == nil
}

// renamed checks a tool that stands on another.
func (c *checking) renamed(spec tool.Spec) {
	name := spec.Via.Tool.Name
	bound, err := c.library.Tools(c.ctx, c.v, name)
	if err != nil {
		c.err = err
		return
	}
	inner, ok := bound[name]
	if own, is := c.library.known[name]; is && (!ok || c.v.IsSystem()) {
		inner.Spec, ok = own, true // the seeds are checked before they are stored
	}
	switch {
	case !ok:
		c.add(check.References, "/via/tool/name", "name a tool you may use", "there is no tool %q", name)
		return
	case name == spec.Name, inner.Via != nil && inner.Via.Tool != nil:
		c.add(check.References, "/via/tool/name", "name the tool under it", "%q stands on another tool itself", name)
	case inner.Workflow != "":
		c.add(check.References, "/via/tool/name", "name a tool of the program", "%q is carried out by a workflow, and has a name of its own already", name)
	case inner.Privileged && !c.v.IsAdmin():
		c.add(check.Limits, "/via/tool/name", "name another", "only administrators rename privileged tools")
	}
	c.placed("/via/tool/inputs", spec.Via.Tool.Inputs, spec.Described())
	if in := spec.Via.Tool.Inputs; in != nil {
		for _, needed := range inner.Required() {
			if _, given := in[needed]; !given {
				c.add(check.References, "/via/tool/inputs", "set it, or pass an input on", "%s needs the input %q", name, needed)
			}
		}
	}
}

var urlPlace = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// request checks a tool that asks a server.
func (c *checking) request(spec tool.Spec) {
	h, inputs := spec.Via.HTTP, spec.Described()
	texts := map[string]string{"/via/http/url": h.URL}
	for name, v := range h.Headers {
		texts["/via/http/headers/"+name] = v
		if lower := strings.ToLower(name); lower == "host" || lower == "authorization" || lower == "cookie" || lower == "content-length" {
			c.add(check.Limits, "/via/http/headers/"+name, "name a secret with credential", "the header %s is not written here", name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		for _, m := range urlPlace.FindAllStringSubmatch(texts[path], -1) {
			if !slices.Contains(inputs, m[1]) {
				c.add(check.References, path, "name an input of the tool", "nothing sets {%s}", m[1])
			}
		}
	}
	if h.Credential != nil && h.Credential.Connection != "" {
		c.connected("/via/http/credential", "/via/http/url", h.Credential.Connection, h.URL)
	}
	if body, is := h.Body.(map[string]any); is {
		c.placed("/via/http/body", body, inputs)
	}
	if h.Method != "GET" && spec.ReadOnly {
		c.add(check.Limits, "/read_only", "leave it out", "a %s request may change something", h.Method)
	}
}

// placed checks that every {"$input": name} names an input.
func (c *checking) placed(path string, doc any, inputs []string) {
	switch doc := doc.(type) {
	case map[string]any:
		if name, is := doc["$input"].(string); is && len(doc) == 1 {
			if !slices.Contains(inputs, name) {
				c.add(check.References, path, "name an input of the tool", "there is no input %q", name)
			}
			return
		}
		for _, key := range slices.Sorted(maps.Keys(doc)) {
			c.placed(path+"/"+key, doc[key], inputs)
		}
	case []any:
		for i, inner := range doc {
			c.placed(pointer(path, i), inner, inputs)
		}
	}
}

func pointer(path string, i int) string {
	raw, _ := json.Marshal(i) // a number: it cannot fail
	return path + "/" + string(raw)
}
