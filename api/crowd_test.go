package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"liminal/internal/id"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/tool"
)

const crowd = 200

// at once sends so many requests and returns their answers.
func atOnce[T any](n int, send func(i int) T) []T {
	got := make([]T, n)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			got[i] = send(i)
		})
	}
	close(start)
	all.Wait()
	return got
}

// Requirements: API-05, API-06, GRAPH-17
func TestACrowdWithOneKeyMakesOneRunAndGetsOneReply(t *testing.T) {
	t.Parallel()
	newWorld(t).crowdWithOneKey()
}

func (w *world) crowdWithOneKey() {
	w.Helper()
	t := w.T
	ada, key := w.signUp("ada@example.org"), id.New()
	body, runs := map[string]any{"message": "hello"}, map[string]bool{}
	send := func(int) *response { return ada.post("/v1/chat", body, "Idempotency-Key", key) }
	first := ""
	for _, got := range append(atOnce(crowd, send), send(0)) {
		if got.status == http.StatusConflict { // it came while the first was still worked on
			got.fails(409, "conflict")
			continue
		}
		runs[got.ok()["run_id"].(string)] = true
		if first == "" {
			first = string(got.body)
		}
		if string(got.body) != first {
			t.Errorf("%s, then %s", first, got.body)
		}
	}
	if list := items(ada.get("/v1/runs").ok()); len(list) != 1 || len(runs) != 1 || len(w.engine.turns) != 1 {
		t.Errorf("%d runs are stored, %d were told, the engine was asked %d times", len(list), len(runs), len(w.engine.turns))
	}
}

// Streams with one key that come in one moment are all given the one run.
//
// Requirements: API-05
func TestACrowdOfStreamsWithOneKeyFollowsOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, key := w.signUp("ada@example.org"), id.New()
	said := atOnce(16, func(int) string {
		r := ada.open(ada.request("POST", "/v1/chat", map[string]any{"message": "hello", "stream": true}, "Accept", "text/event-stream", "Idempotency-Key", key))
		return r.resp.Status + " " + r.resp.Header.Get("X-Run-Id") + " " + r.all()
	})
	for _, one := range said {
		if one != said[0] || !strings.HasPrefix(one, "200 OK ") {
			t.Errorf("%s, another %s", said[0], one)
		}
	}
	if len(w.engine.turns) != 1 {
		t.Errorf("%d turns began", len(w.engine.turns))
	}
}

// Requirements: ISO-08 (a fourth run is 409 busy), SAFE-04
func TestOfACrowdThreeRunAndTheRestAreTold(t *testing.T) {
	t.Parallel()
	newWorld(t).crowdOfMany()
}

func (w *world) crowdOfMany() {
	w.Helper()
	t := w.T
	w.engine.store = store.New(w.db, store.Options{}) // with the cap
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	var running atomic.Int64
	for i, got := range atOnce(crowd, func(i int) *response {
		return ada.post("/v1/chat", map[string]any{"message": "slow one", "stream": true, "client_request_id": fmt.Sprint("r", i)})
	}) {
		if got.status == http.StatusOK {
			running.Add(1)
			continue
		}
		if details, _ := got.fails(409, "conflict").Details.(map[string]any); details["reason"] != "busy" {
			t.Errorf("request %d: %v", i, details)
		}
	}
	if running.Load() != 3 {
		t.Errorf("%d turns run", running.Load())
	}
	bob.post("/v1/chat", map[string]any{"message": "not in their way"}).ok()
	list, _, err := w.store.ListRuns(t.Context(), ada.viewer(), run.Filter{Limit: 100})
	if w.must(err); len(list) != 3 {
		t.Errorf("%d runs are stored", len(list))
	}
}

// Requirements: OPS-12 (rate), ISO-08 (three runs, two answers)
func TestThePlansSayWhatIsEnforced(t *testing.T) {
	t.Parallel()
	for _, p := range quota.Plans() {
		if p.Decodes != tool.MaxDecodes {
			t.Errorf("%s: %d decodes in the plan, %d in the box", p.Name, p.Decodes, tool.MaxDecodes)
		}
	}
}
