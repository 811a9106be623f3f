package cell

import "syscall"

const (
	architecture = 0xc00000b7
	seccomp      = 277
)

// refused are the numbers of the system calls a confined process has not.
var refused = []uint32{
	syscall.SYS_SOCKET, syscall.SYS_SOCKETPAIR, syscall.SYS_CONNECT, syscall.SYS_BIND, syscall.SYS_LISTEN,
	syscall.SYS_EXECVE, 281, // execveat
	syscall.SYS_PTRACE, 270, 271, // process_vm_readv, process_vm_writev
	425, // io_uring_setup, which has ways of its own to all of these
}

// filtersCalls says that alone has a filter of system calls to set.
const filtersCalls = true
