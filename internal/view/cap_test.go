package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// palace.md, 7: birth (the cap, opt-in)
func TestALongResultLosesItsMiddle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("äöü ", 1000) + "the end"
	body := func(result string) *Body {
		t.Helper()
		b, err := ReadBody(fmt.Appendf(nil, `{"tools":[],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":%s}]}]}`, result))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	none := func(string) bool { return false }
	is := func(b *Body, c *Cap, others func(string) bool) string {
		t.Helper()
		edits, done := b.Capped(1, c, true, others)
		if len(edits) == 0 {
			return ""
		}
		out, err := b.Edited(edits)
		if err == nil {
			err = Valid(b, out, Allowed{Results: map[string]bool{"t1": true}, Born: map[string]bool{"t1": true}})
		}
		if err != nil || len(done) != 1 || done[0].Block != "t1" || done[0].Label != "Bash make" || done[0].Bytes != len(long) {
			t.Fatal(err, done)
		}
		return Said(out.Of(out.Messages[2].Parts[0].Content))
	}
	text := is(body(quoted(long)), &Cap{Bytes: 1000}, none)
	head, rest, _ := strings.Cut(text, "\n[palace: bytes ")
	var from, to, of int
	if _, err := fmt.Sscanf(rest, "%d to %d of %d are left out here. mcp__palace__recall", &from, &to, &of); err != nil {
		t.Fatalf("%v: %s", err, rest)
	}
	if !utf8.ValidString(text) || head != long[:from] || from < 660 || from > 666 || of != len(long) || !strings.HasSuffix(text, "]\n"+long[to:]) || len(long)-to < 330 || len(long)-to > 334 ||
		!strings.Contains(rest, fmt.Sprintf(`{"block":"t1","from":%d} returns them`, from)) {
		t.Errorf("%s", text)
	}
	if listed := is(body(`[{"type":"text","text":`+quoted(long)+`,"cache_control":{"type":"ephemeral"}}]`), &Cap{Bytes: 1000}, none); listed != text {
		t.Errorf("in a list: %s", listed)
	}
	for name, c := range map[string]struct {
		result string
		cap    *Cap
		others func(string) bool
	}{
		"no cap":                  {quoted(long), nil, none},
		"it is short":             {quoted("short"), &Cap{Bytes: 1000}, none},
		"as long as it may be":    {quoted(strings.Repeat("x", 1000)), &Cap{Bytes: 1000}, none},
		"the cut would be longer": {quoted(strings.Repeat("x", 1001)), &Cap{Bytes: 1000}, none},
		"a tool that may":         {quoted(long), &Cap{Bytes: 1000, Whole: []string{"Bash"}}, none},
		"it is aside":             {quoted(long), &Cap{Bytes: 1000}, func(id string) bool { return id == "t1" }},
		"more than one text":      {`[{"type":"text","text":` + quoted(long) + `},{"type":"text","text":"b"}]`, &Cap{Bytes: 1000}, none},
	} {
		if text := is(body(c.result), c.cap, c.others); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
	if edits, _ := body(quoted(long)).Capped(3, &Cap{Bytes: 1000}, true, none); len(edits) > 0 {
		t.Error("what was sent before is cut")
	}
	if text := capped(long, 1000, "t1", false); !strings.Contains(text, "Run the tool again for a part of it") || bytes.Contains([]byte(text), []byte("mcp__")) {
		t.Errorf("without the tool: %s", text)
	}
}

// What a cap leaves of a result is what a plan and a rehearsal count.
func TestAPlanCountsWhatACapLeaves(t *testing.T) {
	t.Parallel()
	p := Default()
	p.Birth.CapBytes = 1000
	b := Block{Type: resultType, Tool: "Bash", Tokens: 4000, Bytes: 10_000}
	if n := p.read(&b); n != 400 {
		t.Errorf("%d tokens are read", n)
	}
	if got := p.born([]Block{{Type: resultType, Tool: "Bash", Sum: "a", Tokens: 4000, Bytes: 10_000}}, 0.4); got[0] != 3600 {
		t.Errorf("%d tokens fewer", got[0])
	}
	b.Tool = "Task" // which keep.tools names
	if n := p.read(&b); n != 4000 {
		t.Errorf("%d tokens of a tool that is kept are read", n)
	}
	if plan := p.Plan(Situation{}); len(plan.Whole) != 1 || plan.Birth.CapBytes != 1000 {
		t.Errorf("the proxy is told %+v", plan)
	}
}
