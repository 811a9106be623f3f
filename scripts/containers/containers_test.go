// Package containers_test runs scripts/containers.sh on machines that are
// played, which do not allow containers.
//
// It imports the standard library only.
package containers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A machine that does not allow containers is told from a success, and is told
// what is missing; the schemas, which need none, are asked first.
func TestWhatTheMachineDoesNotAllowIsSaidAndNoSuccess(t *testing.T) {
	t.Parallel()
	const script = "../containers.sh"
	if _, err := os.Stat(script); err != nil { // and the result is not kept when it changes
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		id, unshare, says string
	}{
		"no root":       {"echo 1000", "", "skipped: only root may run them here"},
		"no namespaces": {"echo 0", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1", "skipped: the kernel refuses namespaces for mounts, network and processes (unshare: unshare failed: Operation not permitted)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for stand, body := range map[string]string{"id": c.id, "unshare": c.unshare, "uname": "echo Linux", "go": "echo \"$*\" >>" + dir + "/asked\ncase \"$*\" in */compose.yml) exit 1 ;; esac", "python3": "exit 1"} {
				if err := os.WriteFile(filepath.Join(dir, stand), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			skipped := filepath.Join(dir, "skipped")
			for _, env := range []string{"PROOF_SKIPPED=", "PROOF_SKIPPED=" + skipped} {
				cmd := exec.CommandContext(t.Context(), "bash", script)
				cmd.Env = append(os.Environ(), "CI=", "PATH="+dir+":"+os.Getenv("PATH"), "GO="+filepath.Join(dir, "go"), "CONTAINERS_ROOT="+filepath.Join(dir, "root"), env)
				out, _ := cmd.CombinedOutput()
				code, told := 77, string(out)
				if env != "PROOF_SKIPPED=" {
					said, err := os.ReadFile(skipped)
					if err != nil {
						t.Error(err)
					}
					code, told = 0, string(said)
				}
				if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(told, c.says) {
					t.Errorf("with %q it ends with %d and says %q; %s", env, got, told, out)
				}
			}
			asked, err := os.ReadFile(filepath.Join(dir, "asked"))
			if err != nil || !strings.Contains(string(asked), "compose-go") {
				t.Errorf("the schemas are asked %q, %v", asked, err)
			}
		})
	}
}
