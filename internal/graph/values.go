package graph

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"liminal/internal/fault"
)

// maxNesting bounds how deep values nest, well below encoding/json's 10,000.
const maxNesting = 500

// normal copies a value into the shape JSON gives it: objects, lists, strings,
// float64, bool, null. A run that was restored from a snapshot must see the
// same values as one that was not, so numbers lose their Go type here and not
// at a border somebody else chooses. Values deeper than maxNesting are null: no
// decoder would read them back.
func normal(v any, depth int) any {
	if depth > maxNesting {
		return nil
	}
	switch x := v.(type) {
	case nil, bool:
		return v
	case string:
		return validText(x)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return x
	case int:
		return float64(x)
	case int64:
		return float64(x)
	case map[string]any:
		return normalObject(x, depth)
	case []any:
		if x == nil {
			return nil
		}
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = normal(e, depth+1)
		}
		return out
	}
	return throughJSON(v, depth)
}

func normalObject(m map[string]any, depth int) any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for _, key := range sortedKeys(m) {
		out[validText(key)] = normal(m[key], depth+1)
	}
	return out
}

// mapOf is normal for a top-level map; nil becomes empty.
func mapOf(m map[string]any) map[string]any {
	out, _ := normalObject(m, 0).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	return out
}

// throughJSON normalises what only encoding/json knows how to read, such as
// typed lists and structs; what it refuses becomes null.
func throughJSON(v any, depth int) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return normal(out, depth)
}

// nesting is how many levels of lists and objects a value has.
func nesting(v any) int {
	deepest := 0
	switch x := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(x) {
			deepest = max(deepest, nesting(x[key]))
		}
	case []any:
		for _, e := range x {
			deepest = max(deepest, nesting(e))
		}
	default:
		return 0
	}
	return deepest + 1
}

// validText replaces each invalid byte as encoding/json does.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func validSaid(s *fault.Sentence) *fault.Sentence {
	if s == nil {
		return nil
	}
	valid := fault.Sentence{Text: validText(s.Text), Values: make([]string, len(s.Values))}
	for i, v := range s.Values {
		valid.Values[i] = validText(v)
	}
	return &valid
}

// weight is how many elements a value has, strings counted by 64 bytes. A sum
// is the same in any order.
//
//workflowcheck:ignore
func weight(v any) int {
	sum := 1
	switch x := v.(type) {
	case string:
		sum += len(x) / 64
	case map[string]any:
		for _, e := range x {
			sum += weight(e)
		}
	case []any:
		for _, e := range x {
			sum += weight(e)
		}
	}
	return sum
}

// copied is a deep copy of a normal value: effects leave the machine, and what
// their reader does to them must not reach the state.
func copied(v any) any {
	switch x := v.(type) {
	case map[string]any:
		return copiedObject(x)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = copied(e)
		}
		return out
	}
	return v
}

// copiedObject is a copy, and so the same in any order: to sort the keys of
// large objects first would cost more than all the rest of a step, whose time
// Temporal bounds.
//
//workflowcheck:ignore
func copiedObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for key, v := range m {
		out[key] = copied(v)
	}
	return out
}

// sortedKeys is the range over a map wherever its order could be seen: the one
// it gives does not depend on the map's.
//
//workflowcheck:ignore
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer escapes a key for a JSON pointer.
func pointer(key string) string { return pointerEscape.Replace(key) }
