package run_test

import (
	"encoding/json"
	"testing"
	"time"

	"liminal/internal/graph"
	"liminal/internal/run"
)

// Rows hold traces, and so do pages that people have open.
//
// Requirements: GRAPH-18 (order)
func TestATraceIsStoredAsItAlwaysWas(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, trace := range map[string]run.Trace{
		`{"steps":null}`: {},
		`{"path":[{"name":"embed","ms":3}],"routing":{"rules":[]},"steps":[{"node":"a","type":"switch","visit":1,"started":"2026-01-02T03:04:05Z"}],` +
			`"calls":[{"effect":"a#1","attempt":1,"node":"a","tool":"t","arguments":{},"status":"ok","ms":7}]}`: {
			Path: []run.TraceStage{{Name: "embed", MS: 3}}, Routing: json.RawMessage(`{"rules":[]}`),
			Steps: []graph.Step{{Node: "a", Type: graph.Switch, Visit: 1, Started: at}},
			Calls: []run.TraceCall{{Effect: "a#1", Attempt: 1, Node: "a", Tool: "t", Args: json.RawMessage(`{}`), Status: "ok", MS: 7}},
		},
	} {
		raw, err := json.Marshal(trace)
		if err != nil || string(raw) != want {
			t.Errorf("%s, %v\nwant %s", raw, err, want)
		}
	}
}
