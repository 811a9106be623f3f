package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// formField is what the command line reads of a JSON Schema: what it says to a
// person, and how it reads what they write. The server checks the answer.
type formField struct {
	Type        any                  `json:"type"`
	Format      string               `json:"format"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Enum        []any                `json:"enum"`
	OneOf       []formField          `json:"oneOf"`
	Const       any                  `json:"const"`
	Properties  map[string]formField `json:"properties"`
	Required    []string             `json:"required"`
	Order       []string             `json:"x-order"`
	Items       *formField           `json:"items"`
}

// field is what the question takes; without a schema, a text.
func (q remoteQuestion) field() formField {
	var f formField
	_ = json.Unmarshal(q.Schema, &f) // what cannot be read is answered as JSON
	return f
}

// kind is the type, of several the first that is not null.
func (f formField) kind() string {
	switch t := f.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	if len(f.Properties) > 0 {
		return "object"
	}
	return ""
}

// names are the fields of a form, as its page has them.
func (f formField) names() []string {
	var names []string
	for _, name := range slices.Concat(f.Order, f.Required, slices.Sorted(maps.Keys(f.Properties))) {
		if _, there := f.Properties[name]; there && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// print lists the fields of a form, a group's after it.
func (f formField) print(b *strings.Builder, prefix string) {
	for _, name := range f.names() {
		field := f.Properties[name]
		if field.kind() == "object" && len(field.Properties) > 0 && prefix == "" {
			field.print(b, name+".")
			continue
		}
		about := field.takes()
		switch {
		case !slices.Contains(f.Required, name):
		case prefix == "":
			about += ", required"
		default:
			about += ", required with the others of its group"
		}
		fmt.Fprintf(b, "    %s%s=  %s", prefix, name, about)
		for _, words := range []string{field.Title, field.Description} {
			if words != "" {
				fmt.Fprintf(b, "; %s", words)
			}
		}
		b.WriteString("\n")
	}
}

// takes says what a field takes.
func (f formField) takes() string {
	var allowed []string
	for _, v := range f.Enum {
		allowed = append(allowed, fmt.Sprint(v))
	}
	for _, choice := range f.OneOf {
		if choice.Const != nil {
			allowed = append(allowed, fmt.Sprint(choice.Const))
		}
	}
	switch {
	case len(allowed) > 0:
		return strings.Join(allowed, " or ")
	case f.kind() == "array" && f.Items != nil:
		return "a list of " + f.Items.takes()
	case f.Format == "date":
		return "a date, as 2026-12-31"
	case f.kind() == "" || f.kind() == "object":
		return "JSON"
	case f.kind() == "boolean":
		return "true or false"
	case f.kind() == "string":
		return "text"
	default:
		return f.kind()
	}
}

// value is what a person wrote on the command line, as the answer the question
// takes.
func (q remoteQuestion) value(said []string) (any, error) {
	text := strings.Join(said, " ")
	if len(q.Options) > 0 || len(q.Schema) == 0 {
		return text, nil
	}
	f := q.field()
	if f.kind() != "object" {
		return f.read([]string{text}), nil
	}
	var whole any
	if len(said) == 1 && json.Unmarshal([]byte(text), &whole) == nil {
		return whole, nil
	}
	return f.object(said)
}

// object reads field=value.
func (f formField) object(said []string) (map[string]any, error) {
	given := map[string][]string{}
	for _, one := range said {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is neither a JSON object nor field=value", one)
		}
		given[name] = append(given[name], value)
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		group, member, grouped := strings.Cut(name, ".")
		within, known := f.Properties[group]
		if _, itself := f.Properties[name]; !itself && grouped && known && within.kind() == "object" {
			members, _ := out[group].(map[string]any)
			if members == nil {
				members = map[string]any{}
			}
			members[member] = within.Properties[member].read(given[name])
			out[group] = members
			continue
		}
		out[name] = f.Properties[name].read(given[name])
	}
	return out, nil
}

// read is what was written for a field. What is not of its type stays the text
// it is, so that the server says what is wrong with it.
func (f formField) read(said []string) any {
	last := said[len(said)-1]
	switch f.kind() {
	case "string":
		return last
	case "array":
		return f.list(said)
	case "integer", "number":
		if n, err := strconv.ParseFloat(last, 64); err == nil {
			return n
		}
	case "boolean":
		if yes, err := strconv.ParseBool(last); err == nil {
			return yes
		}
	default: // a choice of values of any type, or JSON
		for _, v := range f.Enum {
			if fmt.Sprint(v) == last {
				return v
			}
		}
		var v any
		if f.kind() != "" && json.Unmarshal([]byte(last), &v) == nil {
			return v
		}
	}
	return last
}

func (f formField) list(said []string) any {
	var whole []any
	if len(said) == 1 && json.Unmarshal([]byte(said[0]), &whole) == nil {
		return whole
	}
	if len(said) == 1 && said[0] == "" {
		return []any{}
	}
	if len(said) == 1 {
		said = strings.Split(said[0], ",")
	}
	var item formField
	if f.Items != nil {
		item = *f.Items
	}
	list := make([]any, len(said))
	for i, one := range said {
		list[i] = item.read([]string{one})
	}
	return list
}
