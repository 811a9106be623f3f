package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Sum is the SHA-256 of bytes, in hexadecimal.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// nameLength is how much of a sum names a file: no two clients of a machine share it.
const nameLength = 32

// FileName is what the plans and the epochs of a client are called in views/ and
// epochs/.
func FileName(client string) string { return Sum([]byte(client))[:nameLength] + ".json" }

// Decoded is a JSON value whose numbers are as they were written; nil for what is none.
func Decoded(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// Canonical is what stays the same of a block that a client sends again: where the
// prompt cache is to break moves, keys come in another order, a text stands alone or
// as a list, and what is null may be left out.
func Canonical(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if name == "cache_control" || value == nil {
				continue
			}
			out[name] = Canonical(value)
		}
		if text, ok := out["content"].(string); ok && out["type"] == "tool_result" {
			out["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = Canonical(value)
		}
		return out
	}
	return v
}

// HashBlock is the hash of a block as whoever's it is says it.
func HashBlock(role string, v any) string {
	raw, err := json.Marshal(Canonical(v))
	if err != nil { // of what was JSON
		return ""
	}
	return Sum(append(append([]byte(role), 0), raw...))
}

// HashResult is the hash of what a result says, whichever use it answers.
func HashResult(role string, result map[string]any) string {
	return HashBlock(role, map[string]any{"type": result["type"], "content": result["content"], "is_error": result["is_error"]})
}

// SumOf is the sum of what a tool_result of a user's message says, by which a
// Replacement knows it; "" for what is none.
func SumOf(result []byte) string {
	v, ok := Decoded(result).(map[string]any)
	if !ok || v["type"] != "tool_result" {
		return ""
	}
	return HashResult("user", v)
}
