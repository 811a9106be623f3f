// Package proof_test runs scripts/proof.sh with a make that is played.
//
// It imports the standard library only.
package proof_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a part says of itself is in the table: a failure ends all of it with a
// failure, and what the machine does not allow is neither that nor passed.
func TestTheTableTellsWhatPassedFailedAndWasSkipped(t *testing.T) {
	t.Parallel()
	const script = "../proof.sh"
	if _, err := os.Stat(script); err != nil { // and the result is not kept when it changes
		t.Fatal(err)
	}
	played := filepath.Join(t.TempDir(), "make")
	const parts = `#!/bin/sh
case $2 in
  bad) printf -- '2026 DEBUG much\n--- FAIL: TestOuter (0.1s)\n    --- FAIL: TestOuter/inner (0.0s)\n        a_test.go:7: it is 3\n2026 DEBUG more\nFAIL\tliminal/a\t0.2s\n'; exit 3 ;;
  barred) echo "skipped: the kernel has none" >"$PROOF_SKIPPED" ;;
  barred-and-bad) echo "skipped: the kernel has none" >"$PROOF_SKIPPED"; exit 3 ;;
esac
`
	if err := os.WriteFile(played, []byte(parts), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		parts string
		code  int
		rows  map[string]string // what stands behind a part's seconds
		told  string            // what stands behind the table
	}{
		"well":    {"good barred", 0, map[string]string{"good": "", "barred": "skipped: the kernel has none"}, ""},
		"failed":  {"good bad barred", 3, map[string]string{"good": "", "bad": "FAILED", "barred": "skipped: the kernel has none"}, "\nfailed in bad:\n--- FAIL: TestOuter (0.1s)\n    --- FAIL: TestOuter/inner (0.0s)\n        a_test.go:7: it is 3\nFAIL\tliminal/a\t0.2s\n"},
		"at once": {"good+barred+barred-and-bad", 3, map[string]string{"good": "", "barred": "skipped: the kernel has none", "barred-and-bad": "FAILED"}, "\nfailed in barred-and-bad:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "bash", append([]string{script}, strings.Fields(c.parts)...)...)
			cmd.Env = append(os.Environ(), "MAKE="+played)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("it ended with %d", code)
			}
			for line := range strings.Lines(string(out)) {
				part, rest, _ := strings.Cut(line, " ")
				want, there := c.rows[part]
				if !there {
					continue
				}
				delete(c.rows, part)
				// Two figures with their unit, and the verdict.
				if fields := strings.Fields(rest); len(fields) < 4 || strings.Join(fields[4:], " ") != want {
					t.Errorf("of %s it says %q", part, line)
				}
			}
			if len(c.rows) > 0 {
				t.Errorf("no rows of %v in\n%s", c.rows, out)
			}
			// Whoever has the end of it only is told what failed, without the log.
			_, end, _ := strings.Cut(string(out), "all of it")
			_, told, _ := strings.Cut(end, "\n")
			if told != c.told {
				t.Errorf("at its end it says %q", told)
			}
		})
	}
}

// Of parts that may run beside each other two do, whichever end first, and every
// one has its turn.
func TestTwoPartsAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	played := filepath.Join(dir, "make")
	const parts = `#!/bin/sh
cd "$(dirname "$0")"
until_there() { n=0; while [ ! -e "$1" ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n + 1)); done; }
[ "$2" = long ] || until_there now.long
touch "now.$2" "began.$2"
ls now.* | wc -l >>beside
if [ "$2" = long ]; then until_there began.c; else sleep 0.2; fi
rm "now.$2"
`
	if err := os.WriteFile(played, []byte(parts), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "../proof.sh", "long+a+b+c")
	cmd.Env = append(os.Environ(), "MAKE="+played, "PROOF_JOBS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	beside, err := os.ReadFile(filepath.Join(dir, "beside"))
	if err != nil {
		t.Fatal(err)
	}
	begun := strings.Fields(string(beside))
	if len(begun) != 4 || slices.Max(begun) != "2" {
		t.Errorf("as each of four parts began, so many ran: %v", begun)
	}
}
