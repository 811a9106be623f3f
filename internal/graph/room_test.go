package graph_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

// A file dropped into testdata/hostile is a test: whatever is answered, it is
// refused or ends, holds no more than a run may, and goes the same way twice.
//
// Requirements: PLAT-07 (what a document asks for is bounded), PLAT-08
func TestHostileDocumentsEnd(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/hostile/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			d := readDocument(t, file)
			g, err := graph.Parse(d.Graph, registry(d.Tools), graph.ChatLimits())
			if err != nil {
				t.Logf("refused: %v", err)
				return
			}
			in := map[string]any{"n": 1, "l": listOf(1000, "a word"), "message": "m"}
			first, largest := through(t, g, in, map[string]any{"answer": "A"})
			again, _ := through(t, g, in, map[string]any{"answer": "A"})
			if largest > 80<<20 || compact(first.Err) != compact(again.Err) {
				t.Errorf("%d MiB, %v and then %v", largest>>20, first.Err, again.Err)
			}
			t.Logf("%v", first.Err)
		})
	}
}

// through plays a run whose tools give out, until it ends or has had many
// answers, and gives how it ended and the largest snapshot on the way.
func through(t *testing.T, g *graph.Graph, in map[string]any, out map[string]any) (graph.Outcome, int) {
	t.Helper()
	defer time.AfterFunc(5*time.Minute, func() { panic(t.Name() + " takes too long") }).Stop()
	r, _ := g.Start(graph.Input{Input: in, Now: time.Unix(0, 0)})
	largest := 0
	for i := range 3000 {
		if end, ended := r.Outcome(); ended {
			return end, largest
		}
		for _, e := range r.Pending() {
			r.Done(e.ID, out, time.Unix(0, 0))
		}
		if i%8 == 7 {
			b, err := r.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			largest = max(largest, len(b))
		}
	}
	t.Fatal("it does not end")
	return graph.Outcome{}, 0
}

func listOf(n int, v any) []any {
	l := make([]any, n)
	for i := range l {
		l[i] = v
	}
	return l
}

// What a run keeps is bounded over its whole life: the work between two answers
// is not, and each answer gives it anew.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestWhatARunHoldsIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300<<10)
	var piled []string
	for i := range 30 {
		values := make([]string, 20)
		for j := range values {
			values[j] = fmt.Sprintf(`"v%d_%d":"-${input.long}"`, i, j)
		}
		piled = append(piled,
			fmt.Sprintf(`{"id":"s%d","type":"set","values":{%s},"next":"c%d"}`, i, strings.Join(values, ","), i),
			fmt.Sprintf(`{"id":"c%d","type":"tool_call","tool":"echo","next":"s%d"}`, i, (i+1)%30))
	}
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprintf(`"n%d"`, i)
	}
	ones, _ := json.Marshal(listOf(200_000, 1))
	for name, c := range map[string]struct {
		nodes   string
		in, out map[string]any
	}{
		"vars that pile up":           {strings.Join(piled, ","), map[string]any{"long": long}, nil},
		"outputs that pile up":        {`{"id":"m","type":"map","over":"${input.items}","body":"c","next":"e"},{"id":"c","type":"tool_call","tool":"echo"},{"id":"e","type":"end"}`, map[string]any{"items": listOf(300, 1)}, map[string]any{"a": long}},
		"one result under many names": {`{"id":"m","type":"map","over":"${input.items}","body":"c","outputs":[` + strings.Join(names, ",") + `],"next":"e"},{"id":"c","type":"tool_call","tool":"echo"},{"id":"e","type":"end"}`, map[string]any{"items": listOf(10, 1)}, map[string]any{"a": long}},
		"a constant in many calls":    {`{"id":"m","type":"map","over":"${input.items}","concurrency":32,"body":"c","next":"e"},{"id":"c","type":"tool_call","tool":"echo","inputs":{"v":` + string(ones) + `}},{"id":"e","type":"end"}`, map[string]any{"items": listOf(300, 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end, largest := through(t, parsed(t, c.nodes), c.in, c.out)
			if end.Err == nil || end.Err.Code != graph.CodeLimit {
				t.Errorf("it ended with %+v, want the limit", end.Err)
			}
			if largest > 80<<20 {
				t.Errorf("a snapshot has %d MiB", largest>>20)
			}
		})
	}
}

// What a loop lets go of does not count: a run may write far more than it
// holds.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestWhatIsLetGoDoesNotCount(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"m","type":"map","over":"${input.items}","body":"s","next":"e"},
		{"id":"s","type":"set","values":{"v":["-${input.long}","-${input.long}"]},"next":"c"},
		{"id":"c","type":"tool_call","tool":"echo","inputs":{"v":"${vars.v}"},"next":"d"},
		{"id":"d","type":"set","values":{"v":null,"c":null}},
		{"id":"e","type":"end","response":"done"}`)
	end, _ := through(t, g, map[string]any{"items": listOf(200, 1), "long": strings.Repeat("x", 300<<10)}, map[string]any{"ok": true})
	if end.Err != nil || end.Response != "done" {
		t.Errorf("it ended with %+v", end.Err)
	}
}

// A sentence shows a few words of what a condition read: it does not cost the
// whole value for every branch.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestManyBranchesOverALargeValueAreSoonRead(t *testing.T) {
	t.Parallel()
	branches := strings.TrimSuffix(strings.Repeat(`{"when":"len(input.big) == 7","next":"s"},`, 8000), ",")
	g := parsed(t, `{"id":"s","type":"switch","branches":[`+branches+`]}`)
	end, _ := through(t, g, map[string]any{"big": listOf(300_000, "word")}, nil)
	if end.Err == nil || end.Err.Code != graph.CodeNoBranch || len(end.Err.Message) > 20_000 || !strings.Contains(end.Err.Message, `(input.big = ["word","word",`) {
		t.Errorf("it ended with %.300v", end.Err)
	}
}

// Requirements: PLAT-07 (what a document asks for is bounded)
func TestManyReferencesCostWhatTheyAre(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"m","type":"map","over":"${input.items}","body":"s","next":"e"},
		{"id":"s","type":"set","values":{"v":"`+strings.Repeat("${input.n}", 60_000)+`"}},{"id":"e","type":"end"}`)
	end, _ := through(t, g, map[string]any{"items": listOf(1000, 1), "n": ""}, nil)
	if end.Err == nil || end.Err.Code != graph.CodeLimit {
		t.Errorf("it ended with %+v, want the limit", end.Err)
	}
}

// A list of millions of elements is not made a text first and measured then.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestALargeListIsNoText(t *testing.T) {
	t.Parallel()
	for _, node := range []string{
		`{"id":"s","type":"end","response":"${input.big}"}`,
		`{"id":"s","type":"set","values":{"v":"it is ${input.big}"}}`,
		`{"id":"s","type":"interrupt","interrupt_type":"text_input","message":"${input.big}"}`,
	} {
		end, _ := through(t, parsed(t, node), map[string]any{"big": listOf(600_000, 1)}, nil)
		if end.Err == nil || end.Err.Code != graph.CodeLimit {
			t.Errorf("%s ended with %+v", node, end.Err)
		}
	}
}

// A run of an earlier version counts what it holds when it goes on, and one
// that went through a snapshot ends where the other does.
//
// Requirements: PLAT-08
func TestARestoredRunHasTheSameRoom(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"m","type":"map","over":"${input.items}","body":"c","next":"e"},{"id":"c","type":"tool_call","tool":"echo"},{"id":"e","type":"end"}`)
	out := map[string]any{"a": strings.Repeat("x", 900<<10)}
	steps := func(restored, old bool) int {
		r, _ := g.Start(graph.Input{Input: map[string]any{"items": listOf(300, 1)}, Now: epoch})
		for i := range 300 {
			if _, ended := r.Outcome(); ended {
				return i
			}
			if restored && i == 15 {
				b, err := r.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				if old {
					var s map[string]any
					if json.Unmarshal(b, &s) != nil {
						t.Fatal("no snapshot")
					}
					delete(s, "held")
					b, _ = json.Marshal(s)
				}
				if r, err = g.Restore(b); err != nil {
					t.Fatal(err)
				}
			}
			r.Done(r.Pending()[0].ID, out, epoch)
		}
		return -1
	}
	plain := steps(false, false)
	if again := steps(true, false); plain < 30 || plain > 80 || plain != again {
		t.Errorf("it ends after %d answers, restored after %d", plain, again)
	}
	if old := steps(true, true); old < 30 || old > 80 {
		t.Errorf("of an earlier version it ends after %d answers", old)
	}
}
