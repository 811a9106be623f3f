package launch

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// handedOn are the signals that a command gets as well.
var handedOn = []os.Signal{os.Interrupt, syscall.SIGTERM}

// apart is how a process outlives who started it, and hears no key of their console.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// typed reports whether a signal came from the keyboard: a console sends it to all who
// are attached to it.
func typed(s os.Signal) bool { return s == os.Interrupt }
