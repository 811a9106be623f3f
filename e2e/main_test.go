package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/mcp"
	"liminal/internal/tool"
)

// mcpClient is the word that makes the test binary a client of an MCP server: it calls
// each of the tools that the protocol's conformance suite of clients has.
const mcpClient = "mcp-client"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == mcpClient {
		if err := callEverything(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// callEverything lists the tools of the server at an address with the client that calls
// tools of mcp.server artifacts, and calls each.
func callEverything(address string) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	doc := fmt.Sprintf(`{"kind":"mcp.server","title":"The suite","http":{"url":%q}}`, address)
	described, err := tool.DecodeMCPServer([]byte(doc))
	if err != nil {
		return err
	}
	at := mcp.Server{Viewer: identity.Viewer{UserID: "00000000-0000-4000-8000-000000000001"}, Name: "suite", MCPServer: described}
	c := mcp.New(mcp.Options{Operator: map[string]mcp.Entry{"suite": {URL: address}}})
	tools, err := c.Tools(ctx, at)
	if err != nil {
		return err
	}
	for _, t := range tools {
		call := mcp.Call{Server: at, Tool: t.Name, SHA256: t.SHA256(), Idempotent: true, Inputs: map[string]any{"a": 2, "b": 3}}
		out, err := c.Call(ctx, call)
		if err != nil {
			return err
		}
		if question, asked := out["interrupt"].(map[string]any); asked { // what has a default is left out
			call.Resume = map[string]any{"state": question["state"], "answer": map[string]any{}}
			if out, err = c.Call(ctx, call); err != nil {
				return err
			}
		}
		fmt.Println(t.Name, out)
	}
	return nil
}
