package expr

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// exact is the largest whole number a float64 holds without loss: below it
// ints and floats are the same numbers.
const exact = 1 << 53

func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case float32:
		return float64(n), true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case int32:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

func toInt(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case int32:
		return int64(n), true
	case json.Number:
		i, err := strconv.ParseInt(string(n), 10, 64)
		if err == nil {
			return i, true
		}
	}
	f, ok := toFloat(v)
	if ok && f == math.Trunc(f) && math.Abs(f) <= exact {
		return int64(f), true
	}
	return 0, false
}

func toList(v any) ([]any, bool) {
	switch l := v.(type) {
	case []any:
		return l, true
	case []string:
		return widen(l), true
	case []float64:
		return widen(l), true
	case []float32:
		return widen(l), true
	case []map[string]any:
		return widen(l), true
	}
	return nil, false
}

func widen[T any](l []T) []any {
	out := make([]any, len(l))
	for i, v := range l {
		out[i] = v
	}
	return out
}

// vector reads a list of numbers; nil is the empty vector.
func vector(v any) ([]float64, bool) {
	switch l := v.(type) {
	case nil:
		return nil, true
	case []float64:
		return l, true
	}
	list, ok := toList(v)
	out := make([]float64, len(list))
	for i, e := range list {
		f, isNumber := toFloat(e)
		if !isNumber {
			return nil, false
		}
		out[i] = f
	}
	return out, ok
}

func truth(v any) (value, ok bool) {
	if v == nil {
		return false, true
	}
	value, ok = v.(bool)
	return value, ok
}

func length(v any) (int, bool) {
	switch x := v.(type) {
	case nil:
		return 0, true
	case string:
		return utf8.RuneCountInString(x), true
	case map[string]any:
		return len(x), true
	case []any:
		return len(x), true
	}
	list, ok := toList(v)
	return len(list), ok
}

// kind names a value for a sentence.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a truth value"
	case map[string]any:
		return "an object"
	}
	if _, ok := toFloat(v); ok {
		return "a number"
	}
	if _, ok := toList(v); ok {
		return "a list"
	}
	return "a value of no JSON type"
}
