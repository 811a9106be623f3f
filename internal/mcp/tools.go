package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is a tool as its server tells it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// toolOf reads what the library read.
func toolOf(t *sdk.Tool) (Tool, error) {
	out := Tool{Name: t.Name, Description: t.Description}
	var err error
	marshal := func(v any) json.RawMessage {
		raw, failed := json.Marshal(v)
		if failed != nil {
			err = failed
		}
		return raw
	}
	out.Input = marshal(t.InputSchema)
	if t.OutputSchema != nil {
		out.Output = marshal(t.OutputSchema)
	}
	if t.Annotations != nil {
		out.Annotations = marshal(t.Annotations)
	}
	return out, err
}

// SHA256 is of all a server says of the tool, in hex: name, description, schemas,
// annotations. The order of members does not count.
func (t Tool) SHA256() string {
	raw, _ := json.Marshal(t) // of texts and JSON
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func compareText(a, b string) int { return strings.Compare(a, b) }

// find is the tool of a name.
func find(tools []Tool, name string) (Tool, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
