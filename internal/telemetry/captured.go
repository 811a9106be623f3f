package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// captured are figures of the exchanges that the capture proxy kept, as they are taken
// in (OBS-01, OBS-09).
type captured struct {
	tokens, cost, unpriced, misses, missed *prometheus.CounterVec
	classified                             *prometheus.HistogramVec
}

func newCaptured() *captured {
	return &captured{
		tokens:     counters("palace_tokens_total", "Tokens of captured exchanges by class: input, cache_read, cache_write_5m, cache_write_1h, output.", "model", "class"),
		cost:       counters("palace_cost_usd_total", "What captured exchanges of models with a known price cost by list, in US dollars.", "model"),
		unpriced:   counters("palace_unpriced_total", "Captured exchanges of models without a known price.", "model"),
		misses:     counters("palace_cache_misses_total", "Captured exchanges that the provider's cache gave less than it had, by cause.", "cause"),
		missed:     counters("palace_cache_missed_tokens_total", "Tokens that were not read from the provider's cache although it had them, by cause.", "cause"),
		classified: histograms("palace_classify_seconds", "How long models took that were asked what agents should go on to see, by what came of it: understood, unreadable, late, failed, remote, none.", slow, "outcome"),
	}
}

// Captured is what one captured exchange used.
type Captured struct {
	Model string
	// Tokens are those of each class.
	Tokens map[string]int64
	USD    *float64 // nil: the model has no price
	// Cause is why the cache was missed, from a closed set, and Missed how many tokens;
	// "": it was not.
	Cause  string
	Missed int64
}

// Captured counts an exchange that was taken in.
func (m *Metrics) Captured(c Captured) {
	if m == nil {
		return
	}
	model := m.models.of(c.Model)
	for class, n := range c.Tokens {
		if n > 0 {
			m.captured.tokens.WithLabelValues(model, class).Add(float64(n))
		}
	}
	if c.USD == nil {
		m.captured.unpriced.WithLabelValues(model).Inc()
	} else if *c.USD > 0 {
		m.captured.cost.WithLabelValues(model).Add(*c.USD)
	}
	if c.Cause != "" {
		m.captured.misses.WithLabelValues(c.Cause).Inc()
		m.captured.missed.WithLabelValues(c.Cause).Add(float64(c.Missed))
	}
}

// Classified counts an answer of a model that was asked what an agent should go on to see
// (PAL-08).
func (m *Metrics) Classified(outcome string, took time.Duration) {
	if m != nil {
		m.captured.classified.WithLabelValues(outcome).Observe(took.Seconds())
	}
}
