package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/view"
)

var began = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// history makes blocks as a client and its model would say them.
type history struct {
	blocks []view.Block
}

func (h *history) add(b view.Block, doc any) *view.Block {
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	b.Display, b.UUID, b.At = len(h.blocks), fmt.Sprintf("01936f4a-0000-7000-8000-%012x", len(h.blocks)), began.Add(time.Duration(len(h.blocks))*time.Second)
	b.Bytes = len(raw)
	b.Tokens = int64(len(raw) / 4)
	b.Read(raw)
	h.blocks = append(h.blocks, b)
	return &h.blocks[len(h.blocks)-1]
}

func (h *history) ask(text string) {
	h.add(view.Block{Type: "User", Role: "user"}, map[string]any{"type": "text", "text": text})
}

func (h *history) say(text string) {
	h.add(view.Block{Type: "Assistant", Role: "assistant"}, map[string]any{"type": "text", "text": text})
}

// call is a tool round.
func (h *history) call(tool string, input map[string]any, result string, failed bool) (id string) {
	id = fmt.Sprintf("toolu_%03d", len(h.blocks))
	h.add(view.Block{Type: "ToolUse", Role: "assistant"}, map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	h.add(view.Block{Type: "ToolResult", Role: "user", Tier: view.Short}, map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed})
	return id
}

func (h *history) read(path, text string) string {
	return h.call("Read", map[string]any{"file_path": path}, text, false)
}

// decided is what a policy wishes for the result of a use.
func decided(t *testing.T, p *view.Policy, h *history, use string) view.Decision {
	t.Helper()
	list, failed := p.Decide(h.blocks, began.Add(time.Hour), view.Focus{})
	if failed > 0 {
		t.Errorf("%d rules failed", failed)
	}
	for i, b := range h.blocks {
		if b.Type == "ToolResult" && b.Use == use {
			return list[i]
		}
	}
	t.Fatalf("no result of %s", use)
	return view.Decision{}
}

func many(word string) string { return strings.Repeat(word+" ", 200) }

// idle lets answers pass that speak of nothing.
func (h *history) idle(n int) {
	for i := range n {
		h.ask("on")
		h.say(fmt.Sprint("well ", i))
	}
}

// rules-1: duplicates, what is superseded, errors after four answers, results nobody
// refers to for six; of anything else, it stays.
//
// Requirements: PAL-08 (by rules on every message), PAL-09
func TestRulesOne(t *testing.T) {
	t.Parallel()
	p := view.Default()
	for name, c := range map[string]struct {
		make func(h *history) (use string)
		rule string // "": it stays
	}{
		"a result in use": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.idle(3)
			return id
		}, ""},
		"the same result again": {func(h *history) string {
			id := h.call("Bash", map[string]any{"command": "ls"}, many("x"), false)
			h.call("Bash", map[string]any{"command": "ls -a"}, many("x"), false)
			return id
		}, "duplicate"},
		"the newest of two": {func(h *history) string {
			h.call("Bash", map[string]any{"command": "ls"}, many("x"), false)
			return h.call("Bash", map[string]any{"command": "ls -a"}, many("x"), false)
		}, ""},
		"the same words of another tool": {func(h *history) string {
			id := h.call("Bash", map[string]any{"command": "ls"}, many("x"), false)
			h.call("Glob", map[string]any{"pattern": "*"}, many("x"), false)
			return id
		}, ""},
		"a file read again": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.idle(3)
			h.read("a.go", many("b"))
			return id
		}, "superseded_read"},
		"a file read again at once": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.read("a.go", many("b"))
			return id
		}, ""},
		"a part of it read again": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.idle(3)
			h.call("Read", map[string]any{"file_path": "a.go", "offset": 10, "limit": 5}, many("b"), false)
			return id
		}, ""},
		"a part that a part covers": {func(h *history) string {
			id := h.call("Read", map[string]any{"file_path": "a.go", "offset": 10, "limit": 5}, many("a"), false)
			h.idle(3)
			h.call("Read", map[string]any{"file_path": "a.go", "offset": 5, "limit": 20}, many("b"), false)
			return id
		}, "superseded_read"},
		"a file read again in vain": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.idle(3)
			h.call("Read", map[string]any{"file_path": "a.go"}, "no such file", true)
			return id
		}, ""},
		"a file that was edited": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.idle(3)
			h.call("Edit", map[string]any{"file_path": "a.go", "old_string": "a", "new_string": "b"}, many("done"), false)
			return id
		}, ""},
		"a file that was written anew": {func(h *history) string {
			id := h.read("a.go", many("a"))
			h.idle(3)
			h.call("Write", map[string]any{"file_path": "a.go", "content": "b"}, many("done"), false)
			return id
		}, "superseded_read"},
		"a write that was read since": {func(h *history) string {
			id := h.call("Write", map[string]any{"file_path": "a.go", "content": "b"}, many("done"), false)
			h.idle(4)
			h.read("a.go", many("b"))
			return id
		}, "superseded"},
		"an error": {func(h *history) string {
			id := h.call("Bash", map[string]any{"command": "make"}, many("boom"), true)
			h.idle(4)
			return id
		}, "error"},
		"a young error": {func(h *history) string {
			id := h.call("Bash", map[string]any{"command": "make"}, many("boom"), true)
			h.idle(3)
			return id
		}, ""},
		"what nobody speaks of": {func(h *history) string {
			id := h.call("Grep", map[string]any{"pattern": "x"}, many("hit"), false)
			h.idle(6)
			return id
		}, "unreferenced"},
		"what nobody speaks of, yet": {func(h *history) string {
			id := h.call("Grep", map[string]any{"pattern": "x"}, many("hit"), false)
			h.idle(5)
			return id
		}, ""},
		"a file that is named": {func(h *history) string {
			id := h.read("src/a.go", many("a"))
			h.idle(5)
			h.say("I will look at a.go once more.")
			return id
		}, ""},
		"a file that is written": {func(h *history) string {
			id := h.read("src/a.go", many("a"))
			h.idle(5)
			h.call("Edit", map[string]any{"file_path": "src/a.go", "old_string": "a", "new_string": "b"}, many("done"), false)
			return id
		}, ""},
		"a line that is quoted": {func(h *history) string {
			id := h.call("Bash", map[string]any{"command": "cat x"}, "one\nthe line that will be quoted below\n"+many("two"), false)
			h.idle(5)
			h.say("It says:\n  the line that will be quoted below\n")
			return id
		}, ""},
		"a line that was quoted long ago": {func(h *history) string {
			id := h.call("Bash", map[string]any{"command": "cat x"}, "one\nthe line that will be quoted below\n"+many("two"), false)
			h.say("It says:\n  the line that will be quoted below\n")
			h.idle(6)
			return id
		}, "unreferenced"},
	} {
		h := &history{}
		h.ask("go on")
		use := c.make(h)
		got := decided(t, p, h, use)
		if want := (view.Decision{}); c.rule == "" && got != want || c.rule != "" && (got.Rule != c.rule || got.Do != view.Aside || got.By != view.ByRules) {
			t.Errorf("%s: %+v, want the rule %q", name, got, c.rule)
		}
	}
}

// A person's word goes before the rules, and theirs before a model's.
//
// Requirements: PAL-19
func TestAPersonsWordGoesFirst(t *testing.T) {
	t.Parallel()
	p := view.Default()
	h := &history{}
	h.ask("go on")
	old := h.call("Grep", map[string]any{"pattern": "x"}, many("hit"), false)
	h.idle(6)
	young := h.call("Grep", map[string]any{"pattern": "y"}, many("hits"), false)
	h.say("well")
	set := func(use string, person, model view.Do) {
		for i := range h.blocks {
			if h.blocks[i].Use == use {
				h.blocks[i].Person, h.blocks[i].Model = person, model
			}
		}
	}
	for _, c := range []struct {
		use           string
		person, model view.Do
		do            view.Do
		by            string
	}{
		{old, "", "", view.Aside, view.ByRules},
		{old, view.Show, "", view.Show, view.ByPerson},
		{old, "", view.Show, view.Aside, view.ByRules},
		{young, "", "", "", ""},
		{young, "", view.Aside, view.Aside, view.ByModel},
		{young, view.Show, view.Aside, view.Show, view.ByPerson},
		{young, view.Aside, view.Show, view.Aside, view.ByPerson},
	} {
		set(c.use, c.person, c.model)
		if got := decided(t, p, h, c.use); got.Do != c.do || got.By != c.by {
			t.Errorf("%s with %q of a person and %q of a model: %+v, want %q by %q", c.use, c.person, c.model, got, c.do, c.by)
		}
	}
}

func TestAPolicyFindsChannels(t *testing.T) {
	t.Parallel()
	p, err := view.Parse([]byte(`{"kind":"policy.palace","channels":[{"channel":"security","when":"path startsWith 'auth/' or text contains 'CVE-'"},{"channel":"broken","when":"tokens > 'a'"},{"channel":"read","when":"tool == 'Read'"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string]view.Block{
		"[security read]": {Tool: "Read", Path: "auth/a.go"},
		"[security]":      {Text: "see CVE-2026-1"},
		"[]":              {Path: "src/auth/a.go"},
	} {
		if got := fmt.Sprint(p.ChannelsOf(&b)); got != want {
			t.Errorf("%+v is in %s, want %s", b, got, want)
		}
	}
}

// A window of 100 blocks is decided within a millisecond (PAL-08).
func BenchmarkDecideOn100Blocks(b *testing.B) {
	p, h := view.Default(), &history{}
	for len(h.blocks) < 100 {
		h.ask("Please look at the next one.")
		n := len(h.blocks)
		h.read(fmt.Sprintf("src/file%d.go", n%20), fmt.Sprint(n, strings.Repeat("\n    10→\tif err != nil { return fmt.Errorf(\"reading: %w\", err) }", 60)))
		h.say("I have read it, and will go on.")
	}
	h.blocks = h.blocks[:100]
	for b.Loop() {
		p.Decide(h.blocks, began, view.Focus{})
	}
	if per := b.Elapsed() / time.Duration(b.N); per > time.Millisecond {
		b.Logf("a window took %v", per)
	}
}
