package cell_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/cell"
)

func TestAProcessHasNoNetworkAndNoPrograms(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	if got, err := do(t, c, "escape", limits); err != nil || got != "[true,true]" {
		t.Errorf("refused: %s, %v", got, err)
	}
}

// open is a folder that anybody may reach.
func open(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for at := dir; ; at = filepath.Dir(at) {
		if at == dir {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(at, 0o755); err != nil || filepath.Dir(at) == os.TempDir() { //nolint:gosec // the test is about who may
			return dir
		}
	}
}

// A process opens its own folder and those its job names, and nothing else; where
// the machine cannot hold it to that, the log says so.
//
// Requirements: TOOL-04 (no files but its own folder)
func TestAProcessOpensOnlyWhatItsJobNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := newCell(t, cell.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	secret, reads, writes := open(t, "secret"), open(t, "reads"), open(t, "writes")
	for _, dir := range []string{secret, reads, writes} {
		if err := os.WriteFile(filepath.Join(dir, "there"), []byte("x"), 0o644); err != nil { //nolint:gosec // as above
			t.Fatal(err)
		}
	}
	task := func() (got []bool) {
		t.Helper()
		raw, err := c.Do(t.Context(), cell.Job{Task: "open " + strings.Join([]string{secret, reads, writes}, " "), Body: strings.NewReader(""), Limits: limits, Reads: []string{reads}, Writes: []string{writes}})
		if err != nil || json.Unmarshal(raw, &got) != nil {
			t.Fatalf("%s, %v", raw, err)
		}
		return got
	}
	const bounded, free = "[false false true false true true true]", "[true false true false true true true]"
	got := fmt.Sprint(task())
	switch lacking := strings.Contains(log.String(), "files:"); {
	case !lacking && got != bounded:
		t.Errorf("read and written of a secret, of what may be read, of what may be written, and of its own folder: %s", got)
	case lacking && got != free && os.Geteuid() == 0:
		t.Logf("without Landlock: %s, %s", got, log.String())
	}
	// The next job has another's folders, and none of these.
	raw, err := c.Do(t.Context(), cell.Job{Task: "open " + strings.Join([]string{reads, secret, writes}, " "), Body: strings.NewReader(""), Limits: limits})
	if !strings.Contains(log.String(), "files:") && (err != nil || strings.TrimSpace(string(raw)) != "[false,false,false,false,false,false,true]") {
		t.Errorf("a job that names nothing: %s, %v", raw, err)
	}
}

// Started by root a process is nobody's, unless nobody could reach its folder: then
// the log says so.
//
// Requirements: TOOL-04 (a fixed user)
func TestAProcessOfRootIsAnotherUsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dir  string
		want int
	}{"reachable": {open(t, "work"), 65532}, "closed": {func() string {
		dir := open(t, "closed")
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder
			t.Fatal(err)
		}
		return filepath.Join(dir, "work")
	}(), 0}} {
		var log bytes.Buffer
		self, err := cell.Self("do-as-told")
		if err != nil {
			t.Fatal(err)
		}
		one := cell.New(self, cell.Options{Dir: c.dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		got, err := do(t, one, "who", limits)
		want := c.want
		if os.Geteuid() != 0 {
			want = os.Geteuid()
		}
		if err != nil || got != fmt.Sprint(want) {
			t.Errorf("%s: it is user %s, %v", name, got, err)
		}
		if told := strings.Contains(log.String(), "user:"); told != (want == 0) {
			t.Errorf("%s: the log says %s", name, log.String())
		}
		if err := one.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Started by root a process has a network with nothing in it, besides having no
// calls to use one.
func TestAProcessOfRootHasANetworkOfItsOwn(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	got, err := do(t, c, "network", limits)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(got, ":"); os.Geteuid() == 0 && lines != 1 {
		t.Errorf("it has %s", got)
	}
}
