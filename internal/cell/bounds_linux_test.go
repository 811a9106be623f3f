package cell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a folder as the kernel shows cgroups.
func tree(t *testing.T, own, hands string) (self, mount string) {
	t.Helper()
	mount = t.TempDir()
	self = filepath.Join(mount, "self")
	if err := os.WriteFile(self, []byte("3:cpu:/x\n0::"+own+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(mount, own)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for at := dir; at != mount; at = filepath.Dir(at) {
		if err := os.WriteFile(filepath.Join(at, "cgroup.subtree_control"), []byte(hands+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return self, mount
}

// Where cgroups of version 2 can be used, a process gets one with its memory and
// its share of the processors; elsewhere it is said what is missing.
//
// Requirements: TOOL-04 (CPU shares; a memory cap; a warning without cgroups)
func TestAProcessGetsACgroupWhereThereIsOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ own, hands, in, says string }{
		"delegated": {"/unit", "cpu memory pids", "unit", ""},
		"beside us": {"/unit/liminal", "cpu memory", "unit", ""},
		"no memory": {"/unit", "cpu pids", "", "no controller for memory"},
		"nothing":   {"/unit", "", "", "no controller for memory"},
	} {
		self, mount := tree(t, c.own, c.hands)
		dir, err := groups(self, mount)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || dir != filepath.Join(mount, c.in) {
			t.Fatalf("%s: %s, %v", name, dir, err)
		}
		at, err := group(dir, "cell-1", 1<<20, 2)
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "cpu.max": "200000 100000", "cpu.weight": "20"} {
			if raw, err := os.ReadFile(filepath.Join(at, file)); err != nil || string(raw) != want {
				t.Errorf("%s: %s is %q, %v", name, file, raw, err)
			}
		}
	}
	if _, err := groups(filepath.Join(t.TempDir(), "none"), "/"); err == nil {
		t.Error("without /proc there are cgroups")
	}
	if b := theseBounds(); b.group == "" && !strings.Contains(strings.Join(b.lacking, "\n"), "cgroups: ") {
		t.Errorf("there are no cgroups, and nobody says so: %v", b.lacking)
	}
}
