package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Label values that could come from data are bounded: past these many
// different ones, the rest are counted as "other".
const (
	maxTools    = 200
	maxModels   = 50
	maxAdapters = 100
	maxCaches   = 32
)

// Buckets in seconds. Those of requests and turns are fine around the bounds
// the alerts look at.
var (
	quick = []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10}
	slow  = []float64{.01, .025, .05, .1, .2, .4, .8, 1.2, 2, 3, 5, 8, 13, 30, 60, 120}
)

// Metrics are the figures of one process (OBS-01). All methods are safe for
// concurrent use, and do nothing on a nil receiver.
type Metrics struct {
	registry *prometheus.Registry

	requests      *prometheus.CounterVec
	requestTime   *prometheus.HistogramVec
	followers     *prometheus.GaugeVec
	firstToken    prometheus.Histogram
	turnTime      *prometheus.HistogramVec
	ended         *prometheus.CounterVec
	calls         *prometheus.CounterVec
	callTime      *prometheus.HistogramVec
	retries       *prometheus.CounterVec
	modelCalls    *prometheus.CounterVec
	modelTime     *prometheus.HistogramVec
	tokens        *prometheus.CounterVec
	cost          *prometheus.CounterVec
	adapters      *prometheus.CounterVec
	preferences   *prometheus.CounterVec
	foreignRows   *prometheus.CounterVec
	cacheAsked    *prometheus.CounterVec
	slots         *prometheus.GaugeVec
	lain          *prometheus.HistogramVec
	tools, models *bounded
	adapterNames  *bounded
	cacheNames    *bounded
	local         *localModel
	captured      *captured
}

// NewMetrics registers the figures every process has. Those that somebody else
// knows are added with Watch and Pool.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("http_requests_total", "Answered HTTP requests.", "method", "route", "status"),
		requestTime: histograms("http_request_seconds", "Time until an answer was complete. Streams and sockets are left out.", quick,
			"method", "route"),
		followers: gauges("stream_followers", "Readers that follow a stream now.", "transport"),
		firstToken: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "liminal_turn_first_token_seconds", Help: "Time from accepting a turn to its first word.", Buckets: slow,
		}),
		turnTime:     histograms("turn_seconds", "Time from accepting a turn to its end, of turns that asked the person nothing.", slow, "status"),
		ended:        counters("runs_ended_total", "Runs that ended.", "kind", "status", "code"),
		calls:        counters("tool_calls_total", "Tool calls by how they ended: ok, asks, error, timeout, stopped.", "tool", "outcome"),
		callTime:     histograms("tool_seconds", "Time of one tool call.", slow, "tool"),
		retries:      counters("tool_retries_total", "Tool calls that repeat a failed one.", "tool"),
		modelCalls:   counters("model_calls_total", "Model calls by how they ended.", "model", "outcome"),
		modelTime:    histograms("model_seconds", "Time of one model call.", slow, "model"),
		tokens:       counters("model_tokens_total", "Tokens by class: input, output, cache_read, cache_write.", "model", "class"),
		cost:         counters("model_cost_usd_total", "What calls of models with a known price cost, in US dollars.", "model"),
		adapters:     counters("adapter_turns_total", "Turns an adapter took part in.", "adapter"),
		foreignRows:  counters("source_foreign_rows_total", "Rows of a source that a query gave and its person may not see: the query is faulty.", "tool"),
		preferences:  counters("preferences_total", "What people said of answers.", "signal"),
		cacheAsked:   counters("cache_requests_total", "Reads of a cache by result: hit, miss, error.", "cache", "result"),
		slots:        gauges("temporal_slots", "Tasks this process may carry out at once: available or used.", "queue", "kind", "state"),
		lain:         histograms("temporal_wait_seconds", "How long tasks lie in a queue.", quick, "queue", "kind"),
		tools:        &bounded{most: maxTools},
		models:       &bounded{most: maxModels},
		adapterNames: &bounded{most: maxAdapters},
		cacheNames:   &bounded{most: maxCaches},
		local:        &localModel{},
		captured:     newCaptured(),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "liminal_build_info", Help: "1, for the version that runs.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(build,
		m.requests, m.requestTime, m.followers, m.firstToken, m.turnTime, m.ended, m.calls, m.callTime, m.retries,
		m.modelCalls, m.modelTime, m.tokens, m.cost, m.adapters, m.preferences, m.foreignRows, m.cacheAsked, m.slots, m.lain, m.local,
		m.captured.tokens, m.captured.cost, m.captured.unpriced, m.captured.misses, m.captured.missed, m.captured.classified,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "liminal_" + name, Help: help}, labels)
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "liminal_" + name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "liminal_" + name, Help: help, Buckets: buckets}, labels)
}

// Handler serves /metrics. A figure that cannot be told is left out and the
// others are served.
func (m *Metrics) Handler() http.Handler {
	if m == nil {
		return http.NotFoundHandler()
	}
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Request counts an answered request. The route is its pattern, never its
// path; lasting ones, which follow a stream, have no time.
func (m *Metrics) Request(method, route string, status int, took time.Duration, lasting bool) {
	if m == nil {
		return
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Inc()
	if !lasting {
		m.requestTime.WithLabelValues(method, route).Observe(took.Seconds())
	}
}

// Follow counts a reader of a stream until done is called.
func (m *Metrics) Follow(transport string) (done func()) {
	if m == nil {
		return func() {}
	}
	g := m.followers.WithLabelValues(transport)
	g.Inc()
	return g.Dec
}

// FirstToken tells how long a person waited for the first word of an answer.
func (m *Metrics) FirstToken(waited time.Duration) {
	if m != nil {
		m.firstToken.Observe(waited.Seconds())
	}
}

// Turn tells how long a whole turn took. Turns that waited for a person are
// not told: that time is theirs.
func (m *Metrics) Turn(status string, took time.Duration) {
	if m != nil {
		m.turnTime.WithLabelValues(status).Observe(took.Seconds())
	}
}

// Ended counts a run; code is empty unless it failed.
func (m *Metrics) Ended(kind, status, code string) {
	if m != nil {
		m.ended.WithLabelValues(kind, status, code).Inc()
	}
}

// ToolCall counts one call of a tool.
func (m *Metrics) ToolCall(tool, outcome string, again bool, took time.Duration) {
	if m == nil {
		return
	}
	tool = m.tools.of(tool)
	m.calls.WithLabelValues(tool, outcome).Inc()
	m.callTime.WithLabelValues(tool).Observe(took.Seconds())
	if again {
		m.retries.WithLabelValues(tool).Inc()
	}
}

// Tokens are what one model call used, and what it cost where that is known.
type Tokens struct {
	Input, Output, CacheRead, CacheWrite int
	CostUSD                              float64
}

// ModelCall counts one call of a model (OBS-09).
func (m *Metrics) ModelCall(model, outcome string, used Tokens, took time.Duration) {
	if m == nil {
		return
	}
	model = m.models.of(model)
	m.modelCalls.WithLabelValues(model, outcome).Inc()
	m.modelTime.WithLabelValues(model).Observe(took.Seconds())
	for class, n := range map[string]int{"input": used.Input, "output": used.Output, "cache_read": used.CacheRead, "cache_write": used.CacheWrite} {
		if n > 0 {
			m.tokens.WithLabelValues(model, class).Add(float64(n))
		}
	}
	if used.CostUSD > 0 {
		m.cost.WithLabelValues(model).Add(used.CostUSD)
	}
}

// Preference counts what somebody said of an answer; signals are a closed set.
func (m *Metrics) Preference(signal string) {
	if m != nil {
		m.preferences.WithLabelValues(signal).Inc()
	}
}

// ForeignRows counts rows of a source that a tool's query gave and its person
// may not see (GRND-13).
func (m *Metrics) ForeignRows(tool string, n int) {
	if m != nil {
		m.foreignRows.WithLabelValues(m.tools.of(tool)).Add(float64(n))
	}
}

// Adapter counts a turn an adapter took part in.
func (m *Metrics) Adapter(id string) {
	if m != nil {
		m.adapters.WithLabelValues(m.adapterNames.of(id)).Inc()
	}
}
