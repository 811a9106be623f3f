package builtin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/model/extractive"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/schemas"
)

func everything(t *testing.T) builtin.Parts {
	t.Helper()
	return builtin.Parts{
		Web: internet{}, WebSearch: &provider{}, Transcriber: listener{}, Speaker: &reciter{},
		Titles: library().Titles, Sets: library().Sets,
		Model: extractive.Model{}, History: memory{}, Memories: &notebook{}, Search: clear(passage("d", notice, 0)), Progress: &shelves{}, Intake: &reader{},
		Files: filed(t, map[string]string{"files/notes.md": "# Notes\n", "files/memo.mp3": "ID3"}), Catalog: fullCatalog(t), Architect: &drafts{}, Desk: steps{}, Feedback: &jotter{}, Learning: pupil{}, Training: apprentice{}, Palace: keptBlocks{}, MCP: servers{}, MCPImport: servers{},
	}
}

// Requirements: TOOL-01, TOOL-03
func TestEverySpecIsValidAndBoundByName(t *testing.T) {
	t.Parallel()
	kinds := schemas.NewRegistry()
	have := map[string]bool{}
	for _, one := range builtin.Tools(everything(t)) {
		have[one.Name()] = true
	}
	for _, s := range specs(t) {
		doc, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := kinds.Validate(t.Context(), "tool.spec", doc); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if faults := s.Validate(); len(faults) > 0 {
			t.Errorf("%s: %v", s.Name, faults)
		}
		if have[s.Name] == (s.Workflow != "") {
			t.Errorf("%s is implemented in Go: %v, by a workflow: %q", s.Name, have[s.Name], s.Workflow)
		}
		if len(s.Examples) == 0 {
			t.Errorf("%s has no example", s.Name)
		}
		if !strings.HasSuffix(s.Name, "_v1") {
			t.Errorf("%s has no version in its name", s.Name)
		}
		delete(have, s.Name)
	}
	delete(have, tool.RunnerMCP) // it carries out specs of servers' tools
	for name := range have {
		t.Errorf("%s has no spec", name)
	}
}

// The box checks inputs and results, so a run of an example shows that the
// implementation returns what its spec says.
//
// Requirements: TOOL-03, TOOL-10, RAG-14, TOOL-12 (RAG; code agent)
func TestEveryExampleRuns(t *testing.T) {
	t.Parallel()
	for _, s := range specs(t) {
		if s.Workflow != "" {
			continue
		}
		for _, example := range s.Examples {
			t.Run(s.Name+"/"+example.Description, func(t *testing.T) {
				t.Parallel()
				call := &tool.Call{Inputs: example.Inputs, Scope: tool.Scope{ConversationID: "x", UptoSeq: 1}}
				if s.Privileged {
					call.Viewer = identity.Steward()
				}
				must(t, everything(t), s.Name, call)
			})
		}
	}
}

// graphsOwn are tools that change what is kept of the person's and that a graph
// calls: an agent asks first, and doing it twice is doing it once.
var graphsOwn = []string{
	"memory.summarize_v1", "feedback.note_v1", "learning.situate_v1", "learning.learnt_v1", "learning.skills_v1", "learning.prune_v1",
	"cluster.update_v1", "cluster.label_v1", "lesson.derive_v1", "lesson.check_v1", "text.judge_v1", "adapter.propose_v1",
	"train.plan_v1", "train.dataset_v1", "train.fit_v1", "train.judge_v1", "train.publish_v1", "train.settle_v1", "train.fail_v1", "palace.retire_v1",
	"palace.classify_v1", "palace.consolidate_v1",
}

// Requirements: TOOL-05, TOOL-16
func TestSpecsTellWhatIsDangerous(t *testing.T) {
	t.Parallel()
	for _, s := range specs(t) {
		writes := s.Name == "files.write_v1" || s.Name == "speech.synthesize_v1"
		if slices.Contains(graphsOwn, s.Name) {
			if !s.Confirm.Asks || !s.IsIdempotent() || s.Privileged || s.Where() == tool.Inline {
				t.Errorf("%s: confirm %v, idempotent %v, privileged %v, runs %s", s.Name, s.Confirm, s.IsIdempotent(), s.Privileged, s.Where())
			}
			continue
		}
		if writes != s.Confirm.Asks || writes == s.IsIdempotent() {
			t.Errorf("%s: confirm %v, idempotent %v", s.Name, s.Confirm, s.IsIdempotent())
		}
		if writes && s.Attempts(3) != 1 {
			t.Errorf("%s is tried %d times", s.Name, s.Attempts(3))
		}
		if ownWay := strings.HasPrefix(s.Name, "config.") || strings.HasPrefix(s.Name, "architect.") || s.Name == "mcp.import_v1"; s.Privileged != ownWay {
			t.Errorf("%s is privileged: %v", s.Name, s.Privileged)
		}
		if s.Where() == tool.Inline && !s.ReadOnly {
			t.Errorf("%s changes things inline", s.Name)
		}
	}
}

func TestToolsWithoutTheirPartsAreNotThere(t *testing.T) {
	t.Parallel()
	plain := map[string]bool{} // they only arrange values and need nothing
	for _, s := range specs(t) {
		plain[s.Name] = s.Plain
	}
	for _, one := range builtin.Tools(builtin.Parts{}) {
		if !plain[one.Name()] {
			t.Errorf("%s of nothing", one.Name())
		}
	}
	for _, one := range builtin.Tools(builtin.Parts{Model: extractive.Model{}}) {
		if !strings.HasPrefix(one.Name(), "llm.") && !plain[one.Name()] {
			t.Errorf("%s of a model alone", one.Name())
		}
	}
}
