package rehearsal_test

import (
	"bytes"
	"compress/flate"
	"reflect"
	"testing"
	"time"

	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/rehearsal"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// Requirements: CFG-11
func TestARecordedRunIsReadAsItWasPacked(t *testing.T) {
	t.Parallel()
	cost := 0.25
	rec := past()
	rec.Form, rec.Order, rec.Partial = 1, []string{"understand#1", "search#1"}, true
	rec.Pins = []run.Pin{{ArtifactID: "a", Name: "n", Version: 2}}
	rec.Steps = []graph.Step{{Node: "search", Type: graph.ToolCall, Effect: "search#1", Visit: 1, Attempt: 1, Started: noon, Ended: noon.Add(time.Second), Outcome: graph.ResultOK}}
	rec.Outcome = rehearsal.Ending{Response: "r", Err: &graph.Failure{Code: "c", Message: "m", Node: "n"}, Cancelled: true, Suppressed: true}
	rec.Router = &routing.Input{SafetyRisk: "high", Embedding: []float64{1, 2}}
	rec.Gates = map[string]float64{"x": 0.5}
	rec.Outputs["search#1"][0].Usage = &model.Usage{Input: 1, CostUSD: &cost}
	packed, err := rehearsal.Pack(rec)
	if err != nil {
		t.Fatal(err)
	}
	again, err := rehearsal.Unpack(packed)
	if err != nil || !reflect.DeepEqual(rec, again) {
		t.Errorf("%v\n%+v\n%+v", err, rec, again)
	}
}

// Requirements: CFG-11
func TestADamagedRecordIsAnError(t *testing.T) {
	t.Parallel()
	packed, err := rehearsal.Pack(past())
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{
		"nothing": nil, "cut": packed[:len(packed)/2], "noise": []byte("not deflate at all"),
		"another form": squeezed(t, []byte(`{"form":99}`)), "no form": squeezed(t, []byte(`{}`)),
		"no JSON": squeezed(t, []byte(`{`)), "a bomb": squeezed(t, bytes.Repeat([]byte(" "), rehearsal.MaxRecord+10)),
	} {
		if _, err := rehearsal.Unpack(body); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	large := past()
	large.Input.Input["message"] = string(bytes.Repeat([]byte("x"), rehearsal.MaxRecord))
	if _, err := rehearsal.Pack(large); err == nil {
		t.Error("a run larger than the bound was packed")
	}
}

func squeezed(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestABranchIsTheNodesTaken(t *testing.T) {
	t.Parallel()
	way := func(nodes ...string) string {
		var steps []graph.Step
		for _, n := range nodes {
			steps = append(steps, graph.Step{Node: n})
		}
		return rehearsal.BranchOf(steps)
	}
	skipped := rehearsal.BranchOf([]graph.Step{{Node: "a"}, {Node: "b", Outcome: graph.ResultSkipped}})
	if way("a", "b") != way("b", "a", "b") || way("a", "b") == way("a") || skipped != way("a") || way() != "" || len(way("a")) > 32 {
		t.Errorf("%s %s %s", way("a", "b"), way("a"), skipped)
	}
}
