package main

import (
	"context"
	"fmt"
	"strings"

	"liminal/internal/mcp"
)

// mcpProgramCommand is the subcommand of the processes that become the programs of
// MCP servers, with bounds of memory and time. The program starts them itself, so
// help does not list it.
const mcpProgramCommand = "become-mcp-program"

func becomeMCPProgram(t terminal, args []string) int {
	fmt.Fprintln(t.err, "liminald:", mcp.Exec(args)) // it returns only where it fails
	return exitFailed
}

func importMCP(ctx context.Context, in *invocation, name string, tools []string) error {
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	input := map[string]any{"server": name}
	if len(tools) > 0 {
		input["tools"] = tools
	}
	var answer struct {
		Output mcp.Imported `json:"output"`
	}
	if err := server.Post(ctx, "/v1/tools/run", map[string]any{"tool_id": "mcp.import_v1", "input": input}, &answer); err != nil {
		return err
	}
	if in.own.(*mcpOptions).json {
		return writeJSON(in.out, answer.Output)
	}
	for _, t := range answer.Output.Tools {
		fmt.Fprintf(in.out, "%-9s %s\n", t.State, t.Name)
		for _, note := range t.Notes {
			fmt.Fprintf(in.out, "          ! %s\n", note)
		}
	}
	if len(answer.Output.Patches) == 0 {
		fmt.Fprintln(in.out, "Nothing is new: there is nothing to approve.")
		return nil
	}
	ids := make([]string, len(answer.Output.Patches))
	for i, id := range answer.Output.Patches {
		ids[i] = fmt.Sprint(id)
	}
	fmt.Fprintf(in.out, "Read and approve it: liminald patch show %s, or Operate, Changes on the page.\n", strings.Join(ids, ", "))
	return nil
}
