package cell

import (
	"os"
	"os/exec"
	"strings"
	"time"
)

// essential is what no program runs without here.
func essential() []string {
	var out []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.EqualFold(name, "SystemRoot") {
			out = append(out, v)
		}
	}
	return out
}

func apart(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // one that has ended is as good

func confine(int64) error { return nil }

func compute(time.Duration, func()) (lift func()) { return func() {} }
