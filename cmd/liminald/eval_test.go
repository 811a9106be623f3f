package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/eval"
)

func TestEvalMeasuresOwnQuestions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pets/set.json":        `{"title":"Pets","documents":["rules.md"]}`,
		"pets/questions.jsonl": `{"question":"When are dogs fed?","document":"rules.md","passage":"Dogs are fed at noon."}`,
		"pets/rules.md":        "# Rules\n\nDogs are fed at noon.\n",
		"away/set.json":        `{"title":"Away","corpus":"elsewhere","documents":["a.txt"]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, text, said := finish(t, nil, "eval", "retrieval", dir, "--json")
	var r eval.Report
	if err := json.Unmarshal([]byte(text), &r); code != exitOK || err != nil || len(r.Rows) != 4 || r.Rows[3].Recall1 != 1 {
		t.Fatalf("it ended with %d, %v: %s %s", code, err, text, said)
	}
	if !strings.Contains(said, "--corpus elsewhere=FOLDER") {
		t.Errorf("it does not say what is passed over: %s", said)
	}
	code, text, said = finish(t, nil, "eval", "clusters", dir, "--people", "1", "--json")
	var c eval.ClusterReport
	if err := json.Unmarshal([]byte(text), &c); code != exitOK || err != nil || len(c.Planted) != 4 || len(c.Natural) != 1 {
		t.Errorf("clusters ended with %d, %v: %s %s", code, err, text, said)
	}
	if code, _, said := finish(t, nil, "eval", "learning", dir, "--people", "1"); code == exitOK || !strings.Contains(said, "it takes 60") {
		t.Errorf("people are simulated with one question: %d %s", code, said)
	}
	for _, args := range [][]string{{}, {"speed"}, {"retrieval", filepath.Join(dir, "none")}, {"retrieval", dir, "--static", dir}, {"retrieval", dir, "--corpus", "x"}, {"retrieval", dir, "--weights", dir}, {"learning", "--weights", filepath.Join(dir, "none")}} {
		if code, _, said := finish(t, nil, append([]string{"eval"}, args...)...); code != exitUsage || said == "" {
			t.Errorf("eval %v ended with %d: %s", args, code, said)
		}
	}
}
