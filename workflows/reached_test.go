package workflows_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// What a server makes of adapters is known once it was asked. The trace says where
// that is not what routing chose, of the answer and not of the try before it.
//
// Requirements: LORA-16, GRAPH-18 (order)
func TestATraceSaysWhereAdaptersDidNotReachTheModelAsChosen(t *testing.T) {
	t.Parallel()
	refused := model.Applied{}.Without(model.DroppedRefused, model.Adapter{ID: "a", Weight: 0.5})
	for name, c := range map[string]struct {
		told []model.Applied
		want *run.TraceAdapters
	}{
		"as chosen":   {[]model.Applied{{Composed: "x"}}, nil},
		"none":        {nil, nil},
		"approximate": {[]model.Applied{{}, {Approximate: true}}, &run.TraceAdapters{Approximate: true}},
		"not used":    {[]model.Applied{refused}, &run.TraceAdapters{Left: []run.LeftAdapter{{ID: "a", Reason: "weights_refused", Weight: 0.5}}}},
		"asked again": {[]model.Applied{{Approximate: true}, {}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, activitiestest.New(oneNode).Tool("say", models, func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
				for _, a := range c.told {
					model.TellApplied(ctx, a)
				}
				return map[string]any{"answer": "It is so."}, nil
			}))
			b.chat("hello")
			var trace run.Trace
			if err := json.Unmarshal(b.closed().End.Trace, &trace); err != nil || len(trace.Calls) == 0 {
				t.Fatalf("the trace is %s (%v)", b.closed().End.Trace, err)
			}
			if got := trace.Calls[0].Adapters; !reflect.DeepEqual(got, c.want) {
				t.Errorf("it says %+v, want %+v", got, c.want)
			}
		})
	}
}
