package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestValidateTellsEveryFaultOfEveryFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.json", `{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"workflow","workflow":"other","next":"b"},
		{"id":"b","type":"tool_call","tool":"mine_v1","inputs":{"message":"${input.message}"}}]}`)
	other := write("other.json", `{"kind":"workflow.chat","entrypoint":"z","nodes":[{"id":"z","type":"end"}]}`)
	tool := write("anything.json", `{"kind":"tool.spec","name":"mine_v1","description":"Mine.","workflow":"other",
		"input_schema":{"type":"object"},"output_schema":{"type":"object"}}`)
	bad := write("bad.json", `{"kind":"workflow.chat","entrypoint":"x","nodes":[
		{"id":"a","type":"tool_call","tool":"nope"},
		{"id":"b","type":"switch","branches":[{"when":"1 +","next":"a"},{"when":"true","next":"gone"}]}]}`)
	broken := write("broken.json", `{"kind":`)
	unnamed := write("unnamed.json", `{}`)
	missing := filepath.Join(dir, "missing.json")

	code, text, said := finish(t, nil, "validate", good, other, tool, bad, broken, unnamed, missing, "--json")
	if code != exitFailed || said != "" {
		t.Errorf("it ended with %d: %s", code, said)
	}
	var found []checked
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 7 {
		t.Fatalf("%v in:\n%s", err, text)
	}
	for _, c := range found[:3] {
		if !c.OK {
			t.Errorf("%s: %+v", c.File, c.Problems)
		}
	}
	paths := map[string]bool{}
	for _, p := range found[3].Problems {
		paths[p.Path] = true
	}
	for _, want := range []string{"/entrypoint", "/nodes/0/tool", "/nodes/1/branches/0/when", "/nodes/1/branches/1/next"} {
		if !paths[want] {
			t.Errorf("no fault at %s: %+v", want, found[3].Problems)
		}
	}
	for _, c := range found[4:] {
		if c.OK || len(c.Problems) != 1 {
			t.Errorf("%s: %+v", c.File, c.Problems)
		}
	}

	odd := write("odd.json", `{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"tool_call","tool":"files.list_v1","inputs":{"dir":"x"},"when":"input.look == true","outputs":["files"],"next":"b"},
		{"id":"b","type":"end","response":"${vars.files}"},
		{"id":"c","type":"end"}]}`)
	code, text, _ = finish(t, nil, "validate", odd)
	if code != exitOK {
		t.Errorf("warnings end it with %d", code)
	}
	has(t, text, "odd.json: ok (workflow.chat), with 3 warnings", `/nodes/0/inputs/dir  tool files.list_v1 takes no input "dir"`, "/nodes/1/response  ", "/nodes/2  nothing leads to")
	if code, _, _ = finish(t, nil, "validate", odd, "--strict"); code != exitFailed {
		t.Errorf("with --strict they end it with %d", code)
	}

	_, text, _ = finish(t, nil, "validate", bad)
	has(t, text, "bad.json: 4 faults", "  /entrypoint  ", "      → ")
}
