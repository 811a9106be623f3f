package cell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nobody is who a process is when root starts it, and its group: the user of the
// container images, who owns nothing here.
const nobody = 65532

// bounds are what this machine lets a process be bounded by, beside what always
// holds.
type bounds struct {
	folders bool   // Landlock
	network bool   // a network of its own, with nothing in it
	user    bool   // this process is root and can make another user of it
	group   string // a folder of cgroups that can be used; empty: none
	lacking []string
}

var theseBounds = sync.OnceValue(func() bounds {
	b := bounds{user: os.Geteuid() == 0}
	lack := func(format string, args ...any) { b.lacking = append(b.lacking, fmt.Sprintf(format, args...)) }
	abi, err := landlockABI()
	switch {
	case err != nil:
		lack("files: the kernel has no Landlock (%v); a process can open what this program's user can", err)
	case !allThreads():
		lack("files: this program was built with cgo, so Landlock cannot be set for all threads")
	default:
		b.folders = abi > 0
	}
	if b.network = b.user && ownNetwork(); !b.network && !filtersCalls {
		lack("network: neither a namespace nor a filter of system calls can be had")
	}
	if b.group, err = groups("/proc/self/cgroup", "/sys/fs/cgroup"); err != nil {
		lack("cgroups: %v; memory is bounded by rlimits, GOMEMLIMIT and a watch, and processor time by a watch", err)
	}
	return b
})

// allThreads reports whether a system call can be made on all threads at once.
func allThreads() bool {
	_, _, no := syscall.AllThreadsSyscall(syscall.SYS_GETUID, 0, 0, 0)
	return no == 0
}

// ownNetwork reports whether a process may have a network of its own, by giving
// one to a thread that ends with it.
func ownNetwork() bool {
	ok := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is of no other use
		ok <- unix.Unshare(unix.CLONE_NEWNET) == nil
	}()
	return <-ok
}

// groups finds a folder of cgroup v2 in which processes can be bounded: that of
// this process, or, where it is called "liminal", the one above it, which whoever
// delegated it keeps for what it starts (DelegateSubgroup= of systemd).
func groups(self, mount string) (string, error) {
	raw, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(raw)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		dir := filepath.Join(mount, own)
		if filepath.Base(own) == "liminal" {
			dir = filepath.Dir(dir)
			hand(dir)
		}
		on, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			return "", fmt.Errorf("cgroup v2 is not mounted at %s", mount)
		}
		have := strings.Fields(string(on))
		for _, need := range []string{"memory", "cpu"} {
			if !contains(have, need) {
				return "", fmt.Errorf("the cgroup %s hands on no controller for %s", own, need)
			}
		}
		if unix.Access(dir, unix.W_OK) != nil {
			return "", fmt.Errorf("the cgroup %s is not writable", own)
		}
		return dir, nil
	}
	return "", errors.New("this process is in no cgroup of version 2")
}

// hand has the kernel hand on what bounds are made of, where nobody did so yet. What
// it refuses is found missing.
func hand(dir string) {
	file := filepath.Join(dir, "cgroup.subtree_control")
	if on, err := os.ReadFile(file); err == nil && len(strings.TrimSpace(string(on))) == 0 {
		_ = os.WriteFile(file, []byte("+cpu +memory"), 0o600)
	}
}

func contains(list []string, x string) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// group makes a cgroup for a process, with so much memory and so many processors.
func group(in, name string, memory int64, processors int) (dir string, err error) {
	dir = filepath.Join(in, name)
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // the kernel's own permission
		return "", err
	}
	for file, value := range map[string]string{
		"memory.max": strconv.FormatInt(memory, 10), "memory.swap.max": "0", "memory.oom.group": "1",
		"cpu.max": fmt.Sprintf("%d 100000", 100000*processors), "cpu.weight": "20",
	} {
		err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0o600)
		if errors.Is(err, os.ErrNotExist) && file == "memory.swap.max" {
			continue // a kernel without swap
		}
		if err != nil {
			return "", errors.Join(err, os.Remove(dir))
		}
	}
	return dir, nil
}

// bind bounds a process that is about to start. The error says what of the bounds
// could not be had; undo takes away what was made for it.
func bind(cmd *exec.Cmd, own string, reads, writes []string, memory int64, processors int) (undo func(), lacking error) {
	b := theseBounds()
	undo = func() {}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if b.network {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	if b.user {
		if blocked := unreachable(append([]string{own}, append(reads, writes...)...), reads); blocked != "" {
			lacking = fmt.Errorf("user: this program runs as root, and so do its processes, as another user could not reach %s; start it as a user of its own", blocked)
		} else if err := give(append(writes, own)); err != nil {
			lacking = fmt.Errorf("user: %w", err)
		} else {
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		}
	}
	if b.group != "" {
		dir, err := group(b.group, filepath.Base(own), memory+slack, processors)
		if err != nil {
			return undo, errors.Join(lacking, fmt.Errorf("cgroups: %w", err))
		}
		fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return func() { _ = os.Remove(dir) }, errors.Join(lacking, fmt.Errorf("cgroups: %w", err))
		}
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
		undo = func() {
			_ = unix.Close(fd)
			_ = os.Remove(dir) // it is empty when the process has ended
		}
	}
	return undo, lacking
}

// unreachable is the first of some paths that somebody else could not get to, or
// of those to read that they could not read; empty: there is none.
func unreachable(all, reads []string) string {
	for _, path := range all {
		for at := filepath.Dir(path); ; at = filepath.Dir(at) {
			if info, err := os.Stat(at); err != nil || info.Mode()&0o001 == 0 {
				return path
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	for _, path := range reads {
		err := filepath.WalkDir(path, func(at string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && (info.Mode()&0o004 == 0 || e.IsDir() && info.Mode()&0o001 == 0) {
				return os.ErrPermission
			}
			return err
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return path
		}
	}
	return ""
}

// give makes nobody the owner of folders and what is in them.
func give(dirs []string) error {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(at string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(at, nobody, nobody)
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Landlock, which x/sys names the numbers of.
const (
	readOnly  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeToo  = readOnly | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	everyKind = writeToo | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

func landlockABI() (int, error) {
	abi, _, no := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if no != 0 {
		return 0, no
	}
	return int(abi), nil
}

// known are the kinds of access that a version of Landlock knows.
func known(abi int) uint64 {
	kinds := uint64(everyKind)
	if abi < 2 {
		kinds &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < 3 {
		kinds &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	return kinds
}

// within leaves this process nothing of the file system but its own folder and
// those given. A kernel without Landlock leaves all, which its starter has told.
func within(own string, reads, writes []string) error {
	abi, err := landlockABI()
	if err != nil || !allThreads() {
		return nil //nolint:nilerr // see above
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: known(abi)}
	fd, _, no := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), 8, 0) //nolint:gosec // the call takes an address; the first field is 8 bytes
	if no != 0 {
		return fmt.Errorf("landlock: %w", no)
	}
	defer func() { _ = unix.Close(int(fd)) }() //nolint:gosec // it is a descriptor
	for path, access := range folders(own, reads, writes) {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("landlock: %s: %w", path, err)
		}
		var stat unix.Stat_t
		if err := unix.Fstat(at, &stat); err == nil && stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			access &= unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access & known(abi), Parent_fd: int32(at)}                                           //nolint:gosec // it is a descriptor
		_, _, no := syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // as above
		_ = unix.Close(at)
		if no != 0 {
			return fmt.Errorf("landlock: %s: %w", path, no)
		}
	}
	if _, _, no := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); no != 0 {
		return fmt.Errorf("landlock: %w", no)
	}
	if _, _, no := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); no != 0 {
		return fmt.Errorf("landlock: %w", no)
	}
	return nil
}

// folders are what a process may open, with what it may do there: its own, those
// it was given, and what Go's library reads of the machine.
func folders(own string, reads, writes []string) map[string]uint64 {
	out := map[string]uint64{"/proc/self": readOnly, "/usr/share/zoneinfo": readOnly, "/dev/null": writeToo}
	for _, dir := range reads {
		out[dir] = readOnly
	}
	for _, dir := range append(writes, own) {
		out[dir] = writeToo
	}
	return out
}
