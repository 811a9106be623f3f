//go:build amd64 || arm64

package cell

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Parts of the kernel's filter of system calls, which syscall does not name.
const (
	loadWord  = 0x20 // BPF_LD | BPF_W | BPF_ABS
	equal     = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	atLeast   = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	giveBack  = 0x06 // BPF_RET | BPF_K
	allow     = 0x7fff0000
	refuse    = 0x00050000 | uint32(syscall.EPERM)
	otherABI  = 0x40000000 // numbers from here on are another way to the same calls
	noNew     = 38         // PR_SET_NO_NEW_PRIVS
	byFilter  = 1          // SECCOMP_SET_MODE_FILTER
	allOfThem = 1          // SECCOMP_FILTER_FLAG_TSYNC
)

// alone takes from this process what no reading of a document needs: the
// network, other programs, and the memory of other processes. A kernel that has
// no such filter, or lets nobody set one, leaves the limits, which hold
// without it.
func alone() error {
	filter := []syscall.SockFilter{
		{Code: loadWord, K: 4}, // the architecture
		{Code: equal, Jt: 1, K: architecture},
		{Code: giveBack, K: refuse},
		{Code: loadWord, K: 0}, // the number of the call
		{Code: atLeast, Jf: 1, K: otherABI},
		{Code: giveBack, K: refuse},
	}
	for _, number := range refused {
		filter = append(filter,
			syscall.SockFilter{Code: equal, Jf: 1, K: number},
			syscall.SockFilter{Code: giveBack, K: refuse},
		)
	}
	filter = append(filter, syscall.SockFilter{Code: giveBack, K: allow})
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]} //nolint:gosec // they are few

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, no := syscall.RawSyscall6(syscall.SYS_PRCTL, noNew, 1, 0, 0, 0, 0); no != 0 {
		return nil
	}
	_, _, _ = syscall.RawSyscall(seccomp, byFilter, allOfThem, uintptr(unsafe.Pointer(&program))) //nolint:gosec // the call takes an address
	runtime.KeepAlive(filter)
	return nil
}
