package local_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"iter"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/local"
	"liminal/internal/model/modeltest"
	"liminal/internal/tensors"
	"liminal/internal/tokens"
)

// Each step of the suite opens a model: the folders are made once.
var special = []string{"<|im_start|>", "<|im_end|>"}

// made writes a model with random weights into dir. ends are the tokens its
// config.json ends answers with.
func made(t *testing.T, dir string, context int, ends []int) llm.Config {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	raw, err := tokens.Learn(slices.Values([]string{"the keeper of the lake keeps the keys"}), 270, special)
	if err != nil {
		t.Fatal(err)
	}
	c := llm.NewConfig(1, 32, 2, 1, 48, 272, context)
	c.Ends = ends
	if err := c.WriteConfig(dir); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]string{"chat_template": "<|im_start|>"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"tokenizer.json": raw, "tokenizer_config.json": config} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tensors.Write(filepath.Join(dir, "model.safetensors"), llm.New(c, 1).Tensors(), nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t *testing.T, o local.Options) *local.Model {
	t.Helper()
	if o.Seed == nil {
		o.Seed = func() uint64 { return 1 }
	}
	m, err := local.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func user(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: text}}}}}
}

// ends are half of all tokens: with random weights an answer has some words and
// ends by itself.
func ends() []int {
	var list []int
	for id := 1; id < 272; id += 8 {
		list = append(list, id)
	}
	return list
}

func TestConformance(t *testing.T) {
	t.Parallel()
	brief, long := filepath.Join(t.TempDir(), "brief"), filepath.Join(t.TempDir(), "long")
	made(t, brief, 256, ends())
	made(t, long, 1<<15, nil)
	hot := 1.0
	text := user("hello")
	text.Temperature = &hot
	text.MaxTokens = 120
	look := user("look up the rules for the upper lake in my documents")
	look.Task = "agent"
	look.Tools = []model.Tool{{Name: "rag.search_v1", ReadOnly: true, InputSchema: json.RawMessage(`{"properties":{"question":{"type":"string"}}}`)}}
	intent := user("summarise the rules")
	intent.Task, intent.Schema = "intent", json.RawMessage(`{"type":"object","properties":{"intent":{"type":"string"}},"required":["intent"]}`)
	cite := user("What does a lost card cost?")
	cite.Messages[0].Content = append([]model.Block{{
		Type: model.Passage, Text: "Late returns cost 20 cents. A lost card\ncosts 5 euros.", Source: &model.Source{DocumentID: "d", Start: 50, End: 105},
	}}, cite.Messages[0].Content...)
	forever := user("tell me all")
	cold := 0.0 // repeats itself; by chance the token that ends an answer comes soon
	forever.MaxTokens, forever.Temperature = 1<<14, &cold
	modeltest.Run(t, modeltest.Setup{
		Open: func(t *testing.T) model.Model {
			return open(t, local.Options{Dir: brief, Rules: extractive.Model{}})
		},
		Text: &text, Tools: &look, JSON: &intent, Passages: &cite,
	})
	modeltest.Run(t, modeltest.Setup{
		Open: func(t *testing.T) model.Model {
			return open(t, local.Options{Dir: long, Serve: serve.Options{Context: 1 << 15}})
		},
		Endless: &forever,
	})
}

// Requirements: LORA-19 (streams tokens; temperature and max tokens), LORA-23 (with zero adapters)
func TestAnAnswerSaysWhyItEndedAndCountsItsTokens(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "little")
	made(t, dir, 512, nil)
	m := open(t, local.Options{Dir: dir})
	if m.Name() != "little" || !m.Generative() || model.IsInProcess(m) {
		t.Errorf("%s, generative %v", m.Name(), m.Generative())
	}
	req := user("hello")
	req.MaxTokens = 9
	events := modeltest.Play(t, m, req)
	last, usage := events[len(events)-1], events[len(events)-2].Usage
	if last.Reason != model.MaxTokens || usage.Output != 9 || usage.Estimated || usage.CacheRead != 0 {
		t.Errorf("it ended by %s with %+v", last.Reason, usage)
	}
	// The same question with more behind it reads what is new.
	answer := modeltest.Text(events)
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Content: []model.Block{{Type: model.Text, Text: answer}}}, user("and then?").Messages[0])
	events = modeltest.Play(t, m, req)
	if again := events[len(events)-2].Usage; again.CacheRead < usage.Input || again.Input < 1 {
		t.Errorf("the next turn used %+v after %+v", again, usage)
	}
	stats, _ := m.Stats()
	if stats.Requests != 2 || stats.Answered != 18 {
		t.Errorf("%+v", stats)
	}
}

// hearing is a model that is told how adapters reach it.
type hearing struct {
	model.Model
	told func(model.Applied)
}

func (h hearing) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return h.Model.Stream(model.WithApplied(ctx, h.told), req)
}

// trained writes an adapter that changes answers.
func trained(t *testing.T, dir string, b peft.Base) {
	t.Helper()
	a := llm.NewAdapter(b.Config, 4, 64, 1, llm.Query, llm.Value, llm.Down)
	r := rand.New(rand.NewPCG(1, 1))
	for _, layer := range a.Pairs {
		for _, p := range layer {
			for i := range p.B {
				p.B[i] = r.Float32() - 0.5
			}
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := peft.Write(dir, a, b, 0); err != nil {
		t.Fatal(err)
	}
}

func fails(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rewrite changes the first tensor of a file.
func rewrite(t *testing.T, path string, change func(*tensors.Tensor)) {
	t.Helper()
	f, err := tensors.Open(path)
	fails(t, err)
	var list []tensors.Tensor
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		x, err := f.Float32s(name)
		fails(t, err)
		list = append(list, tensors.Tensor{Name: name, Shape: slices.Clone(info.Shape), F32: slices.Clone(x)})
	}
	fails(t, f.Close())
	change(&list[0])
	_, err = tensors.Write(path, list, f.Metadata())
	fails(t, err)
}

// Requirements: LORA-02 (local weights are read), LORA-10 (weights of fs_dir on a local backend), LORA-16, LORA-18, LORA-23 (with one)
func TestAdaptersChangeAnswersAndBadOnesAreDoneWithout(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "shared", "models", "little")
	c := made(t, dir, 1024, nil)
	sum, err := llm.Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := peft.Base{Config: c, Name: "little", Fingerprint: sum}
	trained(t, filepath.Join(root, "users", "u", "adapters", "manner", "v0001"), b)
	other := b
	other.Fingerprint = strings.Repeat("0", 64)
	trained(t, filepath.Join(root, "users", "u", "adapters", "foreign", "v0001"), other)
	var log bytes.Buffer
	hits := map[bool]int{}
	m := open(t, local.Options{Dir: dir, Root: root, Logger: slog.New(slog.NewTextHandler(&log, nil)), Asked: func(hit bool) { hits[hit]++ }})
	cold := 0.0
	var applied model.Applied // as who asked last was told
	say := func(list ...model.Adapter) string {
		req := user("hello there")
		req.Temperature, req.MaxTokens, req.Adapters = &cold, 12, list
		return modeltest.Text(modeltest.Play(t, hearing{m, func(a model.Applied) { applied = a }}, req))
	}
	at := func(id, mode string, weight float64) model.Adapter {
		return model.Adapter{ID: id, Mode: mode, Dir: "users/u/adapters/" + id, Weight: weight, Instructions: "Be kind."}
	}
	plain := say()
	if with := say(at("manner", model.ModeHybrid, 1)); with == plain {
		t.Errorf("with its adapter it answers %q as well", with)
	}
	say(at("manner", model.ModeHybrid, 0.5))
	if len(applied.Dropped) != 0 {
		t.Errorf("its adapter is used, and dropped are %v", applied.Dropped)
	}
	if hits[true] != 1 || hits[false] != 1 {
		t.Errorf("of the cache it was asked %v", hits)
	}
	if got := say(at("foreign", model.ModeLocal, 1)); got != plain {
		t.Errorf("an adapter of another base changed the answer to %q", got)
	}
	if want := []model.Dropped{{ID: "foreign", Reason: model.DroppedRefused, Weight: 1}}; !slices.Equal(applied.Dropped, want) {
		t.Errorf("who asks is told that %v are dropped, want %v", applied.Dropped, want)
	}
	if !strings.Contains(log.String(), "adapter_refused") || !strings.Contains(log.String(), "another base") {
		t.Errorf("the log says %s", log.String())
	}
	// Nor does one whose file lies about itself, has what is no number, or is of
	// another model's shapes.
	for name, spoil := range map[string]func(path string){
		"lying": func(path string) { fails(t, os.WriteFile(path, []byte("\xff\xff\xff\xff\xff\xff\xff\x7f{}"), 0o600)) },
		"boundless": func(path string) {
			head := `{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}`
			fails(t, os.WriteFile(path, append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head+"...."...), 0o600))
		},
		"endless": func(path string) { rewrite(t, path, func(x *tensors.Tensor) { x.F32[3] = float32(math.NaN()) }) },
		"turned":  func(path string) { rewrite(t, path, func(x *tensors.Tensor) { slices.Reverse(x.Shape) }) },
	} {
		trained(t, filepath.Join(root, "users", "u", "adapters", name, "v0001"), b)
		spoil(filepath.Join(root, "users", "u", "adapters", name, "v0001", peft.WeightsFile))
		if got := say(at(name, model.ModeLocal, 1)); got != plain {
			t.Errorf("%s: the answer is %q", name, got)
		}
		if want := []model.Dropped{{ID: name, Reason: model.DroppedRefused, Weight: 1}}; !slices.Equal(applied.Dropped, want) {
			t.Errorf("%s: who asks is told that %v are dropped", name, applied.Dropped)
		}
	}
	// What its weights cannot do here, the words of a hybrid do.
	if got := say(at("foreign", model.ModeHybrid, 1)); got == plain {
		t.Error("the instructions of a hybrid were left out with its weights")
	}
	// A version is asked for by its number, and by the checksum it was approved with.
	one := at("manner", model.ModeLocal, 1)
	one.Version, one.Dir = 1, "/"+one.Dir
	if say(one) == plain {
		t.Error("version 1 changes nothing")
	}
	one.Checksum = strings.Repeat("0", 64)
	if got := say(one); got != plain {
		t.Errorf("with another checksum it changed the answer to %q", got)
	}
	for _, dir := range []string{"../other", "/etc", "users/u/adapters/none"} {
		a := at("manner", model.ModeLocal, 1)
		a.Dir = dir
		if got := say(a); got != plain {
			t.Errorf("an adapter in %s changed the answer", dir)
		}
	}
	if _, adapters := m.Stats(); adapters.Adapters != 1 || adapters.Bytes == 0 {
		t.Errorf("%+v", adapters)
	}
}

// Requirements: LORA-17 (the persona of who is there is pinned)
func TestThePersonaOfWhoIsThereStaysInMemory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "little")
	c := made(t, dir, 256, nil)
	sum, err := llm.Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"manner", "a", "b"} {
		trained(t, filepath.Join(root, id, "v0001"), peft.Base{Config: c, Name: "little", Fingerprint: sum})
	}
	// asked lets a person ask with their manner, others with a and b, and the
	// person again after a while; it tells whether their adapter was still there.
	asked := func(bytes int, persona bool, gone time.Duration) (there bool, size int) {
		now := time.Unix(0, 0)
		m := open(t, local.Options{Dir: dir, Root: root, AdapterBytes: bytes, Now: func() time.Time { return now }, Asked: func(hit bool) { there = hit }})
		say := func(id string, persona bool) {
			req := user("hello")
			req.MaxTokens, req.Adapters = 1, []model.Adapter{{ID: id, Mode: model.ModeLocal, Dir: id, Weight: 1, Persona: persona}}
			modeltest.Play(t, m, req)
		}
		say("manner", persona)
		_, stats := m.Stats()
		now = now.Add(gone)
		say("a", false)
		say("b", false)
		say("manner", persona)
		return there, stats.Bytes
	}
	_, size := asked(0, true, 0)
	for _, c := range []struct {
		what    string
		persona bool
		gone    time.Duration
		there   bool
	}{
		{"a persona", true, 29 * time.Minute, true},
		{"a persona of who is away", true, 30 * time.Minute, false},
		{"a skill", false, 0, false},
	} {
		if there, _ := asked(2*size, c.persona, c.gone); there != c.there {
			t.Errorf("%s is still there: %v", c.what, there)
		}
	}
}

// What does not fit is left out, the question last of all.
func TestALongDialogueIsCutToWhatTheModelReads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "little")
	made(t, dir, 200, nil)
	var log bytes.Buffer
	m := open(t, local.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	req := model.Request{System: "Answer in short sentences.", MaxTokens: 5}
	for range 9 {
		req.Messages = append(req.Messages,
			model.Message{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "What does the keeper do in the autumn?"}}},
			model.Message{Role: model.Assistant, Content: []model.Block{{Type: model.Text, Text: "The keeper drains the lake."}}})
	}
	req.Messages = append(req.Messages, user("And in the winter?").Messages...)
	events := modeltest.Play(t, m, req)
	if u := events[len(events)-2].Usage; u.Input > 195 || u.Input < 40 {
		t.Errorf("%d tokens were read", u.Input)
	}
	if !strings.Contains(log.String(), "prompt_cut") {
		t.Error("nobody is told")
	}
	long := user(strings.Repeat("The dam is closed. ", 200) + "Why?")
	long.System, long.MaxTokens = strings.Repeat("Be short. ", 200), 5
	events = modeltest.Play(t, m, long)
	if u := events[len(events)-2].Usage; u.Input > 195 || u.Input < 150 {
		t.Errorf("of one long question %d tokens were read", u.Input)
	}
}

func TestAFolderThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := local.Open(local.Options{Dir: dir})
	if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("it says %v", err)
	}
}

// Without a template answers end where the other side would speak.
func TestAnAnswerWithoutATemplateEndsBeforeTheNextName(t *testing.T) {
	t.Parallel()
	for _, pieces := range [][]string{{"It is full.\nUser: why", "?"}, {"It is", " full.\nUs", "er", ": why?"}, {"It is full.", "\n", "User:"}} {
		if got, over := local.Held(tokens.Plain.Until, pieces...); got != "It is full." || !over {
			t.Errorf("%q becomes %q, %v", pieces, got, over)
		}
	}
	for _, pieces := range [][]string{{"It is\nUsual", "."}, {"It is\nUs", "ual."}, {"It is\nUs"}} {
		if got, over := local.Held(tokens.Plain.Until, pieces...); got != strings.Join(pieces, "") || over {
			t.Errorf("%q becomes %q, %v", pieces, got, over)
		}
	}
	if got, _ := local.Held(nil, slices.Collect(maps.Keys(map[string]int{"all of it": 1}))...); got != "all of it" {
		t.Errorf("%q", got)
	}
}
