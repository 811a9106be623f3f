//go:build !unix

package train

import "os/exec"

func startGroup(cmd *exec.Cmd) (<-chan error, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

func askGroup(cmd *exec.Cmd) { endGroup(cmd) }

func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended
