package artifacts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/identity"
)

// Only administrators say which servers there are and what is called of them; no
// document holds a command, and a tool of a server is called after it.
func TestOnlyAdministratorsWriteMCPServersAndTheirTools(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	store.Put(artifacts.Artifact{ID: "notes", Type: artifacts.KindMCPServer, Name: "notes", Visibility: artifacts.Global, Schema: json.RawMessage(`{"kind":"mcp.server","title":"Notes","stdio":{"name":"notes"}}`)})
	server := func(members string) string { return `{"kind":"mcp.server","title":"T",` + members + `}` }
	called := func(name, server string) string {
		return fmt.Sprintf(`{"kind":"tool.spec","name":%q,"description":"d","input_schema":{"type":"object"},"output_schema":{"type":"object"},"via":{"mcp":{"server":%q,"tool":"x","sha256":%q}}}`, name, server, strings.Repeat("a", 64))
	}
	for _, c := range []struct {
		who       identity.Viewer
		kind, doc string
		at        string // of a fault; "ok": none
	}{
		{admin, artifacts.KindMCPServer, server(`"http":{"url":"https://mcp.example.org/mcp"}`), "ok"},
		{admin, artifacts.KindMCPServer, server(`"stdio":{"name":"notes"}`), "ok"},
		{admin, artifacts.KindMCPServer, server(`"http":{"url":"https://mcp.example.org/mcp"},"auth":{"secret":"notes"}`), "ok"},
		{admin, artifacts.KindMCPServer, server(`"http":{"url":"https://mcp.example.org/mcp"},"auth":"none"`), "ok"},
		{admin, artifacts.KindMCPServer, server(`"http":{"url":"http://mcp.example.org/mcp"},"auth":{"secret":"notes"}`), "/http/url"},
		{admin, artifacts.KindMCPServer, server(`"http":{"url":"https://mcp.example.org/mcp"},"auth":{"connection":"gone"}`), "/auth/connection"},
		{admin, artifacts.KindMCPServer, server(`"stdio":{"name":"notes"},"auth":{"secret":"notes"}`), "/auth"},
		{admin, artifacts.KindMCPServer, server(`"stdio":{"command":"rm"}`), "/stdio"},
		{admin, artifacts.KindMCPServer, server(`"stdio":{"name":"a"},"http":{"url":"https://x.example.org/"}`), ""},
		{ann, artifacts.KindMCPServer, server(`"stdio":{"name":"notes"}`), ""},
		{admin, artifacts.KindTool, called("mcp.notes.x", "notes"), "ok"},
		{admin, artifacts.KindTool, called("read_file", "notes"), "/name"},
		{admin, artifacts.KindTool, called("mcp.gone.x", "gone"), "/via/mcp/server"},
		{ann, artifacts.KindTool, called("mcp.notes.x", "notes"), "/via"},
	} {
		err := library.Check(t.Context(), c.who, c.kind, json.RawMessage(c.doc))
		problems := artifacts.Problems(err)
		if c.at == "ok" {
			if err != nil {
				t.Errorf("%s: %v", c.doc, problems)
			}
			continue
		}
		found := false
		for _, p := range problems {
			found = found || strings.HasPrefix(p.Path, c.at)
		}
		if !found {
			t.Errorf("%s: %+v, want one at %q", c.doc, problems, c.at)
		}
	}
	for name, want := range map[string]bool{"notes2": true, "Notes": false, strings.Repeat("n", 25): false} {
		_, err := library.Create(t.Context(), admin, artifacts.Draft{Type: "mcp", Name: name, Visibility: artifacts.Global, Schema: json.RawMessage(server(`"stdio":{"name":"notes"}`))})
		if (err == nil) != want {
			t.Errorf("a server called %s: %v", name, err)
		}
	}
}

// A word that happens to be the name of a tool is none; a name with a sign in it is.
func TestSteeringKnowsTheNamesOfTools(t *testing.T) {
	t.Parallel()
	others := []string{"search", "files.read_v1", "read_file"}
	for text, want := range map[string]bool{
		"A search over notes.": false, "Use files.read_v1.": true, "prefer `read_file` here": true, "my_read_file": false, "files.read_v10": false, "x.files.read_v1": false,
	} {
		if got := strings.Contains(strings.Join(artifacts.Steering(text, others), " "), "another tool"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
