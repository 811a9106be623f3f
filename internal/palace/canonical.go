package palace

import (
	"crypto/sha256"
	"encoding/hex"

	"liminal/internal/view"
)

func hashOf(b []byte) string { return view.Sum(b) }

// decoded is a JSON value whose numbers are as they were written; nil for what is none.
func decoded(raw []byte) any { return view.Decoded(raw) }

// hashOfBlock is the hash of a block as whoever's it is says it.
func hashOfBlock(role string, v any) string { return view.HashBlock(role, v) }

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
