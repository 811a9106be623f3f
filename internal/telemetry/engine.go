package telemetry

import "time"

// Slots is how many tasks of a kind this process may carry out at once on a
// queue of the engine, "available" or "used".
func (m *Metrics) Slots(queue, kind, state string, n float64) {
	if m != nil {
		m.slots.WithLabelValues(queue, kind, state).Set(n)
	}
}

// Waited is how long a task of the engine lay in a queue.
func (m *Metrics) Waited(queue, kind string, d time.Duration) {
	if m != nil {
		m.lain.WithLabelValues(queue, kind).Observe(d.Seconds())
	}
}

// Kept says whether a run's next step found it in this process's memory.
func (m *Metrics) Kept(hit bool) {
	if m == nil {
		return
	}
	result := "miss"
	if hit {
		result = "hit"
	}
	m.read("runs", result)
}

// AdapterRead counts a read of the weights of an adapter: whether they were in
// memory (LORA-18).
func (m *Metrics) AdapterRead(hit bool) {
	if m == nil {
		return
	}
	if hit {
		m.read("adapters", "hit")
		return
	}
	m.read("adapters", "miss")
}
