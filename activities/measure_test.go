package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/model"
	"liminal/internal/routing"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// heard is a Meter that remembers.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) say(format string, a ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, fmt.Sprintf(format, a...))
}

func (h *heard) ToolCall(tool, outcome string, again bool, _ time.Duration) {
	h.say("call %s %s %t", tool, outcome, again)
}
func (h *heard) FirstToken(waited time.Duration) { h.say("first word %t", waited < time.Minute) }
func (h *heard) Turn(status string, took time.Duration) {
	h.say("turn %s %t", status, took < time.Minute)
}
func (h *heard) Ended(kind, status, code string) { h.say("ended %s %s %s", kind, status, code) }
func (h *heard) Adapter(id string)               { h.say("adapter %s", id) }

// Requirements: OBS-01 (node latency, retries and timeouts)
func TestACallIsCountedByHowItEnded(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]func(context.Context, *tool.Call) (map[string]any, error){
		"ok": func(_ context.Context, c *tool.Call) (map[string]any, error) {
			c.Emit(stream.TokenData("One "))
			c.Emit(stream.TokenData("two"))
			return map[string]any{}, nil
		},
		"error": func(context.Context, *tool.Call) (map[string]any, error) {
			return nil, fault.New(fault.Internal, "No.")
		},
		"timeout": func(context.Context, *tool.Call) (map[string]any, error) { return nil, context.DeadlineExceeded },
		"asks": func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"interrupt": map[string]any{"type": "confirm", "message": "Really?"}}, nil
		},
	} {
		w, meter := world(f), &heard{}
		set, in := w.Set(), callOf(w)
		set.Meter, in.Final, in.Run.RunID = meter, true, id.New()
		_, _ = set.Call(t.Context(), in) // how it ends is what is counted
		said := []string{"call " + in.Tool.Name + " " + want + " false"}
		if want == "ok" {
			said = slices.Insert(said, 0, "first word true")
		}
		if !slices.Equal(meter.all, said) {
			t.Errorf("%s: it counts %q, want %q", want, meter.all, said)
		}
		in.Attempt = 2
		_, _ = set.Call(t.Context(), in)
		if again := "call " + in.Tool.Name + " " + want + " true"; meter.all[len(meter.all)-1] != again || slices.Contains(meter.all[1:], "first word true") {
			t.Errorf("a second attempt counts %q", meter.all)
		}
	}
}

// ending is the end of a turn after one tool call.
func ending(o graph.Outcome) activities.CloseInput {
	usd := 0.25
	return activities.CloseInput{
		Opened: activities.Opened{Routing: json.RawMessage(`{"adapters":["a1"],"gates":{"a1":1}}`)}, Outcome: o,
		Steps: []graph.Step{{Node: "ask"}},
		Tally: activities.Tally{
			Usage:   model.Usage{Input: 10, Output: 4, CacheRead: 6, CostUSD: &usd},
			Records: []activities.Record{{Tool: "t", Node: "ask", Status: "error", Error: "timeout", MS: 12}},
		},
	}
}

// Requirements: OBS-10
func TestTheRowOfATurnThatFailedOrWasStoppedSaysWhatHappened(t *testing.T) {
	t.Parallel()
	for want, o := range map[run.Status]graph.Outcome{
		run.Failed:    {Err: &graph.Failure{Code: "server_error", Message: "Down.", Node: "ask"}},
		run.Cancelled: {Cancelled: true},
	} {
		w, meter := world(nil), &heard{}
		in, set := ending(o), w.Set()
		in.Run, set.Meter = w.Chat("hello", chat.TurnInput{}), meter
		if _, err := set.Close(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		end := w.Closed[0].End
		var trace struct {
			Steps []any `json:"steps"`
			Calls []struct {
				Tool, Status, Error string
				MS                  int64
			} `json:"calls"`
		}
		if err := json.Unmarshal(end.Trace, &trace); err != nil {
			t.Fatal(err)
		}
		if end.Status != want || len(trace.Steps) != 1 || len(trace.Calls) != 1 || trace.Calls[0].Error != "timeout" || trace.Calls[0].MS != 12 {
			t.Errorf("the row ends %s with %s", end.Status, end.Trace)
		}
		code := ""
		if want == run.Failed {
			code = "server_error"
			var f struct{ Code, Node string }
			if err := json.Unmarshal(end.Error, &f); err != nil || f.Code != code || f.Node != "ask" {
				t.Errorf("the row's error is %s", end.Error)
			}
		}
		if said := []string{"ended chat " + string(want) + " " + code, "adapter a1"}; !slices.Equal(meter.all, said) {
			t.Errorf("it counts %q, want %q", meter.all, said)
		}
	}
}

// Requirements: OBS-09
func TestTheEndOfATurnTellsTokensAndCost(t *testing.T) {
	t.Parallel()
	w, meter := world(nil), &heard{}
	in, set := ending(graph.Outcome{Response: "So it is."}), w.Set()
	in.Run, set.Meter = w.Chat("hello", chat.TurnInput{}), meter
	if _, err := set.Close(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	usage, _ := w.Event(stream.MessageDone)["usage"].(map[string]any)
	if usage["tokens_used"] != 20.0 || usage["cost_usd"] != 0.25 || usage["input_tokens"] != 10.0 {
		t.Errorf("the stream says %v", usage)
	}
	in.Tally.Usage.CostUSD = nil
	if _, err := set.Close(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	var result struct {
		Usage map[string]any `json:"usage"`
	}
	if err := json.Unmarshal(w.Closed[1].End.Result, &result); err != nil {
		t.Fatal(err)
	}
	if usd, told := result.Usage["cost_usd"]; !told || usd != nil {
		t.Errorf("a cost that is not known is %v in the row", usd)
	}
}

func TestATurnThatWaitedForNobodyTellsHowLongItTook(t *testing.T) {
	t.Parallel()
	for notices, want := range map[int]bool{0: true, 1: false} {
		w, meter := world(nil), &heard{}
		in, set := ending(graph.Outcome{Response: "So it is."}), w.Set()
		in.Run, set.Meter = w.Chat("hello", chat.TurnInput{}), meter
		row := w.Runs[in.Run.RunID]
		in.Run.RunID = id.New()
		w.Runs[in.Run.RunID] = row
		in.Tally.Notices = make([]activities.Notice, notices)
		if _, err := set.Close(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(meter.all, "turn done true"); got != want {
			t.Errorf("with %d questions it counts %q", notices, meter.all)
		}
	}
}

// Requirements: OBS-02 (workflow trace), GRAPH-18 (order)
func TestTheWayOfATurnIsInTheLog(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w, began := world(nil), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	in, set := ending(graph.Outcome{Response: "a private answer"}), w.Set()
	in.Run, set.Logger = w.Chat("a private question", chat.TurnInput{}), slog.New(slog.NewTextHandler(&log, nil))
	in.Steps = []graph.Step{
		{Node: "search", Outcome: graph.ResultOK, Started: began, Ended: began.Add(20 * time.Millisecond), Detail: "a private detail"},
		{Node: "answer", Outcome: graph.ResultFailed, Started: began, Ended: began.Add(time.Second)},
	}
	if _, err := set.Close(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if said := log.String(); !strings.Contains(said, `msg="a run ended" run=`+in.Run.RunID) || !strings.Contains(said, `steps="[search ok 20ms answer failed 1s]"`) || strings.Contains(said, "private") {
		t.Errorf("the log says %s", said)
	}
}

// Requirements: ROUTE-09 (logged), OBS-02 (routing trace)
func TestTheRoutingOfATurnIsInTheLog(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w := world(nil)
	set := w.Set()
	set.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	set.Router = activities.NewRouter(&memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5")},
		things:   map[string]artifacts.Artifact{"p": document("p", 1, artifacts.KindAdapter, persona)},
	}, routing.Backend{}, nil)
	in := w.Chat("hello", chat.TurnInput{ArtifactIDs: []string{"p"}})
	if _, err := set.Open(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"msg":"a turn was routed"`, `"run":"` + in.RunID, `"adapters":["p"]`, `"gates":{"p":0.5}`, `"fired":true`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log: %s", want, log.String())
		}
	}
}
