package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// MCP calls a tool of a server that speaks the Model Context Protocol.
type MCP struct {
	Server string `json:"server"` // the name of an mcp.server
	Tool   string `json:"tool"`   // what the server calls it
	SHA256 string `json:"sha256"` // of the tool as it was approved, in hex
}

// MCPServer is an mcp.server document: exactly one of HTTP and Stdio is set.
type MCPServer struct {
	Kind  string `json:"kind"` // "mcp.server"
	Title string `json:"title"`
	HTTP  *struct {
		URL string `json:"url"`
	} `json:"http,omitempty"`
	Stdio *struct {
		Name string `json:"name"` // an entry of the operator's file
	} `json:"stdio,omitempty"`
	Auth MCPAuth `json:"auth,omitzero"`
}

// MCPAuth is what goes along with a request to an MCP server: nothing, or one of
// a secret of the house's and an account of the call's person. It is written as
// "none", or as an object.
type MCPAuth struct {
	Secret     string `json:"secret,omitempty"`     // by its name
	Connection string `json:"connection,omitempty"` // the name of a connection.spec
}

// UnmarshalJSON takes "none" for nothing.
func (a *MCPAuth) UnmarshalJSON(raw []byte) error {
	type plain MCPAuth
	*a = MCPAuth{}
	if word := ""; json.Unmarshal(raw, &word) == nil {
		if word != "none" {
			return errors.New("auth is neither none nor an object")
		}
		return nil
	}
	return json.Unmarshal(raw, (*plain)(a))
}

// DecodeMCPServer reads an mcp.server.
func DecodeMCPServer(doc []byte) (MCPServer, error) {
	var s MCPServer
	if err := json.Unmarshal(doc, &s); err != nil {
		return MCPServer{}, fmt.Errorf("the mcp.server is not readable: %w", err)
	}
	if (s.HTTP == nil) == (s.Stdio == nil) {
		return MCPServer{}, errors.New("an mcp.server has one of http and stdio")
	}
	return s, nil
}

// MaxMCPName bounds the name of an mcp.server, in bytes: it is a part of the names
// of its tools.
const MaxMCPName = 24

var mcpName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// IsMCPName reports whether an mcp.server can be called so.
func IsMCPName(name string) bool { return len(name) <= MaxMCPName && mcpName.MatchString(name) }
