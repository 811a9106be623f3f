package mcp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
)

// The bounds of a program (TOOL-04).
const (
	maxMemory    = 2 << 30 // bytes of its own that it may write to
	maxFile      = 1 << 30 // bytes of a file
	maxOpen      = 512     // files
	maxProcesses = 256     // of its user
	maxProcessor = 120     // seconds of one process
)

// usualPath is where commands are looked for, unless the operator's entry says PATH.
const usualPath = "/usr/local/bin:/usr/bin:/bin"

// maxWords is how much of what a program says on standard error is kept, in bytes.
const maxWords = 2 << 10

// goodbye is how long a program may take to end once nobody listens.
const goodbye = 300 * time.Millisecond

// program is one that was started.
type program struct {
	in  io.WriteCloser
	out io.ReadCloser
	end func()
}

var fileName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// start starts a program of the operator's file, apart: in a group of processes and
// a folder of its own, with an environment that holds nothing of this one.
func (c *Client) start(name string) (*program, error) {
	e, ok := c.o.Operator[name]
	switch {
	case !ok || e.Command == "":
		return nil, notHere("There is no program %q in LIMINAL_MCP_FILE: whoever runs this server puts it there.", name)
	case c.o.Program.Path == "" || c.o.Dir == "":
		return nil, notHere("This process starts no programs, so the MCP server %q cannot be used here.", name)
	}
	home := filepath.Join(c.o.Dir, fileName.ReplaceAllString(name, "_"))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the MCP server %s: %w", name, err)
	}
	path := usualPath
	if own := e.Env["PATH"]; own != "" {
		path = own
	}
	cmd := exec.Command(c.o.Program.Path, slices.Concat(c.o.Program.Args, []string{e.Command}, e.Args)...) //nolint:gosec,noctx // the operator lists it, and it ends by signal
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + path, "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8"}
	for key, v := range e.Env {
		cmd.Env = append(cmd.Env, key+"="+v)
	}
	said := &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if lacks := apart(cmd, home); lacks != "" {
		c.lacks.Do(func() {
			c.o.Logger.Warn("programs of MCP servers are bounded less than they could be", "lacking", lacks)
		})
	}
	ended, err := startGroup(cmd)
	if err != nil {
		return nil, unsent(fault.Wrap(fault.Internal, err, "The program of the MCP server %s cannot be started.", name))
	}
	var once sync.Once
	return &program{in: in, out: out, end: func() {
		once.Do(func() {
			_ = in.Close()
			late := time.NewTimer(goodbye)
			defer late.Stop()
			select {
			case <-ended:
			case <-late.C:
			}
			endGroup(cmd) // what it started may be there still
			late.Reset(goodbye)
			select { // so that who asks after the call finds nothing left
			case <-ended:
			case <-late.C:
			}
			if words := said.text(); words != "" {
				c.o.Logger.Debug("an MCP server said on standard error", "server", name, "said", words)
			}
		})
	}}, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	all []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, p...)
	if len(t.all) > maxWords {
		t.all = slices.Clone(t.all[len(t.all)-maxWords:])
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.all), ""))
}
