//go:build unix

package train

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startGroup starts a program in a group of its own, which ends with this one
// where the kernel sees to that. The channel has how it ended.
func startGroup(cmd *exec.Cmd) (<-chan error, error) {
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The kernel's word of a parent's end is of the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd.SysProcAttr = orphans(&syscall.SysProcAttr{Setpgid: true})
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	return ended, <-started
}

// askGroup asks a program and all that it started to end. Containers are told by
// the program that waits for them.
func askGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it may have ended

// endGroup ends them.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // they may have ended
