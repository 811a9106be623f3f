package tool

import (
	"encoding/json"
	"strconv"
	"strings"
)

// put writes values into a document: an object whose only member is key stands
// for what find gives; one that finds nothing is left out of the object or list
// it is in.
func put(doc any, key string, find func(string) (any, bool)) any {
	v, _ := putIn(doc, key, find)
	return v
}

// PutAll writes values into a document by several keys at once: find is given the
// key and what stands under it. {"$text": [parts]} is its parts as one text, and is
// left out where one of them is.
func PutAll(doc any, find map[string]func(string) (any, bool)) any {
	v, _ := putAllIn(doc, find)
	return v
}

func putAllIn(doc any, find map[string]func(string) (any, bool)) (v any, ok bool) {
	switch doc := doc.(type) {
	case map[string]any:
		if len(doc) == 1 {
			for key, get := range find {
				if name, is := doc[key].(string); is {
					return get(name)
				}
			}
			if parts, is := doc["$text"].([]any); is {
				return joined(parts, find)
			}
		}
		out := make(map[string]any, len(doc))
		for k, inner := range doc {
			if v, ok := putAllIn(inner, find); ok {
				out[k] = v
			}
		}
		return out, true
	case []any:
		out := make([]any, 0, len(doc))
		for _, inner := range doc {
			if v, ok := putAllIn(inner, find); ok {
				out = append(out, v)
			}
		}
		return out, true
	}
	return doc, true
}

func joined(parts []any, find map[string]func(string) (any, bool)) (any, bool) {
	var text strings.Builder
	for _, part := range parts {
		v, ok := putAllIn(part, find)
		if !ok {
			return nil, false
		}
		if s, is := v.(string); is {
			text.WriteString(s)
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, false
		}
		text.Write(raw)
	}
	return text.String(), true
}

func putIn(doc any, key string, find func(string) (any, bool)) (v any, ok bool) {
	switch doc := doc.(type) {
	case map[string]any:
		if name, is := doc[key].(string); is && len(doc) == 1 {
			return find(name)
		}
		out := make(map[string]any, len(doc))
		for k, inner := range doc {
			if v, ok := putIn(inner, key, find); ok {
				out[k] = v
			}
		}
		return out, true
	case []any:
		out := make([]any, 0, len(doc))
		for _, inner := range doc {
			if v, ok := putIn(inner, key, find); ok {
				out = append(out, v)
			}
		}
		return out, true
	}
	return doc, true
}

// At finds a part of a JSON value by a pointer, "" being the whole.
func At(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[step]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in) {
				return nil, false
			}
			v = in[n]
		default:
			return nil, false
		}
	}
	return v, true
}
