package graph

import (
	"encoding/json"
	"slices"
	"strings"
)

// A text that a graph shows to a person may be given by language: an object of
// texts such as {"en": "Which?", "de": "Welche?"}. Which of them a person reads
// is settled where they are asked; a language left out reads the English.

// english is the language that is always there.
const english = "en"

// byLanguage reads a text by language; false for any other value. An object is
// one only with English in it, so that others are told as they always were.
func byLanguage(v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	if _, there := m[english]; !ok || !there {
		return nil, false
	}
	for _, code := range sortedKeys(m) {
		if _, isText := m[code].(string); !isText || !isLanguage(code) {
			return nil, false
		}
	}
	return m, true
}

// isLanguage reports whether s is written as the code of a language: en, de-AT.
func isLanguage(s string) bool {
	code, region, _ := strings.Cut(s, "-")
	letters := func(r rune) bool { return r < 'a' || r > 'z' }
	return (len(code) == 2 || len(code) == 3) && !strings.ContainsFunc(code, letters) && len(region) <= 8
}

// inLanguage is v, or of a text by language the text in that language.
func inLanguage(v any, language string) any {
	m, ok := byLanguage(v)
	if !ok {
		return v
	}
	base, _, _ := strings.Cut(language, "-")
	for _, code := range []string{language, base} {
		if text, ok := m[code].(string); ok && text != "" {
			return text
		}
	}
	return m[english]
}

// language is what the run's person reads; empty where nobody said.
func (r *Run) language() string {
	code, _ := r.state.User["locale"].(string)
	return code
}

// The members of a JSON Schema that hold schemas, and those that hold objects of
// them. What else it holds is left as it is: a value may look like a text by
// language, and a member may be called title.
var (
	holdSchema  = []string{"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else", "allOf", "anyOf", "oneOf"}
	holdSchemas = []string{"properties", "patternProperties", "definitions", "dependencies"}
)

// SchemaIn is a JSON Schema whose titles and descriptions are in one language,
// where they are given by language. Nothing else of it is another, and the one
// that is given is not changed.
func SchemaIn(schema any, language string) any {
	switch x := schema.(type) {
	case []any: // of schemas, as in items and oneOf
		out := make([]any, len(x))
		for i, s := range x {
			out[i] = SchemaIn(s, language)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, key := range sortedKeys(x) {
			out[key] = memberIn(key, x[key], language)
		}
		return out
	}
	return schema
}

func memberIn(key string, v any, language string) any {
	switch {
	case key == "title" || key == "description":
		return inLanguage(v, language)
	case slices.Contains(holdSchema, key):
		return SchemaIn(v, language)
	case slices.Contains(holdSchemas, key):
		members, ok := v.(map[string]any)
		if !ok {
			return v
		}
		out := make(map[string]any, len(members))
		for _, name := range sortedKeys(members) {
			out[name] = SchemaIn(members[name], language)
		}
		return out
	}
	return v
}

// answerSchema is the schema of an answer as its person reads it.
func answerSchema(schema json.RawMessage, language string) json.RawMessage {
	var v any
	if len(schema) == 0 || json.Unmarshal(schema, &v) != nil {
		return schema
	}
	out, err := json.Marshal(SchemaIn(v, language))
	if err != nil {
		return schema
	}
	return out
}
