package e2e

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"liminal/internal/capture/capturetest"
)

// proxied is a program that serves the capture proxy too, and the command line beside
// it.
type proxied struct {
	*program
	env    []string
	claude *capturetest.Upstream
	openAI *capturetest.OpenAI
	gone   func() // ends both backends
}

func startProxied(t *testing.T) *proxied {
	t.Helper()
	x := &proxied{claude: &capturetest.Upstream{Command: "echo a-tool-ran"}, openAI: &capturetest.OpenAI{}}
	anthropic, openAI := httptest.NewServer(x.claude), httptest.NewServer(x.openAI)
	x.gone = func() { anthropic.Close(); openAI.Close() }
	t.Cleanup(x.gone)
	backends := []string{"PALACE_UPSTREAM=" + anthropic.URL, "PALACE_OPENAI_UPSTREAM=" + openAI.URL, "PALACE_ADDR=127.0.0.1:0", "ANTHROPIC_BASE_URL=", "OPENAI_BASE_URL="}
	x.program = start(t, backends...)
	x.env = append(backends, "SHARED_FS_ROOT="+filepath.Join(x.dir, "data"))
	x.signUp("palace.owner@example.org") // the first account
	return x
}

// palace runs a verb that must end with a code, and returns what it prints.
func (x *proxied) palace(code int, args ...string) (out, said string) {
	x.t.Helper()
	out, said, got := runWith(x.t, x.env, append([]string{"palace"}, args...)...)
	if got != code {
		x.t.Fatalf("palace %s ended with %d, not %d:\n%s%s", strings.Join(args, " "), got, code, out, said)
	}
	return out, said
}

// within runs a command of the program that runs another, in a folder.
func (x *proxied) within(dir string, env []string, args ...string) (out, said string, code int) {
	x.t.Helper()
	path, err := binary()
	if err != nil {
		x.t.Fatal(err)
	}
	cmd := exec.CommandContext(x.t.Context(), path, append([]string{"palace"}, args...)...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = &o, &e, dir, append(append([]string{}, x.env...), env...)
	err = cmd.Run()
	return o.String(), e.String(), exitCode(err)
}

// What agents say goes to the backend they say it to, and nowhere else: the kernel of a
// network in which nothing else is to be reached counts whoever tries.
//
// Requirements: PAL-23
func TestWhatIsCapturedLeavesTheMachineForItsBackendOnly(t *testing.T) {
	t.Parallel()
	if !inOwnNetwork(t) {
		return
	}
	stays := nothingLeaves(t)
	x := startProxied(t)
	body := `{"model":"claude-opus-5-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"the bird is a wren"}]}`
	env := []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=sk-of-nobody"}
	script := `exec curl -sf "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" -H "x-claude-code-session-id: s" -H 'content-type: application/json' -d '` + body + `'`
	if out, said, code := x.within(x.dir, env, "run", "--name", "curl", "--", "sh", "-c", script); code != 0 || !strings.Contains(out, "message_stop") {
		t.Fatalf("it ended with %d: %s%s", code, out, said)
	}
	a := x.taken("curl", 1)
	shown, _ := x.palace(0, "timeline", strconv.Itoa(a.Number), "--json")
	var timeline struct {
		Blocks []struct{ UUID, Type string }
	}
	if err := json.Unmarshal([]byte(shown), &timeline); err != nil {
		t.Fatal(err)
	}
	for _, b := range timeline.Blocks {
		if b.Type != "User" {
			continue
		}
		if out, said := x.palace(0, "recall", b.UUID); out != "the bird is a wren\n" {
			t.Errorf("the platform gives back %q: %s", out, said)
		}
	}
	if asked := x.claude.Asked(); len(asked) != 1 || string(asked[0].Body) != body {
		t.Errorf("the backend was asked %d times", len(asked))
	}
	stays()
}

type agentShown struct {
	Number  int `json:"agent_id"`
	Name    string
	Lineage struct {
		ID        string
		Exchanges int
	}
}

// taken waits until an agent has so many requests in its newest history.
func (x *proxied) taken(name string, exchanges int) (found agentShown) {
	x.t.Helper()
	x.until("the requests of "+name, func() bool {
		out, _ := x.palace(0, "agents", "--json")
		var list struct{ Agents []agentShown }
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			x.t.Fatal(err)
		}
		for _, a := range list.Agents {
			if a.Name == name && a.Lineage.Exchanges == exchanges {
				found = a
				return true
			}
		}
		return false
	})
	return found
}

// A round of the real Claude Code with a tool is played to a fresh one, which ends with
// the same words though no backend is there any more; and one that says something else
// is told where it begins to differ.
//
// Requirements: PAL-25 (played to an agent)
func TestARecordedRoundIsPlayedToAFreshClaudeCode(t *testing.T) {
	t.Parallel()
	x := startProxied(t)
	client := claudeCode(t)
	home := filepath.Join(x.dir, "home")
	fresh := func() []string {
		t.Helper()
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		return []string{
			"HOME=" + home, "PATH=/usr/bin:/bin", "TERM=dumb", "LANG=C.UTF-8", "ANTHROPIC_API_KEY=sk-ant-api03-of-nobody",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1",
		}
	}
	turn := func(text string) []string {
		return []string{"--", client, "-p", text, "--allowedTools", "Bash"}
	}
	env := fresh()
	recorded, said, code := x.within(home, env, append([]string{"run", "--name", "claude"}, turn("Run the command, then say so.")...)...)
	if code != 0 || !strings.Contains(recorded, "this is the end of the turn") {
		t.Fatalf("it ended with %d: %s%s", code, recorded, said)
	}
	a := x.taken("claude", 2)
	x.gone()

	env = fresh()
	played, said, code := x.within(home, env, append([]string{"replay", a.Lineage.ID}, turn("Run the command, then say so.")...)...)
	if code != 0 || played != recorded || !strings.Contains(said, "2 requests answered, 0 not known") {
		t.Errorf("it ended with %d: %s%s", code, played, said)
	}
	env = fresh()
	played, said, code = x.within(home, env, append([]string{"replay", a.Lineage.ID}, turn("Run another command.")...)...)
	if code == 0 || !strings.Contains(played+said, "the histories differ first at block") || !strings.Contains(played+said, "Run another command.") {
		t.Errorf("it ended with %d: %s%s", code, played, said)
	}
	env = fresh()
	played, said, code = x.within(home, env, append([]string{"replay", a.Lineage.ID, "--match", "turn"}, turn("Run another command.")...)...)
	if code != 0 || played != recorded {
		t.Errorf("by its turns: %d: %s%s", code, played, said)
	}
}

// OpenAI's own client passes, is kept and counted, and is played what it was told. What
// was kept is looked at and changed on the command line.
//
// Requirements: PAL-13, PAL-25 (played to an agent)
func TestOpenAIsClientIsCapturedAndItsBlocksAreLookedAtOnTheCommandLine(t *testing.T) {
	t.Parallel()
	x := startProxied(t)
	installedClients(t)
	script, err := filepath.Abs("clients/node/palace/openai.mjs")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.dir, "OPENAI_API_KEY=sk-of-nobody"}
	if _, said, code := x.within(x.dir, env, "run", "--client", "openai", "--name", "node", "--", "node", script); code != 0 {
		t.Fatalf("it ended with %d: %s", code, said)
	}
	a := x.taken("node", 2)
	number := strconv.Itoa(a.Number)
	var kept struct {
		Agents []struct {
			Lineage struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
			}
		}
	}
	out, _ := x.palace(0, "agents", "--json")
	if err := json.Unmarshal([]byte(out), &kept); err != nil || kept.Agents[0].Lineage.Input != 120 || kept.Agents[0].Lineage.Output != 20 {
		t.Errorf("%v: %s", err, out)
	}
	if out, _ := x.palace(0, "agents"); !strings.Contains(out, "AGENT") || !strings.Contains(out, "gpt-invented") {
		t.Errorf("agents: %s", out)
	}
	out, _ = x.palace(0, "timeline", number)
	if !strings.Contains(out, "ToolResult  read_file  SHORT") || !strings.Contains(out, "the end of the turn") {
		t.Errorf("timeline: %s", out)
	}
	var view struct {
		Blocks []struct {
			UUID    string
			Display int    `json:"display_id"`
			Type    string `json:"block_type"`
		}
	}
	out, _ = x.palace(0, "timeline", number, "--json")
	if err := json.Unmarshal([]byte(out), &view); err != nil {
		t.Fatal(err)
	}
	for _, b := range view.Blocks {
		if b.Type != "ToolResult" {
			continue
		}
		name := strconv.Itoa(b.Display)
		if out, _ := x.palace(0, "block", name); !strings.Contains(out, "what stands in it") || !strings.Contains(out, "SHORT, by rule; active") {
			t.Errorf("block: %s", out)
		}
		if out, _ := x.palace(0, "block", b.UUID, "--part", "raw"); !strings.Contains(out, `"what stands in it"`) {
			t.Errorf("raw: %s", out)
		}
		if out, _ := x.palace(0, "star", name, "--json"); !strings.Contains(out, `"starred": true`) {
			t.Errorf("star: %s", out)
		}
		if out, _ := x.palace(0, "drop", b.UUID, "--json"); !strings.Contains(out, b.UUID) {
			t.Errorf("drop: %s", out)
		}
		x.palace(0, "keep", "--off", b.UUID)
		if out, _ := x.palace(0, "tier", "long", name); !strings.Contains(out, "LONG  person") {
			t.Errorf("tier: %s", out)
		}
	}
	if out, _ := x.palace(0, "cost", number, "--days", "1"); !strings.Contains(out, "gpt-invented  4") || !strings.Contains(out, "price is not known") {
		t.Errorf("cost: %s", out)
	}
	if out, _ := x.palace(0, "misses"); !strings.Contains(out, "no request missed its cache") {
		t.Errorf("misses: %s", out)
	}
	x.palace(2, "tier", "EVER", "1")
	x.palace(2, "timeline", "claude")
	x.palace(1, "block", "9999")
	if out, _ := x.palace(0, "doctor", "--json"); !strings.Contains(out, `"check": "platform"`) || strings.Contains(out, `"failed"`) {
		t.Errorf("doctor: %s", out)
	}
	x.palace(2, "erase", "agent", number)
	x.gone()
	if _, said, code := x.within(x.dir, append(env, "PLAYED=1"), "replay", number, "--", "node", script); code != 0 || !strings.Contains(said, "4 requests answered") {
		t.Errorf("played: %d: %s", code, said)
	}
	if out, _ := x.palace(0, "erase", "agent", number, "--yes"); !strings.Contains(out, "4 exchanges erased") {
		t.Errorf("erase: %s", out)
	}
	x.palace(1, "replay", number)
	x.kill()
	if _, said := x.palace(3, "agents"); !strings.Contains(said, "no platform runs on this data folder") {
		t.Errorf("without a platform: %s", said)
	}
}
