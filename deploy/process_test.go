package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script hands the question on, and asks for lines of JSON, for no tools, no
// settings of a project and no transcript.
func TestTheScriptOfAProgramHandsTheQuestionOn(t *testing.T) {
	t.Parallel()
	client := filepath.Join(t.TempDir(), "client")
	if err := os.WriteFile(client, []byte("#!/bin/sh\nprintf '<%s>' \"$@\"\ncat\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "process/claude.sh")
	cmd.Env = append(os.Environ(), "CLAUDE="+client)
	cmd.Stdin = strings.NewReader(`{"type":"user"}`)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"<--input-format><stream-json>", "<--output-format><stream-json>", "<--include-partial-messages>", "<--tools><>", "<--setting-sources><>", "<--no-session-persistence>", `{"type":"user"}`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
}
