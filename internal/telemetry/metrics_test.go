package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"liminal/internal/cache"
)

// page is what /metrics says.
func page(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %s", w.Code, err, body)
	}
	return string(body)
}

func wants(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(page, line) {
			t.Errorf("no line %s", line)
		}
	}
}

// Requirements: OBS-01 (request latency and errors; tokens; adapter usage and success_score; preference rate; node latency, retries and timeouts)
func TestMetricsCountWhatHappens(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.Request("GET", "/v1/runs/{id}", 503, 40*time.Millisecond, false)
	m.Request("GET", "/v1/runs/{id}/stream", 200, time.Hour, true)
	m.ToolCall("rag", "timeout", true, time.Second)
	m.ModelCall("m1", "ok", Tokens{Input: 10, Output: 4, CostUSD: 0.5}, time.Second)
	m.Adapter("a1")
	m.Preference("like")
	m.Slots("liminal", "ActivityWorker", "used", 3)
	m.Waited("liminal", "workflow", 20*time.Millisecond)
	m.Kept(true)
	m.FirstToken(300 * time.Millisecond)
	m.Turn("done", 900*time.Millisecond)
	m.Ended("chat", "failed", "internal")
	usd := 0.25
	m.Captured(Captured{Model: "m2", Tokens: map[string]int64{"cache_write_1h": 7, "input": 0}, USD: &usd, Cause: "idle", Missed: 900})
	m.Captured(Captured{Model: "m3"})
	m.Classified("late", 20*time.Second)
	done := m.Follow("sse")
	wants(t, page(t, m),
		`liminal_palace_tokens_total{class="cache_write_1h",model="m2"} 7`, `liminal_palace_cost_usd_total{model="m2"} 0.25`, `liminal_palace_unpriced_total{model="m3"} 1`,
		`liminal_palace_classify_seconds_count{outcome="late"} 1`, `liminal_palace_cache_misses_total{cause="idle"} 1`, `liminal_palace_cache_missed_tokens_total{cause="idle"} 900`,
		`liminal_http_requests_total{method="GET",route="/v1/runs/{id}",status="5xx"} 1`,
		`liminal_http_request_seconds_bucket{method="GET",route="/v1/runs/{id}",le="0.05"} 1`,
		`liminal_http_requests_total{method="GET",route="/v1/runs/{id}/stream",status="2xx"} 1`,
		`liminal_tool_calls_total{outcome="timeout",tool="rag"} 1`, `liminal_tool_retries_total{tool="rag"} 1`,
		`liminal_tool_seconds_count{tool="rag"} 1`,
		`liminal_model_tokens_total{class="input",model="m1"} 10`, `liminal_model_tokens_total{class="output",model="m1"} 4`,
		`liminal_model_cost_usd_total{model="m1"} 0.5`, `liminal_adapter_turns_total{adapter="a1"} 1`,
		`liminal_preferences_total{signal="like"} 1`, `liminal_cache_requests_total{cache="runs",result="hit"} 1`,
		`liminal_temporal_slots{kind="ActivityWorker",queue="liminal",state="used"} 3`, `liminal_temporal_wait_seconds_count{kind="workflow",queue="liminal"} 1`,
		`liminal_turn_first_token_seconds_count 1`, `liminal_turn_seconds_count{status="done"} 1`,
		`liminal_runs_ended_total{code="internal",kind="chat",status="failed"} 1`,
		`liminal_stream_followers{transport="sse"} 1`, `liminal_build_info{version="1.2.3"} 1`)
	done()
	if p := page(t, m); !strings.Contains(p, `liminal_stream_followers{transport="sse"} 0`) ||
		strings.Contains(p, `request_seconds_count{method="GET",route="/v1/runs/{id}/stream"}`) {
		t.Errorf("a stream that ended counts as followed, or its length as latency:\n%s", p)
	}
}

// Requirements: OBS-01 (adapter usage and success_score), RAG-17 (a metric)
func TestFiguresOfTheStoreAreTold(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v")
	asked := 0
	var fails error
	w := &watch{adapters: m.adapterNames, now: time.Now, ask: func(ctx context.Context) (Figures, error) {
		asked++
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the question has no bound")
		}
		return Figures{
			Open: map[string]int64{"running": 2}, IngestLag: 2 * time.Hour,
			Scores: map[string]float64{"a1": 0.25},
		}, fails
	}}
	m.registry.MustRegister(w)
	wants(t, page(t, m), `liminal_runs_open{status="running"} 2`, "liminal_ingest_lag_seconds 7200",
		`liminal_adapter_success_score{adapter="a1"} 0.25`, "liminal_figures_up 1")
	if strings.Contains(page(t, m), "training") {
		t.Error("figures of training are told without any training")
	}
	if asked != 1 {
		t.Errorf("two scrapes asked %d times", asked)
	}
	w.now = func() time.Time { return time.Now().Add(figuresFresh) }
	fails = errors.New("down")
	if p := page(t, m); !strings.Contains(p, "liminal_figures_up 0") || strings.Contains(p, "liminal_runs_open") {
		t.Errorf("a store that is down still tells figures:\n%s", p)
	}
}

// Requirements: OBS-01 (training jobs and loss), TRAIN-16 (job counts, failures and average loss are metrics)
func TestTrainingIsToldByHowJobsEndedAndWhatTheyLearnt(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v")
	m.Watch(func(context.Context) (Figures, error) {
		return Figures{Training: map[string]int64{"queued": 1, "failed": 3, "few": 2}, Loss: map[string]float64{"a1": 0.75, "a2": 0.25}}, nil
	})
	wants(t, page(t, m), `liminal_training_jobs{status="queued"} 1`, `liminal_training_jobs{status="failed"} 3`,
		`liminal_training_jobs{status="few"} 2`, `liminal_training_loss{adapter="a1"} 0.75`, "liminal_training_loss_average 0.5\n")
	none := NewMetrics("v")
	none.Watch(func(context.Context) (Figures, error) { return Figures{}, nil })
	if p := page(t, none); strings.Contains(p, "liminal_training_loss_average") {
		t.Errorf("of no training there is an average:\n%s", p)
	}
}

func TestLabelsFromDataAreBounded(t *testing.T) {
	t.Parallel()
	b := bounded{most: 2}
	for _, c := range [][2]string{{"a", "a"}, {"b", "b"}, {"c", "other"}, {"a", "a"}} {
		if got := b.of(c[0]); got != c[1] {
			t.Errorf("%s became %s, want %s", c[0], got, c[1])
		}
	}
}

type oneValue struct{ cache.Cache }

func (oneValue) Get(_ context.Context, key string) ([]byte, bool, error) {
	return nil, strings.HasSuffix(key, ":known"), nil
}

func TestReadsOfACacheAreCountedByItsNoun(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v")
	c := m.Cache(oneValue{})
	for _, key := range []string{"auth:session:known", "auth:session:known", "auth:session:lost"} {
		if _, _, err := c.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	m.Pool("postgres", func() Pool { return Pool{Used: 3, Idle: 1, Most: 9} })
	wants(t, page(t, m), `liminal_cache_requests_total{cache="auth:session",result="hit"} 2`,
		`liminal_cache_requests_total{cache="auth:session",result="miss"} 1`,
		`liminal_pool_connections{pool="postgres",state="used"} 3`)
}

func TestNobodyNeedsToAskWhetherMetricsAreThere(t *testing.T) {
	t.Parallel()
	var m *Metrics
	m.Request("GET", "/", 200, 0, false)
	m.ToolCall("t", "ok", false, 0)
	m.ModelCall("m", "ok", Tokens{}, 0)
	m.Follow("sse")()
	m.Watch(nil)
	m.Pool("p", nil)
	if m.Cache(nil) != nil {
		t.Error("a cache nobody counts is wrapped")
	}
	var traces *Traces
	if i, err := traces.Interceptor(); i != nil || err != nil {
		t.Errorf("got %v, %v", i, err)
	}
	if _, span := Start(t.Context(), "x"); span.IsRecording() {
		t.Error("a span outside of any trace is recorded")
	}
}

// The model in this process tells what it does at each scrape; without one there
// is no such series.
func TestTheLocalModelTellsItsFigures(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v")
	if body := page(t, m); strings.Contains(body, "liminal_local_model") {
		t.Error("there are figures of a model that is not there")
	}
	f := LocalModel{Rows: 3, Most: 8, Waiting: 2, Kept: 5, Read: 100, Reused: 40, Written: 7, Requests: 6, Cancelled: 1, Passes: 9, PassRows: 20, Memory: 4096, Adapters: 2, AdapterBytes: 1024, AdaptersEvicted: 4}
	m.WatchLocalModel(func() LocalModel { return LocalModel{} })
	m.WatchLocalModel(func() LocalModel { return f })
	want := []string{
		`liminal_local_model_rows{state="used"} 3`, `liminal_local_model_rows{state="most"} 8`, `liminal_local_model_rows{state="waiting"} 2`, `liminal_local_model_rows{state="kept"} 5`,
		`liminal_local_model_tokens_total{class="read"} 100`, `liminal_local_model_tokens_total{class="reused"} 40`, `liminal_local_model_tokens_total{class="written"} 7`,
		`liminal_local_model_requests_total 6`, `liminal_local_model_cancelled_total 1`, `liminal_local_model_passes_total 9`, `liminal_local_model_pass_rows_total 20`,
		`liminal_local_model_memory_bytes{of="keys"} 4096`, `liminal_local_model_memory_bytes{of="adapters"} 1024`,
		`liminal_local_model_adapters 2`, `liminal_local_model_adapters_evicted_total 4`,
	}
	wants(t, page(t, m), want...)
	f.Written = 8
	wants(t, page(t, m), `liminal_local_model_tokens_total{class="written"} 8`)
	var none *Metrics
	none.WatchLocalModel(nil)
}
