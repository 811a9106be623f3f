package view

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// edited sets some aside in a body, and checks everything that must hold.
func edited(t *testing.T, raw []byte, replace []Replacement) (*Body, Spliced) {
	t.Helper()
	b, err := ReadBody(raw)
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	a := b.SetAside(replace, true, nil, nil)
	if len(a.Edits) == 0 {
		return b, a
	}
	drop, err := b.DropBlock()
	if err != nil {
		t.Fatal(err)
	}
	edits := append(a.Edits, drop...)
	if len(drop) > 0 && drop[0].From < a.Edits[0].From {
		edits = append(drop, a.Edits...)
	}
	out, err := Edited(raw, edits)
	if err != nil {
		t.Fatal(err)
	}
	is, err := ReadBody(out)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	allowed := Allowed{Results: map[string]bool{}, Dropped: true}
	for _, r := range a.Done {
		allowed.Results[r.Result] = true
	}
	if err := Valid(b, is, allowed); err != nil {
		t.Fatalf("%v\n%s\n%s", err, raw, out)
	}
	return is, a
}

// proxy.md: E1, E3
func TestOnlyWhatResultsSayIsSetAside(t *testing.T) {
	t.Parallel()
	changed := 0
	for seed := range uint64(10_000) {
		w := someHistory(seed)
		raw, replace := w.body(len(w.parts)), w.some()
		is, a := edited(t, raw, replace)
		was, err := ReadBody(raw)
		if err != nil {
			t.Fatal(err)
		}
		touched := map[int]bool{}
		done := map[string]Replacement{}
		for _, r := range a.Done {
			done[r.Result] = r
		}
		for _, r := range w.results {
			if _, ok := done[r.id]; ok {
				touched[r.message] = true
				if r.tool == "mcp__palace__recall" || r.message >= was.Closed() {
					t.Fatalf("%d: the result of %s in message %d is set aside", seed, r.tool, r.message)
				}
			}
		}
		for i, m := range w.parts {
			got := string(is.Of(is.Messages[i].Span))
			if !touched[i] && got != m {
				t.Fatalf("%d: message %d was\n%s\nand is\n%s", seed, i, m, got)
			}
			if !touched[i] {
				continue
			}
			changed++
			for _, p := range is.Messages[i].Parts {
				if r, ok := done[p.ID]; ok {
					said := Said(is.Of(p.Content))
					if !strings.HasPrefix(said, "[palace: block "+r.Block+" set aside: Read ") || !strings.Contains(said, fmt.Sprint(r.Bytes, " bytes")) || strings.Contains(said, "\n") {
						t.Fatalf("%d: %s", seed, said)
					}
				}
			}
		}
	}
	if changed < 2_000 {
		t.Errorf("%d messages were changed", changed)
	}
}

// sameMessages is how many messages two bodies have in common at the beginning, but for
// where caches break.
func sameMessages(a, b *Body) int {
	without := func(s []byte) string {
		return strings.NewReplacer(`,"cache_control":`+control, "", `"cache_control":`+control+",", "").Replace(strings.Join(strings.Fields(string(s)), ""))
	}
	for i := range min(len(a.Messages), len(b.Messages)) {
		if without(a.Of(a.Messages[i].Span)) != without(b.Of(b.Messages[i].Span)) {
			return i
		}
	}
	return min(len(a.Messages), len(b.Messages))
}

// proxy.md: E2
func TestWithinAnEpochTheBeginningOnlyGrows(t *testing.T) {
	t.Parallel()
	sets := 0
	for seed := range uint64(100) {
		w := someHistory(seed)
		for range 3 {
			w.turn()
		}
		opens := len(w.parts) / 2
		first, err := ReadBody(w.body(opens))
		if err != nil {
			t.Fatal(err)
		}
		set := first.SetAside(w.some(), true, nil, nil).Done
		sets += len(set)
		var before *Body
		for n := opens; n <= len(w.parts); n++ {
			is, a := edited(t, w.body(n), set)
			if before != nil && sameMessages(before, is) != len(before.Messages) {
				t.Fatalf("%d: message %d of %d is another when there are %d", seed, sameMessages(before, is), len(before.Messages), n)
			}
			if len(a.Done) != len(set) {
				t.Fatalf("%d: %d of %d are set aside when there are %d", seed, len(a.Done), len(set), n)
			}
			before = is
		}
	}
	if sets < 100 {
		t.Errorf("%d results were set aside", sets)
	}
}

func TestAResultThatIsRepeatedIsNamed(t *testing.T) {
	t.Parallel()
	w := &written{r: rand.New(rand.NewPCG(1, 2))}
	long := strings.Repeat("the same again ", 60)
	w.message("user", w.said("Begin."))
	for range 6 {
		w.round(long)
	}
	w.message("assistant", w.said("Done."))
	w.message("user", w.said("And?"))
	var before *Body
	for n := 3; n <= len(w.parts); n += 2 {
		b, err := ReadBody(w.body(n))
		if err != nil {
			t.Fatal(err)
		}
		edits, sources, named := b.Repeats(3, nil)
		out, err := Edited(b.Raw, edits)
		if err != nil {
			t.Fatal(err)
		}
		is, err := ReadBody(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := Valid(b, is, Allowed{Results: named, Born: named}); err != nil {
			t.Fatal(err)
		}
		for id := range sources {
			if named[id] {
				t.Errorf("%s is named, and pointed to", id)
			}
			if !bytes.Contains(out, []byte("[identical to the result of "+id+" above: ")) {
				t.Errorf("nothing points to %s", id)
			}
		}
		if before != nil && sameMessages(before, is) != len(before.Messages) {
			t.Fatalf("message %d is another when there are %d", sameMessages(before, is), n)
		}
		if before = is; n > 9 && len(named) == 0 {
			t.Error("nothing is named")
		}
	}
}

func TestThinkingIsDroppedByTheBackendOrLeftOut(t *testing.T) {
	t.Parallel()
	for thinking, want := range map[string]string{
		`{"type":"adaptive"}`:                  `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`,
		`{"type":"enabled","budget_tokens":1}`: `{"type":"enabled","budget_tokens":1,"block_binding":{"prefix_mismatch_behavior":"drop_block"}}`,
		`{"type":"disabled"}`:                  `{"type":"disabled"}`,
		`{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"error"}}`: "",
	} {
		b, err := ReadBody([]byte(`{"messages":[{"role":"user","content":"c"}],"thinking":` + thinking + `}`))
		if err != nil {
			t.Fatal(err)
		}
		edits, err := b.DropBlock()
		out, _ := Edited(b.Raw, edits)
		if want == "" {
			if !errors.Is(err, ErrBound) {
				t.Errorf("%s: %v", thinking, err)
			}
			continue
		}
		if !strings.HasSuffix(string(out), `"thinking":`+want+`}`) || err != nil {
			t.Errorf("%s became %s, %v", thinking, out, err)
		}
	}
	use := `{"type":"tool_use","id":"t","name":"Read","input":{}}`
	thought := `{"type":"thinking","thinking":"t","signature":"s"}`
	body := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + thought + `, ` + use + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]},
		{"role":"assistant","content":[` + thought + `,{"type":"text","text":"x"}]},{"role":"user","content":"b"},{"role":"assistant","content":[` + thought + `]}],"thinking":{"type":"adaptive"}}`
	b, err := ReadBody([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	edits, err := b.Strip()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Edited(b.Raw, edits)
	if err != nil || bytes.Count(out, []byte(`"thinking"`)) != 3 || !bytes.Contains(out, []byte(`"content":[`+use+`]`)) {
		t.Errorf("%s, %v", out, err)
	}
	is, err := ReadBody(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := Valid(b, is, Allowed{Stripped: true}); err != nil {
		t.Error(err)
	}
	if Valid(b, is, Allowed{}) == nil {
		t.Error("thinking that nobody may leave out is gone, and that is valid")
	}
}

// An agent whose results were set aside may ask for the same again and again.
//
// proxy.md: E6
func TestAnAgentThatTurnsInACircleIsNoticed(t *testing.T) {
	t.Parallel()
	w := &written{r: rand.New(rand.NewPCG(1, 2))}
	add := func(id, input, says string) {
		w.message("assistant", `[{"type":"tool_use","id":"`+id+`","name":"Read","input":`+input+`}]`)
		w.message("user", `[{"type":"tool_result","tool_use_id":"`+id+`","content":"`+says+`"}]`)
	}
	w.message("user", `"a"`)
	add("t0", `{"p":1}`, "first")
	from := len(w.parts)
	for i := range 3 {
		add(fmt.Sprint("u", i), `{"p":2}`, fmt.Sprint("other ", i)) // the same call, and it goes on
		add(fmt.Sprint("v", i), `{"p":1}`, fmt.Sprint("again ", i))
	}
	b, err := ReadBody(w.body(len(w.parts)))
	if err != nil {
		t.Fatal(err)
	}
	if tool := b.Circle(from, 3, []Replacement{{Result: "t0"}}); tool != "Read" {
		t.Errorf("a call whose result is set aside, three times: %q", tool)
	}
	if tool := b.Circle(from, 3, nil); tool != "" {
		t.Errorf("calls that say another thing each time: %q", tool)
	}
	if tool := b.Circle(from+4, 3, []Replacement{{Result: "t0"}}); tool != "" {
		t.Errorf("twice: %q", tool)
	}
}

// large is a history of about so many bytes, with a set of results of half of it.
func large(size int) ([]byte, []Replacement) {
	w := &written{r: rand.New(rand.NewPCG(3, 4)), most: 6000, code: true} // as files and commands are
	total := 0
	var set []Replacement
	for total < size {
		w.turn()
		total = 0
		for _, p := range w.parts {
			total += len(p)
		}
	}
	w.message("user", `"And?"`)
	for i, r := range w.results {
		if i%2 == 0 {
			set = append(set, Replacement{Result: r.id, Sum: SumOf([]byte(r.raw)), Block: "1-a", Label: "l", Bytes: 1})
		}
	}
	return w.body(len(w.parts)), set
}

// palace.md, 13: 52 KB within 1 ms
func BenchmarkSplice(b *testing.B) {
	for _, size := range []int{52 << 10, 400 << 10, 1600 << 10} {
		raw, set := large(size)
		known := func(Replacement, []byte) bool { return true } // as it is from the second request on
		b.Run(fmt.Sprint(size>>10, "KB"), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				body, err := ReadBody(raw)
				if err != nil {
					b.Fatal(err)
				}
				a := body.SetAside(set, true, known, nil)
				is, err := body.Edited(a.Edits)
				if err != nil {
					b.Fatal(err)
				}
				allowed := Allowed{Results: map[string]bool{}, Dropped: true}
				for _, r := range a.Done {
					allowed.Results[r.Result] = true
				}
				if err := Valid(body, is, allowed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
