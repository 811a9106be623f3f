package worker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

type told struct{ all []string }

func (t *told) Slots(queue, kind, state string, n float64) {
	t.all = append(t.all, fmt.Sprintln(queue, kind, state, n))
}

func (t *told) Waited(queue, kind string, d time.Duration) {
	t.all = append(t.all, fmt.Sprintln(queue, kind, d))
}

func (t *told) Kept(hit bool) { t.all = append(t.all, fmt.Sprintln(hit)) }

func TestTheSDKTellsOfWhatWaits(t *testing.T) {
	t.Parallel()
	meter := &told{}
	root := ClientOptions{Address: "127.0.0.1:1", Namespace: "default", Meter: meter}.sdk(nil).MetricsHandler
	h := root.WithTags(map[string]string{"task_queue": "liminal"}).WithTags(map[string]string{"worker_type": "ActivityWorker"})
	h.Gauge("temporal_worker_task_slots_available").Update(7)
	h.Gauge("temporal_worker_task_slots_used").Update(3)
	h.Gauge("temporal_num_pollers").Update(1)
	h.Timer("temporal_workflow_task_schedule_to_start_latency").Record(time.Second)
	h.Timer("temporal_request_latency").Record(time.Hour)
	root.Counter("temporal_sticky_cache_hit").Inc(1)
	root.Counter("temporal_sticky_cache_miss").Inc(1)
	root.Counter("temporal_request").Inc(1)
	want := []string{"liminal ActivityWorker available 7\n", "liminal ActivityWorker used 3\n", "liminal workflow 1s\n", "true\n", "false\n"}
	if !slices.Equal(meter.all, want) {
		t.Errorf("it says %q", meter.all)
	}
	if none := (ClientOptions{}).sdk(nil).MetricsHandler; none != client.MetricsHandler(nil) {
		t.Errorf("without a meter there is %v", none)
	}
}
