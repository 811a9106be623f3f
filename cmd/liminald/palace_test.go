package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
	"liminal/internal/capture/proxy"
	"liminal/internal/model"
)

// palaceAgent makes the test binary be an agent that `palace run` starts. What it
// does is told by its environment.
const palaceAgent = "palace-test-agent"

const agentKey = "sk-ant-api03-an-invented-key-of-nobody"

// becomeAgent asks once and, told to, kills the proxy and asks on, as clients do.
func becomeAgent() {
	ask := func() string {
		req, _ := http.NewRequest(http.MethodPost, os.Getenv(baseURL)+"/v1/messages?beta=true", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"hello"}]}`))
		req.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return ""
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	first := ask()
	if dir := os.Getenv("KILLS"); dir != "" {
		for kept := false; !kept; { // until the disk has it
			for e, err := range capture.Exchanges(proxy.SpoolDir(dir), nil, nil) {
				kept = kept || err == nil && e.Ending != nil
			}
		}
		if s, err := proxy.Ask(context.Background(), dir); err == nil {
			_ = killed(s.PID)
		}
		again := ""
		for again == "" {
			again = ask()
		}
		first += again
	}
	io.WriteString(os.Stdout, first+"tools:"+os.Getenv("ENABLE_TOOL_SEARCH"))
	os.Exit(7)
}

// palaceGround is a data folder, and a backend, of a proxy that ends with the test.
func palaceGround(t *testing.T) (up *capturetest.Upstream, dir string, env []string) {
	t.Helper()
	up = &capturetest.Upstream{}
	s := httptest.NewServer(up)
	t.Cleanup(s.Close)
	data := t.TempDir()
	dir = filepath.Join(data, "palace")
	t.Cleanup(func() {
		if s, err := proxy.Ask(context.Background(), dir); err == nil {
			_ = killed(s.PID)
		}
	})
	return up, dir, []string{"SHARED_FS_ROOT=" + data, "PALACE_ADDR=127.0.0.1:0", "PALACE_UPSTREAM=" + s.URL, "ANTHROPIC_API_KEY=" + agentKey}
}

// Requirements: PAL-02 (captures the request and forwards it; captures the response and returns it), PAL-24 (exchanges)
func TestAnAgentRunsBehindThePalaceAndEveryExchangeIsKept(t *testing.T) {
	t.Parallel()
	up, dir, env := palaceGround(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, out, said := finish(t, append(env, "KILLS="+dir), "palace", "run", "--name", "tester", "--", self, palaceAgent)
	if code != 7 || said != "" || strings.Count(out, `data: {"type":"message_stop"}`) != 2 || !strings.HasSuffix(out, "tools:true") {
		t.Fatalf("it ended with %d: %s%s", code, out, said)
	}
	asked := up.Asked()
	if len(asked) != 2 || asked[0].URI != "/v1/messages?beta=true" || asked[0].Header.Get("X-Api-Key") != agentKey {
		t.Errorf("the backend was asked %+v", asked)
	}

	var text string
	var list struct {
		Exchanges []struct {
			Request struct{ ID, Agent string }
			Ending  *struct{}
		}
	}
	for began := time.Now(); ; { // the disk has the last one when the agent may be gone
		list.Exchanges = nil
		code, text, said = finish(t, env, "palace", "list", "--json")
		err := json.Unmarshal([]byte(text), &list)
		if err == nil && code == exitOK && len(list.Exchanges) == 2 && list.Exchanges[1].Ending != nil {
			break
		}
		if err != nil || time.Since(began) > startLimit {
			t.Fatalf("%d %v: %s%s", code, err, text, said)
		}
	}
	if list.Exchanges[1].Request.Agent != "tester" {
		t.Errorf("kept is %s", text)
	}
	id := list.Exchanges[1].Request.ID
	if _, got, said := finish(t, env, "palace", "show", id[24:], "--part", "request"); got != string(asked[1].Body) {
		t.Errorf("the request is shown as %q: %s", got, said)
	}
	if _, got, said := finish(t, env, "palace", "show", id, "--part", "response"); !strings.Contains(out, got) || got == "" {
		t.Errorf("the response is shown as %q: %s", got, said)
	}
	if _, got, said := finish(t, env, "palace", "show", id, "--part", "frames"); strings.Count(got, "\n") != strings.Count(out, "data: ")/2 || !strings.Contains(got, " s  message_start  {") || strings.Contains(got, "  -  ") {
		t.Errorf("the frames are shown as %q: %s", got, said)
	}
	if code, text, said := finish(t, env, "palace", "status"); code != exitOK {
		t.Errorf("status: %d %s%s", code, text, said)
	} else {
		has(t, text, "1 requests, 0 under way, 0 cut, 0 refused", "1 exchanges")
	}
	_ = filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, _ error) error {
		if filepath.Base(path) == "operator.token" { // which is one, for its owner only
			return nil
		}
		if raw, err := os.ReadFile(path); err == nil && (bytes.Contains(raw, []byte(agentKey)) || bytes.Contains(raw, []byte("plt_"))) {
			t.Errorf("%s holds a key", path)
		}
		return nil
	})
}

// Requirements: PAL-01 (never beyond loopback)
func TestThePalaceRefusesWhatWouldGoAstray(t *testing.T) {
	t.Parallel()
	_, dir, env := palaceGround(t)
	with := func(more ...string) []string { return append(append([]string{}, env...), more...) }
	other := with("SHARED_FS_ROOT=" + t.TempDir()) // where none runs
	for name, c := range map[string]struct {
		env, args []string
		code      int
		says      string
	}{
		"another's backend": {with("ANTHROPIC_BASE_URL=https://gateway.example/"), []string{"run", "--", "true"}, exitUsage, "gateway.example"},
		"everybody":         {with("PALACE_ADDR=0.0.0.0:19848"), []string{"run", "--", "true"}, exitUsage, "is not a loopback address"},
		"itself":            {with("PALACE_ADDR=127.0.0.1:9", "PALACE_UPSTREAM=http://127.0.0.1:9"), []string{"status"}, exitUsage, "own address"},
		"no command":        {env, []string{"run"}, exitUsage, "needs a command"},
		"none such":         {env, []string{"run", "--", "no-such-command"}, exitFailed, "cannot be found"},
		"a verb":            {env, []string{"claude"}, exitUsage, "liminald palace run -- claude"},
		"any free port":     {other, []string{"env", "editor"}, exitUsage, "name one"},
		"no token":          {other, []string{"token", "revoke", "editor"}, exitFailed, "no token of the name"},
		"half a verb":       {env, []string{"token", "revoke"}, exitUsage, "token revoke NAME"},
		"no client":         {env, []string{"env", "--client", "cursor"}, exitUsage, "none of claude, openai and codex"},
		"no name":           {env, []string{"env"}, exitUsage, "needs a name"},
		"no tier":           {env, []string{"tier", "EVER", "1"}, exitUsage, "no tier"},
		"no number":         {env, []string{"timeline", "claude"}, exitUsage, "no number of an agent"},
		"no block":          {env, []string{"block", "claude"}, exitUsage, "42-7f3a"},
		"nothing recalled":  {env, []string{"recall", "claude"}, exitUsage, "42-7f3a"},
		"less than a byte":  {env, []string{"recall", "42-7f3a", "--from", "-1"}, exitUsage, "--from and --bytes"},
		"none to recall of": {other, []string{"recall", "42-7f3a"}, exitUnreachable, "no proxy runs on this data folder; and no platform runs"},
		"no way to match":   {env, []string{"replay", "1", "--match", "words"}, exitUsage, "history and turn"},
		"played to all":     {env, []string{"replay", "1", "--listen", "0.0.0.0:0"}, exitUsage, "loopback"},
		"no platform":       {env, []string{"agents"}, exitUnreachable, "no platform runs on this data folder"},
		"no exchange":       {env, []string{"show", "7f3a"}, exitFailed, "no exchange 7f3a is kept"},
		"no part":           {env, []string{"show", "7f3a", "--part", "view"}, exitUsage, "none of request, sent, response and frames"},
	} {
		if code, out, said := finish(t, c.env, append([]string{"palace"}, c.args...)...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d %s%s", name, code, out, said)
		}
	}
	if code, _, said := finish(t, other, "palace", "status"); code != exitUnreachable {
		t.Errorf("without a proxy: %d %s", code, said)
	}
	code, out, said := finish(t, with("PALACE_ADDR=127.0.0.1:19848"), "palace", "env", "editor")
	if code != exitOK {
		t.Errorf("env: %d %s", code, said)
	}
	has(t, out, "export ANTHROPIC_BASE_URL=http://127.0.0.1:", "/a/plt_", "export ENABLE_TOOL_SEARCH=true")
	if code, out, said := finish(t, with("PALACE_ADDR=127.0.0.1:19848"), "palace", "env", "--client", "codex"); code != exitOK {
		t.Errorf("env of codex: %d %s", code, said)
	} else {
		has(t, out, "[model_providers.palace]", "/openai/v1\"\n", `wire_api = "responses"`, "supports_websockets = false")
	}
	if code, out, said := finish(t, env, "palace", "token"); code != exitOK {
		t.Errorf("token: %d %s", code, said)
	} else {
		has(t, out, "editor", "codex")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "agents.json"))
	if err != nil || bytes.Contains(raw, []byte("plt_")) || !bytes.Contains(raw, []byte(`"editor"`)) {
		t.Errorf("%s %v", raw, err)
	}
}

// The proxy passes on what it hears, so a model that is reached by an address that clients
// are given is not on this machine, though the address is a loopback one.
//
// Requirements: PAL-08 (by a model)
func TestAModelBehindThePalaceIsNotOnThisMachine(t *testing.T) {
	t.Parallel()
	_, _, env := palaceGround(t)
	env = append(env, "PALACE_ADDR=127.0.0.1:19848")
	for client, named := range map[string]string{"claude": "ANTHROPIC_BASE_URL=", "openai": "OPENAI_BASE_URL="} {
		_, out, said := finish(t, env, "palace", "env", "--client", client, "near")
		_, rest, ok := strings.Cut(out, named)
		base, _, _ := strings.Cut(rest, "\n")
		u, err := url.Parse(base)
		if !ok || err != nil || model.IsLoopback(u) {
			t.Errorf("%s: %q is taken for this machine (%v): %s", client, base, err, said)
		}
		if u.Path = "/v1"; !model.IsLoopback(u) {
			t.Errorf("%s is taken for another machine", u)
		}
	}
}

// killed ends a process as a power cut would.
func killed(pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	return err
}

// Who cannot need the tools is not given them, and no token is in an argument.
func TestClaudeGetsTheToolsThatAskBack(t *testing.T) {
	t.Parallel()
	p := &palace{dir: t.TempDir()}
	views := filepath.Join(p.dir, "views")
	if err := os.MkdirAll(views, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		mode, path string
		args       []string
		want       bool
	}{
		{"view", "/opt/claude", []string{"-p", "hello"}, true},
		{"view", "/opt/claude", nil, true},
		{"view", "/opt/claude", []string{"mcp", "list"}, false},
		{"view", "/opt/codex", []string{"-p", "hello"}, false},
		{"shadow", "/opt/claude", []string{"-p", "hello"}, false},
	} {
		if err := os.WriteFile(filepath.Join(views, "mode.json"), []byte(`{"mode":"`+one.mode+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(p.withRecall(one.path, one.args), " ")
		if has := strings.Contains(got, "--mcp-config="); has != one.want || !strings.HasSuffix(got, strings.Join(one.args, " ")) || strings.Contains(got, "plt_") {
			t.Errorf("%v: %s", one, got)
		}
	}
}
