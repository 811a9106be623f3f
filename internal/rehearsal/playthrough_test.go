package rehearsal_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
)

// past is a run of the documents graph that asked which document was meant.
func past() rehearsal.Record {
	found := func(clarity string) map[string]any {
		return map[string]any{
			"passages": []any{}, "confidence": "high", "clarity": clarity, "average_similarity": 0.8,
			"documents": []any{map[string]any{"id": "d1", "title": "One"}, map[string]any{"id": "d2", "title": "Two"}},
			"options":   []any{map[string]any{"id": "d1", "label": "One"}, map[string]any{"id": "d2", "label": "Two"}},
		}
	}
	return rehearsal.Record{
		Input: graph.Input{
			Input: map[string]any{"message": "How long is the notice period?"},
			Now:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		Outputs: map[string][]rehearsal.Output{
			"understand#1":    {{Tool: "llm.intent_classifier_v1", Result: map[string]any{"intent": "qa_with_docs", "confidence": 0.9}, Took: time.Second}},
			"search#1":        {{Tool: "rag.search_v1", Result: found("several")}},
			"choose#1":        {{Result: map[string]any{"answer": "d2"}, Took: 24 * time.Hour}},
			"search_chosen#1": {{Tool: "rag.search_v1", Result: found("clear")}},
			"answer#1": {
				{Tool: "rag.answer_with_context_v1", Failure: &graph.Failure{Code: "server_error", Message: "down", Retryable: true}},
				{Tool: "rag.answer_with_context_v1", Result: map[string]any{"answer": "Three months [1].", "citations": []any{map[string]any{"n": 1.0}}}},
			},
		},
	}
}

func rehearse(t *testing.T, doc json.RawMessage, rec rehearsal.Record) rehearsal.Playthrough {
	t.Helper()
	library := stocked(t)
	tools, err := library.ToolsOf(t.Context(), ann, doc)
	if err != nil {
		t.Fatal(err)
	}
	report, err := rehearsal.Play(doc, tools, graph.ChatLimits(), rec)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Requirements: GRAPH-30, GRAPH-22
func TestARehearsalWalksThePathOfTheRecordedRun(t *testing.T) {
	t.Parallel()
	report := rehearse(t, artifactstest.Shipped(t, artifacts.DocumentsWorkflow), past())
	want := []string{"understand", "route", "search", "found", "complete", "judge", "choose", "search_chosen", "answer"}
	if !slices.Equal(slices.Compact(report.Path), want) {
		t.Errorf("walked %v", report.Path)
	}
	if report.Outcome.Err != nil || report.Outcome.Response != "Three months [1]." || len(report.Outcome.Citations) != 1 {
		t.Errorf("came to %+v", report.Outcome)
	}
	if len(report.Divergences) > 0 || len(report.Unused) > 0 {
		t.Errorf("diverged: %v, unused: %v", report.Divergences, report.Unused)
	}
}

// Requirements: GRAPH-30
func TestARehearsalGivesTheSameReportAlways(t *testing.T) {
	t.Parallel()
	doc := artifactstest.Shipped(t, artifacts.DocumentsWorkflow)
	first := rehearse(t, doc, past())
	for range 20 {
		if again := rehearse(t, doc, past()); !reflect.DeepEqual(first, again) {
			t.Fatalf("%+v\n%+v", first, again)
		}
	}
}

// Requirements: GRAPH-30
func TestARehearsalTellsWhereAnEditLeavesThePast(t *testing.T) {
	t.Parallel()
	doc := json.RawMessage(`{"kind":"workflow.chat","entrypoint":"find","nodes":[
		{"id":"find","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"${input.message}"},"next":"talk"},
		{"id":"talk","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${vars.find.clarity}"}}]}`)
	report := rehearse(t, doc, past())
	if report.Outcome.Err != nil {
		t.Fatal(report.Outcome.Err)
	}
	var where []string
	for _, d := range report.Divergences {
		where = append(where, d.Effect)
	}
	if !slices.Equal(where, []string{"find#1", "talk#1"}) {
		t.Errorf("divergences at %v", where)
	}
	if !slices.Contains(report.Unused, "choose#1") {
		t.Errorf("unused: %v", report.Unused)
	}
}

// Requirements: GRAPH-30, GRAPH-20
func TestARehearsalOfAnEndlessGraphEnds(t *testing.T) {
	t.Parallel()
	doc := json.RawMessage(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"x"},"next":"a"}]}`)
	if report := rehearse(t, doc, past()); report.Outcome.Err == nil || report.Outcome.Err.Code != graph.CodeLimit {
		t.Errorf("%+v", report.Outcome)
	}
}

// Requirements: GRAPH-10 (reaches node_rag; reaches node_code_agent; reaches node_plain), GRAPH-22
func TestTheSeedsExampleComesToEachOfItsLeaves(t *testing.T) {
	t.Parallel()
	doc := artifactstest.Shipped(t, "classify_and_route")
	for intent, leaf := range map[string]string{
		"qa_with_docs": "node_rag", "analysis": "node_rag", "code_edit": "node_code_agent", "smalltalk": "node_plain", "other": "node_plain",
	} {
		rec := rehearsal.Record{
			Input:   graph.Input{Input: map[string]any{"message": "hi"}},
			Outputs: map[string][]rehearsal.Output{"node_classify#1": {{Result: map[string]any{"intent": intent, "confidence": 1.0}}}},
		}
		report := rehearse(t, doc, rec)
		if want := []string{"node_classify", "node_route", leaf}; report.Outcome.Err != nil || !slices.Equal(report.Path, want) {
			t.Errorf("%s: walked %v, %v", intent, report.Path, report.Outcome.Err)
		}
	}
}

// Requirements: GRAPH-22, INT-09 (resumes with null; defaults; the run reaches its end)
func TestTheDocumentsGraphGoesOnWhateverHappens(t *testing.T) {
	t.Parallel()
	doc := artifactstest.Shipped(t, artifacts.DocumentsWorkflow)
	with := func(change func(out map[string][]rehearsal.Output)) rehearsal.Playthrough {
		rec := past()
		change(rec.Outputs)
		return rehearse(t, doc, rec)
	}
	last := func(r rehearsal.Playthrough) string { return r.Path[len(r.Path)-1] }
	clarity := func(out map[string][]rehearsal.Output, c string) { out["search#1"][0].Result["clarity"] = c }

	cases := map[string]struct {
		end    string
		change func(out map[string][]rehearsal.Output)
	}{
		"a classifier that is down": {"answer", func(out map[string][]rehearsal.Output) {
			out["understand#1"] = []rehearsal.Output{{Failure: &graph.Failure{Code: "server_error", Message: "down", Retryable: true}}}
		}},
		"an answer that is clear": {"answer", func(out map[string][]rehearsal.Output) { clarity(out, "clear") }},
		"nothing that fits":       {"answer", func(out map[string][]rehearsal.Output) { clarity(out, "none") }},
		"a vague question": {"answer", func(out map[string][]rehearsal.Output) {
			clarity(out, "vague")
			out["clarify#1"] = []rehearsal.Output{{Result: map[string]any{"answer": "the notice period"}}}
			out["search_detail#1"] = out["search_chosen#1"]
		}},
		"a vague question that then fits several": {"answer", func(out map[string][]rehearsal.Output) {
			several := maps.Clone(out["search#1"][0].Result)
			clarity(out, "vague")
			out["clarify#1"] = []rehearsal.Output{{Result: map[string]any{"answer": "the notice period"}}}
			out["search_detail#1"] = []rehearsal.Output{{Result: several}}
		}},
		"a person who cancels": {"stopped", func(out map[string][]rehearsal.Output) {
			out["choose#1"] = []rehearsal.Output{{Result: map[string]any{"cancelled": true}}}
		}},
		"a greeting": {"chat", func(out map[string][]rehearsal.Output) {
			out["understand#1"][0].Result["intent"] = "smalltalk"
		}},
		"a wish to change files": {"code", func(out map[string][]rehearsal.Output) {
			out["understand#1"][0].Result["intent"] = "code_edit"
		}},
	}
	for name, c := range cases {
		report := with(c.change)
		if report.Outcome.Err != nil || last(report) != c.end {
			t.Errorf("%s: walked %v, %v", name, report.Path, report.Outcome.Err)
		}
		if asked := slices.Contains(report.Path, "choose"); strings.Contains(name, "several") && !asked {
			t.Errorf("%s: walked %v", name, report.Path)
		}
	}
}

// Requirements: GRAPH-24 (ingestion)
func TestTheIngestGraphNotesEveryFailure(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	doc := artifactstest.Shipped(t, artifacts.IngestWorkflow)
	tools, err := library.ToolsOf(t.Context(), admin, doc)
	if err != nil {
		t.Fatal(err)
	}
	for node, end := range map[string]string{
		"parse#1": "failed", "clean#1": "failed", "chunk#1": "failed", "embed#1[1]": "failed", "index#1[0]": "failed", "finish#1": "failed",
		"": "done", "unchanged": "unchanged", "foreign": "done", "convert#1": "failed", "accept#1": "failed",
	} {
		file := map[string]any{"document_id": "d", "outcome": "extracted", "path": "files/a.epub", "name": "a.epub", "mime": "", "size": 3.0}
		switch node {
		case "unchanged":
			file["outcome"] = node
		case "foreign", "convert#1", "accept#1":
			file["outcome"] = "foreign"
		}
		parcel := map[string]any{"parcel": map[string]any{"from": 0.0, "to": 2.0}}
		batches := []any{map[string]any{"from": 0.0, "to": 2.0}, map[string]any{"from": 2.0, "to": 3.0}}
		rec := rehearsal.Record{Input: graph.Input{Input: map[string]any{"document_id": "d"}}, Outputs: map[string][]rehearsal.Output{
			"parse#1":    {{Result: file}},
			"chunk#1":    {{Result: map[string]any{"document_id": "d", "chunks": 3.0, "batches": batches}}},
			"embed#1[0]": {{Result: parcel}}, "embed#1[1]": {{Result: parcel}},
		}}
		if strings.Contains(node, "#") {
			rec.Outputs[node] = []rehearsal.Output{{Failure: &graph.Failure{Code: "validation_error", Message: "not a PDF"}}}
		}
		report, err := rehearsal.Play(doc, tools, artifacts.Limits(ann, artifacts.Artifact{}, tools), rec)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Path[len(report.Path)-1]; report.Outcome.Err != nil || got != end {
			t.Errorf("%q: walked %v, %v", node, report.Path, report.Outcome.Err)
		}
	}
}
