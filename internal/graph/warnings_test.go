package graph_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/graph"
)

// warned is a workflow's warnings, each as its place and its message.
func warned(t *testing.T, nodes ...string) []string {
	t.Helper()
	tools := graph.Tools{
		"echo":       {Name: "echo", Idempotent: true},
		"files.list": {Name: "files.list", Idempotent: true, Inputs: []string{"folder", "limit"}},
	}
	doc := fmt.Sprintf(`{"kind":"workflow.chat","entrypoint":"a","nodes":[%s]}`, strings.Join(nodes, ","))
	if _, err := graph.Parse([]byte(doc), tools, graph.ChatLimits()); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	var found []string
	for _, f := range graph.Warnings([]byte(doc), tools, graph.ChatLimits()) {
		found = append(found, f.Path+" "+f.Message)
	}
	return found
}

func TestWhatATextHardlyMeansIsWarnedOf(t *testing.T) {
	t.Parallel()
	const (
		maybe = `{"id":"a","type":"tool_call","tool":"echo","when":"input.deep == true","outputs":["score"],"next":"b"}`
		uses  = `{"id":"use","type":"end","response":"It is ${vars.score}."}`
		end   = `{"id":"end","type":"end","response":"ok"}`
	)
	for name, c := range map[string]struct {
		nodes []string
		want  []string // the beginning of each
	}{
		"an input that the tool does not take": {
			[]string{`{"id":"a","type":"tool_call","tool":"files.list","inputs":{"dir":"x","limit":3}}`},
			[]string{`/nodes/0/inputs/dir tool files.list takes no input "dir"`},
		},
		"a var to save as that the node does not write": {
			[]string{`{"id":"a","type":"tool_call","tool":"echo","save_as":"seen","next":"end"}`, end},
			[]string{`/nodes/0/save_as save_as is read of interrupt and agent nodes; what this tool_call node gives is in the var "a"`},
		},
		"a node that nothing leads to, and one only it leads to": {
			[]string{`{"id":"a","type":"tool_call","tool":"echo","next":"end"}`, `{"id":"b","type":"tool_call","tool":"echo","next":"c"}`, `{"id":"c","type":"tool_call","tool":"echo","next":"end"}`, end},
			[]string{`/nodes/1 nothing leads to node "b"`, `/nodes/2 nothing leads to node "c"`},
		},
		"a text that needs what was skipped": {
			[]string{strings.Replace(maybe, `"b"`, `"use"`, 1), uses},
			[]string{`/nodes/1/response ${vars.score} has no value when node "a" was skipped`},
		},
		"a switch whose condition has no answer then": {
			[]string{maybe, `{"id":"b","type":"switch","branches":[{"when":"score > 0.5","next":"use"},{"when":"true","next":"end"}]}`, uses, end},
			[]string{`/nodes/1/branches/0/when the condition "score > 0.5" has no answer`},
		},
		"a switch none of whose branches is true then": {
			[]string{maybe, `{"id":"b","type":"switch","branches":[{"when":"score == 'low'","next":"end"},{"when":"score == 'high'","next":"use"}]}`, uses, end},
			[]string{`/nodes/1/branches no branch is true when node "a" was skipped`},
		},
		"behind the join of a parallel": {
			[]string{
				`{"id":"a","type":"parallel","branches":[{"next":"one"},{"next":"two"}],"next":"use"}`,
				`{"id":"one","type":"tool_call","tool":"echo","outputs":["score"],"when":"input.deep == true"}`,
				`{"id":"two","type":"tool_call","tool":"echo"}`, uses,
			},
			[]string{`/nodes/3/response ${vars.score} has no value when node "one" was skipped`},
		},

		"a reference that may be empty": {
			[]string{strings.Replace(maybe, `"b"`, `"use"`, 1), strings.Replace(uses, "score}", "score?}", 1)}, nil,
		},
		"a value that was set before": {
			[]string{
				`{"id":"a","type":"set","values":{"score":0},"next":"maybe"}`,
				strings.NewReplacer(`"a"`, `"maybe"`, `"b"`, `"use"`).Replace(maybe), uses,
			}, nil,
		},
		"a when that is met where nothing has set it": {
			[]string{`{"id":"a","type":"tool_call","tool":"echo","when":"score == null","outputs":["score"],"next":"use"}`, uses}, nil,
		},
		"a switch that asks for it": {
			[]string{maybe, `{"id":"b","type":"switch","branches":[{"when":"score != null and score > 0.5","next":"use"},{"when":"true","next":"end"}]}`, uses, end}, nil,
		},
		"a switch that asks what the when asked": {
			[]string{maybe, `{"id":"b","type":"switch","branches":[{"when":"input.deep == true","next":"use"},{"when":"true","next":"end"}]}`, uses, end}, nil,
		},
		"a node that asks what the when asked": {
			[]string{strings.Replace(maybe, `"b"`, `"more"`, 1), `{"id":"more","type":"tool_call","tool":"echo","when":"input.deep == true","inputs":{"message":"${vars.score}"},"next":"end"}`, end}, nil,
		},
		"two of which one sets it": {
			[]string{strings.Replace(maybe, `"b"`, `"other"`, 1), `{"id":"other","type":"tool_call","tool":"echo","when":"input.deep != true","outputs":["score"],"next":"use"}`, uses}, nil,
		},
		"a stage of a node that runs": {
			[]string{`{"id":"a","type":"tool_call","tool":"echo","stage":"shown","next":"end"}`, `{"id":"shown","type":"tool_call","tool":"echo","description":"Looking","next":"end"}`, end}, nil,
		},
	} {
		found := warned(t, c.nodes...)
		if len(found) != len(c.want) || slices.ContainsFunc(found, func(f string) bool {
			return !slices.ContainsFunc(c.want, func(want string) bool { return strings.HasPrefix(f, want) })
		}) {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}

// Requirements: testdata/good
func TestGoodDocumentsAreNotWarnedOf(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/good/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no good documents: %v", err)
	}
	for _, file := range files {
		d := readDocument(t, file)
		got := graph.Warnings(d.Graph, registry(d.Tools), limits(d.Limits))
		if filepath.Base(file) == "every_type.json" { // it shows types, and no way through them
			got = slices.DeleteFunc(got, func(f graph.Fault) bool { return strings.HasPrefix(f.Message, "nothing leads to") })
		}
		if len(got) > 0 {
			t.Errorf("%s: %v", file, got)
		}
	}
	if got := graph.Warnings([]byte(`{`), nil, graph.ChatLimits()); got != nil {
		t.Errorf("of what is no document: %v", got)
	}
}
