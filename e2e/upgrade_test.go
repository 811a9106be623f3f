package e2e

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/store/storetest"
)

// previous builds the release before this one, whose commit previous.txt names,
// from the history of this repository. Whoever makes a release writes its
// commit there.
func previous(t *testing.T) string {
	t.Helper()
	storetest.Long(t, "it builds the previous release")
	named, err := os.ReadFile("previous.txt")
	if err != nil {
		t.Fatal(err)
	}
	commit, dir := strings.TrimSpace(string(named)), t.TempDir()
	kept, err := filepath.Abs(filepath.Join("..", ".cache", "previous", commit))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	if !recorded(commit) {
		_ = exec.CommandContext(t.Context(), "git", "fetch", "--quiet", "--unshallow").Run() // a clone may lack its past
	}
	if !recorded(commit) {
		t.Fatalf("previous.txt names %s, which is no commit here; a shallow clone needs: git fetch --unshallow", commit)
	}
	unpack(t, commit, dir)
	path := filepath.Join(dir, "liminald-previous")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/liminald")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the previous release: %v\n%s", err, out)
	}
	if err := keep(path, kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// keep copies a built program to where the next run of the tests finds it; it
// is there whole or not at all.
func keep(path, kept string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	half := kept + ".half"
	if err := place(half, f); err != nil {
		return err
	}
	return errors.Join(os.Chmod(half, 0o755), os.Rename(half, kept))
}

// recorded reports whether this repository has a commit.
func recorded(commit string) bool {
	return exec.Command("git", "cat-file", "-e", commit+"^{commit}").Run() == nil
}

// unpack writes the files of a commit below dir.
func unpack(t *testing.T, commit, dir string) {
	t.Helper()
	archive := exec.CommandContext(t.Context(), "git", "-C", "..", "archive", commit)
	pipe, err := archive.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Start(); err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(pipe); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = place(filepath.Join(dir, filepath.FromSlash(h.Name)), files)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Wait(); err != nil {
		t.Fatal(err)
	}
}

func place(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// A run that waits for a person when the program is upgraded is answered
// afterwards, by the next release, and finishes on the versions it pinned.
//
// Requirements: PLAT-08, INT-04
func TestAPausedRunOutlivesAnUpgradeOfTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	args := []string{"dev", "--data", data, "--listen", "127.0.0.1:0", "--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0"}
	p := launchAs(t, previous(t), dir, nil, args...)
	ada := p.signUp("ada@example.org")
	greeter := ada.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "greeter", "schema": greeting("Good day")})
	say := object{"message": "hello", "workflow_id": greeter["id"]}
	question := ada.must("POST", "/v1/chat", say)["interrupt"].(object)
	answered := ada.must("POST", "/v1/chat", object{"message": "hello", "workflow_id": greeter["id"]})["interrupt"].(object)
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": answered["interrupt_id"], "resume_value": object{"type": "text_input", "value": "Bo"}})
	last(t, ada.follow(answered["run_id"].(string), 0, nil), "message_done")

	out, said, code := runWith(t, []string{"TEMPORAL_ADDRESS=" + p.ready.Temporal}, "replay", "--since", "7d", "--data", data)
	if code != 0 || !strings.Contains(out, "replay") {
		t.Fatalf("the new program does not understand the old one's runs (%d): %s%s", code, out, said)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("the old program ended with %d", code)
	}

	p.path = "" // the binary under test
	p.again()
	ada.signIn()
	ada.must("PATCH", "/v1/artifacts/"+greeter["id"].(string), []object{{"op": "replace", "path": "/nodes/1/response", "value": "Hi, ${vars.name}."}})
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "text_input", "value": "Ada"}})
	done := last(t, ada.follow(question["run_id"].(string), 0, nil), "message_done").object()
	if done["content"] != "Good day, Ada." {
		t.Errorf("the paused run ended with %q, not as the version it pinned says", done["content"])
	}
	pinned := ada.must("GET", "/v1/runs/"+question["run_id"].(string), nil)["run"].(object)["artifact"].(object)
	if fmt.Sprint(pinned["version"]) != "1" {
		t.Errorf("the paused run is pinned to %v", pinned)
	}
	again := ada.must("POST", "/v1/chat", say)["interrupt"].(object)
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": again["interrupt_id"], "resume_value": object{"type": "text_input", "value": "Ada"}})
	if done := last(t, ada.follow(again["run_id"].(string), 0, nil), "message_done").object(); done["content"] != "Hi, Ada." {
		t.Errorf("a new run ended with %q", done["content"])
	}
}

// greeting is a workflow that asks for a name and greets it.
func greeting(words string) object {
	return object{"kind": "workflow.chat", "entrypoint": "ask", "nodes": []object{
		{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "What is your name?", "save_as": "name", "next": "greet"},
		{"id": "greet", "type": "end", "response": words + ", ${vars.name}."},
	}}
}
