package e2e

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"liminal/internal/capture/capturetest"
	"liminal/internal/store/storetest"
)

// claudeCode is the path of the real Claude Code, which is fetched and never kept.
func claudeCode(t *testing.T) string {
	t.Helper()
	script, err := filepath.Abs("../scripts/claude.sh")
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	fetch := exec.CommandContext(t.Context(), script, "fetch")
	fetch.Stderr = &told
	out, err := fetch.Output()
	switch {
	case err == nil:
		return strings.TrimSpace(string(out))
	case storetest.Required():
		t.Fatalf("Claude Code could not be fetched: %s", told.String())
	default:
		t.Skipf("SKIPPED, NOT PASSED: Claude Code could not be fetched: %s", told.String())
	}
	return ""
}

var interruptID = regexp.MustCompile(`interrupt_id\\*":\s*\\*"([0-9a-f-]{36})`)

// Claude Code, with an invented model behind it, adds Liminal as a server, says that it
// is connected, asks an assistant, and answers what that asks back: once by an option,
// and once by skipping.
func TestClaudeCodeAsksAnAssistantAndAnswersWhatItAsks(t *testing.T) {
	t.Parallel()
	p := start(t)
	client := claudeCode(t)
	who := p.signUp("claude.code@example.org")
	key := who.must("POST", "/v1/keys", object{"name": "claude", "scopes": []string{"chat", "read", "mcp"}})["key"].(string)

	var mu sync.Mutex
	message, results := "", []string{}
	up := &capturetest.Upstream{Next: func(said string, tools []string) (string, map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(said, `"tool_result"`) {
			if !slices.Contains(tools, "mcp__liminal__ask_assistant") {
				return "", nil // a request of the client's own
			}
			return "mcp__liminal__ask_assistant", map[string]any{"message": message}
		}
		results = append(results, said)
		asked := interruptID.FindStringSubmatch(said)
		switch {
		case asked == nil:
			return "", nil
		case len(results) == 1:
			return "mcp__liminal__answer", map[string]any{"interrupt_id": asked[1], "answer": "2"}
		}
		return "mcp__liminal__answer", map[string]any{"interrupt_id": asked[1], "skip": true}
	}}
	backend := httptest.NewServer(up)
	defer backend.Close()
	home := t.TempDir()
	claude := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), client, args...)
		cmd.Dir = home
		cmd.Env = []string{
			"HOME=" + home, "PATH=/usr/bin:/bin", "TERM=dumb", "LANG=C.UTF-8", "ANTHROPIC_BASE_URL=" + backend.URL, "ANTHROPIC_API_KEY=sk-ant-api03-of-nobody", "ENABLE_TOOL_SEARCH=false",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1",
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("claude %s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	// turn has it ask an assistant, and returns what the tools gave it.
	turn := func(text string) []string {
		t.Helper()
		mu.Lock()
		message, results = text, nil
		mu.Unlock()
		if said := claude("-p", "Ask the assistant.", "--allowedTools", "mcp__liminal"); !strings.Contains(said, "the end of the turn") {
			t.Fatalf("it did not get to the end of the turn: %s", said)
		}
		mu.Lock()
		defer mu.Unlock()
		return results
	}
	claude("mcp", "add", "--transport", "http", "liminal", p.ready.HTTP+"/mcp", "--header", "Authorization: Bearer "+key)
	if list := claude("mcp", "list"); !strings.Contains(list, "liminal: ") || !strings.Contains(list, "Connected") {
		t.Errorf("it lists %s", list)
	}
	if got := turn("Hello there"); len(got) != 1 || !strings.Contains(got[0], "No language model is configured") {
		t.Errorf("it was told %q", got)
	}
	got := turn("Summarize and compare")
	if len(got) != 3 || !strings.Contains(got[0], "Which would you like to do first?") || !strings.Contains(got[1], "Compare requires") || interruptID.MatchString(got[2]) {
		t.Errorf("it was told %q", got)
	}
	if open := who.must("GET", "/v1/interrupts", nil)["data"].([]any); len(open) != 0 {
		t.Errorf("questions wait still: %v", open)
	}
}
