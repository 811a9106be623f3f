package artifacts_test

import (
	"encoding/json"
	"testing"

	"liminal/artifacts"
	"liminal/internal/run"
)

// Whatever the body is, reading it is a record or an error.
func FuzzUnpack(f *testing.F) {
	packed, err := artifacts.Pack(past())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add(packed[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		rec, err := artifacts.Unpack(body)
		if err == nil {
			artifacts.BranchOf(rec.Steps)
		}
	})
}

// Whatever was recorded, a rehearsal ends with a report that is JSON, and is
// the same again.
func FuzzRehearsal(f *testing.F) {
	library, _ := stocked(f)
	var rehearsals []*artifacts.Rehearsal
	for _, doc := range []string{sideBySide["branches"], sideBySide["lists"], sideBySide["loop"], asking} {
		a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "a", Version: 1, Schema: json.RawMessage(doc)}
		for _, after := range []string{doc, sideBySide["lists"]} {
			r, err := library.Rehearsal(f.Context(), admin, a, json.RawMessage(after))
			if err != nil {
				f.Fatal(err)
			}
			rehearsals = append(rehearsals, r)
		}
	}
	for _, rec := range []artifacts.Recorded{past(), asked()} {
		plain, err := json.Marshal(rec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Add([]byte(`{"outputs":{"a#1":[],"":[{}],"#":[{"took":-5}],"ask#1":[{"kind":"ask","result":null}]},"order":["a#1","zz"],"steps":[{"node":"a","effect":"a#1"}],"outcome":{"cancelled":true}}`))
	f.Fuzz(func(t *testing.T, plain []byte) {
		var rec artifacts.Recorded
		if json.Unmarshal(plain, &rec) != nil {
			return
		}
		body, err := artifacts.Pack(rec)
		if err != nil {
			return
		}
		for _, r := range rehearsals {
			var told [2]string
			for i := range told {
				report, err := r.Report(t.Context(), []run.Recording{{RunID: "r", Body: body}}, artifacts.Plan{})
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
