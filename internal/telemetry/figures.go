package telemetry

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures is what only the store knows. A nil or empty map has no series:
// nothing is told of what is not there.
type Figures struct {
	Open      map[string]int64   // runs that have not ended, by status
	IngestLag time.Duration      // age of the document that waits longest to be read; 0: none waits (RAG-17)
	Training  map[string]int64   // training jobs, by status
	Loss      map[string]float64 // of the last training of each adapter
	Scores    map[string]float64 // success_score by adapter
}

const (
	figuresFresh = 15 * time.Second // how long an answer is told again
	figuresLimit = 2 * time.Second  // how long a scrape waits for one
)

// Watch adds the figures of a store. ask is called at most every 15 s,
// within 2 s, and only when somebody scrapes.
func (m *Metrics) Watch(ask func(context.Context) (Figures, error)) {
	if m != nil {
		m.registry.MustRegister(&watch{ask: ask, now: time.Now, adapters: m.adapterNames})
	}
}

// watch is a collector over a question.
type watch struct {
	ask      func(context.Context) (Figures, error)
	now      func() time.Time
	adapters *bounded

	mu   sync.Mutex
	at   time.Time
	last Figures
	err  error
}

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("liminal_"+name, help, labels, nil)
}

var (
	figuresUp = described("figures_up", "1 when the store told its figures, 0 when it did not.")
	runsOpen  = described("runs_open", "Runs that have not ended.", "status")
	ingestLag = described("ingest_lag_seconds", "Age of the document that waits longest to be read.")
	training  = described("training_jobs", "Training jobs.", "status")
	loss      = described("training_loss", "Loss of an adapter's last training.", "adapter")
	lossMean  = described("training_loss_average", "Mean of the losses of all adapters' last trainings.")
	score     = described("adapter_success_score", "How well an adapter does, -1 to 1.", "adapter")
)

func (w *watch) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{figuresUp, runsOpen, ingestLag, training, loss, lossMean, score} {
		to <- d
	}
}

func (w *watch) Collect(to chan<- prometheus.Metric) {
	f, err := w.figures()
	up := 1.0
	if err != nil {
		up = 0
	}
	to <- prometheus.MustNewConstMetric(figuresUp, prometheus.GaugeValue, up)
	if err != nil {
		return
	}
	to <- prometheus.MustNewConstMetric(ingestLag, prometheus.GaugeValue, f.IngestLag.Seconds())
	tell(to, runsOpen, f.Open, nil)
	tell(to, training, f.Training, nil)
	tell(to, loss, f.Loss, w.adapters)
	if len(f.Loss) > 0 { // of all, those without a series of their own too
		sum := 0.0
		for _, id := range slices.Sorted(maps.Keys(f.Loss)) { // added in one order: the same each time
			sum += f.Loss[id]
		}
		to <- prometheus.MustNewConstMetric(lossMean, prometheus.GaugeValue, sum/float64(len(f.Loss)))
	}
	tell(to, score, f.Scores, w.adapters)
}

// tell sends one series a key. Keys past a bound are left out: figures of
// several adapters have no sum.
func tell[V int64 | float64](to chan<- prometheus.Metric, d *prometheus.Desc, values map[string]V, keys *bounded) {
	for key, v := range values {
		if keys != nil && keys.of(key) != key {
			continue
		}
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), key)
	}
}

// figures are the store's, fresh enough.
func (w *watch) figures() (Figures, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.now(); w.at.IsZero() || now.Sub(w.at) >= figuresFresh {
		ctx, cancel := context.WithTimeout(context.Background(), figuresLimit)
		defer cancel()
		w.last, w.err = w.ask(ctx)
		w.at = now
	}
	return w.last, w.err
}

// Palace is what is taken in of agents behind the capture proxy.
type Palace struct {
	Bytes          int64 // of contents in the store, as far as they are bounded
	Full           bool  // there is no room for more
	Taken, Refused int64 // exchanges, and how often they could not be
}

// Palace adds those figures.
func (m *Metrics) Palace(ask func() Palace) {
	if m == nil {
		return
	}
	for name, f := range map[string]struct {
		help string
		of   func(Palace) float64
	}{
		"liminal_palace_stored_bytes": {"Bytes of contents of agents in the store.", func(p Palace) float64 { return float64(p.Bytes) }},
		"liminal_palace_full": {"1 when PALACE_DISK has no room for more of them.", func(p Palace) float64 {
			if p.Full {
				return 1
			}
			return 0
		}},
		"liminal_palace_taken":   {"Exchanges that this process took in.", func(p Palace) float64 { return float64(p.Taken) }},
		"liminal_palace_refused": {"How often it could not take in what there was.", func(p Palace) float64 { return float64(p.Refused) }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: f.help}, func() float64 { return f.of(ask()) }))
	}
}

// Pool is how many connections there are: in use, idle, and at most.
type Pool struct{ Used, Idle, Most int }

// Pool adds the figures of a pool of connections, such as "postgres".
func (m *Metrics) Pool(name string, ask func() Pool) {
	if m == nil {
		return
	}
	for state, of := range map[string]func(Pool) int{
		"used": func(p Pool) int { return p.Used }, "idle": func(p Pool) int { return p.Idle }, "most": func(p Pool) int { return p.Most },
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "liminal_pool_connections", Help: "Connections of a pool.",
			ConstLabels: prometheus.Labels{"pool": name, "state": state},
		}, func() float64 { return float64(of(ask())) }))
	}
}
