package palace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// decoded is a JSON value whose numbers are as they were written; nil for what is none.
func decoded(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// canonical is what stays the same of a block that a client sends again: where the
// prompt cache is to break moves, keys come in another order, a text stands alone or
// as a list, and what is null may be left out.
func canonical(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if name == "cache_control" || value == nil {
				continue
			}
			out[name] = canonical(value)
		}
		if text, ok := out["content"].(string); ok && out["type"] == "tool_result" {
			out["content"] = texts(text)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = canonical(value)
		}
		return out
	}
	return v
}

func texts(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }

// hashOfBlock is the hash of a block as whoever's it is says it.
func hashOfBlock(role string, v any) string {
	raw, err := json.Marshal(canonical(v))
	if err != nil {
		panic(err) // of what was JSON
	}
	return hashOf(append(append([]byte(role), 0), raw...))
}

// digests are the hashes of the first n parts together, for each n.
func digests(parts []part) []string {
	out := make([]string, len(parts)+1)
	last := sha256.Sum256(nil)
	out[0] = hex.EncodeToString(last[:])
	for i, p := range parts {
		last = sha256.Sum256(append(last[:], p.hash...))
		out[i+1] = hex.EncodeToString(last[:])
	}
	return out
}
