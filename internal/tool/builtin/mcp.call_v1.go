package builtin

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/mcp"
	"liminal/internal/tool"
)

// callMCP calls a tool of an MCP server as the spec it is called as says: it has none
// of its own, so nothing reaches a server but through a spec that was approved.
type callMCP struct {
	client MCPClient
	drift  func(ctx context.Context, approved tool.Spec, now mcp.Tool) // nil: nobody is told
}

func (callMCP) Name() string { return tool.RunnerMCP }

func (t callMCP) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	if c.Spec.Via == nil || c.Spec.Via.MCP == nil {
		return nil, fault.New(fault.Invalid, "%s is called by tools of MCP servers.", t.Name())
	}
	m := c.Spec.Via.MCP
	if c.Spec.Over == nil || len(c.Spec.Over.Server) == 0 {
		return nil, fault.New(fault.NotFound, "The tool %s is one of the MCP server %q, which is not there.", c.Spec.Name, m.Server)
	}
	s, err := tool.DecodeMCPServer(c.Spec.Over.Server)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The mcp.server %s is not readable.", m.Server)
	}
	out, err := t.client.Call(ctx, mcp.Call{
		Server: mcp.Server{Viewer: c.Viewer, Name: m.Server, MCPServer: s},
		Tool:   m.Tool, SHA256: m.SHA256, Idempotent: c.Spec.IsIdempotent(),
		Structured: !slices.Equal(c.Spec.Outputs(), []string{"text"}),
		Mirrored:   bytes.Contains(c.Spec.InputSchema, []byte("x-mcp-header")),
		Inputs:     c.Inputs, Resume: c.Resume,
	})
	if changed, ok := errors.AsType[*mcp.ChangedError](err); ok {
		if changed.Now != nil && t.drift != nil {
			t.drift(ctx, c.Spec, *changed.Now)
		}
		return nil, changed.Fault
	}
	if fault.Reason(err) == mcp.AsksWithin {
		return nil, err
	}
	return out, unconfirmed(c.Spec, s.Title, err)
}
