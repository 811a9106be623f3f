package serve_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/leaktest"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var shape = llm.NewConfig(2, 64, 4, 2, 96, 120, 256)

func prompt(n int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]int, n)
	for i := range out {
		out[i] = r.IntN(shape.Vocab)
	}
	return out
}

func trained(seed uint64) *llm.Adapter {
	a := llm.NewAdapter(shape, 4, 8, seed, llm.Query, llm.Value)
	r := rand.New(rand.NewPCG(seed, seed))
	for _, layer := range a.Pairs {
		for _, p := range layer {
			for i := range p.B {
				p.B[i] = r.Float32() - 0.5
			}
		}
	}
	return a
}

// alone is the answer the model gives by itself: one token after the other,
// always the likeliest.
func alone(m *llm.Model, req serve.Request) []int {
	r, s := m.NewRunner(), m.NewSequence(256, req.Adapters...)
	sampler := llm.NewSampler(req.Temperature, req.TopP, req.Seed)
	var out []int
	next := req.Prompt
	for len(out) < req.MaxTokens {
		id := sampler.Next(r.Forward(llm.Step{Sequence: s, Tokens: next}))
		if slices.Contains(req.Stops, id) {
			break
		}
		out, next = append(out, id), []int{id}
	}
	return out
}

// answer is all of an engine's answer.
func answer(ctx context.Context, e *serve.Engine, req serve.Request) (ids []int, last serve.Event, err error) {
	for event, err := range e.Answer(ctx, req) {
		if err != nil {
			return ids, last, err
		}
		if last = event; event.End == serve.Going {
			ids = append(ids, event.Token)
		}
	}
	return ids, last, nil
}

// Requirements: LORA-20
func TestEachIsAnsweredAsIfAlone(t *testing.T) {
	c := shape
	c.Context = 1 << 15
	m := llm.New(c, 1)
	e := serve.New(m, serve.Options{Rows: 4, Chunk: 16, Context: c.Context})
	// Somebody is answered all the while, so that nobody else is alone.
	next, stop := iter.Pull2(e.Answer(t.Context(), serve.Request{Prompt: prompt(3, 99), MaxTokens: 30_000}))
	defer stop()
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	one, two := trained(1), trained(2)
	var wait sync.WaitGroup
	for i := range 20 {
		req := serve.Request{Prompt: prompt(1+7*i, uint64(i)), MaxTokens: 3 + i, Seed: uint64(i), Temperature: float64(i%3) * 0.7, TopP: 0.9}
		switch i % 4 {
		case 1:
			req.Adapters = []llm.Gated{{Adapter: one, Gate: 1}}
		case 2:
			req.Adapters = []llm.Gated{{Adapter: one, Gate: 0.5}, {Adapter: two, Gate: 0.3}}
		}
		want := alone(m, req)
		wait.Go(func() {
			got, last, err := answer(t.Context(), e, req)
			if err != nil || last.End != serve.Full || !slices.Equal(got, want) {
				t.Errorf("request %d is answered %v (%v, %v), alone %v", i, got, last, err, want)
			}
		})
	}
	wait.Wait()
	s := e.Stats()
	if s.Requests != 21 || s.Cancelled != 0 || s.StepRows <= s.Steps || s.StepRows > 4*s.Steps { // together, and no more than may be
		t.Errorf("%+v", s)
	}
}

func TestAnAnswerEndsAtItsStop(t *testing.T) {
	m := llm.New(shape, 1)
	e := serve.New(m, serve.Options{})
	req := serve.Request{Prompt: prompt(9, 1), MaxTokens: 12}
	free := alone(m, req)
	req.Stops = []int{free[4]}
	at := slices.Index(free, free[4])
	got, last, err := answer(t.Context(), e, req)
	if err != nil || last.End != serve.Stopped || !slices.Equal(got, free[:at]) {
		t.Errorf("%v, %v, %v", got, last, err)
	}
}

// The next turn of a dialogue begins with the last: only what is new is read,
// and the answer is the same.
func TestTheNextTurnReadsItsNewWordsOnly(t *testing.T) {
	m := llm.New(shape, 1)
	e := serve.New(m, serve.Options{Rows: 2})
	first := serve.Request{Prompt: prompt(60, 1), MaxTokens: 10}
	said, _, err := answer(t.Context(), e, first)
	if err != nil {
		t.Fatal(err)
	}
	second := serve.Request{Prompt: slices.Concat(first.Prompt, said, prompt(20, 2)), MaxTokens: 40}
	want := alone(m, second)
	got, last, err := answer(t.Context(), e, second)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if last.Reused != 69 {
		t.Errorf("%d tokens were not read again, of 69", last.Reused)
	}
	// To somebody else it is as if it had never been asked.
	other := second
	other.Owner = "somebody else"
	if got, last, err := answer(t.Context(), e, other); err != nil || !slices.Equal(got, want) || last.Reused != 0 {
		t.Errorf("of another owner %v, %v, %v", got, last, err)
	}
	// With another adapter the keys and values are others.
	second.Adapters = []llm.Gated{{Adapter: trained(1), Gate: 1}}
	want = alone(m, second)
	if got, last, err := answer(t.Context(), e, second); err != nil || !slices.Equal(got, want) || last.Reused != 0 {
		t.Errorf("with an adapter %v, %v, %v, want %v", got, last, err, want)
	}
}

// A prompt that takes long to read is told of, so that nobody takes the model for
// dead.
func TestALongPromptIsToldOfWhileItIsRead(t *testing.T) {
	m := llm.New(llm.NewConfig(2, 256, 4, 1, 1024, 120, 1<<15), 1)
	e := serve.New(m, serve.Options{Context: 1 << 15, Chunk: 32})
	read := 0
	for event, err := range e.Answer(t.Context(), serve.Request{Prompt: prompt(30_000, 1), MaxTokens: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.End != serve.Reading {
			t.Fatalf("the prompt was read within a second: %+v", event)
		}
		if read > 0 {
			if event.Read <= read {
				t.Errorf("%d tokens were read, then %d", read, event.Read)
			}
			break
		}
		read = event.Read
	}
	if read == 0 {
		t.Error("nothing was told")
	}
}

// Requirements: LORA-21
func TestWhoCancelsGivesThePlaceBack(t *testing.T) {
	// Answers so long that nobody writes them before their reader goes.
	m := llm.New(llm.NewConfig(2, 64, 4, 1, 96, 120, 1<<15), 1)
	e := serve.New(m, serve.Options{Rows: 1, Context: 1 << 15})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var failed error
	for _, err := range e.Answer(ctx, serve.Request{Prompt: prompt(5, 1), MaxTokens: 30_000}) {
		if err != nil {
			failed = err
			break
		}
		if n++; n == 2 {
			cancel()
		}
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("it ended with %v after %d tokens", failed, n)
	}
	// The one row is free for the next, who would wait for ever otherwise.
	if _, last, err := answer(t.Context(), e, serve.Request{Prompt: prompt(5, 2), MaxTokens: 3}); err != nil || last.End != serve.Full {
		t.Errorf("%v, %v", last, err)
	}
	for range e.Answer(t.Context(), serve.Request{Prompt: prompt(5, 3), MaxTokens: 30_000}) {
		break // a reader that leaves
	}
	if _, _, err := answer(t.Context(), e, serve.Request{Prompt: prompt(5, 4), MaxTokens: 3}); err != nil {
		t.Error(err)
	}
	if s := e.Stats(); s.Cancelled != 2 || s.Rows > 1 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	if err := func() error {
		for _, err := range e.Answer(ctx, serve.Request{Prompt: prompt(5, 1), MaxTokens: 2}) {
			return err
		}
		return nil
	}(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := llm.New(shape, 1)
	most := shape.CacheBytes(256)
	e := serve.New(m, serve.Options{Rows: 8, Memory: most})
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			if _, _, err := answer(t.Context(), e, serve.Request{Prompt: prompt(100, uint64(i)), MaxTokens: 20}); err != nil {
				t.Error(err)
			}
			if s := e.Stats(); s.Memory > most {
				t.Errorf("%d bytes of %d are used", s.Memory, most)
			}
		})
	}
	wait.Wait()
}

func TestARequestThatCannotBeAnsweredIsRefused(t *testing.T) {
	m := llm.New(shape, 1)
	e := serve.New(m, serve.Options{Context: 64, Waiting: 1})
	other := llm.NewAdapter(llm.NewConfig(3, 64, 4, 2, 96, 120, 256), 4, 8, 1, llm.Query)
	for name, c := range map[string]struct {
		req  serve.Request
		says string
	}{
		"no prompt":       {serve.Request{MaxTokens: 1}, "prompt"},
		"no tokens":       {serve.Request{Prompt: []int{1}}, "at least one"},
		"another token":   {serve.Request{Prompt: []int{1, 120}, MaxTokens: 1}, "token 1 of the prompt is 120"},
		"another adapter": {serve.Request{Prompt: []int{1}, MaxTokens: 1, Adapters: []llm.Gated{{Adapter: other, Gate: 1}}}, "layers"},
		"a long prompt":   {serve.Request{Prompt: prompt(64, 1), MaxTokens: 1}, "64 tokens; the model reads 63"},
	} {
		if _, _, err := answer(t.Context(), e, c.req); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The answer is cut to what the context holds.
	got, last, err := answer(t.Context(), e, serve.Request{Prompt: prompt(60, 1), MaxTokens: 100})
	if err != nil || len(got) != 4 || last.End != serve.Full {
		t.Errorf("%d tokens, %v, %v", len(got), last, err)
	}
}

func TestTooManyWaitersAreToldSo(t *testing.T) {
	c := shape
	c.Context = 1 << 15
	e := serve.New(llm.New(c, 1), serve.Options{Rows: 1, Waiting: 1, Context: c.Context})
	next, stop := iter.Pull2(e.Answer(t.Context(), serve.Request{Prompt: prompt(3, 1), MaxTokens: 30_000}))
	defer stop()
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, _, err := answer(ctx, e, serve.Request{Prompt: prompt(3, 2), MaxTokens: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("who waits and leaves is told %v", err)
		}
	})
	for e.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	if _, _, err := answer(t.Context(), e, serve.Request{Prompt: prompt(3, 3), MaxTokens: 1}); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("the third is told %v", err)
	}
	cancel()
	wait.Wait()
}

// Requirements: LORA-17 (by use up to a budget; read when asked for; a pinned one goes last)
func TestAdaptersAreKeptByUseUpToABudget(t *testing.T) {
	size := trained(1).Bytes()
	var mu sync.Mutex
	read := map[string]int{}
	c := serve.NewAdapters(3*size, func(key serve.AdapterKey) (*llm.Adapter, error) {
		mu.Lock()
		defer mu.Unlock()
		read[key.ID]++
		if key.ID == "broken" {
			return nil, errors.New("broken")
		}
		return trained(1), nil
	}, nil, nil)
	use := func(id string, pinned bool) {
		t.Helper()
		_, release, err := c.Use(serve.AdapterKey{ID: id, Version: "v0001"}, pinned)
		if err != nil {
			t.Fatal(err)
		}
		release()
		release() // a second time is nothing
	}
	use("persona", true)
	for _, id := range []string{"a", "b", "a", "c", "d"} {
		use(id, false)
	}
	use("persona", true)
	use("a", false)
	if read["persona"] != 1 || read["a"] != 2 || read["b"] != 1 {
		t.Errorf("read %v", read)
	}
	if s := c.Stats(); s.Bytes != 3*size || s.Adapters != 3 || s.Hits != 2 || s.Misses != 6 || s.Evicted != 3 {
		t.Errorf("%+v", s)
	}
	for range 2 {
		if _, _, err := c.Use(serve.AdapterKey{ID: "broken"}, false); err == nil {
			t.Error("a broken adapter was given")
		}
	}
	if read["broken"] != 2 {
		t.Error("a broken adapter was not tried again")
	}
	c.Forget("persona")
	use("persona", false)
	if read["persona"] != 2 {
		t.Error("a forgotten adapter was given")
	}
}

// Requirements: LORA-17 (the persona of who is there is pinned)
func TestThePersonaOfWhoIsAwayIsGivenUpLikeAnyOther(t *testing.T) {
	size := trained(1).Bytes()
	var now time.Time
	read := map[string]int{}
	c := serve.NewAdapters(2*size, func(key serve.AdapterKey) (*llm.Adapter, error) {
		read[key.ID]++
		return trained(1), nil
	}, nil, func() time.Time { return now })
	use := func(id string, pinned bool) {
		t.Helper()
		_, release, err := c.Use(serve.AdapterKey{ID: id}, pinned)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	use("persona", true)
	for _, step := range []struct {
		what  string
		after time.Duration
		reads int // of the persona, once others asked and the person asks again
	}{
		{"who is there", 0, 1},
		{"who asked a while ago", 29 * time.Minute, 1},
		{"who asked again since", 29 * time.Minute, 1},
		{"who is away", 30 * time.Minute, 2},
		{"who is back", time.Minute, 2},
	} {
		now = now.Add(step.after)
		for _, id := range []string{"a", "b", "c"} {
			use(id, false)
		}
		use("persona", true)
		if read["persona"] != step.reads {
			t.Errorf("%s: their persona was read %d times, want %d", step.what, read["persona"], step.reads)
		}
	}
	// Nothing is kept beside what is in memory, and when all are personas the
	// one asked for last stays.
	use("other", true)
	use("third", true)
	use("other", true)
	if s := c.Stats(); read["other"] != 1 || s.Adapters != 2 || s.Bytes != 2*size {
		t.Errorf("%d reads, %+v", read["other"], s)
	}
}

func TestAnAdapterInUseStaysAndIsReadOnce(t *testing.T) {
	size := trained(1).Bytes()
	read := 0
	var hits []bool
	c := serve.NewAdapters(size, func(serve.AdapterKey) (*llm.Adapter, error) { read++; return trained(1), nil }, func(hit bool) { hits = append(hits, hit) }, nil)
	first, release, err := c.Use(serve.AdapterKey{ID: "a"}, false)
	if err != nil {
		t.Fatal(err)
	}
	_, releaseB, err := c.Use(serve.AdapterKey{ID: "b"}, false)
	if err != nil {
		t.Fatal(err)
	}
	again, releaseAgain, err := c.Use(serve.AdapterKey{ID: "a"}, false)
	if err != nil || again != first || read != 2 {
		t.Errorf("an adapter in use was read again: %d, %v", read, err)
	}
	if s := c.Stats(); s.Bytes != 2*size {
		t.Errorf("%+v", s)
	}
	release()
	releaseAgain()
	releaseB()
	if s := c.Stats(); s.Bytes != size || fmt.Sprint(hits) != "[false false true]" {
		t.Errorf("%+v, %v", s, hits)
	}
	small := serve.NewAdapters(size-1, func(serve.AdapterKey) (*llm.Adapter, error) { return trained(1), nil }, nil, nil)
	if _, _, err := small.Use(serve.AdapterKey{ID: "a"}, false); err == nil || small.Stats().Adapters != 0 {
		t.Errorf("an adapter larger than all may be: %v", err)
	}
}
