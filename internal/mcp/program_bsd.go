//go:build unix && !linux

package mcp

import (
	"os/exec"
	"syscall"
)

func apart(cmd *exec.Cmd, _ string) (lacks string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return "user and memory: this system bounds only the files and the time of processes"
}

func confine() error {
	for what, most := range map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: maxFile, syscall.RLIMIT_CPU: maxProcessor} {
		if err := limit(what, most); err != nil {
			return err
		}
	}
	return nil
}
