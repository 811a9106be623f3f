package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsMissingOrWrongIsToldBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no database":    {nil, "--postgres is missing"},
		"no URL":         {[]string{"--postgres", "127.0.0.1:5432"}, "no URL"},
		"nobody there":   {[]string{"--postgres", "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable"}, "temporal cannot be made"},
		"a bad frontend": {[]string{"--postgres", "postgres://x@127.0.0.1:1/x", "--listen", "here"}, "not a host and a port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := run(t.Context(), c.args); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it gives %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheReadyFileIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ready")
	if err := announce(path, "127.0.0.1:7233"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "127.0.0.1:7233\n" {
		t.Errorf("it holds %q (%v)", raw, err)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) != 0 {
		t.Errorf("beside it is %v (%v)", left, err)
	}
}
