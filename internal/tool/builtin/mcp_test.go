package builtin_test

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/mcp"
	"liminal/internal/tool"
)

// servers are MCP servers of which one has a tool, whose proposal waits.
type servers struct{}

func (servers) Call(context.Context, mcp.Call) (map[string]any, error) {
	return map[string]any{"text": "hello"}, nil
}

func (servers) Import(_ context.Context, _ identity.Viewer, server string, _ []string) (mcp.Imported, error) {
	return mcp.Imported{Server: server, Patches: []int64{7}, Tools: []mcp.ImportedTool{{Name: "mcp." + server + ".echo", Tool: "echo", State: "new", Notes: []string{}}}}, nil
}

func (servers) Drift(context.Context, tool.Spec, mcp.Tool) {}
