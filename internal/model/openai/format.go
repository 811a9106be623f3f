package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// format binds the answer to the schema. LoRAX has a form of its own.
func (q *question) format() map[string]any {
	if q.req.Schema == nil {
		return nil
	}
	if q.dialect.Name == "lorax" {
		return map[string]any{"type": "json_object", "schema": q.req.Schema}
	}
	return map[string]any{"type": "json_schema", "json_schema": map[string]any{
		"name": "answer", "schema": q.req.Schema, "strict": strict(q.req.Schema),
	}}
}

// asJSON asks for what a server that refuses response_format is not bound to.
func asJSON(schema json.RawMessage) string {
	return "Answer with one JSON document and nothing else: no words before or behind it, no code fence. It must be valid under this JSON Schema:\n" + string(schema)
}

// strictWords are the keywords of a schema that OpenAI's strict form knows.
var strictWords = strings.Fields(`type properties required additionalProperties items enum const anyOf description title
$ref $defs pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems`)

// strict reports whether a schema can be asked for in the strict form: every
// object names all its properties, requires each and allows no other.
func strict(schema json.RawMessage) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root["type"] != "object" {
		return false
	}
	return strictObject(root)
}

func strictObject(s map[string]any) bool {
	for word := range s {
		if !slices.Contains(strictWords, word) {
			return false
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if s["type"] == "object" && (s["additionalProperties"] != false || !allRequired(s["required"], properties)) {
		return false
	}
	parts := []any{s["items"], s["anyOf"]}
	definitions, _ := s["$defs"].(map[string]any)
	for _, group := range []map[string]any{properties, definitions} {
		for _, part := range group {
			parts = append(parts, part)
		}
	}
	return !slices.ContainsFunc(parts, func(part any) bool { return !strictPart(part) })
}

func strictPart(part any) bool {
	switch part := part.(type) {
	case nil:
		return true
	case map[string]any:
		return strictObject(part)
	case []any:
		return !slices.ContainsFunc(part, func(p any) bool { return !strictPart(p) })
	}
	return false
}

func allRequired(required any, properties map[string]any) bool {
	list, _ := required.([]any)
	for name := range properties {
		if !slices.Contains(list, any(name)) {
			return false
		}
	}
	return true
}

var fence = regexp.MustCompile("(?s)```[a-zA-Z]*\\s*\n(.*?)```")

// document takes the JSON document out of an answer that puts words or a code
// fence around it. An answer without one is itself: whoever asked checks it
// against the schema (LORA-27).
func document(answer string) string {
	if json.Valid([]byte(answer)) {
		return answer
	}
	if inside := fence.FindStringSubmatch(answer); inside != nil && json.Valid([]byte(inside[1])) {
		return strings.TrimSpace(inside[1])
	}
	for _, ends := range []string{"{}", "[]"} {
		from, to := strings.IndexByte(answer, ends[0]), strings.LastIndexByte(answer, ends[1])
		if from >= 0 && from < to && json.Valid([]byte(answer[from:to+1])) {
			return answer[from : to+1]
		}
	}
	return answer
}
