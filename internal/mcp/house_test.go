package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/identity"
	"liminal/internal/mcp"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

// The words that make the test binary another program: what a program becomes within
// its bounds, and a server over stdio.
const (
	becomes = "become-mcp-program"
	serves  = "serve-mcp-over-stdio"
)

// offers gives a server over stdio its tools, on systems that bound programs.
var offers = func(*sdk.Server) {}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case becomes:
			panic(mcp.Exec(os.Args[2:]))
		case serves:
			server := sdk.NewServer(&sdk.Implementation{Name: "stdio", Version: "1"}, nil)
			offers(server)
			_ = server.Run(context.Background(), &sdk.StdioTransport{})
			return
		}
	}
	os.Exit(m.Run())
}

var admin = identity.Viewer{UserID: "00000000-0000-4000-8000-00000000000a", Role: identity.RoleAdmin}

// house is a server over HTTP that a client of ours reaches, as the test makes it.
type house struct {
	*testing.T
	server *sdk.Server
	url    string
}

// newHouse serves tools over true HTTP: of the stateless revision, or of those before.
func newHouse(t *testing.T, stateless bool) *house {
	t.Helper()
	h := &house{T: t, server: sdk.NewServer(&sdk.Implementation{Name: "house", Version: "1"}, nil)}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return h.server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	h.url = web.URL + "/mcp"
	return h
}

// client reaches the loopback as a test's own, unless the guard is to refuse it.
func client(t *testing.T, change ...func(*mcp.Options)) *mcp.Client {
	t.Helper()
	open, err := webaccess.New(webaccess.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	o := mcp.Options{Public: open.Servers(), Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	return mcp.New(o)
}

func at(t *testing.T, doc string) mcp.Server {
	t.Helper()
	s, err := tool.DecodeMCPServer([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Server{Viewer: admin, Name: "house", MCPServer: s}
}

func (h *house) at() mcp.Server {
	return at(h.T, `{"kind":"mcp.server","title":"The house","http":{"url":"`+h.url+`"}}`)
}

// approved is a call of a tool as the server tells it now.
func approved(t *testing.T, c *mcp.Client, s mcp.Server, name string) mcp.Call {
	t.Helper()
	tools, err := c.Tools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range tools {
		if one.Name == name {
			return mcp.Call{Server: s, Tool: name, SHA256: one.SHA256(), Inputs: map[string]any{}}
		}
	}
	t.Fatalf("there is no tool %s in %+v", name, tools)
	return mcp.Call{}
}

// says is a tool that answers with a text.
func says(f func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) sdk.ToolHandler {
	return f
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

func anyInput() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }

// through is a value as a history keeps it: another process reads it.
func through(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	var out map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// asked is the question in a result, and what the answer is given with.
func asked(t *testing.T, out map[string]any, err error) (question map[string]any, answer func(any) map[string]any) {
	t.Helper()
	question, ok := out["interrupt"].(map[string]any)
	if err != nil || !ok {
		t.Fatalf("nobody is asked: %v, %v", out, err)
	}
	question = through(t, question)
	return question, func(a any) map[string]any { return map[string]any{"state": question["state"], "answer": a} }
}

var errUnused = errors.New("unused")

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
