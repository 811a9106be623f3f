package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/artifacts"
)

// files writes documents below a folder of their own.
func files(t *testing.T, docs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, doc := range docs {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderOfDocumentsIsReadWithItsLock(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"workflow.chat/a%2Fb.json":  `{"kind":"workflow.chat"}`,
		"workflow.chat/other.json":  `{"kind":"workflow.chat"}`,
		"tool.spec/whatever.json":   `{"kind":"tool.spec","name":"my.tool_v1"}`,
		"notes.txt":                 `not a document`,
		"artifacts.lock.json":       `{"workflow.chat/a/b":{"id":"one","version":3}}`,
		"tool.spec/deeper/odd.json": `{"kind":"workflow.chat"}`,
	})
	docs, err := readDocuments([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range docs {
		found = append(found, d.key())
		if (d.lock != nil) != (d.name == "a/b") || d.lock != nil && *d.lock != (kept{"one", 3}) {
			t.Errorf("%s has the lock %v", d.key(), d.lock)
		}
	}
	if got := strings.Join(found, " "); got != "workflow.chat/odd tool.spec/my.tool_v1 workflow.chat/a/b workflow.chat/other" {
		t.Errorf("found %s", got)
	}
}

func TestAFolderThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	for doc, why := range map[string]string{
		`{`: "is not JSON", `{"name":"x"}`: "does not say what it is",
	} {
		if _, err := readDocuments([]string{files(t, map[string]string{"x.json": doc})}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", doc, err)
		}
	}
	damaged := files(t, map[string]string{"x.json": `{"kind":"workflow.chat"}`, lockName: `[`})
	if _, err := readDocuments([]string{damaged}); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a damaged lock: %v", err)
	}
	if _, err := readDocuments([]string{files(t, nil)}); err == nil || !strings.Contains(err.Error(), "no document") {
		t.Errorf("an empty folder: %v", err)
	}
}

// A file is of the artifact it was exported from; else of one's own before the
// global one of its name.
func TestAFileFindsItsArtifact(t *testing.T) {
	t.Parallel()
	all := []remoteArtifact{
		{ID: "theirs", Type: "workflow.chat", Name: "helper", Visibility: artifacts.Global},
		{ID: "mine", Type: "workflow.chat", Name: "helper", Visibility: artifacts.Private},
		{ID: "policy", Type: "policy.routing", Name: "helper", Visibility: artifacts.Private},
	}
	d := document{kind: "workflow.chat", name: "helper"}
	for want, found := range map[string]func() (remoteArtifact, bool){
		"mine":   func() (remoteArtifact, bool) { return match(all, d, "") },
		"theirs": func() (remoteArtifact, bool) { return match(all, d, artifacts.Global) },
		"policy": func() (remoteArtifact, bool) {
			return match(all, document{kind: "workflow.chat", name: "renamed", lock: &kept{ID: "policy"}}, "")
		},
	} {
		if a, ok := found(); !ok || a.ID != want {
			t.Errorf("found %v, want %s", a.ID, want)
		}
	}
	if a, ok := match(all, document{kind: "workflow.chat", name: "nobody's"}, ""); ok {
		t.Errorf("found %v", a)
	}
	if file := fileOf("d", remoteArtifact{Type: "../x", Name: "../../etc"}); file != filepath.Join("d", "%2E%2E%2Fx", "%2E%2E%2F%2E%2E%2Fetc.json") {
		t.Errorf("a name leads out of the folder: %s", file)
	}
}

func TestAPatchIsToldWithWhatWasThere(t *testing.T) {
	t.Parallel()
	before := json.RawMessage(`{"nodes":[{"id":"a","x/y":60000}],"old":true}`)
	var b strings.Builder
	writeOps(&b, before, json.RawMessage(`[
		{"op":"replace","path":"/nodes/0/x~1y","value":45000},
		{"op":"replace","path":"/nodes/7/id","value":"b"},
		{"op":"remove","path":"/old"},
		{"op":"move","from":"/nodes/0","path":"/nodes/1"},
		{"op":"add","path":"/long","value":"`+strings.Repeat("x", 200)+`"}]`))
	has(t, b.String(), "replace /nodes/0/x~1y  60000 → 45000", "remove  /old\n", "move    /nodes/1 from /nodes/0", "…\n")
	if strings.Contains(b.String(), strings.Repeat("x", 100)) {
		t.Error("a long value is told whole")
	}
}

// An operation is told with the item it is about, wherever the operations
// before it have put that.
func TestAPatchIsToldByTheIDsOfItsItems(t *testing.T) {
	t.Parallel()
	before := json.RawMessage(`{"nodes":[{"id":"a","n":1},{"id":"b","branches":[{"next":"a"}]}]}`)
	var b strings.Builder
	writeOps(&b, before, json.RawMessage(`[
		{"op":"add","path":"/nodes/0","value":{"id":"x"}},
		{"op":"replace","path":"/nodes/1/n","value":2},
		{"op":"replace","path":"/nodes/2/branches/0/next","value":"x"},
		{"op":"move","from":"/nodes/2","path":"/nodes/0"},
		{"op":"remove","path":"/nodes/1"}]`))
	want := `  add     /nodes/0  {"id":"x"}
  replace /nodes/1/n  1 → 2  (a)
  replace /nodes/2/branches/0/next  "a" → "x"  (b)
  move    /nodes/0 from /nodes/2  (b)
  remove  /nodes/1  (x)
`
	if b.String() != want {
		t.Errorf("told is\n%s", b.String())
	}
}

func TestWhatAnImportDidIsTold(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	err := printBrought(&b, []difference{
		{File: "new.json", Kind: "workflow.chat", Name: "new", ID: "1", Now: 1, Created: true, Visibility: "private"},
		{File: "old.json", Kind: "workflow.chat", Name: "old", ID: "2", Now: 4, Patch: json.RawMessage(`[]`)},
		{File: "same.json", Kind: "workflow.chat", Name: "same", ID: "3", Now: 2},
		{File: "bad.json", Kind: "workflow.chat", Name: "bad", Fault: "No."},
	})
	want := "new.json: created workflow \"new\", version 1, private\nold.json: changed workflow \"old\", version 4\nsame.json: the same\nbad.json: refused\n  No.\n"
	if err != nil || b.String() != want {
		t.Errorf("told is %v\n%s", err, b.String())
	}
	if body := (difference{Kind: "workflow.chat", Name: "new"}).of(""); len(body) != 3 {
		t.Errorf("a new one without a visibility says %v", body)
	}
}

func TestAVerbNeedsWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"patch"}, "say what to do"},
		{[]string{"patch", "dance"}, `no verb "dance"`},
		{[]string{"patch", "propose"}, "name at least one FILE"},
		{[]string{"patch", "propose", "x.json"}, "say why"},
		{[]string{"patch", "approve"}, "name the ID"},
		{[]string{"patch", "approve", "x.json"}, "name the ID"},
		{[]string{"patch", "reject", "1"}, "say why"},
		{[]string{"patch", "rollback", "1"}, "say why"},
		{[]string{"artifacts"}, "say what to do"},
		{[]string{"artifacts", "dance", "x"}, `no verb "dance"`},
		{[]string{"artifacts", "export", "x", "y"}, "one folder"},
		{[]string{"replay"}, "--since"},
		{[]string{"replay", "--since", "soon"}, "is not a duration"},
	} {
		code, _, said := finish(t, nil, c.args...)
		if code != exitUsage || !strings.Contains(said, c.want) {
			t.Errorf("%v ended with %d: %s", c.args, code, said)
		}
	}
	code, _, said := finish(t, []string{"LIMINAL_URL=http://127.0.0.1:1", "LIMINAL_TOKEN=x"}, "patch", "list")
	if code != exitUnreachable || !strings.Contains(said, "no server answers at http://127.0.0.1:1") {
		t.Errorf("without a server it ended with %d: %s", code, said)
	}
	if code, _, said := finish(t, nil, "patch", "list"); code != exitFailed || !strings.Contains(said, "LIMINAL_TOKEN") {
		t.Errorf("without an account it ended with %d: %s", code, said)
	}
}

func TestWhatAProposerWroteDoesNothingToATerminal(t *testing.T) {
	t.Parallel()
	if got := harmless("fine\x1b[2J\u202egnihtyna\n\tso\x07"); got != "fine[2Jgnihtyna\n\tso" {
		t.Errorf("printed %q", got)
	}
}
