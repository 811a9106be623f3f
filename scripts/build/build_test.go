// Package build_test runs scripts/build.sh with a compiler that is played, so
// nothing is compiled.
//
// It imports the standard library only.
package build_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// build runs the script with a compiler whose `build` is the given lines of a
// shell, and which knows of 1,000 packages. It gives what is said and the exit
// status.
func build(t *testing.T, compiler string, environment ...string) (string, int) {
	t.Helper()
	const script = "../build.sh"
	if _, err := os.Stat(script); err != nil { // and the result is not kept when it changes
		t.Fatal(err)
	}
	dir := t.TempDir()
	played := filepath.Join(dir, "go")
	source := "#!/bin/sh\nif [ \"$1\" = list ]; then echo unsafe; i=0; while [ $i -lt 1000 ]; do echo p/$i; i=$((i+1)); done; exit; fi\n" +
		"echo \"$*\" >" + dir + "/asked\npackages() { i=0; while [ $i -lt $1 ]; do echo example.org/p/v2/$i >&2; i=$((i+1)); done; }\n" + compiler + "\n"
	if err := os.WriteFile(played, []byte(source), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", script, "-ldflags", "-s -w", "-o", "bin/x", "./cmd/x")
	cmd.Env = append(append(os.Environ(), "GO="+played, "TMPDIR="+dir), environment...)
	var said, printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &said
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if printed.Len() > 0 {
		t.Errorf("on standard output is %q", &printed)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || string(asked) != "build -v -ldflags -s -w -o bin/x ./cmd/x\n" {
		t.Errorf("the compiler is asked %q (%v)", asked, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "liminal-build*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}

func TestABuildOfSecondsSaysNothing(t *testing.T) {
	t.Parallel()
	for name, compiler := range map[string]string{
		"nothing to do": "", "a few packages": "packages 3", "many that are quick": "packages 500",
	} {
		if said, status := build(t, compiler); said != "" || status != 0 {
			t.Errorf("%s: it ends with %d and says %q", name, status, said)
		}
	}
	if said, _ := build(t, "packages 3", "BUILD_AFTER=0"); said != "" {
		t.Errorf("a few packages that take long: it says %q", said)
	}
}

func TestTheFirstBuildSaysThatItTakesMinutesAndHowFarItIs(t *testing.T) {
	t.Parallel()
	said, status := build(t, "packages 30; echo example.org/cmd/x >&2", "BUILD_AFTER=0")
	if status != 0 {
		t.Errorf("it ends with %d", status)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "takes minutes the first time") ||
		!strings.HasPrefix(lines[1], "  25 of 1000 packages after 0:0") || lines[2] != "  linking" {
		t.Errorf("it says\n%s", said)
	}
}

func TestMistakesAreToldAsTheCompilerTellsThem(t *testing.T) {
	t.Parallel()
	const mistakes = "# example.org/p\n./p.go:3:7: undefined: x\n\n\thave (int)\n\twant ()\nnote: module requires Go 1.99\n/usr/bin/ld: cannot find -lc\n  ^~~~\n"
	for _, after := range []int{0, 5} {
		said, status := build(t, "packages 2; printf '%b' '"+strings.ReplaceAll(strings.ReplaceAll(mistakes, "\t", `\t`), "\n", `\n`)+"' >&2; exit 3", "BUILD_AFTER="+strconv.Itoa(after))
		if said != mistakes || status != 3 {
			t.Errorf("it ends with %d and says\n%s", status, said)
		}
	}
}

// Where memory is short, or whoever builds has an opinion, the compiler's own
// collector is left as it is.
func TestTheCompilerGetsMemoryWhereThereIsSome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ available, container, gogc, limit, want string }{
		{"16000000", "", "", "", "GOGC 300, GOMEMLIMIT \n"},
		{"16000000", "max", "", "", "GOGC 300, GOMEMLIMIT \n"},
		{"16000000", "2147483648", "", "", "GOGC , GOMEMLIMIT \n"},
		{"2000000", "17179869184", "", "", "GOGC , GOMEMLIMIT \n"},
		{"", "", "", "", "GOGC , GOMEMLIMIT \n"},
		{"16000000", "", "50", "", "GOGC 50, GOMEMLIMIT \n"},
		{"16000000", "", "", "1GiB", "GOGC , GOMEMLIMIT 1GiB\n"},
	} {
		dir := t.TempDir()
		meminfo, cgroup := filepath.Join(dir, "meminfo"), filepath.Join(dir, "memory.max")
		if c.available != "" {
			write(t, meminfo, "MemTotal:       99000000 kB\nMemAvailable:   "+c.available+" kB\nBuffers:         10000000 kB\n")
		}
		if c.container != "" {
			write(t, cgroup, c.container+"\n")
		}
		said, _ := build(t, `echo "GOGC $GOGC, GOMEMLIMIT $GOMEMLIMIT" >&2`,
			"BUILD_MEMINFO="+meminfo, "BUILD_CGROUP="+cgroup, "GOGC="+c.gogc, "GOMEMLIMIT="+c.limit)
		if said != c.want {
			t.Errorf("%+v: it says %q", c, said)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
