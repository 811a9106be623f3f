package telemetry

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// LocalModel is what the language model in this process does now and did since it
// began.
type LocalModel struct {
	Rows, Most, Waiting, Kept int   // answers being written, at most so many; those that wait; ended ones whose words are kept
	Read, Reused, Written     int64 // tokens: of prompts, of prompts that were not read again, of answers
	Requests, Cancelled       int64
	Passes, PassRows          int64 // through the model, and the rows of all of them
	Memory                    int   // bytes of keys and values
	Adapters, AdapterBytes    int   // in memory
	AdaptersEvicted           int64
}

// WatchLocalModel tells the figures of the language model in this process at each
// scrape; the last model that is watched is told of. A process without one has no
// such series.
func (m *Metrics) WatchLocalModel(ask func() LocalModel) {
	if m != nil {
		m.local.ask.Store(&ask)
	}
}

// localModel is a collector over the figures of a model.
type localModel struct {
	ask atomic.Pointer[func() LocalModel]
}

var (
	localRows     = described("local_model_rows", "Requests of the language model in this process: used (being answered), waiting, kept (ended, still known), most (answered at once at most).", "state")
	localTokens   = described("local_model_tokens_total", "Tokens of the language model in this process: read, reused (of prompts, not read again), written.", "class")
	localRequests = described("local_model_requests_total", "Requests to the language model in this process.")
	localGone     = described("local_model_cancelled_total", "Of these, those that were given up.")
	localPasses   = described("local_model_passes_total", "Passes through the language model in this process.")
	localBatched  = described("local_model_pass_rows_total", "Requests in all of these passes.")
	localMemory   = described("local_model_memory_bytes", "Memory the language model in this process takes: keys (and values of what it reads), adapters.", "of")
	localAdapters = described("local_model_adapters", "Adapters in memory.")
	localEvicted  = described("local_model_adapters_evicted_total", "Adapters that were given up for others.")
)

// Describe implements prometheus.Collector.
func (l *localModel) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{localRows, localTokens, localRequests, localGone, localPasses, localBatched, localMemory, localAdapters, localEvicted} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (l *localModel) Collect(to chan<- prometheus.Metric) {
	ask := l.ask.Load()
	if ask == nil {
		return
	}
	f := (*ask)()
	tell(to, localRows, map[string]int64{"used": int64(f.Rows), "most": int64(f.Most), "waiting": int64(f.Waiting), "kept": int64(f.Kept)}, nil)
	tell(to, localMemory, map[string]int64{"keys": int64(f.Memory), "adapters": int64(f.AdapterBytes)}, nil)
	to <- prometheus.MustNewConstMetric(localAdapters, prometheus.GaugeValue, float64(f.Adapters))
	for class, n := range map[string]int64{"read": f.Read, "reused": f.Reused, "written": f.Written} {
		to <- prometheus.MustNewConstMetric(localTokens, prometheus.CounterValue, float64(n), class)
	}
	for d, n := range map[*prometheus.Desc]int64{
		localRequests: f.Requests, localGone: f.Cancelled, localPasses: f.Passes, localBatched: f.PassRows, localEvicted: f.AdaptersEvicted,
	} {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n))
	}
}
