//go:build unix && !linux

package train

import "syscall"

func orphans(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }
