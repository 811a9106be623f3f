package mcp

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// nobody is who a program is when root starts it: the user of the container
// images, who owns nothing here.
const nobody = 65532

// RLIMIT_NPROC, which syscall does not name.
const processes = 6

// apart gives a program a group of its own, ends it with this one, and makes it
// nobody's where root starts it. It tells what cannot be had.
func apart(cmd *exec.Cmd, home string) (lacks string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		return ""
	}
	for at := filepath.Dir(home); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&0o001 == 0 {
			return "user: this program runs as root, and so do these, as another user could not reach " + at + "; start it as a user of its own"
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if err := os.Chown(home, nobody, nobody); err != nil {
		return "user: " + err.Error()
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	return ""
}

// confine bounds this process and all it starts.
func confine() error {
	for _, l := range []struct {
		what int
		most uint64
	}{
		{syscall.RLIMIT_DATA, maxMemory},
		{syscall.RLIMIT_CORE, 0},
		{syscall.RLIMIT_NOFILE, maxOpen},
		{syscall.RLIMIT_FSIZE, maxFile},
		{syscall.RLIMIT_CPU, maxProcessor},
	} {
		if err := limit(l.what, l.most); err != nil {
			return err
		}
	}
	if os.Geteuid() != 0 { // of root it bounds nothing
		if err := limit(processes, maxProcesses); err != nil {
			return err
		}
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 5)            // what it refuses is left: the bounds hold
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("800"), 0) //nolint:gosec // it is there
	return nil
}
