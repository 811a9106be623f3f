package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver takes webhooks once it is open; before it fails.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	secret string
	open   bool
	failed map[string]string // what came while it was closed, by webhook-id
	took   map[string]string
	wrong  []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{failed: map[string]string{}, took: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		id, kept := q.Header.Get("webhook-id"), r.took
		if !r.open {
			kept = r.failed
			w.WriteHeader(http.StatusInternalServerError)
		}
		verifier, err := standardwebhooks.NewWebhook(r.secret)
		if err == nil {
			err = verifier.Verify(body, q.Header)
		}
		before, again := kept[id]
		if err != nil || again && before != string(body) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %v: %s, before %s", id, err, body, before))
		}
		kept[id] = string(body)
	}))
	t.Cleanup(r.Close)
	return r
}

// told is of which events of which runs it took notice, as "question.waiting of ID",
// with the id of the delivery.
func (r *receiver) told(t *testing.T) map[string]string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]string{}
	for id, body := range r.took {
		var told struct {
			Type string
			Data struct {
				RunID string `json:"run_id"`
			}
		}
		if err := json.Unmarshal([]byte(body), &told); err != nil {
			t.Fatal(err)
		}
		what := told.Type + " of " + told.Data.RunID
		if out[what] != "" {
			t.Errorf("%s was told as %s and as %s", what, out[what], id)
		}
		out[what] = id
	}
	return out
}

// What happened is told, also where the program is killed before it was: what a receiver
// refused is sent again under the same id, what nobody had begun to send is sent, each
// signed anew.
func TestAWebhookIsToldOfWhatHappenedBeforeTheProgramWasKilled(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := start(t, "LIMINAL_WEB_ALLOW="+strings.TrimPrefix(r.URL, "http://"))
	ada := p.signUp("ada@example.org")
	helps := ada.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "schema": helper()})["id"]
	made := ada.must("POST", "/v1/webhooks", object{"url": r.URL, "events": []string{"question.waiting", "run.done"}})
	r.mu.Lock()
	r.secret = made["secret"].(string)
	r.mu.Unlock()
	want := []string{"run.done of " + ada.must("POST", "/v1/chat", object{"message": "hello"})["run_id"].(string)}
	p.until("a first attempt", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.failed) == 1
	})
	for range 2 {
		want = append(want, "run.done of "+ada.must("POST", "/v1/chat", object{"message": "hello"})["run_id"].(string))
	}
	question := ada.must("POST", "/v1/chat", object{"message": "my name", "workflow_id": helps})["interrupt"].(object)
	want = append(want, "question.waiting of "+question["run_id"].(string))
	p.kill() // a courier looks once in a second
	r.mu.Lock()
	r.open = true
	first := r.failed
	r.mu.Unlock()
	p.again()
	deadline := time.Now().Add(2 * patience) // of what was on its way, the lease ends first
	for {
		told := r.told(t)
		missing := 0
		for _, what := range want {
			if told[what] == "" {
				missing++
			}
		}
		if missing == 0 {
			if len(told) != len(want) {
				t.Errorf("it was told %v, wanted %v", told, want)
			}
			if _, same := first[told[want[0]]]; !same {
				t.Errorf("what was refused as %v came as %s", first, told[want[0]])
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it was told %v, wanted %v", told, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) != 0 {
		t.Errorf("not verified, or changed: %s", strings.Join(r.wrong, "\n"))
	}
}
