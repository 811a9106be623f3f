// Package rivals_test tests what scripts/rivals does without the rivals: how
// it counts and prints, and what it says on a machine that lacks something.
//
// It imports the standard library only, and needs Python's.
package rivals_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// limit bounds one run of a script.
const limit = 60 * time.Second

func run(t *testing.T, env []string, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestFiguresAreCountedAndPrinted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("this machine has no python3, and the comparison needs one")
	}
	if out, err := run(t, nil, "python3", "-B", "-m", "unittest", "table_test"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A stand-in for Python says yes to everything but to what a machine lacks.
func python(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil { //nolint:gosec // a program of the test's
		t.Fatal(err)
	}
	return path
}

func TestAMachineThatLacksSomethingIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	// The script is tried from a copy of its own, so that nothing is written here.
	for name, c := range map[string]struct {
		python string
		env    []string
		says   string
	}{
		"no python":       {"/nowhere/python", nil, "install Python 3.11 or newer"},
		"an old python":   {python(t, `case $1 in --version) echo Python 3.9;; -c) case $2 in *version_info*) exit 1;; esac;; esac`), nil, "Python 3.9 is too old"},
		"no venv module":  {python(t, `[ "$2" != venv ] || { echo No module named venv; exit 1; }`), nil, "apt-get install python3-venv"},
		"no registry":     {python(t, `[ "$2" != venv ] || { mkdir -p "$3/bin"; printf '#!/bin/sh\nexit 1\n' >"$3/bin/pip"; chmod +x "$3/bin/pip"; }`), nil, "set HTTPS_PROXY or PIP_INDEX_URL"},
		"no such subject": {"python3", []string{"RIVALS_ONLY=airflow"}, "no subject is called airflow"},
		"no number":       {"python3", []string{"RIVALS_RUNS=many"}, "whole numbers above 0"},
		"no program": {
			python(t, `[ "$2" != venv ] || { mkdir -p "$3/bin"; printf '#!/bin/sh\n' >"$3/bin/pip"; chmod +x "$3/bin/pip"; }`),
			[]string{"LIMINALD=/nowhere/liminald"}, "there is no /nowhere/liminald; build it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "scripts", "rivals")
			if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, append(c.env, "PYTHON="+c.python), "bash", filepath.Join(dir, "run.sh"))
			if err == nil || !strings.Contains(out, c.says) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
