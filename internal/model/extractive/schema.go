package extractive

import (
	"encoding/json"
	"math"
	"slices"
)

// shape is the part of JSON Schema needed to answer under one.
type shape struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	Items      *shape            `json:"items"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MinItems   int               `json:"minItems"`
	Default    any               `json:"default"`
}

// filled is an object valid under schema (empty: any object) that holds as
// much of known as the schema has a place for. Required properties nothing is
// known about get the schema's default, or the least value of their type.
func filled(schema json.RawMessage, known map[string]any) map[string]any {
	var s shape
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return known
	}
	left := maxValues
	return s.object(known, 0, &left)
}

// maxNesting bounds schemas that nest without end, and maxValues what all the
// lists they ask for multiply to.
const (
	maxNesting = 12
	maxValues  = 10_000
)

func (s *shape) object(known map[string]any, depth int, left *int) map[string]any {
	*left -= len(s.Required)
	out := map[string]any{}
	for name, p := range s.Properties {
		if p == nil {
			continue
		}
		if v, ok := known[name]; ok && p.takes(v) {
			out[name] = p.clamp(v)
		} else if slices.Contains(s.Required, name) {
			out[name] = p.least(depth+1, left)
		}
	}
	for _, name := range s.Required {
		if _, ok := out[name]; !ok {
			out[name] = ""
		}
	}
	return out
}

func (s *shape) takes(v any) bool {
	if len(s.Enum) > 0 {
		return slices.ContainsFunc(s.Enum, func(e any) bool { return same(e, v) })
	}
	switch x := v.(type) {
	case string:
		return s.is("string")
	case float64:
		return s.is("number")
	case bool:
		return s.is("boolean")
	case []any:
		return s.is("array") && (s.Items == nil || !slices.ContainsFunc(x, func(e any) bool { return !s.Items.takes(e) }))
	}
	return false
}

// same compares what a schema allows with a value. Lists and objects are never
// chosen from known.
func same(a, b any) bool {
	switch a.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// asks reports whether a schema has a place for a property.
func asks(schema json.RawMessage, property string) bool {
	var s shape
	return json.Unmarshal(schema, &s) == nil && s.Properties[property] != nil
}

func (s *shape) is(t string) bool {
	switch have := s.Type.(type) {
	case string:
		return have == t
	case []any:
		return slices.Contains(have, any(t))
	}
	return s.Type == nil
}

func (s *shape) clamp(v any) any {
	f, ok := v.(float64)
	if !ok {
		return v
	}
	if s.Minimum != nil {
		f = math.Max(f, *s.Minimum)
	}
	if s.Maximum != nil {
		f = math.Min(f, *s.Maximum)
	}
	return f
}

// least is the plainest value the schema allows; of an enum the last, where
// authors put "other".
func (s *shape) least(depth int, left *int) any {
	*left--
	switch {
	case s.Const != nil:
		return s.Const
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.is("null"):
		return nil
	case depth > maxNesting, *left < 0:
		return nil
	case s.is("string"):
		return ""
	case s.is("boolean"):
		return false
	case s.is("number"), s.is("integer"):
		return s.clamp(0.0)
	case s.is("array"):
		return s.list(depth, left)
	}
	return s.object(nil, depth, left)
}

func (s *shape) list(depth int, left *int) []any {
	out := []any{}
	for range min(s.MinItems, maxNesting) {
		if *left < 0 {
			break
		}
		if s.Items == nil {
			out = append(out, "")
			continue
		}
		out = append(out, s.Items.least(depth+1, left))
	}
	return out
}
