package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// written is a history as some client would write it, with spaces, escapes and forms as
// they come.
type written struct {
	r       *rand.Rand
	parts   []string // messages
	results []result
	n       int
	most    int // bytes of a result; 0: 500
}

type result struct {
	id, tool, raw string // the tool_result as JSON
	message       int
}

func (w *written) space() string { return []string{"", "", " ", "\n  ", "\t"}[w.r.IntN(5)] }

func (w *written) text(least int) string {
	words := []string{"Grüße", `"quoted"`, "a\\b", "<tag>&", "line\nline", "\u2028", "toolu_", "{}[],:", "plain", "日本"}
	var b strings.Builder
	for b.Len() < least {
		b.WriteString(words[w.r.IntN(len(words))] + " ")
	}
	return b.String()
}

func (w *written) json(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(w.r.IntN(2) == 0)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

func (w *written) object(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, w.space()+`"`+pairs[i]+`"`+w.space()+":"+w.space()+pairs[i+1])
	}
	w.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return "{" + strings.Join(list, ",") + w.space() + "}"
}

func (w *written) list(items []string) string {
	return "[" + w.space() + strings.Join(items, ","+w.space()) + w.space() + "]"
}

func (w *written) message(role string, content string) {
	w.parts = append(w.parts, w.object("role", `"`+role+`"`, "content", content))
}

const control = `{"type":"ephemeral"}`

func (w *written) said(text string) string {
	if w.r.IntN(2) == 0 {
		return w.json(text)
	}
	pairs := []string{"type", `"text"`, "text", w.json(text)}
	if w.r.IntN(4) == 0 {
		pairs = append(pairs, "cache_control", control)
	}
	return w.list([]string{w.object(pairs...)})
}

// round is a round of tools.
func (w *written) round(same string) {
	var uses, results []string
	if w.r.IntN(2) == 0 {
		uses = append(uses, w.object("type", `"thinking"`, "thinking", w.json(w.text(10)), "signature", fmt.Sprintf(`"S%d"`, w.n)))
	}
	if w.r.IntN(3) == 0 {
		uses = append(uses, w.object("type", `"text"`, "text", w.json("I look.")))
	}
	for range 1 + w.r.IntN(3) {
		w.n++
		id, tool := fmt.Sprintf("toolu_%d", w.n), []string{"Read", "Bash", "mcp__palace__recall"}[w.r.IntN(3)]
		uses = append(uses, w.object("type", `"tool_use"`, "id", `"`+id+`"`, "name", `"`+tool+`"`, "input", w.json(map[string]any{"file_path": w.text(5)})))
		content := w.json(w.text(w.r.IntN(cmp.Or(w.most, 500))))
		if same != "" {
			content = w.json(same)
		} else if w.r.IntN(3) == 0 {
			inner := []string{"type", `"text"`, "text", content}
			if w.r.IntN(2) == 0 {
				inner = append(inner, "cache_control", control)
			}
			content = w.list([]string{w.object(inner...), w.object("type", `"image"`, "source", `{"data":"`+strings.Repeat("A", 200)+`"}`)})
		}
		pairs := []string{"type", `"tool_result"`, "tool_use_id", `"` + id + `"`, "content", content}
		if w.r.IntN(5) == 0 {
			pairs = append(pairs, "is_error", "true")
		}
		if w.r.IntN(5) == 0 {
			pairs = append(pairs, "cache_control", control)
		}
		raw := w.object(pairs...)
		results = append(results, raw)
		w.results = append(w.results, result{id, tool, raw, len(w.parts) + 1})
	}
	w.message("assistant", w.list(uses))
	w.message("user", w.list(results))
}

func (w *written) turn() {
	w.message("user", w.said(w.text(20)))
	if w.r.IntN(6) == 0 {
		w.message("system", w.said("A reminder."))
	}
	for range w.r.IntN(3) {
		w.round("")
	}
	w.message("assistant", w.said(w.text(30)))
}

func (w *written) body(messages int) []byte {
	return []byte(w.object(
		"model", `"m"`, "max_tokens", "100", "system", w.said("Be good."), "tools", `[{"name":"Read"},{"name":"mcp__palace__recall"}]`,
		"messages", w.list(w.parts[:messages]), "thinking", `{"type":"adaptive"}`, "metadata", `{"messages":[{"role":"nobody"}]}`,
	))
}

// some are some of the results.
func (w *written) some() (out []Replacement) {
	for _, r := range w.results {
		if w.r.IntN(2) == 0 {
			out = append(out, Replacement{Result: r.id, Sum: SumOf([]byte(r.raw)), Block: r.id + "-7f3a", Label: "Read x.go", Bytes: len(r.raw)})
		}
	}
	if len(out) > 0 && w.r.IntN(3) == 0 { // of another content
		out[0].Sum = SumOf([]byte(`{"type":"tool_result","content":"x"}`))
	}
	return out
}

func someHistory(seed uint64) *written {
	w := &written{r: rand.New(rand.NewPCG(seed, 7))}
	for range 1 + w.r.IntN(3) {
		w.turn()
	}
	if w.r.IntN(3) > 0 {
		w.message("user", w.said("And now?"))
		if w.r.IntN(2) == 0 {
			w.round("")
		}
	}
	return w
}

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
//
// Requirements: PAL-07 (results are set aside, and nothing else is changed)
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

// What may be understood in two ways passes as it is.
func TestADoubtfulBodyIsNotRead(t *testing.T) {
	t.Parallel()
	message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"c"}]}`
	good := `{"model":"m","messages":[` + message + `]}`
	if _, err := ReadBody([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"two lists":          `{"messages":[` + message + `],"messages":[]}`,
		"escaped twice":      `{"messages":[` + message + `],"mess\u0061ges":[]}`,
		"two contents":       `{"messages":[{"role":"user","content":"a","content":"b"}]}`,
		"two ids":            strings.Replace(good, `"tool_use_id":"t"`, `"tool_use_id":"t","tool_use_id":"u"`, 1),
		"cut":                good[:len(good)-1],
		"more behind it":     good + "{}",
		"no object":          `[]`,
		"no messages":        `{"model":"m"}`,
		"empty":              ``,
		"compressed":         "\x1f\x8b\x08\x00abc",
		"content of another": `{"messages":[{"role":"user","content":7}]}`,
		"no content":         `{"messages":[{"role":"user"}]}`,
		"nested":             `{"messages":[` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `]}`,
		"nested, not ended":  strings.Repeat("[", 5_000_000),
		"huge":               `{"messages":[` + message + `],"x":"` + strings.Repeat("x", MostRead) + `"}`,
	} {
		if _, err := ReadBody([]byte(body)); !errors.Is(err, ErrUnread) {
			t.Errorf("%s: %v", name, err)
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

func TestWhatIsNoValidRequestIsTold(t *testing.T) {
	t.Parallel()
	result := func(id, says string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":"` + says + `"}`
	}
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"Read","input":{}}` }
	body := func(parts ...string) string {
		var list []string
		for i, p := range parts {
			list = append(list, `{"role":"`+[]string{"user", "assistant"}[i%2]+`","content":[`+p+`]}`)
		}
		return `{"system":"s","messages":[` + strings.Join(list, ",") + `],"thinking":{"type":"adaptive"},"max_tokens":1}`
	}
	text, thought := `{"type":"text","text":"t"}`, `{"type":"thinking","thinking":"t","signature":"s"}`
	good := body(text, thought+","+use("a"), result("a", "long"), text, text, use("b"), result("b", "open"))
	a := Allowed{Results: map[string]bool{"a": true, "b": true}, Dropped: true}
	for name, is := range map[string]string{
		"a part is gone":    body(text, use("a"), result("a", "long"), text, text, use("b"), result("b", "open")),
		"a message is gone": body(text, thought+","+use("a"), result("a", "long"), text, text),
		"the open round":    strings.Replace(good, "open", "o", 1),
		"the system prompt": strings.Replace(good, `"system":"s"`, `"system":"t"`, 1),
		"the limit":         strings.Replace(good, `"max_tokens":1`, `"max_tokens":2`, 1),
		"another id":        strings.Replace(good, `"tool_use_id":"a"`, `"tool_use_id":"c"`, 1),
		"an error":          strings.Replace(good, `"content":"long"`, `"content":"l","is_error":true`, 1),
		"a breakpoint":      strings.Replace(good, `"content":"long"`, `"content":"l","cache_control":{"type":"ephemeral"}`, 1),
		"what it says":      strings.Replace(good, `"text":"t"`, `"text":"u"`, 1),
		"how it thinks":     strings.Replace(good, `"adaptive"`, `"disabled"`, 1),
	} {
		was, err := ReadBody([]byte(good))
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadBody([]byte(is))
		if err != nil {
			t.Fatal(err)
		}
		if Valid(was, b, a) == nil {
			t.Errorf("%s: it is valid", name)
		}
	}
	was, _ := ReadBody([]byte(good))
	shorter, _ := ReadBody([]byte(strings.Replace(good, "long", "l", 1)))
	if Valid(was, shorter, Allowed{Results: a.Results}) == nil {
		t.Error("nobody is asked to drop bound thinking, and it is valid")
	}
	unpaired, _ := ReadBody([]byte(body(text, use("a"), text)))
	if Valid(unpaired, unpaired, Allowed{}) == nil {
		t.Error("a call without its result is valid")
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

func FuzzReadBody(f *testing.F) {
	for seed := range uint64(20) {
		w := someHistory(seed)
		f.Add(w.body(len(w.parts)))
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":""}]}],"thinking":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ReadBody(raw)
		if err != nil {
			return
		}
		var all []Replacement
		for _, m := range b.Messages {
			for _, p := range m.Parts {
				if p.From < m.From || p.To > m.To || p.From > p.To {
					t.Fatalf("the part %v is outside of the message %v", p.Span, m.Span)
				}
				if p.Type == "tool_result" {
					all = append(all, Replacement{Result: p.ID, Sum: SumOf(b.Of(p.Span)), Block: "1-a", Label: "l", Bytes: 1})
				}
			}
		}
		a := b.SetAside(all, false, nil, nil)
		drop, err := b.DropBlock()
		if err != nil {
			return
		}
		for _, edits := range [][]Edit{a.Edits, drop} {
			out, err := Edited(raw, edits)
			if err != nil || !json.Valid(out) {
				t.Fatalf("%v: %s", err, out)
			}
			if _, err := ReadBody(out); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	})
}

// large is a history of about so many bytes, with a set of results of half of it.
func large(size int) ([]byte, []Replacement) {
	w := &written{r: rand.New(rand.NewPCG(3, 4)), most: 6000} // as files and commands are
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
				out, err := Edited(raw, a.Edits)
				if err != nil {
					b.Fatal(err)
				}
				is, err := ReadBody(out)
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
