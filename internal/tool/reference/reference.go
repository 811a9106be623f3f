// Package reference reads the JSON Schemas of tools as a person looks them up:
// a row for each input and output, with its type, its bounds and what stands
// for it where it is left out.
//
// It imports the standard library only. It checks nothing: package schemas does.
package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Object is what a tool takes or gives.
type Object struct {
	About  string // of the whole
	Fields []Field
	Others bool   // there may be members beside the fields
	Bounds string // of the whole, such as "at most 100 members"
}

// Field is a member. Those of an object within stand behind it by their path:
// passages[].text.
type Field struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Allowed  []string `json:"allowed,omitempty"`  // the only values, as JSON but for texts, which have no quotes
	Required bool     `json:"required,omitempty"` // within what it is a member of
	Default  string   `json:"default,omitempty"`  // what stands for it where it is left out, in words
	Bounds   string   `json:"bounds,omitempty"`
	About    string   `json:"about,omitempty"`
}

// Read reads the schema of an object. Members of members are read down to depth;
// 1 is the object's own only.
func Read(doc json.RawMessage, depth int) (Object, error) {
	var s schema
	if err := json.Unmarshal(doc, &s); err != nil {
		return Object{}, fmt.Errorf("the schema cannot be read: %w", err)
	}
	r := reader{definitions: s.Definitions}
	r.members(&s, "", depth)
	return Object{
		About: s.Description, Fields: r.fields, Bounds: s.bounds(),
		Others: string(s.AdditionalProperties) != "false",
	}, nil
}

// schema is what of draft-07 the schemas of tools are made of.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 any                `json:"type"`
	Description          string             `json:"description"`
	Enum                 []json.RawMessage  `json:"enum"`
	Const                json.RawMessage    `json:"const"`
	Default              json.RawMessage    `json:"default"`
	Format               string             `json:"format"`
	Pattern              string             `json:"pattern"`
	MinLength            *float64           `json:"minLength"`
	MaxLength            *float64           `json:"maxLength"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
	MinItems             *float64           `json:"minItems"`
	MaxItems             *float64           `json:"maxItems"`
	MinProperties        *float64           `json:"minProperties"`
	MaxProperties        *float64           `json:"maxProperties"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	Items                *schema            `json:"items"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	AnyOf                []*schema          `json:"anyOf"`
	OneOf                []*schema          `json:"oneOf"`
	AllOf                []*schema          `json:"allOf"`
	Definitions          map[string]*schema `json:"definitions"`
}

// UnmarshalJSON takes true and false too, which are schemas of no words.
func (s *schema) UnmarshalJSON(doc []byte) error {
	if string(doc) == "true" || string(doc) == "false" {
		return nil
	}
	type plain schema
	return json.Unmarshal(doc, (*plain)(s))
}

type reader struct {
	definitions map[string]*schema
	fields      []Field
}

// members adds the members of an object, or of the objects in a list.
func (r *reader) members(s *schema, path string, depth int) {
	if depth == 0 {
		return
	}
	for _, v := range r.variants(s) {
		r.object(v, path, depth)
		for _, item := range r.items(v) {
			r.object(item, path+"[]", depth)
		}
	}
}

func (r *reader) object(s *schema, path string, depth int) {
	for _, name := range s.names() {
		at := name
		if path != "" {
			at = path + "." + name
		}
		if slices.ContainsFunc(r.fields, func(f Field) bool { return f.Name == at }) {
			continue
		}
		member := s.Properties[name]
		r.fields = append(r.fields, r.field(at, member, slices.Contains(s.Required, name)))
		r.members(member, at, depth-1)
	}
}

// names are the members, those first that must be there.
func (s *schema) names() []string {
	var rest []string
	for name, member := range s.Properties {
		if member != nil && !slices.Contains(s.Required, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	first := slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool { return s.Properties[name] == nil })
	return append(first, rest...)
}

func (r *reader) field(name string, s *schema, required bool) Field {
	f := Field{Name: name, Required: required, About: s.Description}
	var types, bounds []string
	for _, v := range r.variants(s) {
		add(&types, r.types(v)...)
		add(&bounds, v.bounds())
		if f.About == "" {
			f.About = v.Description
		}
		for _, of := range append([]*schema{v}, r.items(v)...) {
			add(&f.Allowed, of.allowed()...)
		}
		if v.Default != nil {
			f.Default = show(v.Default)
		}
	}
	f.Type, f.Bounds = strings.Join(types, " or "), strings.Join(bounds, ", ")
	if f.Type == "" {
		f.Type = "any"
	}
	if about, without, ok := withoutIt(f.About); ok && f.Default == "" && !required {
		f.About, f.Default = about, without
	}
	return f
}

// withoutIt takes what stands for a value that is left out from its
// description, where specs say it last: "how many pages; 5 without".
func withoutIt(about string) (rest, without string, ok bool) {
	cut, ok := strings.CutSuffix(about, " without")
	at := strings.LastIndex(cut, "; ")
	if !ok || at < 0 {
		return about, "", false
	}
	return cut[:at], cut[at+2:], true
}

// variants are a schema and those it chooses from, without what only refers to
// another one.
func (r *reader) variants(s *schema) []*schema {
	for range len(r.definitions) {
		to, ok := r.definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
		if s.Ref == "" || !ok {
			break
		}
		s = to
	}
	var out []*schema
	choices := slices.Concat(s.AnyOf, s.OneOf, s.AllOf)
	if s.Type != nil || s.Enum != nil || s.Const != nil || s.Properties != nil || len(choices) == 0 {
		out = append(out, s)
	}
	for _, one := range choices {
		out = append(out, r.direct(one))
	}
	return out
}

// direct is what a schema refers to, or itself.
func (r *reader) direct(s *schema) *schema {
	if to, ok := r.definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]; ok && s.Ref != "" {
		return to
	}
	return s
}

// items is the schema of a list's items, if it is a list of one kind.
func (r *reader) items(s *schema) []*schema {
	if s.Items == nil {
		return nil
	}
	return r.variants(s.Items)
}

// types are the names of what a value may be.
func (r *reader) types(s *schema) []string {
	var names []string
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, one := range t {
			add(&names, fmt.Sprint(one))
		}
	}
	for _, raw := range append(slices.Clone(s.Enum), s.Const) {
		if s.Type == nil && raw != nil {
			add(&names, typeOf(raw))
		}
	}
	for i, name := range names {
		if name != "array" {
			continue
		}
		var of []string
		for _, item := range r.items(s) {
			for _, t := range r.types(&schema{Type: item.Type, Enum: item.Enum, Const: item.Const}) {
				add(&of, t)
			}
		}
		if len(of) > 0 {
			names[i] = "array of " + strings.Join(of, " or ")
		}
	}
	return names
}

func typeOf(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v) // it was read as JSON before
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case nil:
		return "null"
	case []any:
		return "array"
	}
	return "object"
}

func (s *schema) allowed() []string {
	var out []string
	for _, raw := range append(slices.Clone(s.Enum), s.Const) {
		if raw != nil {
			add(&out, show(raw))
		}
	}
	return out
}

// show is a value as JSON, a text without its quotes.
func show(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return text
	}
	return string(raw)
}

// bounds are what a value may be, beyond its type.
func (s *schema) bounds() string {
	var out []string
	add(&out, span(s.Minimum, s.Maximum, ""), span(s.MinLength, s.MaxLength, " characters"),
		span(s.MinItems, s.MaxItems, " items"), span(s.MinProperties, s.MaxProperties, " members"))
	if !slices.Contains([]string{"int32", "int64", "double"}, s.Format) { // which say how a program holds it
		add(&out, s.Format)
	}
	if s.Pattern != "" {
		out = append(out, "matches "+s.Pattern)
	}
	return strings.Join(out, ", ")
}

func span(least, most *float64, unit string) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case least != nil && most != nil:
		return number(*least) + " to " + number(*most) + unit
	case least != nil && (*least > 0 || unit == ""):
		return "at least " + number(*least) + unit
	case most != nil:
		return "at most " + number(*most) + unit
	}
	return ""
}

// add appends what is not there yet and not empty.
func add(to *[]string, some ...string) {
	for _, one := range some {
		if one != "" && !slices.Contains(*to, one) {
			*to = append(*to, one)
		}
	}
}
