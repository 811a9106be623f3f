//go:build unix

package launch

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// handedOn are the signals that a command gets as well.
var handedOn = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// apart is how a process outlives who started it, and hears no key of their terminal.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// typed reports whether a signal came from the keyboard: the terminal has sent it
// to the command as well, and a second one would mean something else there.
func typed(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false // there is no keyboard
	}
	defer tty.Close() //nolint:errcheck // only asked
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
