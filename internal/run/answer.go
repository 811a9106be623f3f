package run

import (
	"encoding/json"
	"slices"
	"strings"
)

// Answer is what a person says to a question (INT-07, INT-32). The API hands
// it to the engine, which checks it against the pending interrupt.
type Answer struct {
	Type   string // doc_choice, text_input, action_choice, retrieval_low, …, form; empty: not checked
	Value  any    // JSON-ready; nil is null
	Cancel bool   // the person skipped the question: the run goes on with null (INT-09)
}

// maxWords bounds what FormWords gives, in bytes: it stands in a line of the
// conversation, and the whole answer beside it.
const maxWords = 4 << 10

// form is what FormWords reads of a JSON Schema.
type form struct {
	Title      string          `json:"title"`
	Properties map[string]form `json:"properties"`
	Required   []string        `json:"required"`
	Order      []string        `json:"x-order"`
	Items      *form           `json:"items"`
	OneOf      []form          `json:"oneOf"`
	AnyOf      []form          `json:"anyOf"`
	Const      any             `json:"const"`
}

// FormWords is an answer that a person gave in a form, as a line of the
// conversation: each field with its title, in the form's order. It is empty for
// an answer that is no object, and of a schema that is written in another way the
// names stand for the titles. The same answer has the same words always: runs
// are replayed.
func FormWords(schema json.RawMessage, answer any) string {
	object, ok := answer.(map[string]any)
	if !ok {
		return ""
	}
	var f form
	_ = json.Unmarshal(schema, &f) // what cannot be read has no titles
	words := f.words(object, "; ")
	if len(words) > maxWords {
		words = strings.ToValidUTF8(words[:maxWords], "") + "…"
	}
	return words
}

func (f form) words(object map[string]any, between string) string {
	var said []string
	for _, name := range f.names(object) {
		field := f.Properties[name]
		words := field.value(object[name])
		if words == "" {
			continue
		}
		title := field.Title
		if title == "" {
			title = name
		}
		said = append(said, title+": "+words)
	}
	return strings.Join(said, between)
}

// names are the members of an answer in the order of the form's fields: that of
// x-order, then of required, then of the names, so that no order comes of the
// range.
//
//workflowcheck:ignore
func (f form) names(object map[string]any) []string {
	var names, rest []string
	for _, name := range slices.Concat(f.Order, f.Required) {
		if _, there := object[name]; there && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range object {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}

func (f form) value(v any) string {
	for _, choice := range slices.Concat(f.OneOf, f.AnyOf) {
		if text, ok := v.(string); ok && choice.Const == text && choice.Title != "" {
			return choice.Title
		}
	}
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		return map[bool]string{true: "✓", false: "✗"}[x] // the same in every language
	case []any:
		item := form{}
		if f.Items != nil {
			item = *f.Items
		}
		words := make([]string, len(x))
		for i, e := range x {
			words[i] = item.value(e)
		}
		return strings.Join(words, ", ")
	case map[string]any:
		return "(" + f.words(x, ", ") + ")"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
