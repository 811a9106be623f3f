package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

const (
	// heapFloor is what the heap may grow to, in bytes, before it is collected.
	// A small heap is collected many times a second, which was a sixth of the
	// processor time of a run, and still a tenth with this. Where there is plenty of
	// memory the floor is a share of it, up to the most: half as many collections.
	// Heaps above mostFloor-heapGrowth in use are collected as ever.
	heapFloor   = 256 << 20
	mostFloor   = 512 << 20
	plentyShare = 32
	// floorShare is the part of a container's memory that the floor may be.
	floorShare = 8
	// limitShare is what of a container's memory is the limit, in percent: the
	// rest is for what is not the heap's.
	limitShare = 90
	// heapGrowth is what a heap may grow by, in bytes, on what is in use: as
	// much again, as ever, but no more than this, or than leastGC percent.
	heapGrowth = 192 << 20
	leastGC    = 50
	mostGC     = 800
)

// tuneMemory sets when this process collects its garbage, unless its environment
// says so by GOGC or GOMEMLIMIT.
func tuneMemory(environ []string) {
	set := map[string]bool{}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		set[name] = true
	}
	limit, limited := containerMemory("/sys/fs/cgroup", "/proc/self/cgroup")
	if limited && !set["GOMEMLIMIT"] {
		debug.SetMemoryLimit(int64(limit / 100 * limitShare))
	}
	if set["GOGC"] {
		return
	}
	if limited {
		holdHeap(min(floorOf(limit), limit/floorShare))
		return
	}
	holdHeap(floorOf(machineMemory("/proc/meminfo")))
}

// floorOf is what the heap may grow to before it is collected where there is so
// much memory, in bytes.
func floorOf(memory uint64) uint64 {
	return min(max(heapFloor, memory/plentyShare), mostFloor)
}

// machineMemory is what this machine has, in bytes; 0 where it does not say.
func machineMemory(path string) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		rest, found := strings.CutPrefix(line, "MemTotal:")
		number, unit := strings.CutSuffix(strings.TrimSpace(rest), " kB")
		if !found || !unit {
			continue
		}
		kib, _ := strconv.ParseUint(strings.TrimSpace(number), 10, 64) // else: 0
		return kib << 10
	}
	return 0
}

// holdHeap keeps collections apart: after each one the next is put off until the
// heap has grown to the floor, or by a share of what is in use.
func holdHeap(floor uint64) {
	debug.SetGCPercent(gcPercent(floor, inUse()))
	type mark struct{ _ [16]byte }
	var again func(*mark)
	again = func(m *mark) {
		debug.SetGCPercent(gcPercent(floor, inUse()))
		runtime.SetFinalizer(m, again)
	}
	runtime.SetFinalizer(&mark{}, again)
}

// gcPercent is how much a heap may grow on what is in use, in percent.
func gcPercent(floor, used uint64) int {
	if used == 0 {
		return mostGC
	}
	goal := max(floor, used+min(used, heapGrowth))
	return int(min(max((goal-used)*100/used, leastGC), mostGC))
}

// inUse are the bytes that the last collection left.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

// containerMemory is the limit of the memory of this process's control group
// (version 2), or of one above it, in bytes. ok is false where there is none.
func containerMemory(root, self string) (limit uint64, ok bool) {
	text, err := os.ReadFile(self)
	if err != nil {
		return 0, false
	}
	_, group, found := strings.Cut(strings.TrimSpace(string(text)), "0::")
	if !found {
		return 0, false
	}
	for dir := filepath.Join(root, group); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "memory.max"))
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	return limit, ok
}
