package train

import "syscall"

// orphans has a program told to end when this one was killed.
func orphans(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGTERM
	return a
}
