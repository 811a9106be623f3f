package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// fake is a tool that does what its function says.
type fake struct {
	name string
	run  func(ctx context.Context, c *tool.Call) (map[string]any, error)
}

func (f fake) Name() string { return f.name }

func (f fake) Run(ctx context.Context, c *tool.Call) (map[string]any, error) { return f.run(ctx, c) }

func spec(name string) tool.Spec {
	return tool.Spec{
		Kind: "tool.spec", Name: name, Description: "a tool",
		InputSchema:  json.RawMessage(`{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"},"n":{"type":"integer"}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","required":["out"],"additionalProperties":false,"properties":{"out":{"type":"string"}}}`),
	}
}

func call(inputs map[string]any) *tool.Call {
	return &tool.Call{Viewer: identity.Viewer{UserID: "ann", Role: identity.RoleUser}, Inputs: inputs}
}

func box(t testing.TB, run func(ctx context.Context, c *tool.Call) (map[string]any, error)) *tool.Box {
	t.Helper()
	b, err := tool.NewBox([]tool.Tool{fake{"t", run}}, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func echo(_ context.Context, c *tool.Call) (map[string]any, error) {
	return map[string]any{"out": c.Inputs["text"]}, nil
}

// A spec may have been stored before schemas had bounds: its tool says so, and
// takes nothing of the process. The value may be what multiplies, too.
//
// Requirements: PLAT-07 (what a document asks for is bounded), TOOL-17
func TestASchemaThatMultipliesIsRefusedWhereverItStands(t *testing.T) {
	t.Parallel()
	var nested strings.Builder
	for i := range 28 {
		refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/definitions/d%d"},`, i+1), 10), ",")
		fmt.Fprintf(&nested, `"d%d":{"allOf":[%s]},`, i, refs)
	}
	large := json.RawMessage(`{"definitions":{` + nested.String() + `"d28":{}},"$ref":"#/definitions/d0"}`)
	twice := json.RawMessage(`{"allOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}`)
	deep := map[string]any{}
	for range 40 {
		deep = map[string]any{"a": deep}
	}
	passed := json.RawMessage(`{}`)
	for name, c := range map[string]struct {
		in, out json.RawMessage
		want    string
	}{
		"a stored input schema":  {large, passed, "input schema of the tool t cannot be used"},
		"a stored output schema": {passed, large, "output schema of the tool t cannot be used"},
		"the inputs":             {twice, passed, "too much work"},
		"the result":             {passed, twice, "too much work"},
	} {
		s := spec("t")
		s.InputSchema, s.OutputSchema = c.in, c.out
		b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { return deep, nil })
		if _, err := b.Call(t.Context(), s, call(deep)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Requirements: TOOL-11, GRAPH-25 (through the registry only)
func TestAnUnknownToolIsNotFound(t *testing.T) {
	t.Parallel()
	if _, err := box(t, echo).Call(t.Context(), spec("other"), call(nil)); !errors.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
}

func TestTwoToolsOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := tool.NewBox([]tool.Tool{fake{"t", echo}, fake{"t", echo}}, tool.Options{}); err == nil {
		t.Fatal("accepted")
	}
}

// Requirements: TOOL-03
func TestInputsMustFitTheSchema(t *testing.T) {
	t.Parallel()
	ran := false
	b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { ran = true; return nil, nil })
	for want, inputs := range map[string]map[string]any{
		`"text" is missing`:          {},
		`/text: it must be`:          {"text": 1.0},
		`"other" is not known`:       {"text": "x", "other": 1.0},
		`/n: it must be integer`:     {"text": "x", "n": 1.5},
		`not known here. And 1 more`: {"other": true},
	} {
		_, err := b.Call(t.Context(), spec("t"), call(inputs))
		if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", inputs, err, want)
		}
		if fault.From(err).Details == nil {
			t.Errorf("%v: no details", inputs)
		}
	}
	if ran {
		t.Error("the tool ran with inputs it does not take")
	}
}

// Requirements: TOOL-03, LG-32
func TestResultsMustFitTheSchema(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]map[string]any{
		"nothing":           nil,
		"a wrong type":      {"out": 1.0},
		"an unknown member": {"out": "x", "more": "y"},
		"no JSON":           {"out": make(chan int)},
	} {
		b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { return out, nil })
		if _, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"})); !errors.Is(err, fault.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Requirements: GRAPH-27
func TestAQuestionIsPassedThrough(t *testing.T) {
	t.Parallel()
	b := box(t, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"interrupt": map[string]any{"interrupt_type": "text_input", "message": "What?"}}, nil
	})
	out, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"}))
	if err != nil || !tool.Asks(out) {
		t.Fatal(out, err)
	}
}

func TestGoValuesBecomePlainJSON(t *testing.T) {
	t.Parallel()
	s := spec("t")
	s.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"type":"object"}}}}`)
	b := box(t, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"n": 3, "list": []map[string]any{{"a": 1}}}, nil
	})
	out, err := b.Call(t.Context(), s, call(map[string]any{"text": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := out["list"].([]any); !ok || out["n"] != 3.0 {
		t.Errorf("%#v", out)
	}
}

// Requirements: TOOL-11
func TestAPanicIsAFailureOfTheCallOnly(t *testing.T) {
	t.Parallel()
	b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { panic("boom") })
	_, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"}))
	if !errors.Is(err, fault.Internal) || strings.Contains(fault.From(err).Message, "boom") {
		t.Fatal(err)
	}
}

// Requirements: TOOL-05
func TestPrivilegedToolsRunForAdministratorsOnly(t *testing.T) {
	t.Parallel()
	s := spec("t")
	s.Privileged = true
	for role, allowed := range map[identity.Role]bool{
		identity.RoleUser: false, identity.RolePower: false, identity.RoleAdmin: true, identity.RoleSystem: true,
	} {
		c := call(map[string]any{"text": "x"})
		c.Viewer.Role = role
		_, err := box(t, echo).Call(t.Context(), s, c)
		if allowed != (err == nil) || err != nil && !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", role, err)
		}
	}
}

// Requirements: TOOL-09 (15 s, 60 s at most), PLAT-07 (a document raises no limit)
func TestTimeIsCappedWhateverASpecSays(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int]time.Duration{0: 15 * time.Second, 200: 200 * time.Millisecond, 600_000: time.Minute} {
		s := spec("t")
		if s.TimeoutMS = ms; s.Timeout() != want {
			t.Errorf("%d ms: %s", ms, s.Timeout())
		}
	}
	s := spec("t")
	if s.Queue, s.TimeoutMS = tool.QueueIngest, 600_000; s.Timeout() != 10*time.Minute {
		t.Errorf("ingest: %s", s.Timeout())
	}
}

// Requirements: TOOL-09 (15 s, 60 s at most), API-12 (the same time)
func TestASlowToolFailsAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := box(t, func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		start := time.Now()
		_, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"}))
		if !errors.Is(err, fault.Internal) || !strings.Contains(err.Error(), "longer than 15s") || time.Since(start) != 15*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

func TestAToolThatIgnoresItsTimeIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { <-release; return nil, nil })
		_, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"}))
		if !errors.Is(err, fault.Internal) {
			t.Error(err)
		}
		close(release)
	})
}

// Requirements: STREAM-09
func TestWhatAToolHandsOverWhenCancelledIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it has seconds to do so
		ctx, cancel := context.WithCancel(t.Context())
		b := box(t, func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
			cancel()
			<-ctx.Done()
			return map[string]any{"out": "so far"}, nil
		})
		out, err := b.Call(ctx, spec("t"), call(map[string]any{"text": "x"}))
		if err != nil || out["out"] != "so far" {
			t.Fatal(out, err)
		}
	})
}

// Requirements: TOOL-15, ISO-09
func TestABreakerRestsAToolThatFailsAndProbesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs int
		failing := true
		b := box(t, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			runs++
			if failing {
				return nil, errors.New("down")
			}
			return echo(ctx, c)
		})
		try := func() error {
			_, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"}))
			return err
		}
		for range tool.BreakerTrips {
			_ = try()
		}
		if err := try(); runs != tool.BreakerTrips || !strings.Contains(err.Error(), "The tool t does not answer; it is tried again at ") {
			t.Fatalf("not open after %d runs: %v", runs, err)
		}
		time.Sleep(tool.CoolDown)
		if _ = try(); runs != tool.BreakerTrips+1 {
			t.Fatalf("%d probes", runs-tool.BreakerTrips)
		}
		if _ = try(); runs != tool.BreakerTrips+1 {
			t.Fatal("a failed probe did not begin the rest again")
		}
		time.Sleep(tool.CoolDown)
		failing = false
		for range 3 {
			if err := try(); err != nil {
				t.Fatalf("not closed by a good probe: %v", err)
			}
		}
	})
}

// Requirements: TOOL-15
func TestFailuresSpreadOverTimeOpenNoBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { runs++; return nil, errors.New("down") })
		for range 3 * tool.BreakerTrips {
			_, _ = b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"}))
			time.Sleep(tool.BreakerWindow/(tool.BreakerTrips-1) + time.Second)
		}
		if runs != 3*tool.BreakerTrips {
			t.Errorf("%d of %d calls ran", runs, 3*tool.BreakerTrips)
		}
	})
}

// Requirements: ISO-09
func TestThePersonsMistakesOpenNoBreaker(t *testing.T) {
	t.Parallel()
	for _, code := range []fault.Code{fault.Invalid, fault.NotFound, fault.Forbidden, fault.Conflict} {
		runs := 0
		b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { runs++; return nil, fault.New(code, "no") })
		for range 2 * tool.BreakerTrips {
			if _, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"})); !errors.Is(err, code) {
				t.Fatal(err)
			}
		}
		if runs != 2*tool.BreakerTrips {
			t.Errorf("%s opened the breaker", code)
		}
	}
}

// Unlike a fourth run, which is refused, a third answer waits inside its run.
//
// Requirements: ISO-08 (a third answer waits)
func TestAThirdModelAnswerOfAPersonWaitsForItsPlace(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	gate := make(chan struct{})
	b := box(t, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		<-gate
		return echo(ctx, c)
	})
	s := spec("t")
	s.Queue = tool.QueueModels
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := b.Call(t.Context(), s, call(map[string]any{"text": "x"})); err != nil {
				t.Error(err)
			}
		})
	}
	for range 6 {
		gate <- struct{}{}
	}
	all.Wait()
	if tool.MaxDecodes != 2 || most.Load() > tool.MaxDecodes {
		t.Errorf("%d at once", most.Load())
	}
}

// Requirements: TOOL-16
func TestAToolThatMustNotBeRepeatedGetsOneAttempt(t *testing.T) {
	t.Parallel()
	once := false
	s := spec("t")
	if s.Attempts(3) != 3 {
		t.Error("a tool is idempotent unless it says otherwise")
	}
	s.Idempotent = &once
	if s.IsIdempotent() || s.Attempts(3) != 1 {
		t.Errorf("%d attempts", s.Attempts(3))
	}
	s.Runs = tool.Inline
	if faults := s.Validate(); len(faults) == 0 {
		t.Error("it may run inline, where a task is repeated")
	}
}

// A provider nobody has set up is said to be missing each time, and answers at
// once when it is there.
//
// Requirements: OPS-08, ISO-09
func TestWhatIsNotSetUpOpensNoBreaker(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{fault.NotConfigured, fault.Budget} {
		missing := fault.New(fault.Internal, "Set the key.").With(map[string]any{"reason": reason})
		b := box(t, func(context.Context, *tool.Call) (map[string]any, error) { return nil, missing })
		for range tool.BreakerTrips + 2 {
			if _, err := b.Call(t.Context(), spec("t"), call(map[string]any{"text": "x"})); fault.Reason(err) != reason {
				t.Fatalf("%s: %v", reason, err)
			}
		}
	}
}

func BenchmarkInlineCall(b *testing.B) {
	bx := box(b, echo)
	s := spec("t")
	s.Runs = tool.Inline
	for b.Loop() {
		if _, err := bx.Call(b.Context(), s, call(map[string]any{"text": "x"})); err != nil {
			b.Fatal(err)
		}
	}
}

// ofModel is a tool that asks a model behind a server.
func ofModel(name string) tool.Spec {
	s := spec(name)
	s.Queue = tool.QueueModels
	return s
}

// Requirements: TOOL-15, ISO-09, CHAT-27
func TestAModelThatIsAwayRestsForAllItsTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, away := 0, true
		ask := func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			runs++
			if away {
				return nil, fault.New(fault.Internal, "It cannot be reached.").With(map[string]any{"reason": fault.Upstream})
			}
			return echo(ctx, c)
		}
		b, err := tool.NewBox([]tool.Tool{fake{"t", ask}, fake{"u", ask}, fake{"other", echo}}, tool.Options{Backend: "vllm"})
		if err != nil {
			t.Fatal(err)
		}
		try := func(name string) error {
			_, err := b.Call(t.Context(), ofModel(name), call(map[string]any{"text": "x"}))
			return err
		}
		for i := range tool.BreakerTrips {
			_ = try([]string{"t", "u"}[i%2])
		}
		for _, name := range []string{"t", "u"} {
			err := try(name)
			details, _ := fault.From(err).Details.(map[string]any)
			at := time.Now().Add(tool.CoolDown).UTC()
			if want := "The model does not answer; it is tried again at " + at.Format(time.TimeOnly) + " UTC."; fault.From(err).Message != want {
				t.Errorf("%s: %q, want %q", name, fault.From(err).Message, want)
			}
			if details["reason"] != fault.Upstream || details["resting"] != true || details["retry_at"] != at.Format(time.RFC3339) {
				t.Errorf("%s: %v", name, details)
			}
		}
		if _, err := b.Call(t.Context(), spec("other"), call(map[string]any{"text": "x"})); err != nil || runs != tool.BreakerTrips {
			t.Errorf("%d calls of the model, and of another tool comes %v", runs, err)
		}
		time.Sleep(tool.CoolDown)
		away = false
		if err := errors.Join(try("t"), try("u")); err != nil {
			t.Errorf("not closed by a good probe: %v", err)
		}
	})
}

// Requirements: TOOL-15, LORA-22
func TestABackendThatIsAwayRestsAndTheOthersAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			if c.Backend == "office" {
				return nil, fault.New(fault.Internal, "It cannot be reached.").With(map[string]any{"reason": fault.Upstream})
			}
			return echo(ctx, c)
		}
		b, err := tool.NewBox([]tool.Tool{fake{"t", ask}}, tool.Options{}) // the environment's answers in this process
		if err != nil {
			t.Fatal(err)
		}
		try := func(backend string) error {
			c := call(map[string]any{"text": "x"})
			c.Backend = backend
			_, err := b.Call(t.Context(), ofModel("t"), c)
			return err
		}
		for range tool.BreakerTrips {
			_ = try("office")
		}
		if details, _ := fault.From(try("office")).Details.(map[string]any); details["resting"] != true {
			t.Errorf("the office does not rest: %v", details)
		}
		if err := errors.Join(try("lab"), try("")); err != nil {
			t.Errorf("the others rest too: %v", err)
		}
	})
}

// Requirements: ISO-09
func TestNothingOnePersonAsksRestsTheModelForOthers(t *testing.T) {
	t.Parallel()
	late := fault.New(fault.Internal, "The model did not answer in time.").With(map[string]any{"reason": "timeout"})
	for name, err := range map[string]error{
		"what a provider refuses":          fault.New(fault.Invalid, "This is too long."),
		"a node that allows it no time":    late,
		"an answer that does not fit":      fault.New(fault.Internal, "It is no JSON."),
		"a budget that is used up":         fault.New(fault.RateLimited, "No more.").With(map[string]any{"reason": fault.Budget}),
		"a key that whoever runs this set": fault.New(fault.Internal, "No key.").With(map[string]any{"reason": fault.NotConfigured}),
	} {
		ask := func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			if c.Viewer.UserID == "eve" {
				return nil, err
			}
			return echo(ctx, c)
		}
		b, opened := tool.NewBox([]tool.Tool{fake{"t", ask}, fake{"u", ask}}, tool.Options{Backend: "vllm"})
		if opened != nil {
			t.Fatal(opened)
		}
		for range 2 * tool.BreakerTrips {
			c := call(map[string]any{"text": "x"})
			c.Viewer.UserID, c.Longest, c.Silence = "eve", time.Hour, time.Millisecond
			_, _ = b.Call(t.Context(), ofModel("t"), c)
		}
		if _, err := b.Call(t.Context(), ofModel("u"), call(map[string]any{"text": "x"})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A long answer that goes well must not keep everybody else out while it is the
// one call that tries whether a model is back.
//
// Requirements: ISO-09
func TestALongAnswerClosesTheBreakerBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away, end := true, make(chan struct{})
		ask := func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			if away {
				return nil, fault.New(fault.Internal, "It cannot be reached.").With(map[string]any{"reason": fault.Upstream})
			}
			if c.Inputs["text"] == "long" {
				time.Sleep(6 * time.Second)
				c.Alive()
				<-end
			}
			return echo(ctx, c)
		}
		b, err := tool.NewBox([]tool.Tool{fake{"t", ask}}, tool.Options{Backend: "vllm"})
		if err != nil {
			t.Fatal(err)
		}
		try := func(text string) error {
			c := call(map[string]any{"text": text})
			c.Longest, c.Silence = time.Hour, time.Minute
			_, err := b.Call(t.Context(), ofModel("t"), c)
			return err
		}
		for range tool.BreakerTrips {
			_ = try("x")
		}
		time.Sleep(tool.CoolDown)
		away = false
		var long sync.WaitGroup
		long.Go(func() {
			if err := try("long"); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(7 * time.Second)
		if err := try("x"); err != nil {
			t.Errorf("while a long answer comes: %v", err)
		}
		close(end)
		long.Wait()
	})
}
