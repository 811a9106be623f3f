package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/e2e/iopressure"
	"liminal/internal/store/storetest"
)

func TestTheCorpusHoldsThirtyGraphsAndMore(t *testing.T) {
	t.Parallel()
	files, err := fs.Sub(corpus, "graphs")
	if err != nil {
		t.Fatal(err)
	}
	all, err := graphs(files)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("%d graphs", len(all))
	}
	for _, g := range all {
		for i, s := range g.Steps {
			if s.Create == "" && s.Patch == "" && s.Restore == "" && s.Upload == "" {
				t.Errorf("%s: step %d does nothing", g.Name, i)
			}
		}
		if !slices.Contains([]string{"workflow", "chat", "tool"}, g.Start.How) || g.Start.Target == "" {
			t.Errorf("%s: nothing is started: %+v", g.Name, g.Start)
		}
	}
}

func TestAFileMayAbbreviate(t *testing.T) {
	t.Parallel()
	g, err := read([]byte(`{"about": "x", "expect": {"outcome": "done"}, "start": {"how": "tool", "target": "t", "input": {
		"text": {"$text": "ab", "times": 2}, "range": {"$range": 2}, "deep": {"$deep": 2, "of": "x"},
		"join": {"$join": ["a", {"$text": "b", "times": 2}]},
		"list": ["first", {"$each": [2, 1], "of": {"n": "<i>", "next": "s<i+1>"}}]}},
		"steps": [{"$each": [1, 2], "of": {"upload": "f<i>", "text": "x"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"text": "abab", "range": []any{0.0, 1.0}, "deep": []any{[]any{"x"}}, "join": "abb",
		"list": []any{"first", map[string]any{"n": 2.0, "next": "s3"}, map[string]any{"n": 1.0, "next": "s2"}},
	}
	if !reflect.DeepEqual(g.Start.Input, want) {
		t.Errorf("%v", g.Start.Input)
	}
	if len(g.Steps) != 2 || g.Steps[0].Upload != "f1" || g.Steps[1].Upload != "f2" {
		t.Errorf("%+v", g.Steps)
	}
}

func TestEveryBrokenBarIsNamed(t *testing.T) {
	t.Parallel()
	second := func(n int) Turns {
		return Turns{Took: slices.Repeat([]time.Duration{time.Duration(n) * time.Second}, 20)}
	}
	good := func() *Ordeal {
		return &Ordeal{
			Graph: &Graph{Expect: Expect{Outcome: Bounded}}, Quiet: second(1), Hostile: second(3),
			Gone: mostGone, statuses: []string{"failed with limit_exceeded"},
		}
	}
	for name, c := range map[string]struct {
		change func(*Ordeal)
		broken string
	}{
		"nothing":        {func(*Ordeal) {}, ""},
		"others wait":    {func(o *Ordeal) { o.Hostile = second(4) }, "p95 4.0 times"},
		"others fail":    {func(o *Ordeal) { o.Hostile.Failed, o.Hostile.Why = 1, "x" }, "1 turns of others failed: x"},
		"memory":         {func(o *Ordeal) { o.War.RSS = mostMemory + 1 }, "memory 1024 MiB"},
		"never gone":     {func(o *Ordeal) { o.Gone, o.Left = -1, 7 }, "7 runs outlived the cancel"},
		"slowly gone":    {func(o *Ordeal) { o.Gone = 3 * time.Second }, "runs for 3.0 s after the cancel"},
		"no rest":        {func(o *Ordeal) { o.Idle = -1 }, "no rest after the cancel"},
		"accepted":       {func(o *Ordeal) { o.Graph.Expect.Outcome = Refused }, "it was accepted"},
		"not done":       {func(o *Ordeal) { o.Graph.Expect.Outcome = Done }, "it should end well"},
		"our fault":      {func(o *Ordeal) { o.statuses = []string{"failed with server_error"} }, "a graph's fault is told as the server's"},
		"no name":        {func(o *Ordeal) { o.Graph.Expect.Says, o.refused = []string{"bomb"}, &Refusal{Status: 400} }, `the refusal does not name "bomb"`},
		"refused by 500": {func(o *Ordeal) { o.refused = &Refusal{Status: 500, Message: "x"} }, "it was refused: 500 : x"},
	} {
		o := good()
		c.change(o)
		(&House{}).judge(usual(), o)
		if got := strings.Join(o.Broken, "; "); got != c.broken {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Only what the disk may have slowed is taken again, and only while it stood still.
func TestOnlyTimesThatTheDiskSpoiledAreTakenAgain(t *testing.T) {
	t.Parallel()
	stall := iopressure.Stall{For: 6 * time.Second, Of: 10 * time.Second}
	for name, c := range map[string]struct {
		change func(*Ordeal)
		disk   iopressure.Stall
		want   bool
	}{
		"nothing broken":        {func(*Ordeal) {}, stall, false},
		"slow":                  {func(o *Ordeal) { o.Gone, o.Idle = 9*time.Second, -1 }, stall, true},
		"slow, disk at work":    {func(o *Ordeal) { o.Gone = 9 * time.Second }, iopressure.Stall{For: 4 * time.Second, Of: 10 * time.Second}, false},
		"others gave up":        {func(o *Ordeal) { o.Hostile.Failed, o.Hostile.Why = 1, "Post: context deadline exceeded" }, stall, true},
		"others got an error":   {func(o *Ordeal) { o.Hostile.Failed, o.Hostile.Why = 1, "500 server_error" }, stall, false},
		"slow, and memory":      {func(o *Ordeal) { o.Gone, o.War.RSS = 9*time.Second, mostMemory+1 }, stall, false},
		"slow, and not refused": {func(o *Ordeal) { o.Gone, o.Graph.Expect.Outcome = 9*time.Second, Refused }, stall, false},
	} {
		o := &Ordeal{Graph: &Graph{Expect: Expect{Outcome: Bounded}}, Gone: time.Second, statuses: []string{"failed with limit_exceeded"}}
		o.War.Disk = c.disk
		c.change(o)
		(&House{}).judge(usual(), o)
		if o.spoiled() != c.want {
			t.Errorf("%s: %t; broken: %v", name, o.spoiled(), o.Broken)
		}
	}
}

// inTests are the graphs that starved everybody, one of each kind.
const inTests = "bomb,mutual_three,thousand_children,scan_swarm,llm_map,scan_heavy,doubling_text"

func TestAHostileGraphLeavesTheOthersInPeace(t *testing.T) {
	storetest.Long(t, "it starts the real program")
	program := os.Getenv("LIMINALD")
	if program == "" {
		program = filepath.Join(t.TempDir(), "liminald")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "liminal/cmd/liminald").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var out, errs bytes.Buffer
	if code := command(t.Context(), []string{"--short", "--program", program, "--only", inTests}, &out, &errs); code != 0 {
		t.Errorf("%d\n%s%s", code, &out, &errs)
	}
}
