// Package launch runs a command behind a proxy: it holds the proxy that runs, or
// starts one in a process of its own, gives the command a token for as long as it
// runs, and starts the proxy again if that is killed.
//
// It may import internal/capture/proxy, the standard library and golang.org/x/sys.
package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"liminal/internal/capture/proxy"
)

const (
	// startLimit is how long a proxy may take until it answers, and askEvery how
	// often it is asked meanwhile.
	startLimit = 20 * time.Second
	askEvery   = 5 * time.Millisecond
	// againAfter is how long to wait after a start that failed, while the command
	// runs on: its client tries again by itself.
	againAfter = time.Second
	// logName is the file that proxies write to which a command started, and
	// mostLog what it may have before it is begun anew, in bytes.
	logName = "proxy.log"
	mostLog = 4 << 20
)

// Options say what to hold.
type Options struct {
	// Dir is the palace folder.
	Dir   string
	Token string
	Agent proxy.Agent
	// Command prepares a proxy in a process of its own, which listens on address;
	// empty: where the settings say.
	Command func(address string) *exec.Cmd
}

// Held is a proxy that is held. It is so until the context ends that it was taken
// with, or the process.
type Held struct {
	proxy.Granted
	options Options
	held    *http.Response
}

// Hold takes the proxy of a folder, and starts one if none runs.
func Hold(ctx context.Context, o Options) (*Held, error) {
	h := &Held{options: o}
	if err := h.take(ctx, ""); err != nil {
		return nil, err
	}
	go h.keep(ctx)
	return h, nil
}

// keep takes the proxy again whenever it ends.
func (h *Held) keep(ctx context.Context) {
	for {
		_, _ = io.Copy(io.Discard, h.held.Body) // until the proxy ends, or ctx
		_ = h.held.Body.Close()                 // as above
		for ctx.Err() == nil && h.take(ctx, h.Address) != nil {
			select {
			case <-ctx.Done():
			case <-time.After(againAfter):
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// take holds the proxy, and starts it on an address if it does not run.
func (h *Held) take(ctx context.Context, address string) error {
	limit, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var started *process
	for {
		granted, held, err := proxy.Hold(ctx, h.options.Dir, h.options.Token, h.options.Agent)
		if err == nil {
			h.held = held
			if address == "" { // the command has the first address in its environment
				h.Granted = granted
			}
			return nil
		}
		if !errors.Is(err, proxy.ErrNone) {
			return err
		}
		if started == nil {
			if started, err = start(h.options.Dir, h.options.Command(address)); err != nil {
				return err
			}
		}
		select {
		case err := <-started.ended:
			return started.said(err)
		case <-limit.Done():
			return fmt.Errorf("the proxy did not answer within %s; %s says why", startLimit, started.log)
		case <-time.After(askEvery):
		}
	}
}

// process is a proxy that was started.
type process struct {
	ended chan error
	log   string
	from  int64 // where in the log it begins
}

// start begins a process that outlives this one and no terminal reaches.
func start(dir string, cmd *exec.Cmd) (*process, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &process{ended: make(chan error, 1), log: filepath.Join(dir, logName)}
	if info, err := os.Stat(p.log); err == nil && info.Size() > mostLog {
		_ = os.Remove(p.log) // else it grows on
	}
	log, err := os.OpenFile(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the process writes to it, not we
	if p.from, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, apart()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the proxy cannot be started: %w", err)
	}
	go func() { p.ended <- cmd.Wait() }()
	return p, nil
}

// said is why a proxy ended that had only begun: its last line.
func (p *process) said(err error) error {
	raw, _ := os.ReadFile(p.log) // then without a reason
	lines := strings.Split(strings.TrimSpace(string(bytes.TrimSpace(raw[min(p.from, int64(len(raw))):]))), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return errors.New(last)
	}
	return fmt.Errorf("the proxy ended as it began (%v); %s may say why", err, p.log)
}
