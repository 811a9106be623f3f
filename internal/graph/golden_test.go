package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

var update = flag.Bool("update", false, "write the expectations of testdata from what happens; review the diff")

// epoch is when every golden run starts.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// golden is one file of testdata/run: a document, the tools it knows, and a
// script of answers with what is expected after each.
type golden struct {
	About   string          `json:"about"`
	Proves  string          `json:"requirements,omitempty"` // for scripts/requirements
	Limits  string          `json:"limits,omitempty"`       // "job", else chat
	Graph   json.RawMessage `json:"graph"`
	Tools   []graph.Tool    `json:"tools"`
	Input   graph.Input     `json:"input"`
	Start   []string        `json:"start"`
	Script  []answer        `json:"script"`
	Outcome json.RawMessage `json:"outcome"`
	Persist map[string]any  `json:"persist,omitempty"`
	Trace   []string        `json:"trace"`
}

// answer is one thing that happens to a run.
type answer struct {
	Done   string         `json:"done,omitempty"`
	Out    map[string]any `json:"out,omitempty"`
	Fail   string         `json:"fail,omitempty"`
	With   *graph.Failure `json:"with,omitempty"`
	Cancel bool           `json:"cancel,omitempty"`
	After  string         `json:"after,omitempty"` // a duration
	Expect []string       `json:"expect"`
}

func (a answer) do(t testing.TB, r *graph.Run, now *time.Time) []graph.Effect {
	t.Helper()
	if a.After != "" {
		d, err := time.ParseDuration(a.After)
		if err != nil {
			t.Fatal(err)
		}
		*now = now.Add(d)
	}
	switch {
	case a.Cancel:
		return r.Cancel(*now)
	case a.Fail != "":
		f := graph.Failure{Code: "server_error", Message: "it broke", Retryable: true}
		if a.With != nil {
			f = *a.With
		}
		return r.Fail(a.Fail, f, *now)
	}
	return r.Done(a.Done, a.Out, *now)
}

func registry(list []graph.Tool) graph.Tools {
	tools := graph.Tools{}
	for _, tool := range list {
		tools[tool.Name] = tool
	}
	return tools
}

func limits(name string) graph.Limits {
	if name == "job" {
		return graph.JobLimits()
	}
	return graph.ChatLimits()
}

// line shows an effect in one line of a golden file.
func line(e graph.Effect) string {
	s := string(e.Kind) + " " + e.ID
	if e.Attempt > 1 {
		s += fmt.Sprintf(" attempt %d", e.Attempt)
	}
	switch {
	case e.Call != nil:
		s += fmt.Sprintf(" %s %s %v", e.Call.Tool, compact(e.Call.Inputs), e.Call.Timeout)
		if e.Call.Resume != nil {
			s += " resume " + compact(e.Call.Resume)
		}
		if e.Call.Final {
			s += " final"
		}
	case e.Ask != nil:
		s += fmt.Sprintf(" %s %q", e.Ask.Type, e.Ask.Message)
		for _, o := range e.Ask.Options {
			s += " [" + o.ID + " " + o.Label + "]"
		}
		if len(e.Ask.AnswerSchema) > 0 {
			s += " schema " + string(e.Ask.AnswerSchema)
		}
		if !e.Ask.Expires.IsZero() {
			s += " expires +" + e.Ask.Expires.Sub(epoch).String()
		}
	case e.Wait != nil:
		s += " until +" + e.Wait.Until.Sub(epoch).String()
	case e.Spawn != nil:
		s += fmt.Sprintf(" %s %s %v", e.Spawn.Workflow, compact(e.Spawn.Inputs), e.Spawn.Timeout)
	}
	if e.Stage != "" {
		s += " for " + e.Stage
	}
	if e.Description != "" {
		s += " // " + e.Description
	}
	if e.Quiet {
		s += " (quiet)"
	}
	return s
}

func lines(effects []graph.Effect) []string {
	out := []string{}
	for _, e := range effects {
		out = append(out, line(e))
	}
	return out
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func traceLine(s graph.Step) string {
	out := fmt.Sprintf("%s %s#%d %s", s.Type, s.Node, s.Visit, s.Outcome)
	if s.Effect != "" {
		out += " " + s.Effect
	}
	if s.Attempt > 1 {
		out += fmt.Sprintf(" attempt %d", s.Attempt)
	}
	if d := s.Ended.Sub(s.Started); !s.Ended.IsZero() && d > 0 {
		out += " " + d.String()
	}
	if s.Condition != "" {
		out += " when " + s.Condition
	}
	if s.Detail != "" {
		out += " -- " + s.Detail
	}
	return out
}

// TestGoldenRuns plays every file of testdata/run. Before each answer the run
// goes through a snapshot, so every script is also a test of Restore.
//
// Requirements: testdata/run
func TestGoldenRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/run/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden runs: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			want := readGolden(t, file)
			got := play(t, want)
			if *update {
				writeJSON(t, file, got)
				return
			}
			if a, b := pretty(t, got), pretty(t, want); a != b {
				t.Errorf("the run differs from %s (go test -run GoldenRuns -update rewrites it):\n%s", file, diff(b, a))
			}
		})
	}
}

func readGolden(t testing.TB, file string) golden {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return g
}

// play runs a script and gives the golden file as it should be.
func play(t testing.TB, want golden) golden {
	t.Helper()
	g, err := graph.Parse(want.Graph, registry(want.Tools), limits(want.Limits))
	if err != nil {
		t.Fatal(err)
	}
	got := want
	got.Script = append([]answer(nil), want.Script...)
	now := epoch
	in := want.Input
	in.Now = now
	r, effects := g.Start(in)
	got.Start = lines(effects)
	for i, a := range got.Script {
		r = again(t, g, r)
		got.Script[i].Expect = lines(a.do(t, r, &now))
	}
	r = again(t, g, r)
	outcome, ended := r.Outcome()
	if got.Outcome = json.RawMessage(`"waiting"`); ended {
		got.Outcome = json.RawMessage(compact(outcome))
	}
	if got.Persist = r.Persist(); len(got.Persist) == 0 {
		got.Persist = nil
	}
	got.Trace = []string{}
	for _, s := range r.Trace() {
		got.Trace = append(got.Trace, traceLine(s))
	}
	return got
}

// again is the run after a snapshot and back; the snapshot must not change.
func again(t testing.TB, g *graph.Graph, r *graph.Run) *graph.Run {
	t.Helper()
	b, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := g.Restore(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	b2, err := restored.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, b2) {
		t.Fatalf("a snapshot changes when it is restored:\n%s\n%s", b, b2)
	}
	if a, b := compact(r.Pending()), compact(restored.Pending()); a != b {
		t.Fatalf("pending effects differ after Restore:\n%s\n%s", a, b)
	}
	return restored
}

func pretty(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func writeJSON(t testing.TB, file string, v any) {
	t.Helper()
	if err := os.WriteFile(file, []byte(pretty(t, v)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// diff shows the first lines that differ.
func diff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, strings.TrimSpace(a[i]), strings.TrimSpace(b[i]))
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(a), len(b))
}

// document is one file of testdata/good or bad; what it proves is for
// scripts/requirements.
type document struct {
	Limits string          `json:"limits,omitempty"`
	Tools  []graph.Tool    `json:"tools"`
	Graph  json.RawMessage `json:"graph"`
}

func readDocument(t testing.TB, file string) document {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return d
}

// TestGoodDocumentsParse parses every file of testdata/good.
//
// Requirements: testdata/good
func TestGoodDocumentsParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/good/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no good documents: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d := readDocument(t, file)
			if _, err := graph.Parse(d.Graph, registry(d.Tools), limits(d.Limits)); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestBadDocumentsGiveAllTheirFaults compares the faults of every file of
// testdata/bad with the .faults file beside it.
//
// Requirements: testdata/bad
func TestBadDocumentsGiveAllTheirFaults(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bad documents: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d := readDocument(t, file)
			_, err := graph.Parse(d.Graph, registry(d.Tools), limits(d.Limits))
			var faults graph.Faults
			if !errors.As(err, &faults) {
				t.Fatalf("Parse gave %v, want Faults", err)
			}
			expected := strings.TrimSuffix(file, ".json") + ".faults"
			got := ""
			for _, f := range faults {
				got += string(f.Kind) + " " + f.String() + "\n"
			}
			if *update {
				if err := os.WriteFile(expected, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("faults\n%swant\n%s", got, want)
			}
		})
	}
}
