package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// overStdio runs `liminald mcp` and gives a client at its stdin and stdout.
func overStdio(t *testing.T, version string, o *mcp.ClientOptions, environ []string, args ...string) (*mcp.ClientSession, error, func() (int, string)) {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	var said bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		code := run(t.Context(), terminal{in: in, out: out, err: &said, environ: environ}, append([]string{"mcp"}, args...))
		_ = out.Close()
		ended <- code
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "desktop", Version: "1"}, o)
	cs, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: read, Writer: write}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	return cs, err, func() (int, string) {
		if cs != nil {
			_ = cs.Close()
		}
		_ = write.Close()
		return <-ended, said.String()
	}
}

func TestMCPOverStdioIsTheSameAsOverHTTP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		form := &mcp.ElicitParams{Mode: "form", Message: "Which?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"answer": map[string]any{"type": "string"}}}}
		if r.ProtocolVersion() >= "2026-07-28" && r.Params.InputResponses == nil {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": form}, RequestState: "s"}, nil
		}
		said, _ := r.Params.InputResponses["q"].(*mcp.ElicitResult)
		if said == nil {
			var err error
			if said, err = r.Session.Elicit(ctx, form); err != nil {
				return nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said.Content["answer"].(string)}}}, nil
	})
	of := func(*http.Request) *mcp.Server { return server }
	stateless := mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true})
	var sessions atomic.Pointer[mcp.StreamableHTTPHandler]
	var down atomic.Bool
	restart := func() { sessions.Store(mcp.NewStreamableHTTPHandler(of, nil)) } // which knows none of those before
	restart()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path != "/mcp" || r.Header.Get("Authorization") != "Bearer lim_right":
			http.Error(w, "This access key is not valid.", http.StatusUnauthorized)
		case r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28":
			stateless.ServeHTTP(w, r)
		default:
			sessions.Load().ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("lim_right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "this one"}}, nil
	}}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		cs, err, end := overStdio(t, version, o, nil, "--url", s.URL, "--key-file", file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
		if err != nil || len(got.Content) != 1 || got.Content[0].(*mcp.TextContent).Text != "this one" {
			t.Errorf("%s: %+v, %v", version, got, err)
		}
		down.Store(true)
		if got, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"}); err == nil || !strings.Contains(err.Error(), "did not take this") || !strings.Contains(err.Error(), "Service Unavailable") {
			t.Errorf("%s: while the server is down: %+v, %v", version, got, err)
		}
		down.Store(false)
		restart()
		for range 2 {
			if got, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"}); err != nil || got.Content[0].(*mcp.TextContent).Text != "this one" {
				t.Errorf("%s: after a restart of the server: %+v, %v", version, got, err)
			}
		}
		want := 1
		if version == "2026-07-28" { // which has no sessions
			want = 0
		}
		if code, said := end(); code != exitOK || strings.Count(said, "another") != want || strings.Count(said, "\n") != want+1 {
			t.Errorf("%s: it ends with %d: %s", version, code, said)
		}
	}
	_, err, end := overStdio(t, "2025-11-25", o, []string{"LIMINAL_TOKEN=lim_wrong"}, "--url", s.URL)
	if code, said := end(); err == nil || code == exitOK || !strings.Contains(said, "Unauthorized") {
		t.Errorf("a wrong key: %v, %d, %s", err, code, said)
	}
}

func TestMCPOverStdioNeedsAKey(t *testing.T) {
	if code, _, said := finish(t, nil, "mcp"); code != exitUsage || !strings.Contains(said, "LIMINAL_TOKEN") {
		t.Errorf("%d: %s", code, said)
	}
}
