package view_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/view"
)

func windowed(t *testing.T, window int) *view.Policy {
	t.Helper()
	p, err := view.Parse(fmt.Appendf(nil, `{"kind":"policy.palace","classifier":{"by":"model","model":"@near/qwen3:4b","window":%d}}`, window))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A model is shown the last blocks, numbered, and what their agent is at; nothing in
// which something was found that opens doors, and none of what is in every request.
//
// Requirements: PAL-07 (a model is asked so)
func TestTheWindowIsTheLastBlocksWithoutSecrets(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	block := func(n int, kind, role, text string) view.Block {
		return view.Block{UUID: fmt.Sprint("u", n), Display: n, Type: kind, Role: role, Text: text, At: at}
	}
	use, result := block(4, "ToolUse", "assistant", `{"file_path":"auth.go"}`), block(5, "ToolResult", "user", strings.Repeat("ä line\n", 400))
	use.Tool, use.Use, use.Path, result.Use = "Read", "t1", "auth.go", "t1"
	result.Channels = []string{"auth"}
	hidden, away := block(6, "User", "user", "my key is [key]"), block(-1, "User", "user", "put away")
	hidden.Channels, away.Away = []string{view.ChannelSecret}, true
	blocks := []view.Block{
		block(0, "System", "system", "be kind"), block(1, "User", "user", "old"), block(2, "User", "user", "look at  the\nauth module"), block(3, "Thinking", "assistant", "hm"),
		use, result, away, hidden, block(7, "Assistant", "assistant", "done"),
	}
	w := windowed(t, 4).Window(blocks)
	if got := w.IDs(); !reflect.DeepEqual(got, []int{2, 4, 5, 7}) {
		t.Errorf("the window is %v", got)
	}
	if w.Task != "look at the auth module" || w.Tool != "Read" || !reflect.DeepEqual(w.Channels, []string{"auth"}) {
		t.Errorf("its agent is at %q, %q, %v", w.Task, w.Tool, w.Channels)
	}
	if b := w.Blocks[2]; b.Tool != "Read" || b.Path != "auth.go" || b.TurnsAgo != 1 || len(b.Text) > 410 || !strings.HasPrefix(b.Text, "ä line ä line ") || !strings.HasSuffix(b.Text, "…") {
		t.Errorf("a result is shown as %+v", b)
	}
	if got := w.UUIDs([]int{7, 9, 2}); !slices.Equal(got, []string{"u7", "u2"}) {
		t.Errorf("7, 9 and 2 are %v", got)
	}
	text := w.Text(3)
	for _, is := range []string{`"agent_id":3`, `"task":"look at the auth module"`, `"active_channels":["auth"]`, `"current_tool":"Read"`, `"id":5`, `"turns_ago":1`} {
		if !strings.Contains(text, is) {
			t.Errorf("%s is not in %s", is, text)
		}
	}
	for _, not := range []string{"key", "put away", "hm", "be kind", "u7"} {
		if strings.Contains(text, not) {
			t.Errorf("%s is in %s", not, text)
		}
	}
}

// Where all display ids are taken the blocks of a window are numbered all the same, each
// with a number of its own, and an answer means them.
//
// Requirements: PAL-07 (a model is asked so)
func TestABlockWithoutADisplayIDIsNumberedInItsWindow(t *testing.T) {
	t.Parallel()
	var blocks []view.Block
	for i, display := range []int{-1, 1, -1, 0, -1, 9999} {
		blocks = append(blocks, view.Block{UUID: fmt.Sprint("u", i), Display: display, Type: "User", Role: "user", Text: "hello"})
	}
	w := windowed(t, 5).Window(blocks)
	if got := w.IDs(); !slices.Equal(got, []int{1, 2, 0, 3, 9999}) {
		t.Errorf("the blocks are numbered %v", got)
	}
	answer, err := view.ParseAnswer("++2,9999 --3", w.IDs())
	if err != nil || !slices.Equal(w.UUIDs(answer.Add), []string{"u2", "u5"}) || !slices.Equal(w.UUIDs(answer.Remove), []string{"u4"}) {
		t.Errorf("the answer means %v and %v: %v", w.UUIDs(answer.Add), w.UUIDs(answer.Remove), err)
	}
	if blocks[2].Display != -1 {
		t.Errorf("the block itself has the number %d", blocks[2].Display)
	}
}

// However long a window is, what a model reads stays bounded.
func TestALongWindowShowsLessOfEach(t *testing.T) {
	t.Parallel()
	var blocks []view.Block
	for n := range 1500 {
		blocks = append(blocks, view.Block{UUID: fmt.Sprint(n), Display: n, Type: "User", Role: "user", Text: strings.Repeat("word ", 500)})
	}
	w := windowed(t, 1000).Window(blocks)
	if n := len(w.Blocks); n != 1000 || w.Blocks[0].ID != 500 {
		t.Errorf("%d blocks from %d on", n, w.Blocks[0].ID)
	}
	if n := len(w.Text(1)); n > 200_000 {
		t.Errorf("%d bytes are shown", n)
	}
	if got := windowed(t, 5).Window(nil); len(got.IDs()) != 0 || !strings.Contains(got.Text(1), `"blocks":[]`) {
		t.Errorf("of nothing the window is %+v", got)
	}
}

// A name of a model that is none is told where it stands.
func TestTheClassifiersModelIsAName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\nb", "${input.x}", strings.Repeat("m", 257)} {
		_, err := view.Parse(fmt.Appendf(nil, `{"kind":"policy.palace","classifier":{"model":%q}}`, name))
		if err == nil || !strings.Contains(err.Error(), "no name of a model") {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}
