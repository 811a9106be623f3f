package worker

import (
	"maps"
	"time"

	"go.temporal.io/sdk/client"
)

// Meter is told what the SDK knows of the work that waits (OBS-01).
// *telemetry.Metrics is one.
type Meter interface {
	// Slots is how many tasks of a kind, such as ActivityWorker, this process
	// may carry out at once on a queue: "available" or "used".
	Slots(queue, kind, state string, n float64)
	// Waited is how long a "workflow" or "activity" task lay in a queue.
	Waited(queue, kind string, d time.Duration)
	// Kept says whether a run's next step found it in memory.
	Kept(hit bool)
}

// measured is what the SDK reports to; most of what it counts ends here.
type measured struct {
	meter Meter
	tags  map[string]string
}

var _ client.MetricsHandler = measured{}

// WithTags implements client.MetricsHandler.
func (m measured) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(m.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	return measured{meter: m.meter, tags: all}
}

// Counter implements client.MetricsHandler.
func (m measured) Counter(name string) client.MetricsCounter {
	switch name {
	case "temporal_sticky_cache_hit":
		return counter(func(int64) { m.meter.Kept(true) })
	case "temporal_sticky_cache_miss":
		return counter(func(int64) { m.meter.Kept(false) })
	}
	return counter(func(int64) {})
}

// Gauge implements client.MetricsHandler.
func (m measured) Gauge(name string) client.MetricsGauge {
	state := ""
	switch name {
	case "temporal_worker_task_slots_available":
		state = "available"
	case "temporal_worker_task_slots_used":
		state = "used"
	default:
		return gauge(func(float64) {})
	}
	return gauge(func(n float64) { m.meter.Slots(m.tags["task_queue"], m.tags["worker_type"], state, n) })
}

// Timer implements client.MetricsHandler.
func (m measured) Timer(name string) client.MetricsTimer {
	kind := ""
	switch name {
	case "temporal_workflow_task_schedule_to_start_latency":
		kind = "workflow"
	case "temporal_activity_schedule_to_start_latency":
		kind = "activity"
	default:
		return timer(func(time.Duration) {})
	}
	return timer(func(d time.Duration) { m.meter.Waited(m.tags["task_queue"], kind, d) })
}

type (
	counter func(int64)
	gauge   func(float64)
	timer   func(time.Duration)
)

func (f counter) Inc(n int64)          { f(n) }
func (f gauge) Update(n float64)       { f(n) }
func (f timer) Record(d time.Duration) { f(d) }
