package anthropic

import (
	"encoding/json"
	"maps"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// answerTool is the tool a model is made to call where it cannot keep to a
// schema by itself: its input is the answer. No tool of ours has a space.
const answerTool = "give answer"

// format asks for JSON under a schema: by the model's own output format where
// that can say the schema, else by the input of a tool.
func (q *question) format(schema json.RawMessage, v version) {
	if len(schema) == 0 {
		return
	}
	var doc map[string]any
	if json.Unmarshal(schema, &doc) == nil && v.formatted() {
		if format, ok := strict(doc); ok {
			q.params.OutputConfig.Format = sdk.JSONOutputFormatParam{Schema: format}
			return
		}
	}
	q.forced = true
	name := q.names.Send(answerTool)
	q.tool(name, "Gives the answer. It is called exactly once.", schema)
	q.params.ToolChoice = sdk.ToolChoiceParamOfTool(name)
}

// kept are the words of a schema the output format knows; those that only
// bound a value are dropped, because whoever asked checks the answer. Any other
// word would change what is valid.
var (
	kept    = []string{"type", "enum", "const", "description", "title", "properties", "required", "items", "anyOf", "additionalProperties"}
	dropped = []string{
		"$schema", "$id", "default", "examples", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems",
	}
)

// strict says a schema in the words of the output format; false when it
// cannot, as for an object whose keys are not known.
func strict(schema map[string]any) (map[string]any, bool) {
	out := make(map[string]any, len(schema))
	for _, word := range slices.Sorted(maps.Keys(schema)) {
		switch {
		case slices.Contains(dropped, word):
		case !slices.Contains(kept, word):
			return nil, false
		default:
			out[word] = schema[word]
		}
	}
	_, named := out["properties"]
	if typeHas(out["type"], "object") || named {
		if !named || open(out["additionalProperties"]) {
			return nil, false
		}
		out["additionalProperties"] = false
	}
	return out, strictInside(out)
}

// open reports whether an object may have keys that are not named. A schema
// that does not say is taken as closed: nobody looks for what was not asked.
func open(additional any) bool {
	may, said := additional.(bool)
	return additional != nil && (!said || may)
}

func typeHas(t any, word string) bool {
	list, _ := t.([]any)
	return t == word || slices.Contains(list, any(word))
}

// strictInside replaces the schemas within a schema.
func strictInside(out map[string]any) bool {
	if properties, ok := out["properties"].(map[string]any); ok {
		inner := make(map[string]any, len(properties))
		for name, s := range properties {
			if inner[name], ok = strictAny(s); !ok {
				return false
			}
		}
		out["properties"] = inner
	}
	if items, ok := out["items"]; ok {
		if out["items"], ok = strictAny(items); !ok {
			return false
		}
	}
	some, ok := out["anyOf"].([]any)
	if !ok {
		return true
	}
	inner := make([]any, len(some))
	for i, s := range some {
		if inner[i], ok = strictAny(s); !ok {
			return false
		}
	}
	out["anyOf"] = inner
	return true
}

// strictAny is strict for a value; a schema that allows anything is not one.
func strictAny(s any) (map[string]any, bool) {
	schema, ok := s.(map[string]any)
	if !ok || len(schema) == 0 {
		return nil, false
	}
	return strict(schema)
}
