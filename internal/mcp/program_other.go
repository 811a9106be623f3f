//go:build !unix

package mcp

import (
	"errors"
	"os/exec"
)

func apart(*exec.Cmd, string) (lacks string) { return "all: this system bounds no processes" }

func startGroup(cmd *exec.Cmd) (<-chan struct{}, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended says nothing
		close(ended)
	}()
	return ended, nil
}

func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended

// Exec is for systems on which a process can become another.
func Exec([]string) error {
	return errors.New("programs of MCP servers are not started on this system")
}
