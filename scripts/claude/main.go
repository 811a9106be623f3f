// Command claude plays one turn of the real Claude Code through `liminald palace
// run` against an invented backend on this machine, and says what was kept of it.
//
//	scripts/claude.sh        installs the client into .cache and runs this
//
// The client is proprietary: it is fetched, never kept in the repository, and
// neither is anything it says. It imports the standard library and what serves tests.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"liminal/internal/capture/capturetest"
)

// key is nobody's; what is kept is searched for it.
const key = "sk-ant-api03-an-invented-key-of-nobody"

const limit = 5 * time.Minute

func main() {
	client := flag.String("client", "", "the client's program")
	program := flag.String("program", "bin/liminald", "liminald")
	only := flag.String("only", "", "views: only what a view does; session: only the session in one")
	kills := flag.Int("kills", 0, "instead: kill proxy, platform and store so often at random, while agents talk")
	flag.Parse()
	var err error
	switch folder := os.Getenv(agentEnv); {
	case folder != "":
		err = agent(folder)
	case *kills > 0:
		err = storm(*program, *kills)
	default:
		err = play(*client, *program, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		os.Exit(1)
	}
}

func play(client, program, only string) error {
	client, err := filepath.Abs(client)
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	scratch, err := os.MkdirTemp("", "liminal-claude-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // the system cleans what is left
	up := &capturetest.Upstream{Command: "echo a-tool-ran"}
	up.Fail(capturetest.Overloaded)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	backend := &http.Server{Handler: up, ReadHeaderTimeout: time.Minute}
	go backend.Serve(l)   //nolint:errcheck // it ends with the program
	defer backend.Close() //nolint:errcheck // as above
	env := []string{
		"HOME=" + scratch, "PATH=/usr/bin:/bin", "TERM=dumb", "LANG=C.UTF-8", "SHARED_FS_ROOT=" + filepath.Join(scratch, "data"), "PALACE_ADDR=127.0.0.1:0",
		"PALACE_UPSTREAM=http://" + l.Addr().String(), "ANTHROPIC_API_KEY=" + key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1",
	}
	switch only {
	case "views":
		return errors.Join(changes(ctx, client, program, env), viewed(ctx, client, program, env))
	case "session":
		return viewed(ctx, client, program, env)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, append([]string{"palace"}, args...)...)
		cmd.Env, cmd.Dir, cmd.Stderr = env, scratch, os.Stderr
		out, err := cmd.Output()
		return string(out), err
	}
	began := time.Now()
	said, err := run("run", "--name", "claude", "--", client, "-p", "Run the command, then say so.", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash")
	if err != nil {
		return fmt.Errorf("the client failed: %w\n%s", err, said)
	}
	fmt.Printf("the client ended well after %s\n", time.Since(began).Round(time.Millisecond))
	if !strings.Contains(said, "this is the end of the turn") || !strings.Contains(said, "a-tool-ran") {
		return errors.New("the client did not run the tool, or did not get to the end of the turn")
	}
	if err := compare(up.Asked(), scratch, run); err != nil {
		return err
	}
	if err := sessions(ctx, client, program, env); err != nil {
		return err
	}
	if err := changes(ctx, client, program, env); err != nil {
		return err
	}
	return viewed(ctx, client, program, env)
}

// sessions plays what takes more than a turn, with a platform beside the proxy.
func sessions(ctx context.Context, client, program string, env []string) error {
	up := &capturetest.Upstream{Command: "echo a-tool-ran", Cache: &capturetest.PrefixCache{}}
	s, done, err := newStage(ctx, client, program, env, up, up)
	if err != nil {
		return err
	}
	defer done()
	if err := s.histories(); err != nil {
		return err
	}
	if err := s.ledger(); err != nil {
		return err
	}
	return s.kills()
}

// compare holds what is kept against what the backend was asked.
func compare(asked []capturetest.Asked, scratch string, run func(...string) (string, error)) error {
	text, err := run("list", "--json")
	if err != nil {
		return err
	}
	var list struct {
		Exchanges []struct {
			Request  struct{ ID, Method, Path, Query string }
			Response struct {
				Status int
				Size   int64
			}
			Ending struct {
				Complete bool
				CutBy    string `json:"cut_by"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	if len(list.Exchanges) != len(asked) {
		return fmt.Errorf("%d exchanges are kept, the backend had %d", len(list.Exchanges), len(asked))
	}
	for i, e := range list.Exchanges {
		body, err := run("show", e.Request.ID, "--part", "request")
		if err != nil {
			return err
		}
		if capturetest.Sum([]byte(body)) != asked[i].Sum() {
			return fmt.Errorf("request %d is not kept as the backend had it", i+1)
		}
		fmt.Printf("%s %s?%s: %d bytes asked, %d, %d bytes answered, complete %v %s\n", e.Request.Method, e.Request.Path, e.Request.Query, len(body), e.Response.Status, e.Response.Size, e.Ending.Complete, e.Ending.CutBy)
	}
	// The client keeps an invented key in its own home, as it does any.
	return filepath.WalkDir(filepath.Join(scratch, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "operator.token" { // which is one, for its owner only
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && (bytes.Contains(raw, []byte(key)) || bytes.Contains(raw, []byte("plt_"))) {
			err = fmt.Errorf("%s holds a key", path)
		}
		return err
	})
}
