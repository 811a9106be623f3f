package observed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
	"liminal/internal/model/observed"
	"liminal/internal/model/scripted"
	"liminal/internal/telemetry"
)

func asked(text string) model.Request {
	return model.Request{Task: "chat", Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: text}}}}}
}

func play(t *testing.T, steps ...scripted.Step) model.Model {
	t.Helper()
	return scripted.New(scripted.Script{Name: "m1", Answers: []scripted.Answer{{
		Steps: steps, Usage: &model.Usage{Input: 1000, Output: 200, CacheRead: 400},
	}}})
}

// An observed model keeps every promise of the one inside.
func TestAnObservedModelIsAModel(t *testing.T) {
	t.Parallel()
	text := asked("hello")
	modeltest.Run(t, modeltest.Setup{
		Open: func(*testing.T) model.Model { return observed.New(extractive.Model{}, observed.Options{}) },
		Text: &text,
	})
}

// Requirements: OBS-09
func TestEveryCallTellsItsTokensAndItsCost(t *testing.T) {
	t.Parallel()
	prices, err := observed.ReadPrices([]byte(`{"m1": {"input": 3, "output": 15, "cache_read": 0.5}}`))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	metrics := telemetry.NewMetrics("v")
	m := observed.New(play(t, scripted.Step{Text: "the secret answer"}), observed.Options{
		Prices: prices, Metrics: metrics, Logger: telemetry.NewLogger(&log, telemetry.LogOptions{JSON: true}),
	})
	var usage model.Usage
	for _, e := range modeltest.Play(t, m, asked("a question")) {
		usage = usage.Add(e.Usage)
	}
	const want = (3*1000 + 15*200 + 0.5*400) / 1e6
	if usage.CostUSD == nil || *usage.CostUSD != want {
		t.Errorf("the usage costs %v, want %v", usage.CostUSD, want)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	for key, want := range map[string]any{"model": "m1", "task": "chat", "input_tokens": 1000.0, "output_tokens": 200.0, "cost_usd": want, "outcome": "ok"} {
		if line[key] != want {
			t.Errorf("the log says %s is %v, want %v", key, line[key], want)
		}
	}
	if strings.Contains(log.String(), "secret answer") || strings.Contains(log.String(), "a question") {
		t.Errorf("the log has the words: %s", log.String())
	}
	page := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`liminal_model_tokens_total{class="input",model="m1"} 1000`, `liminal_model_calls_total{model="m1",outcome="ok"} 1`,
		`liminal_model_cost_usd_total{model="m1"} 0.0062`,
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("no %s in the figures", want)
		}
	}
}

func TestTheCostOfAModelWithoutAPriceIsNotKnown(t *testing.T) {
	t.Parallel()
	prices, err := observed.ReadPrices(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    model.Model
		free bool
	}{{play(t, scripted.Step{Text: "x"}), false}, {extractive.Model{}, true}} {
		var usage model.Usage
		for _, e := range modeltest.Play(t, observed.New(c.m, observed.Options{Prices: prices}), asked("x")) {
			usage = usage.Add(e.Usage)
		}
		if known := usage.CostUSD != nil; known != c.free {
			t.Errorf("%s: the cost is known: %v", c.m.Name(), known)
		}
	}
}

// A dated name is the same model at the same price: no budget in dollars is
// gone around by it.
//
// Requirements: OBS-09
func TestADatedModelCostsWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	prices, err := observed.ReadPrices([]byte(`{"gpt-4o-2024-05-13": {"input": 5, "output": 15}}`))
	if err != nil {
		t.Fatal(err)
	}
	m := observed.New(play(t), observed.Options{Prices: prices}).(interface {
		Cost(name string, u model.Usage) *float64
	})
	for name, want := range map[string]float64{
		"gpt-4o": 2.5, "gpt-4o-2024-08-06": 2.5, "gpt-4o-2024-05-13": 5, "gpt-4o-mini-2024-07-18": 0.15, "chatgpt-4o-latest": -1,
		"gpt-4o-latest": 2.5, "claude-haiku-4-5-20251001": 1, "gpt-4o-audio": -1, "gpt-4o-20": -1, "2024-08-06": -1,
	} {
		got := -1.0
		if usd := m.Cost(name, model.Usage{Input: 1e6}); usd != nil {
			got = *usd
		}
		if got != want {
			t.Errorf("a million tokens of %s cost %v, want %v", name, got, want)
		}
	}
}

func TestACallTellsHowItEnded(t *testing.T) {
	t.Parallel()
	slow := scripted.Step{Error: &scripted.Failure{Code: fault.RateLimited, Message: "slow down"}}
	for want, c := range map[string]struct {
		step scripted.Step
		read func(cancel func()) (more bool) // at the first words
	}{
		string(fault.RateLimited): {slow, func(func()) bool { return true }},
		"cancelled":               {scripted.Step{Hang: true}, func(cancel func()) bool { cancel(); return true }},
		"left":                    {scripted.Step{Hang: true}, func(func()) bool { return false }},
	} {
		var log bytes.Buffer
		m := observed.New(play(t, scripted.Step{Text: "first"}, c.step), observed.Options{Logger: telemetry.NewLogger(&log, telemetry.LogOptions{})})
		ctx, cancel := context.WithCancel(t.Context())
		for e := range m.Stream(ctx, asked("x")) {
			if e.Type == model.TextDelta && !c.read(cancel) {
				break
			}
		}
		cancel()
		if !strings.Contains(log.String(), "outcome="+want) {
			t.Errorf("want %s: %s", want, log.String())
		}
	}
}

func TestPricesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`[]`, `{"m": {"input": -1}}`, `{"m": "cheap"}`} {
		if _, err := observed.ReadPrices([]byte(raw)); err == nil {
			t.Errorf("%s is taken for prices", raw)
		}
	}
}

// applies is a model that tells how it applied adapters.
type applies struct {
	model.Model
	model.Applied
}

func (a applies) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	model.TellApplied(ctx, a.Applied)
	return a.Model.Stream(ctx, req)
}

// What a server merges in a way of its own is called approximate; what was
// composed exactly is not.
func TestTheLogSaysWhereAdaptersAreMergedOnlyNearly(t *testing.T) {
	t.Parallel()
	for near, a := range map[bool]model.Applied{
		true:  {Params: []model.AdapterParam{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}, Approximate: true},
		false: {Composed: "liminal-0"},
	} {
		var log bytes.Buffer
		m := observed.New(applies{play(t, scripted.Step{Text: "yes"}), a}, observed.Options{Logger: telemetry.NewLogger(&log, telemetry.LogOptions{})})
		heard := 0
		for _, err := range m.Stream(model.WithApplied(t.Context(), func(model.Applied) { heard++ }), asked("x")) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Contains(log.String(), "approximate=true"); got != near || heard != 1 {
			t.Errorf("near %v, heard %d: the log is %s", near, heard, log.String())
		}
	}
}
