package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestASmallHeapIsCollectedLaterAndALargeOneSooner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		used uint64
		want int
	}{
		{0, mostGC}, {10 << 20, mostGC}, {64 << 20, 300}, {128 << 20, 100}, {192 << 20, 100}, {256 << 20, 75}, {1 << 30, leastGC},
	} {
		if got := gcPercent(256<<20, c.used); got != c.want {
			t.Errorf("of %d MiB: %d %%, want %d", c.used>>20, got, c.want)
		}
	}
}

func TestTheHeapMayGrowFurtherWhereThereIsPlentyOfMemory(t *testing.T) {
	t.Parallel()
	for memory, want := range map[uint64]uint64{0: 256, 1 << 30: 256, 8 << 30: 256, 12 << 30: 384, 16 << 30: 512, 1 << 40: 512} {
		if got := floorOf(memory); got != want<<20 {
			t.Errorf("of %d MiB: %d MiB, want %d", memory>>20, got>>20, want)
		}
	}
	// What is more than the floor in any case is collected as it was.
	for _, used := range []uint64{mostFloor - heapGrowth, 512 << 20, 1 << 30} {
		if got, want := gcPercent(mostFloor, used), gcPercent(heapFloor, used); got != want {
			t.Errorf("of %d MiB in use: %d %%, want %d", used>>20, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "meminfo")
	for text, want := range map[string]uint64{
		"MemTotal:       24683656 kB\nMemFree:  1 kB\n": 24683656 << 10,
		"MemFree:  1 kB\n":           0,
		"MemTotal: plenty kB\n":      0,
		"MemTotal:       24683656\n": 0,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := machineMemory(path); got != want {
			t.Errorf("of %q: %d", text, got)
		}
	}
	if got := machineMemory(path + ".absent"); got != 0 {
		t.Errorf("of nothing: %d", got)
	}
}

func TestTheMemoryOfAContainerIsItsSmallestLimit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	self := filepath.Join(root, "self")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(self, "0::/pod/one\n")
	if _, ok := containerMemory(root, self); ok {
		t.Error("a limit where there is none")
	}
	write(filepath.Join(root, "pod/one/memory.max"), "max\n")
	write(filepath.Join(root, "pod/memory.max"), "1000000\n")
	write(filepath.Join(root, "memory.max"), "3000000\n")
	if got, ok := containerMemory(root, self); !ok || got != 1_000_000 {
		t.Errorf("%d, %v", got, ok)
	}
	if _, ok := containerMemory(root, filepath.Join(root, "absent")); ok {
		t.Error("a limit of a system without control groups")
	}
}
