package wire

import (
	"path/filepath"

	"liminal/internal/authserver"
	"liminal/internal/mcp"
	"liminal/internal/tool/builtin"
	"liminal/internal/webaccess"
)

// openClients makes who knows the programs that sign their person in to our own MCP
// server. Their documents lie where pages do that people read; nil web: they register.
func (p *Platform) openClients(o Options, web *webaccess.Client) {
	options := authserver.Options{Store: p.store, Cache: p.cache, Logger: o.Logger}
	if web != nil {
		options.Documents = web
	}
	p.clients = authserver.New(options)
}

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
