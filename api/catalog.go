package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"liminal/artifacts"
)

// Specs describes every operation of the API document as a tool.spec, so that
// a model can look up what there is and how it is called (API-11). They are
// artifacts to be read, named api.<operation>; they make nothing callable.
// Equal programs give equal documents.
func Specs() ([]artifacts.Seed, error) {
	raw, err := newServer(Options{}).huma.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("the API document: %w", err)
	}
	var doc openAPI
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("the API document: %w", err)
	}
	var seeds []artifacts.Seed
	for path, methods := range doc.Paths {
		if !catalogued(path) {
			continue
		}
		for method, op := range methods {
			seed, err := doc.spec(strings.ToUpper(method), path, op)
			if err != nil {
				return nil, fmt.Errorf("the spec of %s %s: %w", method, path, err)
			}
			seeds = append(seeds, seed)
		}
	}
	slices.SortFunc(seeds, func(a, b artifacts.Seed) int { return strings.Compare(a.Name, b.Name) })
	return seeds, nil
}

// catalogued reports whether the operations at a path are described to models. The
// Agent Protocol and AG-UI are what others call these same things; some of it
// answers with lists.
func catalogued(path string) bool {
	return !strings.HasPrefix(path, langgraphPath+"/") && !strings.HasPrefix(path, aguiPath+"/")
}

// openAPI is what Specs reads of the document.
type openAPI struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]any }
}

type operation struct {
	OperationID string
	Summary     string
	Parameters  []struct {
		Name, In, Description string
		Required              bool
		Schema                map[string]any
	}
	RequestBody struct {
		Required bool
		Content  map[string]struct{ Schema any }
	}
	Responses map[string]struct {
		Description string
		Content     map[string]struct{ Schema any }
	}
}

func (d *openAPI) spec(method, path string, op operation) (artifacts.Seed, error) {
	name, about := "api."+snake(op.OperationID), method+" "+path+": "+op.Summary
	doc, err := json.MarshalIndent(map[string]any{
		"kind": artifacts.KindTool, "name": name, "description": about,
		"input_schema": d.input(op), "output_schema": d.output(op),
		"read_only": method == "GET", "idempotent": method == "GET" || method == "DELETE",
	}, "", "  ")
	return artifacts.Seed{Type: artifacts.KindTool, Name: name, Description: about, Schema: doc}, err
}

// input is an object of the parameters, and of the body under "body".
func (d *openAPI) input(op operation) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range op.Parameters {
		schema := map[string]any{"description": strings.TrimSpace(p.In + " " + p.Description)}
		for key, value := range p.Schema {
			if key != "description" {
				schema[key] = value
			}
		}
		properties[p.Name] = schema
		if p.Required {
			required = append(required, p.Name)
		}
	}
	for _, content := range []string{"application/json", "multipart/form-data"} {
		if body, ok := op.RequestBody.Content[content]; ok {
			properties["body"] = body.Schema
			if op.RequestBody.Required {
				required = append(required, "body")
			}
		}
	}
	slices.Sort(required)
	return d.closed(map[string]any{"type": "object", "properties": properties, "required": required})
}

// output is the envelope of an answer; what answers in another form says so.
func (d *openAPI) output(op operation) map[string]any {
	answers := op.Responses["200"]
	if whole := d.object(answers.Content["application/json"].Schema); whole != nil {
		return d.closed(whole)
	}
	about := answers.Description
	for _, content := range slices.Sorted(maps.Keys(answers.Content)) {
		about = content + ": " + about
	}
	if about == "" {
		about = "another protocol"
	}
	return map[string]any{"type": "object", "description": about}
}

// object is the schema itself, or what it refers to; nil when there is none.
func (d *openAPI) object(schema any) map[string]any {
	whole, _ := schema.(map[string]any)
	if ref, ok := whole["$ref"].(string); ok {
		whole, _ = d.Components.Schemas[strings.TrimPrefix(ref, components)].(map[string]any)
	}
	return whole
}

const (
	components  = "#/components/schemas/"
	definitions = "#/definitions/"
)

// closed is a schema that stands by itself: what it refers to is in it.
func (d *openAPI) closed(schema map[string]any) map[string]any {
	found := map[string]any{}
	whole, _ := d.resolved(schema, found).(map[string]any)
	if len(found) > 0 {
		whole["definitions"] = found
	}
	return whole
}

// resolved is a part of a schema with its references turned to found, which
// gathers what they refer to.
func (d *openAPI) resolved(part any, found map[string]any) any {
	switch part := part.(type) {
	case map[string]any:
		out := make(map[string]any, len(part))
		for key, value := range part {
			name, refers := "", false
			if ref, ok := value.(string); ok && key == "$ref" {
				name, refers = strings.CutPrefix(ref, components)
			}
			if !refers {
				out[key] = d.resolved(value, found)
				continue
			}
			out[key] = definitions + name
			if _, known := found[name]; !known {
				found[name] = true // before what it holds: it may hold itself
				found[name] = d.resolved(d.Components.Schemas[name], found)
			}
		}
		return out
	case []any:
		out := make([]any, len(part))
		for i, value := range part {
			out[i] = d.resolved(value, found)
		}
		return out
	}
	return part
}

// snake turns listRuns into list_runs, and enableMFA into enable_mfa.
func snake(name string) string {
	var b strings.Builder
	upper := true
	for i, r := range name {
		if unicode.IsUpper(r) && !upper && i > 0 {
			b.WriteByte('_')
		}
		upper = unicode.IsUpper(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
