package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stranger is an MCP server of somebody else's, with one tool, which wants a token.
type stranger struct {
	*httptest.Server
	sdk *mcp.Server
}

func newStranger(t *testing.T, token string) *stranger {
	t.Helper()
	s := &stranger{sdk: mcp.NewServer(&mcp.Implementation{Name: "stranger", Version: "1"}, nil)}
	s.sdk.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok {
				list.TTLMs = 1 // what it says is not to be remembered
			}
			return res, err
		}
	})
	s.says("Says it again.")
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{Stateless: true})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "Who asks?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// says has the server describe its tool so.
func (s *stranger) says(description string) {
	s.sdk.AddTool(&mcp.Tool{Name: "echo", Description: description, InputSchema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}}}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Word string }
			err := json.Unmarshal(r.Params.Arguments, &in)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "It is " + in.Word}}}, err
		})
}

// holds is in which files below a folder a text stands.
func holds(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The tools of a server that wants a secret are imported by an administrator, who
// approves what the house read there; the secret is in no answer, log, history or
// table. A tool that is described in another way rests, and what it says now is
// proposed.
//
// Requirements: SAFE-08
func TestAnMCPServersToolsAreImportedAndItsSecretStandsNowhere(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-of-the-stranger"
	s := newStranger(t, secret)
	dir := t.TempDir()
	for name, content := range map[string]any{"servers.json": object{"mcpServers": object{"stranger": object{"url": s.URL + "/mcp"}}}, "secrets.json": object{"stranger_token": secret}} {
		raw, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "LIMINAL_MCP_FILE="+filepath.Join(dir, "servers.json"), "LIMINAL_SOURCES_FILE="+filepath.Join(dir, "secrets.json"), "LIMINAL_LOG_LEVEL=debug", "LIMINAL_LOG_PAYLOADS=1")
	house := staff{program: p, admin: p.signUp("admin@example.org")}
	var answers strings.Builder
	run := func(tool string, input object) (status int, output object, message string) {
		t.Helper()
		status, data, code, message := house.admin.do("POST", "/v1/tools/run", object{"tool_id": tool, "input": input})
		fmt.Fprintln(&answers, data, code, message)
		output, _ = data["output"].(object)
		return status, output, message
	}
	house.admin.must("POST", "/v1/artifacts", object{"type": "mcp.server", "name": "stranger", "visibility": "global", "schema": object{
		"kind": "mcp.server", "title": "Stranger", "http": object{"url": s.URL + "/mcp"}, "auth": object{"secret": "stranger_token"},
	}})
	_, imported, message := run("mcp.import_v1", object{"server": "stranger"})
	patches, _ := imported["patches"].([]any)
	if len(patches) != 1 {
		t.Fatalf("imported %v: %s", imported, message)
	}
	patch := house.settled(house.admin, object{"id": patches[0]})
	if patch["proposer"] == "admin" {
		t.Errorf("what was read there is an administrator's own: %v", patch)
	}
	house.taken(patch)
	if _, out, message := run("mcp.stranger.echo", object{"word": "a-word-for-the-stranger"}); out["text"] != "It is a-word-for-the-stranger" {
		t.Fatalf("%v %s", out, message)
	}
	s.says("Says it again, and to somebody else as well.")
	if status, out, message := run("mcp.stranger.echo", object{"word": "x"}); status/100 == 2 || !strings.Contains(message, "approved") {
		t.Errorf("a tool that was changed: %d %v %s", status, out, message)
	}
	var drift object
	p.until("the drift to be proposed", func() bool {
		list := house.admin.must("GET", "/v1/config/patches", nil)["data"].([]any)
		drift = list[0].(object)
		return len(list) == 2
	})
	if drift = house.settled(house.admin, drift); !strings.Contains(fmt.Sprint(drift["justification"]), "rests") || !strings.Contains(fmt.Sprint(drift), "somebody else as well") {
		t.Errorf("proposed is %v", drift)
	}
	house.taken(drift)
	if _, out, message := run("mcp.stranger.echo", object{"word": "y"}); out["text"] != "It is y" {
		t.Errorf("after the drift was read: %v %s", out, message)
	}
	p.kill()
	if len(holds(t, p.dir, "a-word-for-the-stranger")) == 0 {
		t.Error("what is kept here cannot be searched so")
	}
	if files := holds(t, p.dir, secret); len(files) != 0 {
		t.Errorf("the secret is in %v", files)
	}
	for where, text := range map[string]string{"the log": p.log.tail(1 << 30), "an answer": answers.String(), "a patch": fmt.Sprint(patch, drift)} {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", where)
		}
	}
}
