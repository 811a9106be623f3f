package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"liminal/internal/capture/capturetest"
)

const (
	// agentEnv makes this program an agent: a client that talks, and tries again as
	// the real one does.
	agentEnv = "PALACE_KILLS_AGENT"
	// killAgents is how many talk at once.
	killAgents = 4
	// killLimit bounds all of it.
	killLimit = 40 * time.Minute
	// patience is how long an agent tries again to have one answer.
	patience = 2 * time.Minute
)

// agent talks until a file tells it to end, and writes down the hash of each request
// that it has the whole answer of.
func agent(folder string) error {
	name := make([]byte, 8)
	if _, err := rand.Read(name); err != nil {
		return err
	}
	session := hex.EncodeToString(name)
	done, err := os.OpenFile(filepath.Join(folder, session+".done"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer done.Close() //nolint:errcheck // each line is written at once
	var said []string
	for turn := 0; ; turn++ {
		if _, err := os.Stat(filepath.Join(folder, "end")); err == nil {
			return nil
		}
		said = append(said, fmt.Sprintf(`{"role":"user","content":"%s asks %d %s"}`, session, turn, strings.Repeat("and more ", 60)))
		body := []byte(`{"model":"claude-invented","stream":true,"max_tokens":100,"messages":[` + strings.Join(said, ",") + `]}`)
		tries, began := 0, time.Now()
		for ; ; tries++ {
			err := ask(session, body)
			if err == nil {
				break
			}
			if time.Since(began) > patience {
				return fmt.Errorf("turn %d had no answer in %d tries: %w", turn, tries+1, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		said = append(said, `{"role":"assistant","content":[{"type":"text","text":"this is the end of the turn"}]}`)
		if _, err := fmt.Fprintln(done, capturetest.Sum(body), tries); err != nil {
			return err
		}
		if len(said) > 80 { // as /clear does
			said = nil
		}
	}
}

// ask is one request, with its whole answer.
func ask(session string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("X-Claude-Code-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !bytes.Contains(raw, []byte("message_stop")) {
		return fmt.Errorf("%s, %d bytes", resp.Status, len(raw))
	}
	return nil
}

// slowly lets each event of a stream take its time, so that a kill is in the middle.
type slowly struct{ http.ResponseWriter }

// FlushError implements what http.ResponseController asks for.
func (s slowly) FlushError() error {
	time.Sleep(15 * time.Millisecond)
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// storm kills the proxy, the platform with its store, or both, so many times at random
// while agents talk, and counts what became of what they said.
func storm(program string, kills int) (err error) {
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	scratch, err := os.MkdirTemp("", "liminal-kills-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // the system cleans what is left
	up := &capturetest.Upstream{}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	backend := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { up.ServeHTTP(slowly{w}, r) })}
	go backend.Serve(l)   //nolint:errcheck // it ends with the program
	defer backend.Close() //nolint:errcheck // as above
	s := &stage{ctx: ctx, program: program, scratch: scratch, up: up, env: []string{
		"HOME=" + scratch, "PATH=/usr/bin:/bin", "SHARED_FS_ROOT=" + filepath.Join(scratch, "data"), "PALACE_UPSTREAM=http://" + l.Addr().String(), "LIMINAL_LOG_LEVEL=warn",
	}}
	if err := s.platformUp("off"); err != nil {
		return err
	}
	defer func() { s.kill(s.platform) }()
	var agents []*exec.Cmd
	for range killAgents {
		cmd := exec.CommandContext(ctx, program, "palace", "run", "--name", "agent", "--", self)
		cmd.Env, cmd.Dir, cmd.Stderr = append(append([]string{}, s.env...), "PALACE_ADDR=127.0.0.1:0", agentEnv+"="+scratch), scratch, os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
		agents = append(agents, cmd)
	}
	count := map[string]int{}
	for n := 0; n < kills; n++ {
		time.Sleep(time.Duration(200+mathrand.IntN(1300)) * time.Millisecond)
		what := []string{"proxy", "proxy", "platform and store", "both"}[mathrand.IntN(4)]
		if what != "platform and store" {
			pid, err := s.proxyID()
			if err != nil { // it is just being started anew
				n--
				continue
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
		if what != "proxy" {
			s.kill(s.platform)
			if err := s.platformUp("off"); err != nil {
				return err
			}
		}
		count[what]++
		if (n+1)%10 == 0 {
			fmt.Printf("%d kills, %d requests\n", n+1, len(up.Asked()))
		}
	}
	if err := os.WriteFile(filepath.Join(scratch, "end"), nil, 0o600); err != nil {
		return err
	}
	for _, cmd := range agents {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("an agent did not get to its end: %w", err)
		}
	}
	return s.account(count, scratch)
}

// account holds what is kept against what the agents had and the backend was asked.
func (s *stage) account(kills map[string]int, scratch string) error {
	all, err := s.settled()
	if err != nil {
		return err
	}
	whole, part := map[string]int{}, map[string]int{}
	for _, e := range all {
		if e.Complete {
			whole[e.Request.Sum]++
		} else {
			part[e.Request.Sum]++
		}
	}
	names, err := filepath.Glob(filepath.Join(scratch, "*.done"))
	if err != nil {
		return err
	}
	turns, tries, lostWhole := 0, 0, 0
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(raw)) {
			var sum string
			var again int
			if _, err := fmt.Sscan(line, &sum, &again); err != nil {
				return err
			}
			turns, tries = turns+1, tries+again
			if whole[sum] == 0 {
				lostWhole++
			}
		}
	}
	lost := 0
	for _, a := range s.up.Asked() {
		sum := a.Sum()
		switch {
		case whole[sum] > 0:
			whole[sum]--
		case part[sum] > 0:
			part[sum]--
		default:
			lost++
		}
	}
	doc, err := json.Marshal(map[string]any{
		"kills": kills, "agents": len(names), "turns": turns, "tried_again": tries, "requests": len(s.up.Asked()), "kept": len(all), "requests_not_kept": lost, "turns_not_kept_whole": lostWhole,
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", doc)
	killed := kills["proxy"] + kills["both"]
	if most := killed * killAgents; lost > most || lostWhole > killed {
		return errors.New("more is lost than what was under way in a proxy that was killed")
	}
	return nil
}

// settled waits until nothing more is taken in, and returns everything.
func (s *stage) settled() (all []exchangeSeen, err error) {
	for same, before := 0, -1; same < 4; {
		if all, err = list[exchangeSeen](s, "/v1/palace/exchanges?limit=100"); err != nil {
			return nil, err
		}
		if len(all) == before {
			same++
		} else {
			same, before = 0, len(all)
		}
		select {
		case <-s.ctx.Done():
			return nil, s.ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return all, nil
}
