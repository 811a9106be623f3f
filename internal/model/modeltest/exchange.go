package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
)

// exchanges is what a provider must make of each scenario.
var exchanges = []struct {
	name  Name
	check func(*testing.T, *stage)
}{
	{Plain, checkPlain},
	{Tools, checkTools},
	{Thinking, checkThinking},
	{Structured, checkStructured},
	{Citations, checkCitations},
	{NoUsage, checkNoUsage},
	{UnknownEvent, checkPlain},
	{SlowFirstByte, checkSlow},
	{Endless, checkEndless},
	{LongAnswer, func(t *testing.T, st *stage) { checkEnd(t, st, model.MaxTokens) }},
	{Refused, func(t *testing.T, st *stage) { checkEnd(t, st, model.Refusal) }},
	{RateLimited, checkRateLimited},
	{Overloaded, func(t *testing.T, st *stage) { checkFault(t, st, fault.RateLimited, fault.Upstream, "") }},
	{ServerError, func(t *testing.T, st *stage) { checkFault(t, st, fault.Internal, fault.Upstream, "") }},
	{BadKey, func(t *testing.T, st *stage) { checkFault(t, st, fault.Internal, fault.NotConfigured, "key") }},
	{BadRequest, func(t *testing.T, st *stage) { checkFault(t, st, fault.Invalid, "", "") }},
	{ContextTooLong, func(t *testing.T, st *stage) { checkFault(t, st, fault.Invalid, "", "too long") }},
	{NoSuchModel, func(t *testing.T, st *stage) { checkFault(t, st, fault.Invalid, "", "") }},
	{ErrorMidStream, checkBroken},
	{CutMidStream, checkBroken},
	{EndsMidStream, checkBroken},
}

func checkPlain(t *testing.T, st *stage) {
	events := Play(t, st.model, Request(st.Name))
	st.said(t, events)
	sent := st.once(t)
	for _, want := range []string{system, sentence(st.Name), "321"} {
		if !strings.Contains(sent.body, want) {
			t.Errorf("the request does not say %q", want)
		}
	}
	if !strings.Contains(strings.Join(flat(sent.header), "\n"), Key) {
		t.Error("the key did not reach the server")
	}
	for _, e := range events {
		if e.Type != model.UsageReport {
			continue
		}
		got := model.Usage{Input: e.Usage.Input, Output: e.Usage.Output, CacheRead: e.Usage.CacheRead}
		if got != st.Usage {
			t.Errorf("usage %+v, want %+v", got, st.Usage)
		}
	}
}

func flat(h map[string][]string) (out []string) {
	for _, values := range h {
		out = append(out, values...)
	}
	return out
}

// said compares the text of an answer and its end.
func (st *stage) said(t *testing.T, events []model.Event) {
	t.Helper()
	if got := Text(events); got != st.text() {
		t.Errorf("the answer is %q, want %q", got, st.text())
	}
	if r := events[len(events)-1].Reason; r != model.EndTurn {
		t.Errorf("stop reason %q, want %q", r, model.EndTurn)
	}
}

func checkTools(t *testing.T, st *stage) {
	events := Play(t, st.model, Request(Tools))
	if got := Text(events); got != st.text() {
		t.Errorf("the text is %q, want %q", got, st.text())
	}
	if r := events[len(events)-1].Reason; r != model.ToolCalls {
		t.Errorf("stop reason %q, want %q", r, model.ToolCalls)
	}
	var calls []model.Event
	for _, e := range events {
		if e.Type == model.ToolCall {
			calls = append(calls, e)
		}
	}
	if len(calls) != len(st.Calls) {
		t.Fatalf("%d tool calls, want %d", len(calls), len(st.Calls))
	}
	ids := map[string]bool{}
	for i, want := range st.Calls {
		got := calls[i]
		if want.Input == "" {
			want.Input = "{}"
		}
		if got.ID == "" || ids[got.ID] || got.Name != want.Name || !same(got.Input, want.Input) {
			t.Errorf("call %d is %s %s(%s), want %s(%s)", i, got.ID, got.Name, got.Input, want.Name, want.Input)
		}
		ids[got.ID] = true
	}
	if sent := st.once(t); !strings.Contains(sent.body, "water_level") || !strings.Contains(sent.body, "The names of all lakes.") {
		t.Error("the tools were not offered to the server")
	}
}

func same(a json.RawMessage, b string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func checkThinking(t *testing.T, st *stage) {
	events := Play(t, st.model, Request(Thinking))
	st.said(t, events)
	var thought strings.Builder
	signature, spoke := "", false
	for _, e := range events {
		switch e.Type {
		case model.ThinkingDelta:
			thought.WriteString(e.Text)
			signature += e.Signature
			if spoke {
				t.Error("thinking came after the text it was before")
			}
		case model.TextDelta:
			spoke = true
		default:
		}
	}
	if want := strings.Join(st.Thoughts, ""); thought.String() != want {
		t.Errorf("the thinking is %q, want %q", thought.String(), want)
	}
	if st.signed && signature == "" {
		t.Error("the signature of the thinking is lost")
	}
}

func checkStructured(t *testing.T, st *stage) {
	st.said(t, Play(t, st.model, Request(Structured)))
	if sent := st.once(t); !strings.Contains(sent.body, "sluice_gate") {
		t.Error("the schema was not sent")
	}
}

func checkCitations(t *testing.T, st *stage) {
	req := Request(Citations)
	cited := 0
	for _, e := range Play(t, st.model, req) {
		if e.Type != model.Citation {
			continue
		}
		cited++
		if e.Quote != st.Quote || !quoted(req, e) {
			t.Errorf("cited is %q at %+v, want %q at its offsets", e.Quote, e.Source, st.Quote)
		}
	}
	if cited != 1 {
		t.Errorf("%d citations, want one", cited)
	}
	sent := st.once(t)
	for _, want := range []string{lakes, roads, "Lake rules"} {
		if !strings.Contains(sent.body, want) {
			t.Errorf("the request does not say %q", want)
		}
	}
}

func checkNoUsage(t *testing.T, st *stage) {
	events := Play(t, st.model, Request(NoUsage))
	st.said(t, events)
	for _, e := range events {
		if e.Type == model.UsageReport && (e.Usage.Input <= 0 || e.Usage.Output <= 0) {
			t.Errorf("usage %+v is no estimate", e.Usage)
		}
	}
}

func checkEnd(t *testing.T, st *stage, want model.StopReason) {
	events := Play(t, st.model, Request(st.Name))
	if r := events[len(events)-1].Reason; r != want {
		t.Errorf("stop reason %q, want %q", r, want)
	}
	st.once(t)
}

// checkSlow opens the gate only after the request has arrived.
func checkSlow(t *testing.T, st *stage) {
	events := make(chan []model.Event, 1)
	go func() {
		var got []model.Event
		for e, err := range st.model.Stream(t.Context(), Request(SlowFirstByte)) {
			if err != nil {
				t.Errorf("the stream failed after %d events: %v", len(got), err)
				break
			}
			got = append(got, e)
		}
		events <- got
	}()
	<-st.arrived
	select {
	case got := <-events:
		t.Fatalf("%d events before the first byte", len(got))
	default:
		st.release()
	}
	got := <-events
	ordered(t, got)
	st.said(t, got)
}

func checkEndless(t *testing.T, st *stage) {
	Setup{Open: func(*testing.T) model.Model { return st.model }, Endless: ask(Endless)}.cancel(t)
	wait(t, st.left, "the server was not told that its reader left")
}

func ask(n Name) *model.Request { r := Request(n); return &r }

func wait(t *testing.T, c <-chan struct{}, otherwise string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatal(otherwise)
	}
}

// failure plays a scenario that must fail.
func (st *stage) failure(t *testing.T) ([]model.Event, error) {
	t.Helper()
	var events []model.Event
	var failed error
	for e, err := range st.model.Stream(t.Context(), Request(st.Name)) {
		if failed != nil {
			t.Fatal("the stream went on after its error")
		}
		if failed = err; err == nil {
			events = append(events, e)
		}
	}
	if failed == nil {
		t.Fatalf("the stream ended without an error after %d events", len(events))
	}
	if strings.Contains(failed.Error(), Key) {
		t.Errorf("the key stands in the error: %v", failed)
	}
	return events, failed
}

func checkFault(t *testing.T, st *stage, code fault.Code, reason, says string) {
	t.Helper()
	events, err := st.failure(t)
	if len(events) > 0 {
		t.Errorf("%d events before the refusal", len(events))
	}
	isFault(t, err, code, reason)
	if e := fault.From(err); !strings.Contains(e.Message, says) || len(e.Message) < 20 {
		t.Errorf("%q is no sentence that says %q", e.Message, says)
	}
	st.once(t)
}

func isFault(t *testing.T, err error, code fault.Code, reason string) {
	t.Helper()
	if _, ok := errors.AsType[*fault.Error](err); !ok {
		t.Fatalf("%v is no fault", err)
	}
	if fault.CodeOf(err) != code || fault.Reason(err) != reason {
		t.Errorf("the fault is %s (%s), want %s (%s): %v", fault.CodeOf(err), fault.Reason(err), code, reason, err)
	}
}

func checkRateLimited(t *testing.T, st *stage) {
	_, err := st.failure(t)
	isFault(t, err, fault.RateLimited, fault.Upstream)
	raw, marshal := json.Marshal(fault.From(err).Details)
	if marshal != nil {
		t.Fatal(marshal)
	}
	var details struct {
		After int64 `json:"retry_after_ms"`
	}
	if err := json.Unmarshal(raw, &details); err != nil || details.After != st.RetryAfter.Milliseconds() {
		t.Errorf("the details are %s, want retry_after_ms %d", raw, st.RetryAfter.Milliseconds())
	}
	st.once(t)
}

func checkBroken(t *testing.T, st *stage) {
	events, err := st.failure(t)
	isFault(t, err, fault.Internal, fault.Upstream)
	if got := Text(events); got != st.Text[0] {
		t.Errorf("before it broke off it said %q, want %q", got, st.Text[0])
	}
	for _, e := range events {
		if e.Type == model.Stop {
			t.Error("a broken stream stopped in good order")
		}
	}
	st.once(t)
}

func (w Wire) unreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	url := server.URL
	server.Close()
	st := &stage{Scenario: scenario(Plain), model: w.Open(t, url)}
	_, err := st.failure(t)
	isFault(t, err, fault.Internal, fault.Upstream)
}

// leave stops reading in the middle: nothing may go on behind the reader's
// back.
func (w Wire) leave(t *testing.T) {
	st := w.stage(t, scenario(Endless))
	for _, err := range st.model.Stream(t.Context(), Request(Endless)) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	wait(t, st.left, "the server was not told that its reader left")
}

func (w Wire) cancelEarly(t *testing.T) {
	st := w.stage(t, scenario(SlowFirstByte))
	soonEnough(t, func() time.Duration {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			var last error
			for _, err := range st.model.Stream(ctx, Request(SlowFirstByte)) {
				last = err
			}
			done <- last
		}()
		wait(t, st.arrived, "the request did not arrive")
		began := time.Now()
		cancel()
		err := <-done
		took := time.Since(began)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled stream ended with %v", err)
		}
		wait(t, st.left, "the server was not told that its reader left")
		return took
	})
}
