package artifacts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
)

// begins is a workflow whose one node begins another, with inputs.
func begins(workflow, inputs string) string {
	return `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"workflow","workflow":"` + workflow + `","inputs":` + inputs + `}]}`
}

// forEach is a workflow that begins another for each item of a list.
func forEach(over, workflow, inputs string) string {
	return `{"kind":"workflow.chat","entrypoint":"m","nodes":[
		{"id":"m","type":"map","over":"` + over + `","body":"a","next":"e"},
		{"id":"a","type":"workflow","workflow":"` + workflow + `","inputs":` + inputs + `},
		{"id":"e","type":"end"}]}`
}

const echoTool = `{"kind":"tool.spec","name":"my.again","description":"Runs a workflow again.","workflow":"%","input_schema":{"type":"object"},"output_schema":{"type":"object"}}`

// A workflow that would begin itself again without an end is refused when it
// is written, and the refusal names the way around; one that hands on a smaller
// part of an input each time has an end and is accepted.
func TestAWorkflowThatBeginsItselfAgainNeedsAnEnd(t *testing.T) {
	t.Parallel()
	type doc struct{ kind, name, text string }
	wf := func(name, text string) doc { return doc{"workflow", name, text} }
	tool := func(workflow string) doc {
		return doc{"tool", "my.again", strings.ReplaceAll(echoTool, "%", workflow)}
	}
	for name, c := range map[string]struct {
		docs   []doc // the last is the one that closes the way around
		refuse string
	}{
		"itself":                      {[]doc{wf("a", begins("a", `{}`))}, "a → a"},
		"itself, an input kept":       {[]doc{wf("a", begins("a", `{"n":"${input.n}"}`))}, "a → a"},
		"itself in a map":             {[]doc{wf("bomb", forEach("${input.items}", "bomb", `{"items":"${input.items}"}`))}, "bomb → bomb"},
		"itself in a map of a var":    {[]doc{wf("a", forEach("${vars.list}", "a", `{"tree":"${item}"}`))}, "a → a"},
		"a part under another name":   {[]doc{wf("a", begins("a", `{"y":"${input.x.left}"}`))}, "a → a"},
		"a part that may be missing":  {[]doc{wf("a", begins("a", `{"x":"${input.x.left?}"}`))}, "a → a"},
		"a part inside a text":        {[]doc{wf("a", begins("a", `{"x":"${input.x.left}${input.x}"}`))}, "a → a"},
		"an item from elsewhere":      {[]doc{wf("a", begins("a", `{"x":"${item}"}`))}, "a → a"},
		"an end":                      {[]doc{wf("a", begins("a", `{"x":"${input.x.left}"}`))}, ""},
		"an end in a map":             {[]doc{wf("a", forEach("${input.tree.children}", "a", `{"tree":"${item}"}`))}, ""},
		"an end in a map of its root": {[]doc{wf("a", forEach("${input.tree}", "a", `{"tree":"${item.below}"}`))}, ""},
		"two":                         {[]doc{wf("b", plainGraph), wf("a", begins("b", `{}`)), wf("b", begins("a", `{}`))}, "b → a → b"},
		"three":                       {[]doc{wf("c", plainGraph), wf("b", begins("c", `{}`)), wf("a", begins("b", `{}`)), wf("c", begins("a", `{}`))}, "c → a → b → c"},
		"two, with an end":            {[]doc{wf("b", plainGraph), wf("a", begins("b", `{"x":"${input.x}"}`)), wf("b", begins("a", `{"x":"${input.x[0]}"}`))}, ""},
		"two, one of which forgets":   {[]doc{wf("b", plainGraph), wf("a", begins("b", `{"x":"all of it"}`)), wf("b", begins("a", `{"x":"${input.x[0]}"}`))}, "b → a → b"},
		"a tool, the tool last":       {[]doc{wf("a", plainGraph), tool("a"), wf("a", strings.ReplaceAll(plainGraph, "llm.generic_chat_v1", "my.again"))}, "a → a"},
		"the tool of an agent": {[]doc{wf("a", plainGraph), tool("a"),
			wf("a", `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"agent","message":"go","tools":["my.*"],"save_as":"x"}]}`)}, "a → a"},
		"one after the other": {[]doc{wf("c", plainGraph), wf("b", begins("c", `{}`)), wf("a", begins("b", `{}`))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library, _ := stocked(t)
			var err error
			for i, d := range c.docs {
				if err != nil {
					t.Fatalf("document %d was refused: %v", i-1, err)
				}
				if a, known := library.Named(t.Context(), ann, d.kind, d.name); known == nil {
					patch, _ := json.Marshal([]map[string]any{{"op": "replace", "path": "", "value": json.RawMessage(d.text)}})
					_, err = library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: patch})
				} else {
					_, err = library.Create(t.Context(), ann, artifacts.Draft{Type: d.kind, Name: d.name, Schema: json.RawMessage(d.text)})
				}
			}
			if c.refuse == "" {
				if err != nil {
					t.Fatalf("refused: %v %v", err, artifacts.Problems(err))
				}
				return
			}
			if err == nil || !strings.Contains(artifactstest.Problems(err), "without an end: "+c.refuse+" |") {
				t.Errorf("%v\n%s; want it refused for %s", err, artifactstest.Problems(err), c.refuse)
			}
		})
	}
}

// The same over the id of the artifact, and where a tool.spec closes the way.
func TestAWayAroundIsFoundByIDAndThroughATool(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	a, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "a", Schema: json.RawMessage(plainGraph)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"replace","path":"/nodes","value":[{"id":"a","type":"workflow","workflow":"` + a.ID + `"}]}]`)})
	if !strings.Contains(artifactstest.Problems(err), "a → a") {
		t.Errorf("by id: %v", err)
	}
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "other", Schema: json.RawMessage(plainGraph)}); err != nil {
		t.Fatal(err)
	}
	spec, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "tool", Name: "my.again", Schema: json.RawMessage(strings.ReplaceAll(echoTool, "%", "other"))})
	if err != nil {
		t.Fatal(err, artifacts.Problems(err))
	}
	if _, err := library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"replace","path":"/nodes/0/tool","value":"my.again"}]`)}); err != nil {
		t.Fatal(err, artifacts.Problems(err))
	}
	_, err = library.Patch(t.Context(), ann, spec.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"replace","path":"/workflow","value":"a"}]`)})
	if !strings.Contains(artifactstest.Problems(err), "the tool my.again → a → the tool my.again") {
		t.Errorf("by its tool: %v\n%s", err, artifactstest.Problems(err))
	}
}
