package launch

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Run runs a command to its end, hands on the signals that this process gets, and
// returns the exit code a shell would have.
func Run(cmd *exec.Cmd) (code int, err error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handedOn...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if !typed(s) {
				_ = cmd.Process.Signal(s) // it may have ended just now
			}
		case err := <-ended:
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				return 0, err
			}
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return 128 + int(status.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}
