package artifacts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

const hello = `{"kind": "workflow.chat", "entrypoint": "a", "nodes": [{"id": "a", "type": "end", "response": "hello"}]}`

// Requirements: CFG-05, ART-02
func TestNothingRunsByADraft(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	for kind, doc := range map[string]string{
		"workflow": hello, "policy": `{"kind": "policy.routing", "rules": []}`, "models": `{"kind": "policy.models"}`,
		"tool": `{"kind": "tool.spec", "name": "ann.own_v1", "description": "d", "workflow": "default", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}}`,
	} {
		name := map[string]string{"policy": "default", "models": "default", "tool": "ann.own_v1"}[kind]
		if name == "" {
			name = "hello"
		}
		a, err := library.Drafted(ann, artifacts.Draft{Type: kind, Name: name, Schema: json.RawMessage(doc)})
		if err != nil || !a.IsDraft() || a.OwnerID != ann.UserID || a.Visibility != artifacts.Private || a.Meta["status"] != "draft" {
			t.Fatalf("%s: %+v, %v", kind, a, err)
		}
		store.Put(a)
	}
	if _, err := library.Workflow(t.Context(), ann, "hello"); !errors.Is(err, fault.NotFound) {
		t.Errorf("a workflow: %v", err)
	}
	// A draft of one's own does not hide what holds for everybody.
	if a, err := library.Policy(t.Context(), ann); err != nil || a.OwnerID != "" {
		t.Errorf("a policy: %+v, %v", a, err)
	}
	if list, err := library.Models(t.Context(), ann); err != nil || len(list) != 1 || list[0].OwnerID != "" {
		t.Errorf("models: %+v, %v", list, err)
	}
	tools, err := library.Tools(t.Context(), ann, "ann.own_v1")
	specs, listed := library.Specs(t.Context(), ann)
	if err != nil || listed != nil || len(tools) != 0 {
		t.Errorf("a tool: %v, %v, %v", tools, err, listed)
	}
	for _, s := range specs {
		if s.Name == "ann.own_v1" {
			t.Error("a tool that is a draft is listed")
		}
	}
	uses := strings.Replace(hello, `"type": "end", "response": "hello"`, `"type": "workflow", "workflow": "hello"`, 1)
	if err := library.Check(t.Context(), ann, "workflow", json.RawMessage(uses)); !errors.Is(err, fault.Invalid) {
		t.Errorf("a draft is referred to: %v", err)
	}
}

// Requirements: ART-02, ISO-06 (private)
func TestADraftIsRefusedForWhatNoArtifactCanBe(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	for name, d := range map[string]artifacts.Draft{
		"a kind nobody knows":   {Type: "recipe", Name: "x", Schema: json.RawMessage(`{}`)},
		"no name":               {Type: "workflow", Schema: json.RawMessage(hello)},
		"a list":                {Type: "workflow", Name: "x", Schema: json.RawMessage(`[]`)},
		"null":                  {Type: "workflow", Name: "x", Schema: json.RawMessage(`null`)},
		"nothing":               {Type: "workflow", Name: "x"},
		"too much":              {Type: "workflow", Name: "x", Schema: json.RawMessage(`{"a": "` + strings.Repeat("x", artifacts.MaxSize) + `"}`)},
		"an odd visibility":     {Type: "workflow", Name: "x", Visibility: "secret", Schema: json.RawMessage(hello)},
		"a folder of another's": {Type: "workflow", Name: "x", FSPath: "../b", Schema: json.RawMessage(hello)},
	} {
		if _, err := library.Drafted(ann, d); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Requirements: CFG-07 (schema), CFG-08 (tool names)
func TestAPreviewChecksEachDocumentBesideTheOthers(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	own, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "own", Schema: json.RawMessage(hello)})
	if err != nil {
		t.Fatal(err)
	}
	child, err := library.Drafted(ann, artifacts.Draft{Type: "workflow", Name: "child", Schema: json.RawMessage(hello)})
	if err != nil {
		t.Fatal(err)
	}
	writes := store.Writes
	calls := artifacts.Prospect{Artifact: own, As: ann, Ops: json.RawMessage(`[{"op": "add", "path": "/nodes/-", "value": {"id": "b", "type": "workflow", "workflow": "child"}}]`)}
	made := artifacts.Prospect{Artifact: child, As: ann, Ops: json.RawMessage(`[{"op": "remove", "path": "/status"}]`)}
	for name, one := range map[string]struct {
		list     []artifacts.Prospect
		problems int // of references
	}{"both": {[]artifacts.Prospect{calls, made}, 0}, "one": {[]artifacts.Prospect{calls}, 1}} {
		list, ahead, err := library.Preview(t.Context(), one.list)
		if err != nil || len(list[0].Problems[artifacts.CheckReferences]) != one.problems {
			t.Errorf("%s: %+v, %v", name, list[0].Problems, err)
		}
		_, err = ahead.Workflow(t.Context(), ann, "child")
		if (err == nil) != (one.problems == 0) {
			t.Errorf("%s: the library ahead: %v", name, err)
		}
		if _, err := ahead.Workflow(t.Context(), bob, "own"); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: another sees it: %v", name, err)
		}
		if a, err := ahead.Get(t.Context(), ann, own.ID); err != nil || a.Version != 2 {
			t.Errorf("%s: ahead it is at version %d, %v", name, a.Version, err)
		}
		if old, err := ahead.At(t.Context(), ann, own.ID, 1); err != nil || string(old.Schema) != string(own.Schema) {
			t.Errorf("%s: before it was %s, %v", name, old.Schema, err)
		}
	}
	stays := made
	stays.Ops = json.RawMessage(`[{"op": "add", "path": "/title", "value": "T"}]`)
	list, _, err := library.Preview(t.Context(), []artifacts.Prospect{stays})
	if err != nil || len(list[0].Problems[artifacts.CheckSchema]) == 0 || list[0].Problems[artifacts.CheckSchema][0].Path != "/status" {
		t.Errorf("a draft stays one: %+v, %v", list[0].Problems, err)
	}
	if store.Writes != writes {
		t.Error("a preview wrote something")
	}
}

// Which check each fault of each refused document belongs to, TestDocuments
// holds.
//
// Requirements: CFG-07 (schema)
func TestEveryProblemBelongsToACheck(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/bad/*.faults")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if kind, _, _ := strings.Cut(line, " "); kind != "#" {
				found[kind]++
			}
		}
	}
	for _, kind := range []string{artifacts.CheckSchema, artifacts.CheckReferences, artifacts.CheckExpressions, artifacts.CheckLimits} {
		if found[kind] == 0 {
			t.Errorf("no refused document has a fault of %s", kind)
		}
		delete(found, kind)
	}
	if len(found) > 0 {
		t.Errorf("nobody makes the checks %v", found)
	}
}

// Patches keep their problems by check, and what the API tells of one has no
// member for it.
//
// Requirements: CFG-07 (schema)
func TestAProblemReadBackIsOfTheSchema(t *testing.T) {
	t.Parallel()
	kept, err := json.Marshal(artifacts.Problem{Path: "/nodes/0/next", Message: `"b" is not a node`, Kind: check.References})
	if err != nil || string(kept) != `{"path":"/nodes/0/next","message":"\"b\" is not a node"}` {
		t.Fatalf("%s, %v", kept, err)
	}
	var p artifacts.Problem
	if err := json.Unmarshal(kept, &p); err != nil || artifacts.CheckOf(p) != artifacts.CheckSchema {
		t.Errorf("%+v is of %s, %v", p, artifacts.CheckOf(p), err)
	}
}

// Requirements: PLAT-08
func TestATrialGivesKeysTheirVersionAndKeepsIt(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	a := artifacts.Artifact{ID: id.New(), Type: artifacts.KindWorkflow, Name: "t", Visibility: artifacts.Global, Version: 1, Schema: json.RawMessage(hello)}
	store.Put(a)
	a.Version = 2
	store.Put(a)
	took := func(r *artifacts.Rollout, keys int) (n int) {
		a.Rollout = r
		for i := range keys {
			got, err := library.ResolveVersion(t.Context(), ann, a, strconv.Itoa(i))
			if err != nil {
				t.Fatal(err)
			}
			n += got.Version - 1
		}
		return n
	}
	for name, one := range map[string]struct {
		r        *artifacts.Rollout
		low, top int
	}{
		"none": {nil, 1000, 1000}, "all": {&artifacts.Rollout{From: 1, Share: 100}, 1000, 1000}, "of no version": {&artifacts.Rollout{Share: 10}, 1000, 1000},
		"of its own version": {&artifacts.Rollout{From: 2, Share: 10}, 1000, 1000},
		"one":                {&artifacts.Rollout{From: 1, Share: 1}, 1, 30}, "a tenth": {&artifacts.Rollout{From: 1, Share: 10}, 60, 140}, "half": {&artifacts.Rollout{From: 1, Share: 50}, 430, 570},
	} {
		if got := took(one.r, 1000); got < one.low || got > one.top {
			t.Errorf("%s: %d of 1000", name, got)
		}
	}
	first, second := took(&artifacts.Rollout{Patch: 1, From: 1, Share: 50}, 100), 0
	a.Rollout = &artifacts.Rollout{Patch: 1, From: 1, Share: 50}
	same := 0
	for i := range 100 {
		one, _ := library.ResolveVersion(t.Context(), ann, a, strconv.Itoa(i))
		other := a
		other.Rollout = &artifacts.Rollout{Patch: 2, From: 1, Share: 50}
		two, _ := library.ResolveVersion(t.Context(), ann, other, strconv.Itoa(i))
		second += two.Version - 1
		if one.Version == two.Version {
			same++
		}
	}
	if first == 0 || second == 0 || same > 75 {
		t.Errorf("the same conversations try every patch: %d of 100", same)
	}
	if _, err := library.ResolveVersion(t.Context(), identity.System(), a, "k"); err != nil {
		t.Error(err)
	}
}

// A draft is any object, and two long lists take a square of time to tell what
// is different.
//
// Requirements: CFG-07 (schema), PLAT-07 (what a document asks for is bounded)
func TestLongDocumentsAreCompared(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	list := func(from int) string {
		return strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d,", from), 20_000), ",")
	}
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "long", Version: 1, Schema: json.RawMessage(`{"kind":"workflow.chat","status":"draft","x":[` + list(1) + `]}`)}
	began := time.Now()
	list2 := json.RawMessage(`[{"op":"remove","path":"/status"},{"op":"replace","path":"/x","value":[` + list(2) + `]}]`)
	found, _, err := library.Preview(t.Context(), []artifacts.Prospect{{Artifact: a, Ops: list2, As: identity.System()}})
	if err != nil || len(found[0].Problems) == 0 {
		t.Errorf("%v %v", err, found)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
