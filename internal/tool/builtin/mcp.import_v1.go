package builtin

import (
	"context"

	"liminal/internal/tool"
)

// importMCP proposes the tools of an MCP server; people decide.
type importMCP struct{ importer MCPImporter }

func (importMCP) Name() string { return "mcp.import_v1" }

func (t importMCP) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	imported, err := t.importer.Import(ctx, c.Viewer, words(c, "server"), texts(c.Inputs["tools"]))
	if err != nil {
		return nil, err
	}
	return object(imported)
}
