package main

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/tool"
)

func TestToolsAreListedAndOneSaysWhatItTakes(t *testing.T) {
	t.Parallel()
	code, text, said := finish(t, nil, "tools")
	if code != exitOK || said != "" {
		t.Fatalf("it ended with %d: %s", code, said)
	}
	has(t, text, "rag.search_v1 ", "files.write_v1 ", "Lists the person's own files\n")
	code, text, _ = finish(t, nil, "tools", "rag.search_v1")
	if code != exitOK {
		t.Errorf("it ended with %d", code)
	}
	has(t, text, "runs inline, takes 5s at most, changes nothing", "question", "documents[].id", "without it: those of the turn", "not_found  a context or document")
	_, text, _ = finish(t, nil, "tools", "files.")
	if strings.Count(text, "\n") != 5 {
		t.Errorf("files. lists\n%s", text)
	}
	code, text, _ = finish(t, nil, "tools", "files.write_v1", "--json")
	var specs []tool.Spec
	if err := json.Unmarshal([]byte(text), &specs); err != nil || code != exitOK || len(specs) != 1 || !specs[0].Confirm.Asks {
		t.Errorf("code %d, %v: %s", code, err, text)
	}
	code, _, said = finish(t, nil, "tools", "nothing")
	if code != exitFailed {
		t.Errorf("a tool there is none of ends with %d", code)
	}
	has(t, said, "no tool nothing", "liminald tools lists them")
	if code, _, _ = finish(t, nil, "tools", "a", "b"); code != exitUsage {
		t.Errorf("two names end with %d", code)
	}
}
