package rehearsal_test

import (
	"encoding/json"
	"testing"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// Whatever the body is, reading it is a record or an error.
func FuzzUnpack(f *testing.F) {
	packed, err := rehearsal.Pack(past())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add(packed[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		rec, err := rehearsal.Unpack(body)
		if err == nil {
			rehearsal.BranchOf(rec.Steps)
		}
	})
}

// Whatever was recorded, a rehearsal ends with a report that is JSON, and is
// the same again.
func FuzzRehearsal(f *testing.F) {
	library := stocked(f)
	var rehearsals []*rehearsal.Prepared
	for _, doc := range []string{sideBySide["branches"], sideBySide["lists"], sideBySide["loop"], asking} {
		a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "a", Version: 1, Schema: json.RawMessage(doc)}
		for _, after := range []string{doc, sideBySide["lists"]} {
			r, err := rehearsal.Prepare(f.Context(), library, admin, a, json.RawMessage(after))
			if err != nil {
				f.Fatal(err)
			}
			rehearsals = append(rehearsals, r)
		}
	}
	for _, rec := range []rehearsal.Record{past(), asked()} {
		plain, err := json.Marshal(rec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Add([]byte(`{"outputs":{"a#1":[],"":[{}],"#":[{"took":-5}],"ask#1":[{"kind":"ask","result":null}]},"order":["a#1","zz"],"steps":[{"node":"a","effect":"a#1"}],"outcome":{"cancelled":true}}`))
	f.Fuzz(func(t *testing.T, plain []byte) {
		var rec rehearsal.Record
		if json.Unmarshal(plain, &rec) != nil {
			return
		}
		body, err := rehearsal.Pack(rec)
		if err != nil {
			return
		}
		for _, r := range rehearsals {
			var told [2]string
			for i := range told {
				report, err := r.Report(t.Context(), []run.Recording{{RunID: "r", Body: body}}, rehearsal.Plan{})
				if err != nil {
					t.Fatal(err)
				}
				report.TookMS = 0
				b, err := json.Marshal(report)
				if err != nil {
					t.Fatal(err)
				}
				told[i] = string(b)
			}
			if told[0] != told[1] {
				t.Fatalf("%s\n%s", told[0], told[1])
			}
		}
	})
}

// plainGraph is a graph of one call.
const plainGraph = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${input.message}"}}]}`

// Whatever graph and record a rehearsal is given, it ends.
func FuzzPlay(f *testing.F) {
	library := stocked(f)
	doc, err := library.Workflow(f.Context(), ann, artifacts.DocumentsWorkflow)
	if err != nil {
		f.Fatal(err)
	}
	bound, err := library.Specs(f.Context(), ann)
	if err != nil {
		f.Fatal(err)
	}
	tools := map[string]artifacts.Bound{}
	for _, b := range bound {
		tools[b.Name] = b
	}
	record, err := json.Marshal(past())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(doc.Schema), record)
	f.Add([]byte(plainGraph), []byte(`{}`))
	f.Fuzz(func(t *testing.T, doc, record []byte) {
		var rec rehearsal.Record
		if json.Unmarshal(record, &rec) != nil {
			return
		}
		_, _ = rehearsal.Play(doc, tools, graph.ChatLimits(), rec)
	})
}
