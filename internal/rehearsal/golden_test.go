package rehearsal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/fault"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

var update = flag.Bool("update", false, "write what is found as what is expected")

// kept is one recorded run of a golden rehearsal, with what its row says.
type kept struct {
	ID   string  `json:"id"`
	User string  `json:"user"`
	Cost float64 `json:"cost_usd"`
	rehearsal.Record
}

// Every folder of testdata/rehearsal is a change to a document: base.json and
// patch.json, the runs it is rehearsed on in recordings.json, and the report in
// want.json, which -update writes. A plan.json may say unknown, script, and what
// the folder proves.
//
// Requirements: testdata/rehearsal/*
func TestRehearsals(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/rehearsal/*/base.json")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			artifactstest.Golden(t, filepath.Join(folder, "want.json"), golden(t, folder), *update)
		})
	}
}

func golden(t *testing.T, folder string) string {
	t.Helper()
	base := read(t, folder, "base.json")
	patch, err := jsonpatch.DecodePatch(read(t, folder, "patch.json"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(base)
	if err != nil {
		t.Fatal(err)
	}
	library := stocked(t)
	a := artifacts.Artifact{ID: "base", Type: kindOf(t, base), Name: "base", Version: 3, Schema: base}
	for name, doc := range map[string]json.RawMessage{"before": base, "after": after} {
		switch err := library.Check(t.Context(), admin, a.Type, doc); {
		case name == "after" && errors.Is(err, fault.Invalid):
			return artifactstest.Problems(err) // it is refused before anything is rehearsed
		case err != nil:
			t.Fatalf("the document %s: %v\n%v", name, err, artifacts.Problems(err))
		}
	}
	var plan rehearsal.Plan
	if raw, err := os.ReadFile(filepath.Join(folder, "plan.json")); err == nil {
		var said struct {
			Unknown artifacts.Unknowns
			Script  rehearsal.Script
		}
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Fatal(err)
		}
		plan.Unknowns, plan.Script = said.Unknown, said.Script
	}
	plan.Artifact, plan.Doc = a, after
	report, err := rehearsal.Run(t.Context(), library, kepts(t, a, read(t, folder, "recordings.json")), plan)
	if err != nil {
		t.Fatal(err)
	}
	report.TookMS = 0
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func read(t testing.TB, folder, name string) json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func kindOf(t testing.TB, doc json.RawMessage) string {
	t.Helper()
	var d struct{ Kind string }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	return d.Kind
}

// kepts are the recordings of a golden file, a minute apart, the first newest.
func kepts(t testing.TB, a artifacts.Artifact, raw json.RawMessage) *shelfOfRuns {
	t.Helper()
	var list []kept
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	shelf := &shelfOfRuns{}
	for i, k := range list {
		if k.Input.Now.IsZero() {
			k.Input.Now = noon
		}
		one := keep(t, a, i, k.Record)
		one.RunID, one.CostUSD = k.ID, k.Cost
		one.UserID = k.User
		if k.User == "" {
			one.UserID = fmt.Sprintf("user-%d", i)
		}
		one.At = noon.Add(-time.Duration(i) * time.Minute)
		one.Policy = run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version}
		shelf.runs = append(shelf.runs, one)
	}
	return shelf
}
