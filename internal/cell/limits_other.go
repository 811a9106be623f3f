//go:build !linux

package cell

import (
	"os"
	"time"
)

func self() (string, error) { return os.Executable() }

func modest(int) {}

// used is not known here: Go's own limit of memory, the alarm of the process
// and, on Unix, the kernel's bound on its time remain.
func used(int) (memory int64, cpu time.Duration, known bool) { return 0, 0, false }
