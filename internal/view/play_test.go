package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/view"
)

// recorded makes requests of a history: one before each answer, a minute apart.
func recorded(h *history) view.Recorded {
	r := view.Recorded{Lineage: "l", Blocks: h.blocks}
	var total, before int64
	role := ""
	for i, b := range h.blocks {
		if b.Role == "assistant" && role != "assistant" {
			r.Requests = append(r.Requests, view.Sent{
				Blocks: i, At: began.Add(time.Duration(len(r.Requests)) * time.Minute), Model: "m", Input: 3, Read: before, Write: total - before, Output: 10, Unit: 1e-6,
			})
			before = total
		}
		role = b.Role
		total += b.Tokens
	}
	return r
}

// A policy is played over what was recorded, and says what it would have set aside, what
// that would have cost, and what was needed again.
//
// Requirements: CFG-11
func TestAPolicyIsPlayedOverALineage(t *testing.T) {
	t.Parallel()
	h := session(10, 5000)
	h.idle(30)
	got := view.Default().Play(recorded(h))
	if len(got.Epochs) != 1 || got.Epochs[0].Why != view.Pays || got.Results != 9 || got.Tokens < 45_000 || got.Invalid != 0 || got.Regretted != 0 {
		t.Errorf("played: %+v", got)
	}
	if got.Cost >= got.Raw || got.Cost < got.Raw/3 {
		t.Errorf("$%.4f became $%.4f", got.Raw, got.Cost)
	}
	none, err := view.Parse([]byte(`{"kind":"policy.palace","rules":[],"birth":{"duplicates":false}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := none.Play(recorded(h)); got.Cost != got.Raw || len(got.Epochs) > 0 {
		t.Errorf("without rules: %+v", got)
	}
}

// An epoch that opens while the beginning is warm costs at first, and one that opens
// after a pause does not.
func TestAPauseOpensAnEpochForNothing(t *testing.T) {
	t.Parallel()
	h := session(2, 3000) // too little to pay for itself
	h.idle(3)
	r := recorded(h)
	if got := view.Default().Play(r); len(got.Epochs) != 0 {
		t.Errorf("warm: %+v", got)
	}
	last := &r.Requests[len(r.Requests)-2]
	for i := range r.Requests[len(r.Requests)-2:] {
		s := &r.Requests[len(r.Requests)-2+i]
		s.At = s.At.Add(time.Hour)
	}
	last.Write, last.Read = last.Write+last.Read, 0
	got := view.Default().Play(r)
	if len(got.Epochs) != 1 || got.Epochs[0].Why != view.Cold || got.Epochs[0].Request != len(r.Requests)-1 || got.Cost >= got.Raw {
		t.Errorf("cold: %+v", got)
	}
}

// What was set aside and is needed again is counted: called again, asked back, quoted.
func TestRegret(t *testing.T) {
	t.Parallel()
	const line = "func theFunctionThatIsEditedLater(ctx context.Context) error {"
	for name, c := range map[string]struct {
		after func(h *history)
		want  int
	}{
		"nothing":      {func(*history) {}, 0},
		"called again": {func(h *history) { h.call("Grep", map[string]any{"pattern": "0"}, "again", false) }, 1},
		"called with another input": {func(h *history) {
			h.call("Grep", map[string]any{"pattern": "else"}, "again", false)
		}, 0},
		"asked back": {func(h *history) {
			h.call(view.RecallTool, map[string]any{"block": "4-0004"}, "again", false)
		}, 1},
		"quoted": {func(h *history) {
			h.call("Edit", map[string]any{"file_path": "b.go", "old_string": line + "\n\treturn nil", "new_string": "x"}, "done", false)
		}, 1},
		"quoted, and read since": {func(h *history) {
			h.call("Bash", map[string]any{"command": "cat b.go"}, line+"\n\treturn nil\n", false)
			h.call("Edit", map[string]any{"file_path": "b.go", "old_string": line + "\n\treturn nil", "new_string": "x"}, "done", false)
		}, 0},
		"quoted in a word": {func(h *history) {
			h.call("Edit", map[string]any{"file_path": "b.go", "old_string": "return nil", "new_string": "x"}, "done", false)
		}, 0},
	} {
		h := &history{}
		h.ask("go on")
		h.read("b.go", fmt.Sprintf("     1→%s\n     2→\treturn nil\n%s", line, big(3000, "b")))
		for i := range 9 {
			h.call("Grep", map[string]any{"pattern": fmt.Sprint(i)}, fmt.Sprint(i, big(5000, "x")), false)
		}
		h.idle(40)
		c.after(h)
		h.ask("on")
		h.say("done")
		got := view.Default().Play(recorded(h))
		if got.Results < 8 || got.Regretted != c.want {
			t.Errorf("%s: %d of %d were needed again, want %d", name, got.Regretted, got.Results, c.want)
		}
	}
}

// A rehearsal on 100 lineages of 100 requests is done within two seconds.
func BenchmarkPlay100Requests(b *testing.B) {
	h := &history{}
	for i := range 100 {
		if i%4 == 0 {
			h.ask("Please go on with the next one.")
		}
		h.read(fmt.Sprintf("src/file%d.go", i%30), fmt.Sprint(i, strings.Repeat("\n    10→\tif err != nil { return err }", 80)))
	}
	r := recorded(h)
	p := view.Default()
	for b.Loop() {
		p.Play(r)
	}
}
