package tool

import "encoding/json"

// plainObject gives m as JSON would: maps, lists, strings, numbers, bools and
// nil. Most values are plain already and are returned as they are.
func plainObject(m map[string]any) (map[string]any, error) {
	if m == nil {
		return map[string]any{}, nil
	}
	if isPlain(m) {
		return m, nil
	}
	doc, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(doc, &out); err != nil {
		return nil, err
	}
	return out, nil
}

func isPlain(v any) bool {
	switch x := v.(type) {
	case nil, bool, string, float64:
		return true
	case map[string]any:
		if x == nil {
			return false
		}
		for _, e := range x {
			if !isPlain(e) {
				return false
			}
		}
		return true
	case []any:
		if x == nil {
			return false
		}
		for _, e := range x {
			if !isPlain(e) {
				return false
			}
		}
		return true
	}
	return false
}
