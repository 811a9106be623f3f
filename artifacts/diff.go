package artifacts

import (
	"encoding/json"

	"github.com/wI2L/jsondiff"

	"liminal/internal/fault"
)

// Diff gives the JSON Patch (RFC 6902) that makes after of before; null when
// they mean the same. Items that moved within a list are found again, so that a
// node put in between does not rewrite all that follow it.
func Diff(before, after json.RawMessage) (json.RawMessage, error) {
	ops, err := jsondiff.CompareJSON(before, after, jsondiff.LCS())
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The documents cannot be compared: %s.", err)
	}
	if len(ops) == 0 {
		return nil, nil
	}
	return json.Marshal(ops)
}
