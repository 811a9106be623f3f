package artifacts

import (
	"bytes"
	"encoding/json"
)

// Unkept reports whether the surface of a workflow.chat says that nothing is
// kept of what is said there (GRND-47, C-34).
func Unkept(workflow json.RawMessage) bool {
	if !bytes.Contains(workflow, []byte(KeepsNothing)) && !bytes.Contains(workflow, []byte(`\u`)) {
		return false // each turn asks, and hardly any document has the word, however it is written
	}
	var doc struct {
		Surface struct {
			Keeps string `json:"keeps"`
		} `json:"surface"`
	}
	return json.Unmarshal(workflow, &doc) == nil && doc.Surface.Keeps == KeepsNothing
}
