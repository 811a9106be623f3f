// Package modeltest is what every model must do: the conformance suite of
// model.Model.
//
// A provider's test calls Run with how to open it, one that speaks to a server
// RunWire with a server that speaks its protocol. It may import model, fault and
// the standard library; only tests import it.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"liminal/internal/model"
)

// Setup tells the suite about a provider. Each request is one the provider
// answers in the way its name says; a request left nil skips that part.
type Setup struct {
	Open     func(t *testing.T) model.Model
	Text     *model.Request // answered with text only
	Tools    *model.Request // answered with at least one tool call
	Passages *model.Request // answered with at least one citation
	JSON     *model.Request // has a Schema, answered with JSON
	Endless  *model.Request // never ends by itself, or takes very long
}

// Run runs the suite.
func Run(t *testing.T, s Setup) {
	t.Helper()
	t.Run("text", func(t *testing.T) { s.text(t) })
	t.Run("tool use", func(t *testing.T) { s.tools(t) })
	t.Run("citations", func(t *testing.T) { s.citations(t) })
	t.Run("json", func(t *testing.T) { s.json(t) })
	t.Run("cancel", func(t *testing.T) { s.cancel(t) })
	t.Run("cancel between events", func(t *testing.T) { s.cancelBetween(t) })
	t.Run("a reader that leaves", func(t *testing.T) { s.leave(t) })
	t.Run("at once", func(t *testing.T) { s.concurrent(t) })
}

// Play collects the events of an answer and fails unless they are in order.
func Play(t *testing.T, m model.Model, req model.Request) []model.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var events []model.Event
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			t.Fatalf("the stream failed after %d events: %v", len(events), err)
		}
		events = append(events, e)
	}
	ordered(t, events)
	return events
}

// Text joins the text of an answer.
func Text(events []model.Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Type == model.TextDelta {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

func ordered(t *testing.T, events []model.Event) {
	t.Helper()
	if len(events) == 0 || events[len(events)-1].Type != model.Stop {
		t.Fatalf("the last of %d events is not stop", len(events))
	}
	usages := 0
	for i, e := range events[:len(events)-1] {
		switch e.Type {
		case model.Stop:
			t.Errorf("event %d is stop, but not the last", i)
		case model.UsageReport:
			usages++
		case model.TextDelta, model.ThinkingDelta, model.ToolCall, model.Citation:
			if usages > 0 {
				t.Errorf("event %d comes after the usage", i)
			}
		}
	}
	if usages != 1 {
		t.Errorf("%d usage reports, want one", usages)
	}
}

func need(t *testing.T, req *model.Request) model.Request {
	t.Helper()
	if req == nil {
		t.Skip("the provider has no such request")
	}
	return *req
}

func (s Setup) text(t *testing.T) {
	req := need(t, s.Text)
	m := s.Open(t)
	if m.Name() == "" {
		t.Error("the model has no name")
	}
	events := Play(t, m, req)
	if strings.TrimSpace(Text(events)) == "" {
		t.Error("no text")
	}
	for _, e := range events {
		if e.Type == model.UsageReport && (e.Usage.Input <= 0 || e.Usage.Output <= 0) {
			t.Errorf("usage %+v counts nothing", e.Usage)
		}
	}
	if r := events[len(events)-1].Reason; r != model.EndTurn {
		t.Errorf("stop reason %q, want %q", r, model.EndTurn)
	}
}

func (s Setup) tools(t *testing.T) {
	req := need(t, s.Tools)
	events := Play(t, s.Open(t), req)
	offered := map[string]bool{}
	for _, tool := range req.Tools {
		offered[tool.Name] = true
	}
	ids := map[string]bool{}
	for _, e := range events {
		if e.Type != model.ToolCall {
			continue
		}
		if e.ID == "" || ids[e.ID] || !offered[e.Name] || !json.Valid(e.Input) {
			t.Errorf("tool call %+v is not complete", e)
		}
		ids[e.ID] = true
	}
	if len(ids) == 0 {
		t.Error("no tool was called")
	}
	if r := events[len(events)-1].Reason; r != model.ToolCalls {
		t.Errorf("stop reason %q, want %q", r, model.ToolCalls)
	}
}

func (s Setup) citations(t *testing.T) {
	req := need(t, s.Passages)
	events := Play(t, s.Open(t), req)
	cited := 0
	for _, e := range events {
		if e.Type != model.Citation {
			continue
		}
		cited++
		if !quoted(req, e) {
			t.Errorf("the quote %q is not in the passage it cites", e.Quote)
		}
	}
	if cited == 0 {
		t.Error("nothing was cited")
	}
}

// quoted reports whether a citation stands, at its offsets, in a passage of
// the request.
func quoted(req model.Request, e model.Event) bool {
	if e.Source == nil || e.Quote == "" {
		return false
	}
	for _, m := range req.Messages {
		for _, b := range m.Content {
			if b.Type != model.Passage || b.Source == nil || b.Source.DocumentID != e.Source.DocumentID {
				continue
			}
			from, to := e.Source.Start-b.Source.Start, e.Source.End-b.Source.Start
			if from >= 0 && from <= to && to <= len(b.Text) && b.Text[from:to] == e.Quote {
				return true
			}
		}
	}
	return false
}

func (s Setup) json(t *testing.T) {
	req := need(t, s.JSON)
	if text := Text(Play(t, s.Open(t), req)); !json.Valid([]byte(text)) {
		t.Errorf("%q is not JSON", text)
	}
}

// atMost is how long a cancelled stream may go on.
const atMost = 50 * time.Millisecond

// soonEnough fails when an end, which end brings about and measures, takes longer
// than atMost each time: a busy machine may pause for as long now and then.
func soonEnough(t *testing.T, end func() time.Duration) {
	t.Helper()
	took := end()
	for tries := 1; took > atMost && tries < 10; tries++ {
		took = min(took, end())
	}
	if took > atMost {
		t.Errorf("it went on for %v, at most %v is allowed", took, atMost)
	}
}

func (s Setup) cancel(t *testing.T) {
	req := need(t, s.Endless)
	m := s.Open(t)
	soonEnough(t, func() time.Duration {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := make(chan struct{}, 1)
		done := make(chan error, 1)
		go func() {
			for _, err := range m.Stream(ctx, req) {
				if err != nil {
					done <- err
					return
				}
				select {
				case first <- struct{}{}:
				default:
				}
			}
			done <- nil
		}()
		select {
		case <-first:
		case err := <-done:
			t.Fatalf("the stream ended by itself: %v", err)
		case <-time.After(30 * time.Second):
			t.Fatal("no first event")
		}
		began := time.Now()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled stream ended with %v", err)
		}
		return time.Since(began)
	})
}

func (s Setup) cancelBetween(t *testing.T) {
	req := need(t, s.Text)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	events := 0
	for _, err := range s.Open(t).Stream(ctx, req) {
		events, last = events+1, err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || events > 2 {
		t.Errorf("after %d events the cancelled stream ended with %v", events, last)
	}
}

func (s Setup) leave(t *testing.T) {
	req := need(t, s.Text)
	for _, err := range s.Open(t).Stream(t.Context(), req) {
		if err != nil {
			t.Error(err)
		}
		break // a provider that yields once more panics here
	}
}

func (s Setup) concurrent(t *testing.T) {
	req := need(t, s.Text)
	m := s.Open(t)
	const n = 8
	texts := make(chan string, n)
	for range n {
		go func() {
			var b strings.Builder
			for e, err := range m.Stream(context.WithoutCancel(t.Context()), req) {
				if err == nil && e.Type == model.TextDelta {
					b.WriteString(e.Text)
				}
			}
			texts <- b.String()
		}()
	}
	for range n {
		if strings.TrimSpace(<-texts) == "" {
			t.Error("one of several answers at once is empty")
		}
	}
}
