package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/remote"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
	"liminal/internal/model/openai"
	"liminal/internal/tensors"
)

// place is a shared folder with a base and adapters, and a server that has the
// same base.
type place struct {
	*fake
	root, dir, base string
	url             string
	base0           *llm.Model
	log             bytes.Buffer
	now             time.Time
	told            []model.Applied
	adapters        map[string]*llm.Adapter
}

func set(t *testing.T, change func(f *fake, p *place)) *place {
	t.Helper()
	p := &place{root: t.TempDir(), base0: llm.New(shape, 1), now: time.Now(), adapters: map[string]*llm.Adapter{}}
	p.dir, p.base = filepath.Join(p.root, "composed"), filepath.Join(p.root, "shared", "models", "little")
	if err := os.MkdirAll(p.base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := shape.WriteConfig(p.base); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.Write(filepath.Join(p.base, "model.safetensors"), p.base0.Tensors(), nil); err != nil {
		t.Fatal(err)
	}
	p.fake = &fake{model: p.base0, root: "/models/little", served: "little-chat", runtime: true, resolver: p.dir, rank: 16}
	if change != nil {
		change(p.fake, p)
	}
	p.url = p.start(t)
	return p
}

// open is the program, which may be started anew.
func (p *place) open(t *testing.T, change func(o *remote.Options, s *remote.StoreOptions)) *remote.Model {
	t.Helper()
	name := "vllm"
	if p.lorax {
		name = "lorax"
	}
	b, _ := model.BackendOf(name)
	logger := slog.New(slog.NewTextHandler(&p.log, nil))
	inner, err := openai.New(openai.Options{BaseURL: p.url, APIKey: "the-key", Model: p.served, Backend: b, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return p.now }
	o := remote.Options{
		Model: inner, Backend: b, Server: remote.Server{URL: p.url, Key: "the-key"}, Name: p.served, Base: p.base, Root: p.root, Patience: time.Minute, Now: clock, Logger: logger,
	}
	s := remote.StoreOptions{Dir: p.dir, Root: p.root, Now: clock, Log: logger}
	if change != nil {
		change(&o, &s)
	}
	if o.Store, err = remote.OpenStore(s); err != nil {
		t.Fatal(err)
	}
	m := remote.New(o)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// adapter is a version of an adapter of a person's, as it is published.
func (p *place) adapter(t *testing.T, id string, rank int, seed uint64, which ...llm.Linear) model.Adapter {
	t.Helper()
	a := llm.NewAdapter(shape, rank, 2*float64(rank), seed, which...)
	for i := range a.Pairs {
		for k := range a.Pairs[i] {
			for n := range a.Pairs[i][k].B {
				a.Pairs[i][k].B[n] = 0.2 * float32((n*7+int(seed))%11-5) / 5
			}
		}
	}
	p.adapters[id] = a
	sum, err := llm.Fingerprint(p.base)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("users", "ann", "adapters", id)
	at := filepath.Join(p.root, dir, "v0001")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := peft.Write(at, a, peft.Base{Config: shape, Name: "little", Fingerprint: sum}, 0); err != nil {
		t.Fatal(err)
	}
	checksum, err := serve.WriteParams(at, sum, peft.ConfigFile, peft.WeightsFile)
	if err != nil {
		t.Fatal(err)
	}
	return model.Adapter{ID: id, Mode: model.ModeHybrid, Dir: "/" + dir, Version: 1, Checksum: checksum, Weight: 1, Instructions: "Speak like " + id + "."}
}

func weighing(a model.Adapter, w float64) model.Adapter { a.Weight = w; return a }

// ask is what the model answers.
func (p *place) ask(t *testing.T, m model.Model, adapters ...model.Adapter) string {
	t.Helper()
	text, err := p.try(t, m, adapters...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *place) try(t *testing.T, m model.Model, adapters ...model.Adapter) (text string, err error) {
	t.Helper()
	ctx := model.WithApplied(t.Context(), func(a model.Applied) { p.told = append(p.told, a) })
	req := model.Request{Task: "chat", System: "Be kind.", Adapters: adapters, Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "Hello"}}}}}
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return text, err
		}
		text += e.Text
	}
	return text, nil
}

// here is what this program would answer with the same weights.
func (p *place) here(list ...model.Adapter) string {
	var gated []llm.Gated
	for _, a := range list {
		gated = append(gated, llm.Gated{Adapter: p.adapters[a.ID], Gate: float32(a.Weight)})
	}
	return saying(p.base0, gated...)
}

func system(chat map[string]any) string {
	list := chat["messages"].([]any)
	first := list[0].(map[string]any)
	text, _ := first["content"].(string)
	return text
}

func last[T any](list []T) T { return list[len(list)-1] }

var named = regexp.MustCompile(`^liminal-[0-9a-f]{32}$`)

// Three adapters with gates are one that vLLM finds by its name, and computes what
// this program would with the three.
//
// Requirements: LORA-13, LORA-03
func TestVLLMAnswersWithWhatSeveralAdaptersDoTogether(t *testing.T) {
	t.Parallel()
	p := set(t, nil)
	hits := []bool{}
	m := p.open(t, func(o *remote.Options, _ *remote.StoreOptions) { o.Asked = func(hit bool) { hits = append(hits, hit) } })
	a, b, c := weighing(p.adapter(t, "persona", 4, 1, llm.Query, llm.Down), 0.5), p.adapter(t, "law", 4, 2, llm.Query), weighing(p.adapter(t, "sea", 8, 3, llm.Value), 0.25)
	if got, want := p.ask(t, m, a, b, c), p.here(a, b, c); got != want || got == p.here() {
		t.Errorf("it says %s, and here %s; the base %s", got, want, p.here())
	}
	chat := last(p.chats())
	name := chat["model"].(string)
	if !named.MatchString(name) || system(chat) != "Be kind." {
		t.Errorf("asked is %q with %q: the weights are there, and their words are told too", name, system(chat))
	}
	if p.told[0].Composed != name {
		t.Errorf("the trace is told %+v", p.told)
	}
	// Again, in another order, it is the same; with another gate another.
	if got := p.ask(t, m, c, a, b); got != p.here(a, b, c) || last(p.chats())["model"] != name {
		t.Errorf("in another order it is %v", last(p.chats())["model"])
	}
	if got := p.ask(t, m, weighing(a, 0.75), b, c); got != p.here(weighing(a, 0.75), b, c) || last(p.chats())["model"] == name {
		t.Error("with another gate it is the same")
	}
	if fmt.Sprint(hits) != "[false true false]" {
		t.Errorf("found was %v", hits)
	}
	// What is approved anew is another.
	again := p.adapter(t, "law", 4, 9, llm.Query)
	if got := p.ask(t, m, again); got != p.here(again) {
		t.Errorf("after the adapter was trained again it says %s, and here %s", got, p.here(again))
	}
	if words := p.words(); len(words) != 0 {
		t.Errorf("a server that finds adapters was told %v", words)
	}
	// Nobody else has half of anything.
	left, err := filepath.Glob(filepath.Join(p.dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// The other way: the server is told of each, once, by whichever program asks
// first; after it was started anew it is told again within the same answer.
func TestVLLMIsToldOfAdaptersWhereItDoesNotLookForThem(t *testing.T) {
	t.Parallel()
	p := set(t, func(f *fake, _ *place) { f.resolver = "" })
	told := func(o *remote.Options, _ *remote.StoreOptions) { o.Told = true }
	m := p.open(t, told)
	a := p.adapter(t, "law", 4, 1, llm.Query)
	for range 2 {
		if got := p.ask(t, m, a); got != p.here(a) {
			t.Errorf("it says %s", got)
		}
	}
	if got := p.words(); len(got) != 1 {
		t.Errorf("it was told %v", got)
	}
	other := p.open(t, told) // this program, started anew
	if got := p.ask(t, other, a); got != p.here(a) {
		t.Errorf("after a start of ours it says %s", got)
	}
	p.restart()
	if got := p.ask(t, m, a); got != p.here(a) {
		t.Errorf("after a start of its own it says %s", got)
	}
	if len(p.chats()) != 5 {
		t.Errorf("it was asked %d times", len(p.chats()))
	}
}

// Requirements: LORA-10 (instructions on an API backend)
func TestWhereWeightsDoNotReachTheServerWordsDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set   func(f *fake, p *place)
		open  func(o *remote.Options, s *remote.StoreOptions)
		words string // of the log
	}{
		"it takes none while it runs": {func(f *fake, _ *place) { f.runtime = false }, func(o *remote.Options, _ *remote.StoreOptions) { o.Told = true }, "VLLM_ALLOW_RUNTIME_LORA_UPDATING"},
		"it looks elsewhere":          {func(f *fake, p *place) { f.resolver = p.root }, nil, "does not exist"},
		"it serves another base":      {func(f *fake, _ *place) { f.served = "another" }, func(o *remote.Options, _ *remote.StoreOptions) { o.Name = "little-chat" }, "does not serve the model"},
		"its ranks are lower":         {func(f *fake, _ *place) { f.rank = 4 }, nil, "could not be loaded"},
		"no base is named":            {nil, func(o *remote.Options, _ *remote.StoreOptions) { o.Base = "" }, "LIMINAL_LORA_BASE"},
		"there is no room":            {nil, func(_ *remote.Options, s *remote.StoreOptions) { s.Dir = filepath.Join(s.Root, "file", "x") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.words == "" {
				return
			}
			p := set(t, c.set)
			m := p.open(t, c.open)
			a := p.adapter(t, "law", 4, 1, llm.Query)
			only := p.adapter(t, "deep", 4, 2, llm.Key)
			only.Mode = model.ModeLocal
			for range 2 {
				if got := p.ask(t, m, a, only); got != p.here() {
					t.Errorf("it says %s", got)
				}
				if got := system(last(p.chats())); got != "Be kind.\n\nSpeak like law." {
					t.Errorf("it is told %q", got)
				}
			}
			if !strings.Contains(p.log.String(), "adapter_refused") || !strings.Contains(p.log.String(), c.words) {
				t.Errorf("the log does not say %q:\n%s", c.words, p.log.String())
			}
			// For a minute it is not asked again for what it does not have.
			if n := len(p.chats()); n > 3 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// A minute later it may have been set up.
func TestAServerThatRefusedIsAskedAgainLater(t *testing.T) {
	t.Parallel()
	p := set(t, func(f *fake, _ *place) { f.runtime = false })
	m := p.open(t, nil)
	a := p.adapter(t, "law", 4, 1, llm.Query)
	if got := p.ask(t, m, a); got != p.here() {
		t.Errorf("it says %s", got)
	}
	p.runtime = true
	if got := p.ask(t, m, a); got != p.here() {
		t.Errorf("at once it says %s", got)
	}
	p.now = p.now.Add(2 * time.Minute)
	if got := p.ask(t, m, a); got != p.here(a) {
		t.Errorf("later it says %s", got)
	}
}

// What is wrong with a question is no word against the adapter.
func TestAFailureOfAnotherKindIsTheAnswers(t *testing.T) {
	t.Parallel()
	p := set(t, func(f *fake, _ *place) { f.broken = 400 })
	m := p.open(t, nil)
	a := p.adapter(t, "law", 4, 1, llm.Query)
	if _, err := p.try(t, m, a); err == nil || !strings.Contains(err.Error(), "max_tokens") {
		t.Errorf("%v", err)
	}
	if got := p.ask(t, m, a); got != p.here(a) {
		t.Errorf("then it says %s", got)
	}
}

// What was changed since it was approved, is for another base, or is gone, is not
// used (LORA-16).
//
// Requirements: LORA-16
func TestWeightsThatAreNotWhatTheyShouldBeAreNotSent(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, p *place, a *model.Adapter){
		"changed": func(t *testing.T, p *place, a *model.Adapter) {
			path := filepath.Join(p.root, a.Dir, "v0001", peft.WeightsFile)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			raw[len(raw)-1]++
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"approved otherwise": func(_ *testing.T, _ *place, a *model.Adapter) { a.Checksum = strings.Repeat("0", 64) },
		"gone":               func(t *testing.T, p *place, a *model.Adapter) { _ = os.RemoveAll(filepath.Join(p.root, a.Dir)) },
		"elsewhere":          func(_ *testing.T, _ *place, a *model.Adapter) { a.Dir = "../outside" },
		"for another base": func(t *testing.T, p *place, a *model.Adapter) {
			if _, err := tensors.Write(filepath.Join(p.base, "model.safetensors"), llm.New(shape, 2).Tensors(), nil); err != nil {
				t.Fatal(err)
			}
		},
	} {
		p := set(t, nil)
		m := p.open(t, nil)
		a := p.adapter(t, "law", 4, 1, llm.Query)
		spoil(t, p, &a)
		if got := p.ask(t, m, a); got != p.here() || system(last(p.chats())) != "Be kind.\n\nSpeak like law." {
			t.Errorf("%s: it says %s, told %q", name, got, system(last(p.chats())))
		}
		if want := []model.Dropped{{ID: "law", Reason: model.DroppedRefused, Weight: 1}}; !slices.Equal(last(p.told).Dropped, want) {
			t.Errorf("%s: who asks is told that %v are dropped, want %v", name, last(p.told).Dropped, want)
		}
		if list, err := os.ReadDir(p.dir); err != nil || len(list) != 0 {
			t.Errorf("%s: it wrote %v", name, list)
		}
	}
}

// Together they are of a higher rank than the server takes: the lightest is left
// out, and says what it has to say.
func TestWhatExceedsTheServersRankIsSaidInstead(t *testing.T) {
	t.Parallel()
	p := set(t, nil)
	m := p.open(t, func(o *remote.Options, _ *remote.StoreOptions) { o.MaxRank = 12 })
	a, b, c := p.adapter(t, "persona", 8, 1, llm.Query), weighing(p.adapter(t, "law", 4, 2, llm.Query), 0.75), weighing(p.adapter(t, "sea", 4, 3, llm.Query), 0.5)
	for range 2 {
		if got := p.ask(t, m, a, b, c); got != p.here(a, b) {
			t.Errorf("it says %s, not %s", got, p.here(a, b))
		}
		if got := system(last(p.chats())); got != "Be kind.\n\nSpeak like sea." {
			t.Errorf("told is %q", got)
		}
		if want := []model.Dropped{{ID: "sea", Reason: model.DroppedTooWide, Weight: 0.5}}; !slices.Equal(last(p.told).Dropped, want) {
			t.Errorf("who asks is told that %v are dropped, want %v", last(p.told).Dropped, want)
		}
	}
	if strings.Count(p.log.String(), "LIMINAL_LORA_MAX_RANK") != 1 {
		t.Errorf("the log says %s", p.log.String())
	}
}

// LoRAX reads the composed one from a path. What it merges itself it merges in a
// way of its own, and the trace says so.
func TestLoRAXIsGivenOneAdapterFromAPath(t *testing.T) {
	t.Parallel()
	p := set(t, func(f *fake, _ *place) { f.lorax, f.served = true, "" })
	m := p.open(t, nil)
	a, b := p.adapter(t, "law", 4, 1, llm.Query), weighing(p.adapter(t, "sea", 4, 2, llm.Value), 0.5)
	if got := p.ask(t, m, a, b); got != p.here(a, b) {
		t.Errorf("it says %s, not %s", got, p.here(a, b))
	}
	chat := last(p.chats())
	if path := chat["model"].(string); filepath.Dir(path) != p.dir || chat["adapter_source"] != "local" || chat["merged_adapters"] != nil {
		t.Errorf("asked is %v", chat)
	}
	if last(p.told).Approximate {
		t.Error("what is exact is called approximate")
	}
	hub := func(id string) model.Adapter {
		return model.Adapter{ID: id, Mode: model.ModeRemote, RemoteID: "hub/" + id, Weight: 0.5}
	}
	_, _ = p.try(t, m, hub("x"), hub("y"))
	if chat := last(p.chats()); chat["merged_adapters"] == nil || !last(p.told).Approximate {
		t.Errorf("two of the hub's: %v, told %+v", chat["merged_adapters"], last(p.told))
	}
	// Beside weights from here there is no place for one of the hub's.
	if got := p.ask(t, m, a, hub("x")); got != p.here(a) || len(last(p.told).Dropped) != 1 || last(p.told).Dropped[0].Reason != model.DroppedForWeights {
		t.Errorf("it says %s, told %+v", got, last(p.told))
	}
}

// The folder is bounded. What is in use is not taken away.
func TestComposedAdaptersGoWhenTheyAreUnusedLongest(t *testing.T) {
	t.Parallel()
	p := set(t, nil)
	few := func(_ *remote.Options, s *remote.StoreOptions) { s.Keep = 2 }
	m := p.open(t, few)
	list := []model.Adapter{p.adapter(t, "a", 4, 1, llm.Query), p.adapter(t, "b", 4, 2, llm.Query), p.adapter(t, "c", 4, 3, llm.Query)}
	names := map[string]string{}
	use := func(a model.Adapter) {
		p.now = p.now.Add(time.Minute)
		if got := p.ask(t, m, a); got != p.here(a) {
			t.Errorf("%s says %s", a.ID, got)
		}
		names[a.ID] = last(p.chats())["model"].(string)
	}
	use(list[0])
	use(list[1])
	use(list[0])
	use(list[2]) // b goes
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	there := func() string {
		var out []string
		entries, err := os.ReadDir(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			for id, name := range names {
				if e.Name() == name {
					out = append(out, id)
				}
			}
		}
		if len(out) != len(entries) {
			t.Errorf("there are %v", entries)
		}
		return strings.Join(sorted(out), "")
	}
	if got := there(); got != "ac" {
		t.Errorf("there are %q", got)
	}
	if got := p.words(); len(got) != 1 || got[0] != "unload "+names["b"] {
		t.Errorf("the server was told %v", got)
	}
	// A program that is started anew knows them, and their age.
	m = p.open(t, few)
	use(list[1]) // a goes: it was used before c
	if got := there(); got != "bc" {
		t.Errorf("after a start there are %q", got)
	}
	// While both are in use, another is answered with words.
	held, release := context.WithCancel(t.Context())
	defer release()
	busy := make(chan struct{})
	for _, a := range []model.Adapter{list[1], list[2]} {
		go func() {
			for range m.Stream(held, model.Request{Adapters: []model.Adapter{a}, Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "x"}}}}}) {
				busy <- struct{}{}
				<-held.Done()
				return
			}
		}()
		<-busy
	}
	if got := p.ask(t, m, list[0]); got != p.here() || !strings.Contains(p.log.String(), "LIMINAL_LORA_KEEP") {
		t.Errorf("it says %s", got)
	}
	if got := there(); got != "bc" {
		t.Errorf("in use, there are %q", got)
	}
}

func sorted(list []string) []string {
	for i := range list {
		for k := i + 1; k < len(list); k++ {
			if list[k] < list[i] {
				list[i], list[k] = list[k], list[i]
			}
		}
	}
	return list
}

// What was made of somebody's adapters goes with them, from here and from the
// server; what another process was writing when it was killed goes too.
func TestWhatWasMadeOfWhatIsGoneGoes(t *testing.T) {
	t.Parallel()
	p := set(t, nil)
	m := p.open(t, nil)
	a, b := p.adapter(t, "a", 4, 1, llm.Query), p.adapter(t, "b", 4, 2, llm.Query)
	p.ask(t, m, a, b)
	both := last(p.chats())["model"].(string)
	p.ask(t, m, b)
	single := last(p.chats())["model"].(string)
	half := filepath.Join(p.dir, "."+both+".123")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "somebody-elses"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(p.root, a.Dir)); err != nil {
		t.Fatal(err)
	}
	p.now = p.now.Add(2 * time.Hour)
	m = p.open(t, nil)
	if err := m.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := sorted([]string{single, "somebody-elses"}); fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("left are %v", left)
	}
	if got := p.words(); len(got) != 1 || got[0] != "unload "+both {
		t.Errorf("the server was told %v", got)
	}
}

// A folder that went while this program ran is written again.
func TestAFolderThatIsGoneIsWrittenAgain(t *testing.T) {
	t.Parallel()
	p := set(t, nil)
	m := p.open(t, nil)
	a := p.adapter(t, "a", 4, 1, llm.Query)
	p.ask(t, m, a)
	if err := os.RemoveAll(filepath.Join(p.dir, last(p.chats())["model"].(string))); err != nil {
		t.Fatal(err)
	}
	p.restart()
	if got := p.ask(t, m, a); got != p.here(a) {
		t.Errorf("it says %s", got)
	}
}

func TestCheckingSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(f *fake, p *place)
		want string
	}{
		"all is well":        {nil, ""},
		"no runtime":         {func(f *fake, _ *place) { f.runtime = false }, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"},
		"another model":      {func(f *fake, p *place) { f.served = "x" }, ""},
		"LoRAX":              {func(f *fake, _ *place) { f.lorax = true }, ""},
		"LoRAX, not reached": {func(f *fake, _ *place) { f.lorax, f.root = true, "" }, "which model it serves"},
	} {
		p := set(t, c.set)
		err := p.open(t, nil).Check(t.Context())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
