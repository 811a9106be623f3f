package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

// stage is a platform and a client on a data folder of their own.
type stage struct {
	ctx             context.Context
	client, program string
	scratch         string
	env             []string
	up              *capturetest.Upstream
	platform        *exec.Cmd
	url, token      string
	plan            view.Plan // the last one that the proxy was seen to have
}

// beginLimit is how long a platform may take until it answers.
const beginLimit = time.Minute

// platformUp starts liminald dev on the folder, with or without the proxy in it.
func (s *stage) platformUp(address string) error {
	ready := filepath.Join(s.scratch, "ready.json")
	_ = os.Remove(ready) // of the one before
	cmd := exec.CommandContext(s.ctx, s.program, "dev", "--listen", "127.0.0.1:0", "--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0", "--ready-file", ready)
	cmd.Env, cmd.Dir, cmd.Stderr = append(append([]string{}, s.env...), "PALACE_ADDR="+address), s.scratch, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	s.platform = cmd
	deadline := time.Now().Add(beginLimit)
	for {
		raw, err := os.ReadFile(ready)
		var where struct{ HTTP string }
		if err == nil && json.Unmarshal(raw, &where) == nil {
			s.url = where.HTTP
			break
		}
		if time.Now().After(deadline) {
			return errors.New("the platform did not begin in time")
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	verb := "login"
	if s.token == "" {
		verb = "signup"
	}
	var in struct {
		Token string `json:"access_token"`
	}
	err := s.ask("POST", "/v1/auth/"+verb, map[string]any{"email": "ada@example.org", "password": "an invented horse battery"}, &in)
	s.token = in.Token
	return err
}

func (s *stage) kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // SIGKILL
	_ = cmd.Wait()         // as it was killed
}

// ask asks the platform's API.
func (s *stage) ask(method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var from io.Reader
	if body != nil {
		from = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(s.ctx, method, s.url+path, from)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.token != "" && !strings.Contains(path, "/auth/") {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if raw, err = io.ReadAll(resp.Body); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s %s", method, path, resp.Status, raw)
	}
	return json.Unmarshal(raw, &struct{ Data any }{into})
}

type agentSeen struct {
	ID     string
	Number int `json:"agent_id"`
	Kind   string
	Parent string `json:"parent_id"`
}

type lineageSeen struct {
	ID, Supersedes, Why string
	Fork, Exchanges     int
	Blocks              int
}

type exchangeSeen struct {
	ID, Kind, Lineage string
	Status            int
	Complete          bool
	CutBy             string `json:"cut_by"`
	Request           struct {
		Sum string `json:"sha256"`
	}
	Sent *struct {
		Sum string `json:"sha256"`
	}
}

// list reads a list of the API to its end.
func list[T any](s *stage, path string) (all []T, err error) {
	for cursor := ""; ; {
		var page struct {
			Data []T
			Next string `json:"next_cursor"`
		}
		if err := s.ask("GET", path+cursor, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == "" {
			return all, nil
		}
		cursor = "&cursor=" + page.Next
	}
}

// taken waits until everything that the backend was asked is taken in.
func (s *stage) taken() ([]exchangeSeen, error) {
	for {
		all, err := list[exchangeSeen](s, "/v1/palace/exchanges?limit=100")
		if err != nil {
			return nil, err
		}
		if len(all) >= len(s.up.Asked()) {
			return all, nil
		}
		select {
		case <-s.ctx.Done():
			return nil, fmt.Errorf("%d exchanges are taken in, the backend had %d", len(all), len(s.up.Asked()))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// claude is a client behind the proxy.
func (s *stage) claude(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, s.program, append([]string{"palace", "run", "--name", "claude", "--", s.client, "-p", "--output-format", "stream-json", "--verbose", "--allowedTools=Bash,Task,Agent"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = append(append([]string{}, s.env...), "PALACE_ADDR=127.0.0.1:0"), filepath.Join(s.scratch, "work"), os.Stderr
	return cmd
}

// talk says several things to one client, each when the one before has its answer.
func (s *stage) talk(says ...string) error {
	cmd := s.claude("--input-format", "stream-json")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	from := json.NewDecoder(out)
	for _, text := range says {
		if err := json.NewEncoder(in).Encode(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}}); err != nil {
			return err
		}
		for {
			var event struct {
				Type    string
				IsError bool `json:"is_error"`
				Result  string
			}
			if err := from.Decode(&event); err != nil {
				return fmt.Errorf("the client said nothing to %q: %w", text, err)
			}
			if event.Type == "result" {
				fmt.Printf("  %-20q -> %.60q\n", text, event.Result)
				break
			}
		}
	}
	return errors.Join(in.Close(), cmd.Wait())
}

// tree tells agents and their lineages.
func (s *stage) tree() (text string, err error) {
	agents, err := list[agentSeen](s, "/v1/palace/agents?limit=100")
	if err != nil {
		return "", err
	}
	number := map[string]int{}
	for _, a := range agents {
		number[a.ID] = a.Number
	}
	for i := range agents {
		a := agents[len(agents)-1-i]
		text += fmt.Sprintf("%d %s", a.Number, a.Kind)
		if a.Parent != "" {
			text += fmt.Sprintf(" of %d", number[a.Parent])
		}
		lineages, err := list[lineageSeen](s, "/v1/palace/lineages?agent="+a.ID)
		if err != nil {
			return "", err
		}
		for j := range lineages {
			l := lineages[len(lineages)-1-j]
			text += fmt.Sprintf(" [%s %d]", strings.TrimSpace(l.Why), l.Exchanges)
		}
		text += "\n"
	}
	return text, nil
}

// wholly checks that what is kept is what the backend was asked, each once.
func (s *stage) wholly(all []exchangeSeen) error {
	seen := map[string]int{}
	for _, e := range all {
		seen[e.Request.Sum]++
	}
	for i, a := range s.up.Asked() {
		if seen[a.Sum()]--; seen[a.Sum()] < 0 {
			return fmt.Errorf("request %d is not kept as the backend had it", i+1)
		}
	}
	for sum, n := range seen {
		if n > 0 {
			return fmt.Errorf("a request %s is kept that the backend never had", sum)
		}
	}
	return nil
}

// histories plays a session with a tool, two subagents, /compact, /clear and
// --continue, and holds the lineages against what was done.
func (s *stage) histories() error {
	if err := s.platformUp("127.0.0.1:0"); err != nil {
		return err
	}
	if err := s.talk("Run the command, then say so.", "Now "+capturetest.AskTwoAgents+".", "/compact", "Go on.", "/clear", "Something else."); err != nil {
		return err
	}
	cmd := s.claude("--continue", "And more.")
	if out, err := cmd.Output(); err != nil {
		return fmt.Errorf("--continue: %w\n%s", err, out)
	}
	all, err := s.taken()
	if err != nil {
		return err
	}
	if err := s.wholly(all); err != nil {
		return err
	}
	text, err := s.tree()
	if err != nil {
		return err
	}
	kinds := map[string]int{}
	for _, e := range all {
		kinds[e.Kind]++
	}
	fmt.Printf("agents and their lineages after a session (%d exchanges, %v):\n%s", len(all), kinds, text)
	if !histories.MatchString(text) {
		return errors.New("those are not the histories of what was done")
	}
	return nil
}

// histories are those of one main loop and two subagents.
var histories = regexp.MustCompile(`^1 main \[ \d+\] \[compact \d+\] \[clear \d+\]\n2 subagent of 1 \[ \d+\]\n3 subagent of 1 \[ \d+\]\n$`)

// killed plays a turn whose stream hangs, kills something in the middle, and lets the
// client find its way.
func (s *stage) killed(what string, cuts int, do func() error) error {
	before := len(s.up.Asked())
	s.up.Fail(capturetest.FallsSilent)
	cmd := s.claude("Say something about " + what + ".")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return err
	}
	for len(s.up.Asked()) == before {
		select {
		case <-s.ctx.Done():
			return fmt.Errorf("the client asked nothing: %w\n%s", s.ctx.Err(), out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	time.Sleep(1500 * time.Millisecond) // what came of the stream is on the disk
	if err := do(); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s was killed, and the client failed: %w\n%s", what, err, out.String())
	}
	if s.platform.ProcessState != nil {
		if err := s.platformUp("off"); err != nil {
			return err
		}
	}
	all, err := s.taken()
	if err != nil {
		return err
	}
	if err := s.wholly(all); err != nil {
		return err
	}
	cut := 0
	for _, e := range all[:len(s.up.Asked())-before] {
		if !e.Complete {
			cut++
		}
	}
	fmt.Printf("%s killed in the middle: the client ended well, all %d exchanges are kept once, %d of them in part\n", what, len(all), cut)
	if cut != cuts {
		return fmt.Errorf("%d exchanges are kept in part, not %d", cut, cuts)
	}
	return nil
}

// proxyID is the process of the proxy on the folder.
func (s *stage) proxyID() (int, error) {
	cmd := exec.CommandContext(s.ctx, s.program, "palace", "status", "--json")
	cmd.Env, cmd.Dir = append(append([]string{}, s.env...), "PALACE_ADDR=127.0.0.1:0"), s.scratch
	out, err := cmd.Output()
	var st struct{ PID int }
	return st.PID, errors.Join(err, json.Unmarshal(out, &st))
}

// kills kills the platform, the proxy, and both, in the middle of a stream.
func (s *stage) kills() error {
	both := func() error { s.kill(s.platform); return nil } // dev serves the proxy
	if err := s.killed("proxy and platform in one", 1, both); err != nil {
		return err
	}
	proxy := func() error {
		pid, err := s.proxyID()
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		return err
	}
	if err := s.killed("the proxy", 1, proxy); err != nil {
		return err
	}
	platform := func() error {
		s.kill(s.platform)
		s.up.Release() // the stream goes on as if nothing had been
		return nil
	}
	return s.killed("the platform", 0, platform)
}
