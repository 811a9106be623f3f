package api

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"liminal/internal/quota"
)

// heavy is a request with a body that is large and is nothing else.
func (p *person) heavy() *http.Request {
	return p.request("POST", "/v1/chat", `{"message":"`+strings.Repeat("x", largeBody))
}

func TestLargeBodiesOfOnePersonTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	w.server.deadlines.json = hasty // that a turn is waited for, and no body
	var leave []func()
	for range largeAtOnce() {
		l, err := w.server.large.Enter(t.Context(), ada.id)
		w.must(err)
		leave = append(leave, l)
	}
	ada.send(ada.heavy()).fails(429, "rate_limited")
	ada.get("/v1/runs").ok()
	bob.send(bob.heavy()).fails(400, "validation_error")
	leave[0]()
	ada.send(ada.heavy()).fails(400, "validation_error")
}

// A turn that is waited for is no reason to keep the next body out.
func TestWhoWaitsForAnAnswerHasHadTheirTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	for range largeAtOnce() {
		slow := ada.request("POST", "/v1/chat", map[string]any{"message": "slow " + strings.Repeat("x", largeBody)}).WithContext(ctx)
		waiting.Go(func() {
			if resp, err := http.DefaultClient.Do(slow); err == nil {
				resp.Body.Close()
				t.Errorf("it did not wait: %s", resp.Status)
			}
		})
	}
	for len(items(ada.get("/v1/runs").ok())) < largeAtOnce() {
		continue // they are on their way
	}
	ada.send(ada.heavy()).fails(400, "validation_error")
}

// Requirements: SAFE-04
func TestLargeBodiesAreBoundedInNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	for range quota.LargeBodies().Burst {
		ada.send(ada.heavy()).fails(400, "validation_error")
	}
	ada.send(ada.heavy()).fails(429, "rate_limited")
	ada.post("/v1/chat", map[string]any{"message": "hello"}).ok()
}
