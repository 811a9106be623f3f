package palace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/capture"
	"liminal/internal/identity"
)

// shape is the lineages in the order in which they began: why, how many blocks are
// common with the one before, how many there are, and how many exchanges.
func (k *kept) shape() string {
	var list []Lineage
	for _, l := range k.lineages {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Lineage) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID)) })
	out := []string{}
	for _, l := range list {
		if n := len(k.timelines[l.ID]); n != l.Length {
			out = append(out, fmt.Sprintf("(a timeline of %d)", n))
		}
		out = append(out, fmt.Sprintf("%s/%d/%d/%d", l.Why, l.Fork, l.Length, l.Exchanges))
	}
	return strings.Join(out, " ")
}

// Requirements: PAL-10
func TestHistoriesBeginAndGoOnAsTheClientHasThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said  []spoken
		shape string
		main  int // agents
		below int // subagents
	}{
		"one goes on":            {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", body: said(person("1"), model("a"), person("2"))}}, "/0/4/2", 1, 0},
		"a retry":                {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", body: said(person("1"))}}, "/0/2/2", 1, 0},
		"an error is no answer":  {[]spoken{{session: "s", body: said(person("1")), status: 529}, {session: "s", body: said(person("1"))}}, "/0/2/2", 1, 0},
		"cut and sent again":     {[]spoken{{session: "s", body: said(person("1")), cut: true}, {session: "s", body: said(person("1"))}}, "/0/2/2", 1, 0},
		"clear in a session":     {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", body: said(person("2"))}}, "/0/2/1 clear/0/2/1", 1, 0},
		"clear of a command":     {[]spoken{{session: "s", run: "r", body: said(person("1"))}, {session: "t", run: "r", body: said(person("2"))}}, "/0/2/1 clear/0/2/1", 1, 0},
		"another command":        {[]spoken{{session: "s", run: "r", body: said(person("1"))}, {session: "t", run: "q", body: said(person("2"))}}, "/0/2/1 /0/2/1", 2, 0},
		"a rewind":               {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", body: said(person("1"), model("a"), person("2"))}, {session: "s", body: said(person("1"), model("a"), person("3"))}}, "/0/4/2 rewind/2/4/1", 1, 0},
		"compact":                {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", body: said(person("1"), model("a"), person(capture.SummaryOrder))}, {session: "s", body: said(person("so far"))}}, "/0/2/1 compact/0/2/1", 1, 0},
		"a subagent":             {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", agent: "x", body: said(person("look"))}, {session: "s", agent: "x", body: said(person("look"), model("a"), person("more"))}}, "/0/2/1 /0/4/2", 1, 1},
		"a client without names": {[]spoken{{body: said(person("1"))}, {body: said(person("2"))}, {body: said(person("1"), model("a"), person("3"))}}, "/0/4/2 apart/0/2/1", 1, 0},
		"beside the history":     {[]spoken{{session: "s", body: said(person("1"))}, {session: "s", body: `{"model":"m","messages":[` + person("1") + `],"tools":[],"output_config":{"format":{"type":"json_schema"}}}`}}, "/0/2/1", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t)
			for _, s := range c.said {
				s.answer = answering("a")
				r.say(s)
			}
			r.take()
			if got := r.shape(); got != c.shape {
				t.Errorf("%s, not %s", got, c.shape)
			}
			mains := 0
			for _, a := range r.agents {
				if a.Kind == Main {
					mains++
				}
			}
			if mains != c.main || len(r.agents)-mains != c.below {
				t.Errorf("agents: %+v", r.agents)
			}
			if len(r.exchanges) != len(c.said) {
				t.Errorf("%d exchanges of %d", len(r.exchanges), len(c.said))
			}
		})
	}
}

// ordered is a store that notes what is written when.
type ordered struct {
	*kept
	steps []string
}

func (o *ordered) note(step string) {
	if len(o.steps) == 0 || o.steps[len(o.steps)-1] != step {
		o.steps = append(o.steps, step)
	}
}

func (o *ordered) TakeIn(ctx context.Context, v identity.Viewer, f func(Tx) error) error {
	return o.kept.TakeIn(ctx, v, func(Tx) error { return f(o) })
}

func (o *ordered) NewBlock(b Block) error {
	o.note("block")
	return o.kept.NewBlock(b)
}

func (o *ordered) SetTimeline(lineage string, from int, blocks []string) error {
	for _, uuid := range blocks {
		if _, there := o.blocks[uuid]; !there {
			return fmt.Errorf("a timeline names %s, which is not there", uuid)
		}
	}
	o.note("timeline")
	return o.kept.SetTimeline(lineage, from, blocks)
}

// Each exchange has its blocks, of the request and of the response, before the timeline
// names them, and the next one comes after that. What classifies reads what stands there,
// and is told when it does.
//
// Requirements: PAL-21 (blocks before the timeline; then classified; the response the same way)
func TestBlocksStandBeforeTheTimelineThatNamesThem(t *testing.T) {
	t.Parallel()
	r := record(t)
	r.say(spoken{session: "s", body: said(person("1")), answer: answering("a")})
	r.say(spoken{session: "s", body: said(person("1"), model("a"), person("2")), answer: answering("b")})
	if err := r.spool.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := &ordered{kept: r.kept}
	i := r.intake()
	i.Store, i.Grown = o, func([]string) { o.note("classified") }
	if err := i.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(o.steps, " "); got != "block timeline block timeline classified" || r.shape() != "/0/4/2" {
		t.Errorf("%s: %s", got, r.shape())
	}
	r.open()
}

// Whatever a client changes of a block that it sends again, it is the block it was; the
// same said twice is two.
//
// Requirements: PAL-06
func TestWhatIsSentAgainIsTheSameBlock(t *testing.T) {
	t.Parallel()
	use := `{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"a"}}`
	for name, again := range map[string]string{
		"as it was":    `{"role":"user","content":[{"type":"text","text":"hello"}]}`,
		"as a text":    `{"role":"user","content":"hello"}`,
		"a breakpoint": `{"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}`,
		"other keys":   `{"content":[{"text":"hello","citations":null,"type":"text"}], "role":"user"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t)
			r.say(spoken{session: "s", body: said(person("hello")), answer: answering("hello")})
			r.take() // a new process takes in the rest
			last := r.say(spoken{session: "s", body: said(again, model("hello"), person("hello"), `{"role":"assistant","content":[`+use+`]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}`), answer: answering("b")})
			r.take()
			if got := r.shape(); got != "/0/6/2" {
				t.Fatalf("%s", got)
			}
			line := slices.Collect(func(yield func(string) bool) {
				for _, l := range r.timelines {
					for _, b := range l {
						if !yield(b) {
							return
						}
					}
				}
			})
			slices.Sort(line)
			if len(slices.Compact(line)) != 6 || len(r.blocks) != 6+2 { // with the system prompt and the tools
				t.Errorf("%d blocks in a history of 6, %d together", len(line), len(r.blocks))
			}
			for _, b := range r.blocks {
				if b.Type == ToolResult && (b.Tool != "Read" || b.Scope != ScopeTool) {
					t.Errorf("a result is %+v", b)
				}
				if c, ok := r.chunks[b.Chunk]; !ok || b.Start+b.Size > c.Size || !slices.Contains(r.parts[b.Chunk], b.UUID) {
					t.Errorf("the block %s is not where it says", b.Label)
				}
			}
			if body := r.body(t, last); !strings.Contains(string(body), again) {
				t.Errorf("the body is %s", body)
			}
		})
	}
}

// A client may ask the same again though it had an answer, and have none then; and the
// process that takes in may be another one by then.
//
// Requirements: PAL-06
func TestAnAnswerThatComesAgainIsTheBlockItWas(t *testing.T) {
	t.Parallel()
	r := record(t)
	body := said(person("1"))
	for _, answer := range []string{answering("same"), "", answering("same")} {
		r.say(spoken{session: "s", body: body, answer: answer})
		r.take()
	}
	if got := r.shape(); got != "/0/2/3" || len(r.blocks) != 2+2 {
		t.Errorf("%s, %d blocks", got, len(r.blocks))
	}
}

// Requirements: PAL-24 (exchanges)
func TestAnIntakeThatIsKilledAnywhereTakesEachExchangeInOnce(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} { // it was told nothing, and had committed or not
		r := record(t)
		var told, messages []string
		for n := range mostAtOnce + 10 {
			messages = append(messages, person(fmt.Sprint("question ", n)))
			told = append(told, r.say(spoken{session: "s", body: said(messages...), answer: answering(fmt.Sprint("answer ", n))}))
			messages = append(messages, model(fmt.Sprint("answer ", n)))
		}
		if err := r.spool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.lost = lost
		for r.dies = 0; r.dies < 3; {
			dies := r.dies
			if err := r.intake().All(t.Context()); err != nil && !errors.Is(err, errDied) {
				t.Fatal(err)
			}
			r.dies = dies + 1
		}
		r.dies = -1
		r.take()
		if got, want := r.shape(), fmt.Sprintf("/0/%d/%d", 2*len(told), len(told)); got != want || len(r.exchanges) != len(told) {
			t.Errorf("%s, not %s, of %d exchanges", got, want, len(r.exchanges))
		}
		for n, x := range told {
			if e := r.exchanges[x]; e.Number != n+1 || len(r.body(t, x)) == 0 {
				t.Errorf("exchange %d is %+v", n, e)
			}
		}
		if r.segment != "" || len(r.whole) == 0 {
			t.Errorf("the next begins at %q; %q are whole", r.segment, r.whole)
		}
	}
}

// Wherever a segment ends, what was whole is taken in, and the rest when it is there.
//
// Requirements: PAL-24 (exchanges)
func TestASpoolThatIsCutAnywhereIsTakenInUpToThere(t *testing.T) {
	t.Parallel()
	r := record(t)
	first := r.say(spoken{session: "s", body: said(person("1")), answer: answering("a")})
	second := r.say(spoken{session: "s", body: said(person("1"), model("a"), person("2")), answer: answering("b")})
	if err := r.spool.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(r.dir, "*.seg"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	before := -1
	for n := len(whole) % 13; n <= len(whole); n += 13 { // internal/capture has every byte
		if err := os.WriteFile(names[0], whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		cut := &recorded{kept: newKept(), t: t, dir: r.dir}
		if err := cut.intake().All(t.Context()); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if len(cut.exchanges) < before {
			t.Fatalf("%d bytes have %d exchanges, fewer had %d", n, len(cut.exchanges), before)
		}
		before = len(cut.exchanges)
		for x, e := range cut.exchanges { // whose writer is gone: each as far as it came
			if x != first && x != second || e.Complete && len(cut.body(t, x)) == 0 {
				t.Fatalf("%d bytes: %+v", n, e)
			}
		}
		if e := cut.exchanges[second]; n == len(whole) && (!e.Complete || cut.shape() != "/0/4/2") {
			t.Errorf("the whole: %s, %+v", cut.shape(), e)
		}
	}
	if before != 2 {
		t.Errorf("%d exchanges", before)
	}
}

// Requirements: PAL-25 (each body to the byte)
func FuzzARecipeMakesTheBody(f *testing.F) {
	f.Add([]byte(said(person("1"), model("2"))))
	f.Add([]byte(`{"messages":[{"a":"\\\""},[],{}],"messages":[1],"system":[],"x":null}`))
	f.Add([]byte(`{"messages":[1,,2]}`))
	f.Add([]byte(`no JSON`))
	f.Fuzz(func(t *testing.T, body []byte) {
		re, spans := recipeOf(body)
		packed, err := re.pack()
		if err != nil {
			t.Fatal(err)
		}
		back, err := openRecipe(packed)
		if err != nil {
			t.Fatal(err)
		}
		chunks := map[string][]byte{}
		for n, h := range back.chunks() {
			chunks[h] = body[spans[n].From:spans[n].To]
			if hashOf(chunks[h]) != h {
				t.Fatalf("the chunk %d is another", n)
			}
		}
		if made, err := back.body(chunks, hashOf(body)); err != nil || string(made) != string(body) {
			t.Fatalf("%q became %q: %v", body, made, err)
		}
		// What the protocol says of it may be anything, and breaks nothing.
		hashed := make([]hashedSpan, len(spans))
		for n, h := range re.chunks() {
			hashed[n] = hashedSpan{spans[n], h}
		}
		a := newReader().readAsked(body, hashed)
		for _, p := range slices.Concat(a.system, a.tools, a.messages) {
			if p.span.From < 0 || p.span.To > len(body) || p.span.From >= p.span.To || p.hash == "" {
				t.Fatalf("a part at %v of %d", p.span, len(body))
			}
		}
	})
}

// Requirements: SAFE-08
func TestSecretsAreFoundWhereverABlockHasThem(t *testing.T) {
	t.Parallel()
	key := "sk-" + "test-0123456789abcdef0123456789"
	for doc, masks := range map[string]string{
		`{"type":"text","text":"the key is ` + key + `"}`:                                                            `"the key is [key]"`,
		`{"type":"tool_use","id":"toolu_1","name":"Login","input":{"user":"ada","password":"horse"}}`:                `"password":"[password]"`,
		`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"API_KEY=0123456789abcdefghij"}]}`: `API_KEY=[key]`,
		`{"type":"thinking","thinking":"hm","signature":"EqQBCkYIBxgCKkDn0123456789abcdef"}`:                         "",
		`{"type":"text","text":"nothing of that kind, at 10:30"}`:                                                    "",
	} {
		p := partOf(decoded([]byte(doc)).(map[string]any), "user", capture.Span{To: len(doc)})
		got := string(masked([]byte(doc)))
		if p.secret != (masks != "") || masks != "" && !strings.Contains(got, masks) || masks == "" && got != doc || strings.Contains(p.label, key) {
			t.Errorf("%s: %v, %s, label %q", doc, p.secret, got, p.label)
		}
	}
}
