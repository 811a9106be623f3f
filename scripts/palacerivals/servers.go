package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a proxy in a process of its own, with whatever processes it starts.
type server struct {
	cmd *exec.Cmd
	log string
}

// start begins a server in a session of its own, and waits until a URL answers.
func start(ctx context.Context, dir, name string, env []string, url string, args ...string) (*server, error) {
	s := &server{log: filepath.Join(dir, name+".log")}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the server writes to it, not we
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "NO_PROXY=127.0.0.1,localhost"}, env...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr, s.cmd.SysProcAttr = dir, log, log, &syscall.SysProcAttr{Setsid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	limit, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		if req, err := http.NewRequestWithContext(limit, http.MethodGet, url, nil); err == nil {
			if resp, err := client.Do(req); err == nil {
				_ = resp.Body.Close() // any answer will do
				return s, nil
			}
		}
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(s.log) // then without its words
			return s, fmt.Errorf("%s ended as it began: %w\n%s", name, err, raw[max(0, len(raw)-2000):])
		case <-limit.Done():
			raw, _ := os.ReadFile(s.log) // as above
			return s, fmt.Errorf("%s did not begin in %s\n%s", name, startLimit, raw[max(0, len(raw)-2000):])
		case <-time.After(askEvery):
		}
	}
}

// stop ends the session of the server.
func (s *server) stop() {
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// processes are those of the server's session.
func (s *server) processes() (list []int) {
	entries, _ := os.ReadDir("/proc") // none: not this system
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := statOf(pid); len(fields) > 3 && fields[3] == strconv.Itoa(s.cmd.Process.Pid) {
			list = append(list, pid)
		}
	}
	return list
}

// statOf are the fields of a process behind its name, its state first.
func statOf(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	text := string(raw)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}

// cpu is the processor time of the server so far; a nil server takes none.
func (s *server) cpu() (used time.Duration) {
	if s == nil {
		return 0
	}
	const tick = 10 * time.Millisecond // of every Linux
	for _, pid := range s.processes() {
		for _, i := range []int{11, 12} { // user and system
			if fields := statOf(pid); i < len(fields) {
				n, _ := strconv.Atoi(fields[i]) // a number
				used += time.Duration(n) * tick
			}
		}
	}
	return used
}

// free is a port that nobody has now.
func free(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // only asked
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func folder(scratch, name string) (string, error) {
	dir := filepath.Join(scratch, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// keyOfNobody is what each of them is given as a key.
const keyOfNobody = "sk-ant-api03-of-nobody"

func startLiminal(ctx context.Context, o options, scratch, upstream string) (*server, []*target, error) {
	dir, err := folder(scratch, "liminal")
	if err != nil {
		return nil, nil, err
	}
	port, err := free(ctx)
	if err != nil {
		return nil, nil, err
	}
	env := []string{"SHARED_FS_ROOT=" + dir, "PALACE_ADDR=127.0.0.1:" + port, "PALACE_UPSTREAM=" + upstream}
	s, err := start(ctx, dir, "liminal", env, "http://127.0.0.1:"+port, o.liminald, "palace")
	if err != nil {
		return s, nil, err
	}
	token := exec.CommandContext(ctx, o.liminald, "palace", "env", "rivals")
	token.Env = env
	out, err := token.Output()
	if err != nil {
		return s, nil, err
	}
	for line := range strings.Lines(string(out)) {
		if base, ok := strings.CutPrefix(strings.TrimSpace(line), "export ANTHROPIC_BASE_URL="); ok {
			return s, []*target{{name: "liminald palace", url: base + "/v1/messages", header: http.Header{"X-Api-Key": {keyOfNobody}}, server: s}}, nil
		}
	}
	return s, nil, errors.New("liminald palace env names no address")
}

// rivalsKey opens the others. LiteLLM refuses to start with one that everybody knows.
const rivalsKey = "sk-of-the-rivals-7c0e41d29ab35f68"

// startLiteLLM starts it as its documentation says, without a database. It has two ways
// for an agent: its own end point for messages, and one that is to pass them through.
func startLiteLLM(ctx context.Context, o options, scratch, upstream string) (*server, []*target, error) {
	if o.litellm == "" {
		return nil, nil, nil
	}
	dir, err := folder(scratch, "litellm")
	if err != nil {
		return nil, nil, err
	}
	port, err := free(ctx)
	if err != nil {
		return nil, nil, err
	}
	conf, err := json.Marshal(map[string]any{ // which is YAML too
		"model_list":       []any{map[string]any{"model_name": "claude-invented", "litellm_params": map[string]any{"model": "anthropic/claude-invented", "api_base": upstream, "api_key": keyOfNobody}}},
		"general_settings": map[string]any{"master_key": rivalsKey},
	})
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, conf, 0o600); err != nil {
		return nil, nil, err
	}
	env := []string{"ANTHROPIC_API_BASE=" + upstream, "ANTHROPIC_API_KEY=" + keyOfNobody, "LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_TELEMETRY=False", "DISABLE_ADMIN_UI=True"}
	base := "http://127.0.0.1:" + port
	s, err := start(ctx, dir, "litellm", env, base+"/health/liveliness", o.litellm, "--config", file, "--host", "127.0.0.1", "--port", port)
	if err != nil {
		return s, nil, err
	}
	header := http.Header{"X-Api-Key": {rivalsKey}, "Authorization": {"Bearer " + rivalsKey}}
	return s, []*target{
		{name: "LiteLLM, /v1/messages", url: base + "/v1/messages", header: header, server: s},
		{name: "LiteLLM, /anthropic", url: base + "/anthropic/v1/messages", header: header, server: s},
	}, nil
}

// startRouter starts claude-code-router with one provider that speaks Anthropic's
// protocol, and nothing else set.
func startRouter(ctx context.Context, o options, scratch, upstream string) (*server, []*target, error) {
	if o.router == "" {
		return nil, nil, nil
	}
	dir, err := folder(scratch, "router")
	if err != nil {
		return nil, nil, err
	}
	port, err := free(ctx)
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, nil, err
	}
	conf, err := json.Marshal(map[string]any{
		"HOST": "127.0.0.1", "PORT": n, "APIKEY": rivalsKey, "LOG": false, "NON_INTERACTIVE_MODE": true,
		"Providers": []any{map[string]any{"name": "invented", "api_base_url": upstream + "/v1/messages", "api_key": keyOfNobody, "models": []string{"claude-invented"}, "transformer": map[string]any{"use": []string{"Anthropic"}}}},
		"Router":    map[string]any{"default": "invented,claude-invented"},
	})
	if err != nil {
		return nil, nil, err
	}
	home, err := folder(dir, ".claude-code-router")
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "config.json"), conf, 0o600)
	}
	if err != nil {
		return nil, nil, err
	}
	base := "http://127.0.0.1:" + port
	s, err := start(ctx, dir, "claude-code-router", []string{"SERVICE_PORT=" + port}, base+"/health", "node", o.router, "start")
	if err != nil {
		return s, nil, err
	}
	return s, []*target{{name: "claude-code-router", url: base + "/v1/messages", header: http.Header{"X-Api-Key": {rivalsKey}, "Authorization": {"Bearer " + rivalsKey}}, server: s}}, nil
}
