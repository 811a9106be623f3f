package artifacts_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
)

const plainGraph = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${input.message}"}}]}`

// Requirements: ART-10, GRAPH-21, GRAPH-22, GRAPH-24 (ingestion), TOOL-10
func TestSeedingIsRepeatableAndLeavesEditsAlone(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	first := store.Writes
	if err := library.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if store.Writes != first {
		t.Fatalf("seeding again wrote %d versions", store.Writes-first)
	}
	a, err := library.Workflow(t.Context(), admin, artifacts.DefaultWorkflow)
	if err != nil {
		t.Fatal(err)
	}
	edited, err := library.Patch(t.Context(), admin, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"add","path":"/max_retries","value":1}]`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := library.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := library.Workflow(t.Context(), ann, artifacts.DefaultWorkflow)
	if err != nil || now.Version != edited.Version || string(now.Schema) != string(edited.Schema) {
		t.Fatalf("a seed overwrote an edit: version %d, %v", now.Version, err)
	}
	for _, name := range []string{artifacts.DocumentsWorkflow, artifacts.IngestWorkflow, artifacts.CodeWorkflow, "classify_and_route"} {
		if _, err := library.Workflow(t.Context(), ann, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	tools, err := library.Tools(t.Context(), ann, "llm.generic_chat_v1", "llm.intent_classifier_v1", "rag.answer_with_context_v1", "agent.code_v1")
	if err != nil || len(tools) != 4 {
		t.Errorf("the base tools: %d of 4, %v", len(tools), err)
	}
}

// Requirements: OPS-02
func TestTheSeedsAreTheSameEveryTime(t *testing.T) {
	t.Parallel()
	var before []artifacts.Seed
	for range 3 {
		library, _ := stocked(t)
		seeds, err := library.Seeds()
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !reflect.DeepEqual(seeds, before) {
			t.Fatal("two programs seed different artifacts, or in another order")
		}
		before = seeds
	}
	kinds := map[string]int{}
	for _, s := range before {
		kinds[s.Type]++
	}
	if kinds[artifacts.KindWorkflow] < 5 || kinds[artifacts.KindPolicy] < 1 || kinds[artifacts.KindTool] < 10 {
		t.Errorf("the seeds are %v", kinds)
	}
}

// Requirements: ART-02, ART-05, ART-06, ART-08, GRAPH-23
func TestAnArtifactIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	mine, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "mine", Schema: json.RawMessage(plainGraph), Note: "the first"})
	if err != nil {
		t.Fatal(err)
	}
	if mine.Type != artifacts.KindWorkflow || mine.Version != 1 || mine.Visibility != artifacts.Private || mine.CreatedBy != "user" {
		t.Errorf("created %+v", mine)
	}
	if _, err := library.Get(t.Context(), bob, mine.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("bob reads ann's: %v", err)
	}
	if _, err := library.Workflow(t.Context(), bob, mine.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("bob runs ann's: %v", err)
	}
	if _, err := library.Workflow(t.Context(), bob, "mine"); !errors.Is(err, fault.NotFound) {
		t.Errorf("bob runs ann's by name: %v", err)
	}
	if _, err := library.Patch(t.Context(), bob, mine.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"remove","path":"/nodes/0"}]`)}); !errors.Is(err, fault.NotFound) {
		t.Errorf("bob patches ann's: %v", err)
	}
	versions, err := library.Versions(t.Context(), ann, mine.ID)
	if err != nil || len(versions) != 1 || versions[0].ChangeNote != "the first" {
		t.Errorf("versions: %+v, %v", versions, err)
	}
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "mine", Schema: json.RawMessage(plainGraph)}); !errors.Is(err, fault.Conflict) {
		t.Errorf("a name was taken twice: %v", err)
	}
}

// Requirements: ART-08, ISO-06 (global)
func TestOnlyAdministratorsWriteGlobalArtifacts(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	draft := artifacts.Draft{Type: "workflow", Name: "ours", Visibility: artifacts.Global, Schema: json.RawMessage(plainGraph)}
	if _, err := library.Create(t.Context(), ann, draft); !errors.Is(err, fault.Forbidden) {
		t.Errorf("ann wrote a global one: %v", err)
	}
	global, err := library.Create(t.Context(), admin, draft)
	if err != nil {
		t.Fatal(err)
	}
	change := artifacts.Change{Patch: json.RawMessage(`[{"op":"add","path":"/max_retries","value":0}]`)}
	if _, err := library.Patch(t.Context(), ann, global.ID, change); !errors.Is(err, fault.Forbidden) {
		t.Errorf("ann patched a global one: %v", err)
	}
	if _, err := library.Patch(t.Context(), admin, global.ID, change); err != nil {
		t.Error(err)
	}
}

// Requirements: ART-03, ART-06, ART-09, ART-07
func TestAPatchWritesTheNextVersionOrNothing(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	a, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "w", Schema: json.RawMessage(plainGraph)})
	if err != nil {
		t.Fatal(err)
	}
	patch := func(base int, ops string) error {
		_, err := library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: json.RawMessage(ops), Base: base, Note: "n"})
		return err
	}
	if err := patch(1, `[{"op":"test","path":"/entrypoint","value":"a"},{"op":"add","path":"/nodes/0/max_retries","value":1}]`); err != nil {
		t.Fatal(err)
	}
	before := store.Writes
	refused := map[string]struct {
		base int
		ops  string
		code fault.Code
	}{
		"a base that moved on":         {1, `[{"op":"add","path":"/max_retries","value":1}]`, fault.Conflict},
		"a test that fails":            {2, `[{"op":"test","path":"/entrypoint","value":"b"}]`, fault.Conflict},
		"a path that is not there":     {2, `[{"op":"replace","path":"/no/where","value":1}]`, fault.Invalid},
		"a result that is at fault":    {2, `[{"op":"replace","path":"/entrypoint","value":"b"}]`, fault.Invalid},
		"a raised guardrail":           {2, `[{"op":"add","path":"/nodes/0/timeout_ms","value":60001}]`, fault.Invalid},
		"retries above the cap":        {2, `[{"op":"add","path":"/nodes/0/max_retries","value":4}]`, fault.Invalid},
		"no operations":                {2, `[]`, fault.Invalid},
		"no patch":                     {2, `{"op":"add"}`, fault.Invalid},
		"an unknown operation":         {2, `[{"op":"merge","path":"/a","value":1}]`, fault.Invalid},
		"a document that is no object": {2, `[{"op":"replace","path":"","value":[]}]`, fault.Invalid},
		"copies without end":           {2, `[` + strings.Repeat(`{"op":"copy","from":"/nodes","path":"/nodes/-"},`, 40) + `{"op":"copy","from":"/nodes","path":"/nodes/-"}]`, fault.Invalid},
	}
	for name, r := range refused {
		if err := patch(r.base, r.ops); !errors.Is(err, r.code) {
			t.Errorf("%s: %v, want %s", name, err, r.code)
		}
	}
	now, err := library.Get(t.Context(), ann, a.ID)
	if err != nil || now.Version != 2 || store.Writes != before {
		t.Fatalf("refused patches changed something: version %d, %d writes, %v", now.Version, store.Writes-before, err)
	}
	back, err := library.Rollback(t.Context(), ann, a.ID, 1, "")
	if err != nil || back.Version != 3 || string(back.Schema) != plainGraph {
		t.Errorf("rollback gave version %d, %v", back.Version, err)
	}
	old, err := library.At(t.Context(), ann, a.ID, 2)
	if err != nil || !strings.Contains(string(old.Schema), "max_retries") {
		t.Errorf("version 2 is gone: %v", err)
	}
}

// Requirements: GRAPH-19 (validation_error), PLAT-07 (a document raises no limit), TOOL-05, TOOL-11
func TestEveryFaultOfADocumentIsToldAtOnce(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	doc := `{"kind":"workflow.chat","entrypoint":"start","timeout_ms":3600001,"nodes":[
		{"id":"a","type":"tool_call","tool":"llm.generic_chat_v2","next":"gone","inputs":{"message":"x"}},
		{"id":"a","type":"switch","branches":[{"when":"intent ==","next":"a"}]},
		{"id":"b","type":"tool_call","tool":"llm.generic_chat_v1","timeout_ms":90000,"max_retries":9,"inputs":{"message":"x"}},
		{"id":"c","type":"workflow","workflow":"nobody.knows"}]}`
	err := library.Check(t.Context(), ann, "workflow", json.RawMessage(doc))
	if !errors.Is(err, fault.Invalid) {
		t.Fatalf("accepted: %v", err)
	}
	var paths []string
	for _, p := range artifacts.Problems(err) {
		paths = append(paths, p.Path)
		if p.Message == "" {
			t.Errorf("%s says nothing", p.Path)
		}
	}
	all := " " + strings.Join(paths, " ") + " "
	for _, want := range []string{"/entrypoint", "/timeout_ms", "/nodes/0/tool", "/nodes/0/next", "/nodes/1/id", "/nodes/1/branches/0/when", "/nodes/2/timeout_ms", "/nodes/2/max_retries", "/nodes/3/workflow"} {
		if !strings.Contains(all, " "+want+" ") {
			t.Errorf("nothing is said of %s; told: %v", want, paths)
		}
	}
}

// Requirements: ART-01, ART-12
func TestUnknownKindsAreRefusedUntilTheyAreRegistered(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	note := artifacts.Draft{Type: "memory.note", Name: "n", Schema: json.RawMessage(`{"kind":"memory.note","text":"hi"}`)}
	_, err := library.Create(t.Context(), ann, note)
	if !errors.Is(err, fault.Invalid) || !strings.Contains(artifacts.Problems(err)[0].Hint, artifacts.KindSummary) {
		t.Fatalf("an unknown kind: %v", err)
	}
	if err := library.Kinds().Register("memory.note", []byte(`{"type":"object","required":["text"],"properties":{"kind":{"const":"memory.note"}}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Create(t.Context(), ann, note); err != nil {
		t.Fatal(err)
	}
	note.Name, note.Schema = "m", json.RawMessage(`{"kind":"memory.note"}`)
	if _, err := library.Create(t.Context(), ann, note); !errors.Is(err, fault.Invalid) {
		t.Fatalf("its schema does not hold: %v", err)
	}
}

// Requirements: ART-04
func TestListsTakeTheShortWordsForKinds(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	for word, kind := range map[string]string{"workflow": artifacts.KindWorkflow, "policy": artifacts.KindPolicy, "tool": artifacts.KindTool} {
		page, _, err := library.List(t.Context(), ann, artifacts.Filter{Type: word, Visibility: artifacts.Global, Limit: 50})
		if err != nil || len(page) == 0 {
			t.Fatalf("%s: %d, %v", word, len(page), err)
		}
		for _, a := range page {
			if a.Type != kind {
				t.Errorf("%s lists a %s", word, a.Type)
			}
		}
	}
	if _, _, err := library.List(t.Context(), ann, artifacts.Filter{Visibility: "secret"}); !errors.Is(err, fault.Invalid) {
		t.Errorf("an unknown visibility: %v", err)
	}
}

// Requirements: PLAT-08
func TestAPinnedToolStaysAsItWas(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	bound, err := library.Tools(t.Context(), ann, "rag.search_v1")
	if err != nil {
		t.Fatal(err)
	}
	pin := bound["rag.search_v1"].Pin()
	if _, err := library.Patch(t.Context(), admin, pin.ArtifactID, artifacts.Change{Patch: json.RawMessage(`[{"op":"replace","path":"/timeout_ms","value":9000}]`)}); err != nil {
		t.Fatal(err)
	}
	old, err := library.SpecAt(t.Context(), ann, pin)
	if err != nil || old.TimeoutMS != 5000 {
		t.Errorf("the pinned version has %d ms, %v", old.TimeoutMS, err)
	}
	now, _ := library.Tools(t.Context(), ann, "rag.search_v1")
	if now["rag.search_v1"].TimeoutMS != 9000 {
		t.Error("the edit is not seen")
	}
}

// Requirements: TOOL-05, TOOL-16
func TestATwinSpecCannotMakeAToolHarmless(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	twin := `{"kind":"tool.spec","name":"files.write_v1","description":"harmless","input_schema":{"type":"object"},"output_schema":{"type":"object"}}`
	if err := library.Check(t.Context(), ann, "tool", json.RawMessage(twin)); !errors.Is(err, fault.Invalid) {
		t.Fatalf("ann took the name of a tool of the program: %v", err)
	}
	a := artifacts.Artifact{ID: "twin", OwnerID: "ann", Type: artifacts.KindTool, Name: "files.write_v1", Schema: json.RawMessage(twin)}
	if _, err := store.CreateArtifact(t.Context(), ann, a, ""); err != nil {
		t.Fatal(err)
	}
	bound, err := library.Tools(t.Context(), ann, "files.write_v1")
	if err != nil {
		t.Fatal(err)
	}
	if b := bound["files.write_v1"]; b.ArtifactID != "twin" || !b.Confirm.Asks || b.IsIdempotent() {
		t.Errorf("the twin is believed: %+v", b.Graph())
	}
}

// Requirements: TOOL-05
func TestGraphsOfOthersThanAdministratorsCallNoPrivilegedTool(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	shell := `{"kind":"tool.spec","name":"ops.shell_v1","description":"runs things","workflow":"default","privileged":true,"input_schema":{"type":"object"},"output_schema":{"type":"object"}}`
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "tool", Name: "ops.shell_v1", Schema: json.RawMessage(shell)}); !errors.Is(err, fault.Invalid) {
		t.Errorf("ann declared a privileged tool: %v", err)
	}
	if _, err := library.Create(t.Context(), admin, artifacts.Draft{Type: "tool", Name: "ops.shell_v1", Visibility: artifacts.Global, Schema: json.RawMessage(shell)}); err != nil {
		t.Fatal(err)
	}
	doc := json.RawMessage(`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"ops.shell_v1"}]}`)
	if err := library.Check(t.Context(), ann, "workflow", doc); !errors.Is(err, fault.Invalid) {
		t.Errorf("ann's graph may call it: %v", err)
	}
	if err := library.Check(t.Context(), admin, "workflow", doc); err != nil {
		t.Errorf("an administrator's may not: %v", err)
	}
}

// What ships says what it means, and so do the documents that tests hold up as
// good.
func TestGoodWorkflowsAreNotWarnedOf(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	seeds, err := library.Seeds()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/workflow.chat/good/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, artifacts.Seed{Type: artifacts.KindWorkflow, Name: file, Schema: doc})
	}
	for _, s := range seeds {
		warnings, err := library.Warnings(t.Context(), identity.System(), s.Type, s.Schema)
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", s.Name, warnings, err)
		}
	}
}

// Requirements: TOOL-05
func TestDefaultsCallNoPrivilegedTool(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	seeds, err := library.Seeds()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range seeds {
		if s.Type != artifacts.KindWorkflow || s.Name == "config_patch" || s.Name == "architect" { // the system's own
			continue
		}
		tools, err := library.ToolsOf(t.Context(), ann, s.Schema)
		if err != nil {
			t.Fatal(err)
		}
		limits := artifacts.Limits(ann, artifacts.Artifact{}, tools)
		limits.Privileged = strings.Contains(string(s.Schema), `"unasked"`) // that, too, only an administrator's may say
		if _, err := graph.Parse(s.Schema, artifacts.GraphTools(tools), limits); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		for name, b := range tools {
			if b.Privileged {
				t.Errorf("%s calls the privileged %s", s.Name, name)
			}
		}
	}
}

// Requirements: ISO-03, ISO-06 (private)
func TestDraftsAreRefusedForWhatSurroundsTheDocument(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	before := store.Writes
	for name, d := range map[string]artifacts.Draft{
		"no name":               {},
		"spaces around it":      {Name: " a"},
		"a name without end":    {Name: strings.Repeat("a", 129)},
		"an unknown visibility": {Name: "a", Visibility: "secret"},
		"a path that leads out": {Name: "a", FSPath: "../other/adapters"},
		"a path from the root":  {Name: "a", FSPath: "/etc/passwd"},
		"out of the shared one": {Name: "a", FSPath: "/shared/../users/x", Visibility: artifacts.Shared},
		"the shared root":       {Name: "a", FSPath: "/shared/", Visibility: artifacts.Shared},
		"beside the shared one": {Name: "a", FSPath: "/sharedx/a", Visibility: artifacts.Shared},
	} {
		d.Type, d.Schema = "workflow", json.RawMessage(plainGraph)
		if _, err := library.Create(t.Context(), ann, d); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if store.Writes != before {
		t.Error("something was written")
	}
	shared, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "s", Visibility: artifacts.Shared, Schema: json.RawMessage(plainGraph)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := library.Get(t.Context(), bob, shared.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("a shared artifact is granted to nobody by default: %v", err)
	}
}

// Requirements: ISO-04
func TestOnlySharedArtifactsHaveFilesInTheSharedFolder(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	for visibility, ok := range map[string]bool{"": false, artifacts.Private: false, artifacts.Shared: true} {
		_, err := library.Create(t.Context(), ann, artifacts.Draft{
			Type: "workflow", Name: "in shared " + visibility + "x", Visibility: visibility, FSPath: "/shared/adapters/base", Schema: json.RawMessage(plainGraph),
		})
		if ok != (err == nil) || !ok && !errors.Is(err, fault.Invalid) {
			t.Errorf("visibility %q: %v", visibility, err)
		}
	}
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "own", FSPath: "shared/base", Schema: json.RawMessage(plainGraph)}); err != nil {
		t.Errorf("an own folder of that name: %v", err)
	}
}

func TestDocumentsBeyondTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	large := json.RawMessage(`{"kind":"memory.summary","summary":"` + strings.Repeat("x", artifacts.MaxSize) + `"}`)
	if err := library.Check(t.Context(), ann, "memory", large); !errors.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// Requirements: LORA-26
func TestAPersonsOwnModelsComeBeforeEverybodys(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	all, err := library.Models(t.Context(), ann)
	if err != nil || len(all) != 1 || all[0].OwnerID != "" || all[0].Type != artifacts.KindModels {
		t.Fatalf("%v, %v", all, err)
	}
	own, err := library.Create(t.Context(), ann, artifacts.Draft{
		Type: "models", Name: artifacts.DefaultPolicy, Schema: []byte(`{"kind":"policy.models","default":{"tier":"large"}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	both, err := library.Models(t.Context(), ann)
	if err != nil || len(both) != 2 || both[0].ID != own.ID || both[1].ID != all[0].ID {
		t.Errorf("%v, %v", both, err)
	}
	if others, err := library.Models(t.Context(), bob); err != nil || len(others) != 1 {
		t.Errorf("%v, %v", others, err)
	}
}

// Requirements: RAG-02 (further parsers as tool.spec)
func TestAToolSaysWhichFilesItReads(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	spec := `{"kind":"tool.spec","name":"parse.midi","description":"Lyrics of a song.","reads":[".MID","audio/midi"],"workflow":"default",
		"input_schema":{"type":"object","properties":{"document_id":{"type":"string"}}},"output_schema":{"type":"object","properties":{"text":{"type":"string"}}}}`
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "tool", Name: "parse.midi", Schema: json.RawMessage(spec)}); err != nil {
		t.Fatal(err)
	}
	if list, err := library.Readable(t.Context(), ann); err != nil || !reflect.DeepEqual(list, []string{".mid"}) {
		t.Errorf("ann's tools read %v, %v", list, err)
	}
	if list, err := library.Readable(t.Context(), bob); err != nil || len(list) != 0 {
		t.Errorf("bob's tools read %v, %v", list, err)
	}
	bound, err := library.Tools(t.Context(), ann, "*")
	if one := bound["parse.midi"]; err != nil || !one.ReadsFile("files/Song.mid", "") || !one.ReadsFile("x", "audio/MIDI; q=1") || one.ReadsFile("a.md", "text/markdown") {
		t.Errorf("%+v, %v", one.Reads, err)
	}
}
