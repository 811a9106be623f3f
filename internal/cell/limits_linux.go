package cell

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

func self() (string, error) { return "/proc/self/exe", nil }

// How a process of a cell stands back: behind everything else for the
// processors, and before everything else when memory runs out.
const (
	nice   = 5
	oomAdj = "800"
)

// modest tells the kernel that everything else comes first. What it refuses is
// left: the limits hold all the same.
func modest(pid int) {
	_ = syscall.Setpriority(syscall.PRIO_PGRP, pid, nice)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(oomAdj), 0) //nolint:gosec // it is there
}

// confine bounds this process. Memory is that which is the process's own and
// can be written: address space, which the Go runtime takes without using it,
// is no measure.
func confine(memory int64) error {
	for _, l := range []struct {
		what int
		most uint64
	}{
		{syscall.RLIMIT_DATA, uint64(memory)}, //nolint:gosec // it is not negative
		{syscall.RLIMIT_CORE, 0},
		{syscall.RLIMIT_NOFILE, 64},
		{syscall.RLIMIT_FSIZE, maxFile},
	} {
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return err
		}
	}
	return alone()
}

// ticks is how many of the kernel's ticks a second has, on every Linux there is.
const ticks = 100

// used is the memory of a process that is its own, and the time of processors
// it has taken.
func used(pid int) (memory int64, cpu time.Duration, known bool) {
	pages, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name of the program, in brackets, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	sizes := bytes.Fields(pages)
	if len(fields) < 13 || len(sizes) < 3 {
		return 0, 0, false
	}
	resident, shared := integer(sizes[1]), integer(sizes[2])
	spent := integer(fields[11]) + integer(fields[12])
	return (resident - shared) * int64(os.Getpagesize()), time.Duration(spent) * time.Second / ticks, true
}

func integer(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64) // the kernel wrote it
	return n
}
