package bench

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"liminal/internal/model"
	"liminal/internal/tool"
)

// The workflows that are measured, by the name they are stored under.
const (
	fiveWorkflow = "bench.five"
	asksWorkflow = "bench.asks"
	chatWorkflow = "default" // the one every turn without documents runs
	noopTool     = "bench.noop_v1"
)

func workflowDocuments() map[string]string {
	return map[string]string{
		fiveWorkflow: `{"kind":"workflow.chat","entrypoint":"n1","nodes":[
			{"id":"n1","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"n2"},
			{"id":"n2","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"n3"},
			{"id":"n3","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"n4"},
			{"id":"n4","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"n5"},
			{"id":"n5","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"done"},
			{"id":"done","type":"end","response":"ok"}]}`,
		asksWorkflow: `{"kind":"workflow.chat","entrypoint":"before","nodes":[
			{"id":"before","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"ask"},
			{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Go on?","save_as":"word","next":"after"},
			{"id":"after","type":"tool_call","tool":"bench.noop_v1","inputs":{},"next":"done"},
			{"id":"done","type":"end","response":"ok"}]}`,
	}
}

// noop does nothing, inline: what is left is the platform's own cost.
type noop struct{}

// Name implements tool.Tool.
func (noop) Name() string { return noopTool }

// Run implements tool.Tool.
func (noop) Run(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil }

func noopSpec() tool.Spec {
	return tool.Spec{
		Kind: "tool.spec", Name: noopTool, Description: "Does nothing, for the benchmark.",
		InputSchema:  json.RawMessage(`{"type":"object"}`),
		OutputSchema: json.RawMessage(`{"type":"object"}`),
		Runs:         tool.Inline, ReadOnly: true,
	}
}

// metronome is a model that costs nothing. It answers at once with one word;
// a message that begins with streamPrefix gets many, one a beat, each holding
// the moment it was sent.
type metronome struct{}

const (
	streamPrefix = "stream "
	beat         = 5 * time.Millisecond
	wordLength   = 20
)

// Name implements model.Model.
func (metronome) Name() string { return "metronome" }

// Generative implements model.Model.
func (metronome) Generative() bool { return true }

// Stream implements model.Model.
func (metronome) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		count, ok := strings.CutPrefix(lastText(req), streamPrefix)
		if !ok {
			count = "0"
		}
		if !yield(model.Event{Type: model.TextDelta, Text: word(time.Now())}, nil) {
			return
		}
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for range atoi(count) {
			select {
			case <-ctx.Done():
				yield(model.Event{}, ctx.Err())
				return
			case <-ticker.C:
			}
			if !yield(model.Event{Type: model.TextDelta, Text: word(time.Now())}, nil) {
				return
			}
		}
		_ = yield(model.Event{Type: model.UsageReport, Usage: model.Usage{Input: 1, Output: 1}}, nil) &&
			yield(model.Event{Type: model.Stop, Reason: model.EndTurn}, nil)
	}
}

func lastText(req model.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	var text strings.Builder
	for _, b := range req.Messages[len(req.Messages)-1].Content {
		text.WriteString(b.Text)
	}
	return text.String()
}
