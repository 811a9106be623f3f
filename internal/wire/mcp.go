package wire

import (
	"path/filepath"

	"liminal/internal/mcp"
	"liminal/internal/tool/builtin"
	"liminal/internal/webaccess"
)

// openMCP makes the client of MCP servers. It reaches what tools with via.http reach,
// and what the operator's file names; nil web: only that.
func (p *Platform) openMCP(o Options, svc *services, web *webaccess.Client, parts *builtin.Parts) error {
	listed, err := mcp.ReadFile(o.Config.Sources.MCP)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Join(o.Config.Data, "cache", "mcp"))
	if err != nil {
		return err
	}
	options := mcp.Options{
		Operator: listed, Secret: p.sources.Secret, Connections: p.connections,
		Program: o.MCPPrograms, Dir: dir, Logger: o.Logger,
	}
	if web != nil {
		options.Public = web.Servers()
	}
	client := mcp.New(options)
	parts.MCP = client
	parts.MCPImport = &mcp.Importer{Client: client, Library: p.library, Desk: svc.desk, Logger: o.Logger}
	return nil
}
