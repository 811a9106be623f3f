package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

// queueOfOne is a queue with one delivery, on the clock of its bubble.
type queueOfOne struct {
	Queue
	mu  sync.Mutex // it is looked at while what it gave is delivered
	job Job
}

func (q *queueOfOne) Due(context.Context, identity.Viewer) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.job.Status == Waiting && !q.job.NextAt.After(time.Now()), nil
}

func (q *queueOfOne) Spread(context.Context, identity.Viewer, int) (int, error) { return 0, nil }

func (q *queueOfOne) Claim(_ context.Context, _ identity.Viewer, _ int, lease time.Duration) ([]Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.job.Attempts++
	q.job.NextAt = time.Now().Add(lease)
	return []Job{q.job}, nil
}

func (q *queueOfOne) Settle(_ context.Context, _ identity.Viewer, _ Job, o Outcome) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.job.Status, q.job.NextAt = o.Status, o.NextAt
	return false, nil
}

func (q *queueOfOne) Prune(context.Context, identity.Viewer, time.Time) (int, error) { return 0, nil }

type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func testVault(t *testing.T) *vault.Vault {
	t.Helper()
	w, err := vault.New(bytes.Repeat([]byte("k"), vault.MinKey), "test")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestADeliveryThatFailsIsTriedForMoreThanADayAndEverLater(t *testing.T) {
	t.Parallel()
	w := testVault(t)
	synctest.Test(t, func(t *testing.T) {
		endpoint := Endpoint{ID: id.New(), Channel: HTTP, URL: "https://example.org", On: true}
		endpoint.Sealed, _ = seal(w, endpoint.ID, secrets{Now: newSecret()})
		q := &queueOfOne{job: Job{
			Delivery: Delivery{ID: id.New(), Status: Waiting, NextAt: time.Now(), Event: Event{Kind: RunDone, RunID: id.New(), At: time.Now()}},
			Endpoint: endpoint, Person: identity.User{Active: true},
		}}
		var at []time.Time
		c := NewCourier(CourierOptions{Queue: q, Vault: w, HTTP: &http.Client{Transport: transport(func(*http.Request) *http.Response {
			at = append(at, time.Now())
			answer := &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
			if len(at) == 1 {
				answer.StatusCode = http.StatusTooManyRequests
				answer.Header.Set("Retry-After", "60") // more than the five seconds it would be
			}
			return answer
		})}})
		ctx, cancel := context.WithTimeout(t.Context(), 48*time.Hour)
		defer cancel()
		c.Run(ctx)
		if len(at) != len(pauses)+1 || q.job.Status != Failed {
			t.Fatalf("%d attempts, and it is %s", len(at), q.job.Status)
		}
		for i, least := range pauses {
			if i == 0 {
				least = time.Minute
			}
			if waited := at[i+1].Sub(at[i]); waited < least || waited > least+least/5+2*time.Second {
				t.Errorf("after attempt %d it waits %s, want %s and up to a fifth more", i+1, waited, least)
			}
		}
		if all := at[len(at)-1].Sub(at[0]); all < 27*time.Hour || all > 34*time.Hour {
			t.Errorf("it was tried for %s", all)
		}
	})
}

func TestWaitingAsAskedIsBounded(t *testing.T) {
	t.Parallel()
	if wait, ok := pause(1, 1000*time.Hour); !ok || wait != maxAsked {
		t.Errorf("it waits %s", wait)
	}
	for value, want := range map[string]time.Duration{"7": 7 * time.Second, "-1": 0, "soon": 0, "": 0, "99999999999999999999": 0} {
		if got := askedToWait(http.StatusServiceUnavailable, http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("%q is %s", value, got)
		}
	}
	if got := askedToWait(http.StatusInternalServerError, http.Header{"Retry-After": {"7"}}); got != 0 {
		t.Errorf("of a fault it is %s", got)
	}
}
