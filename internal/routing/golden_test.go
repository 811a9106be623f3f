package routing_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/routing"
)

var update = flag.Bool("update", false, "write the expectations of testdata from what happens; review the diff")

// golden is one file of testdata/route: a policy, and turns routed by it.
type golden struct {
	About  string          `json:"about"`
	Proves string          `json:"requirements,omitempty"` // for scripts/requirements
	Policy json.RawMessage `json:"policy"`
	Turns  []struct {
		About string          `json:"about"`
		Input json.RawMessage `json:"input"`
		Want  json.RawMessage `json:"want"`
	} `json:"turns"`
}

// Every file of testdata/route is a policy with turns and what becomes of
// them.
//
// Requirements: testdata/route
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/route/*.json") {
		t.Run(name(file), func(t *testing.T) {
			t.Parallel()
			g := read[golden](t, file)
			policy, _ := routing.Compile(g.Policy) // a rule at fault shows in the trace
			for i := range g.Turns {
				turn := &g.Turns[i]
				got := encode(t, policy.Route(decode[routing.Input](t, turn.Input)))
				if *update {
					turn.Want = got
				} else if want := indented(t, turn.Want); !bytes.Equal(got, want) {
					t.Errorf("%s:\n%s\nwant\n%s", turn.About, got, want)
				}
			}
			if *update {
				write(t, file, append(encode(t, g), '\n'))
			}
		})
	}
}

// Every file of testdata/bad is refused with the faults of the .faults file
// beside it, all at once.
//
// Requirements: testdata/bad
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/bad/*.json") {
		t.Run(name(file), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			policy, err := routing.Compile(doc)
			var faults routing.Faults
			if !errors.As(err, &faults) || policy == nil {
				t.Fatalf("not refused: %v", err)
			}
			got, expected := "", strings.TrimSuffix(file, ".json")+".faults"
			for _, f := range faults {
				got += string(f.Kind) + " " + f.String() + "\n"
			}
			file, err := os.ReadFile(expected)
			proves, want := "", string(file)
			if line, rest, more := strings.Cut(want, "\n"); more && strings.HasPrefix(line, "# Requirements:") {
				proves, want = line+"\n", rest // for scripts/requirements
			}
			if *update {
				write(t, expected, []byte(proves+got))
				return
			}
			if err != nil || got != want {
				t.Errorf("the faults are\n%swant (%v)\n%s", got, err, want)
			}
		})
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files of %s, %v", len(found), pattern, err)
	}
	return found
}

func name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".json") }

func read[T any](t *testing.T, file string) T {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return decode[T](t, raw)
}

// decode refuses fields that do not exist: a slip in a file is no test.
func decode[T any](t *testing.T, raw []byte) (v T) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func indented(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
