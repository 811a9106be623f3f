//go:build unix

package mcp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// startGroup starts a program that ends with this one where the kernel sees to that.
// The channel is closed when it has ended.
func startGroup(cmd *exec.Cmd) (<-chan struct{}, error) {
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		// The kernel's word of a parent's end is of the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended says nothing: it was closed
		}
		close(ended)
	}()
	return ended, <-started
}

// endGroup ends a program and all that it started.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // they may have ended

// Exec becomes a command, within the bounds of a program of an MCP server. It
// returns only where that fails.
func Exec(command []string) error {
	if len(command) == 0 {
		return errors.New("there is no command")
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("the command %s is not there", filepath.Base(command[0]))
	}
	if err := confine(); err != nil {
		return fmt.Errorf("the bounds of %s cannot be set: %w", filepath.Base(path), err)
	}
	return syscall.Exec(path, command, os.Environ()) //nolint:gosec // the operator lists it
}

// limit sets one bound, no higher than it is.
func limit(what int, most uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(what, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most})
}
