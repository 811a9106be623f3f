//go:build unix

package cell

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// maxFile bounds a temporary file of a process.
const maxFile = 1 << 30

// essential is what a process needs of the environment: nothing.
func essential() []string { return nil }

// apart gives the process a group of its own, so that all it starts ends with
// it, and the terminal's signals are not its business.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // one that has ended is as good
}

// compute calls over when the process has taken so much more of the
// processors' time.
func compute(most time.Duration, over func()) (lift func()) {
	var usage syscall.Rusage
	var limit syscall.Rlimit
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil || syscall.Getrlimit(syscall.RLIMIT_CPU, &limit) != nil {
		return func() {}
	}
	spent := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	limit.Cur = min(uint64((spent+most)/time.Second)+2, limit.Max) //nolint:gosec // it is not negative
	if syscall.Setrlimit(syscall.RLIMIT_CPU, &limit) != nil {
		return func() {}
	}
	late := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(late, syscall.SIGXCPU)
	go func() {
		select {
		case <-late:
			over()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(late)
		close(done)
	}
}
