package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"liminal/e2e/teststack"
	"liminal/worker"
)

// 001 §3.3 keeps a snapshot in a JSON file when there is no PostgreSQL; here
// it is a database file in the same folder, and every commit is kept.
//
// Requirements: DATA-14
func TestWithoutPostgreSQLEverythingIsKeptInTheFolder(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	first := ada.must("POST", "/v1/chat", object{"message": "What deposit does the tenant pay?"})
	conversation := first["conversation_id"].(string)
	said := ada.messages(conversation)
	standard := ada.artifact("default")
	edited := ada.must("PATCH", "/v1/artifacts/"+standard["id"].(string), []object{{"op": "add", "path": "/max_retries", "value": 1}})

	p.kill()
	if _, err := os.Stat(filepath.Join(p.dir, "data", "state", "liminal.db")); err != nil {
		t.Fatal(err)
	}
	p.again()
	ada.must("GET", "/v1/auth/me", nil) // the session
	ada.signIn()                        // the credential
	if got := ada.messages(conversation); !slices.Equal(got, said) {
		t.Errorf("the conversation holds %q, before %q", got, said)
	}
	if got := ada.must("GET", "/v1/contexts/"+docs, nil); got["documents"] != 1.0 || got["chunks"] == 0.0 {
		t.Errorf("the context holds %v documents and %v chunks", got["documents"], got["chunks"])
	}
	now := ada.artifact("default")
	if now["version"] != edited["version"] || fmt.Sprint(now["schema"]) != fmt.Sprint(edited["schema"]) {
		t.Errorf("the edited default is at version %v, was at %v: seeding must not touch what is there", now["version"], edited["version"])
	}
	again := ada.must("POST", "/v1/chat", object{"message": "What deposit does the tenant pay?", "conversation_id": conversation})
	if !strings.Contains(fmt.Sprint(again["content"]), "three monthly rents") {
		t.Errorf("after the restart the answer is %v", again["content"])
	}
}

// artifact finds a workflow by its name.
func (who *person) artifact(name string) object {
	who.p.t.Helper()
	for _, a := range who.must("GET", "/v1/artifacts?type=workflow&limit=100", nil)["data"].([]any) {
		if a.(object)["name"] == name {
			return who.must("GET", "/v1/artifacts/"+a.(object)["id"].(string), nil)
		}
	}
	who.p.t.Fatalf("there is no workflow %s", name)
	return nil
}

// Requirements: RAG-07, RAG-06
func TestAFileThatChangesInItsFolderIsReadAgain(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	me := ada.must("GET", "/v1/auth/me", nil)["user"].(object)["id"].(string)
	folder := filepath.Join(p.dir, "data", "users", me, "files", "in")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	ada.sendPlain("seed.md", "# Seed\n\nThe seed is a walnut.\n")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	docs := ada.must("POST", "/v1/contexts", object{"name": "Watched", "paths": []string{"files/seed.md"}, "pii_scrub": true})["id"].(string)
	watched := ada.must("POST", "/v1/contexts", object{"name": "Folder", "paths": []string{"files"}})["id"].(string)
	write("ferry.md", "# Ferry\n\nThe ferry leaves at seven, says captain@example.org.\n")
	p.sweep("sources")
	document := ada.untilDocument(watched, "files/in/ferry.md")
	if answer := ada.answer(watched, "When does the ferry leave?"); !strings.Contains(answer, "seven") {
		t.Errorf("a new file in the folder: %q", answer)
	}
	write("ferry.md", "# Ferry\n\nThe ferry leaves at eleven thirty, as of May.\n")
	p.sweep("sources")
	p.until("the change to be read", func() bool {
		text := fmt.Sprint(ada.must("GET", "/v1/documents/"+document+"/text", nil))
		return strings.Contains(text, "eleven thirty") && ada.must("GET", "/v1/documents/"+document, nil)["status"] == "ready"
	})
	if answer := ada.answer(watched, "When does the ferry leave?"); !strings.Contains(answer, "eleven thirty") {
		t.Errorf("a changed file in the folder: %q", answer)
	}

	if err := os.WriteFile(filepath.Join(p.dir, "data", "users", me, "files", "seed.md"), []byte("# Seed\n\nAsk gardener@example.org for the walnut.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.sweep("sources")
	seed := ada.untilDocument(docs, "files/seed.md")
	p.until("the seed to be read again", func() bool {
		return strings.Contains(fmt.Sprint(ada.must("GET", "/v1/documents/"+seed+"/text", nil)), "[email]")
	})
	if text := fmt.Sprint(ada.must("GET", "/v1/documents/"+seed+"/text", nil)); strings.Contains(text, "gardener@") {
		t.Errorf("a scrubbed context holds %s", text)
	}
}

// sendPlain stores a file that belongs to no context.
func (who *person) sendPlain(name, text string) {
	who.p.t.Helper()
	docs := who.must("POST", "/v1/contexts", object{"name": "Inbox"})["id"].(string)
	who.upload(docs, name, []byte(text))
}

// sweep does one sweep now, behind one that is still on its way.
func (p *program) sweep(name string) {
	p.t.Helper()
	c, err := client.DialContext(p.t.Context(), client.Options{HostPort: p.ready.Temporal, Logger: teststack.Quiet{}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	if err := c.ScheduleClient().GetHandle(p.t.Context(), worker.SweepID(worker.DefaultQueue, name)).Trigger(p.t.Context(), client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE}); err != nil {
		p.t.Fatal(err)
	}
}

// untilDocument waits until a context has a document of a path that is ready,
// and returns its id.
func (who *person) untilDocument(contextID, path string) (id string) {
	who.p.t.Helper()
	who.p.until(path+" to be read", func() bool {
		for _, d := range who.must("GET", "/v1/contexts/"+contextID+"/documents?limit=100", nil)["data"].([]any) {
			if d.(object)["path"] == path && d.(object)["status"] == "ready" {
				id = d.(object)["id"].(string)
				return true
			}
		}
		return false
	})
	return id
}

// answer asks about one context.
func (who *person) answer(contextID, question string) string {
	who.p.t.Helper()
	return fmt.Sprint(who.must("POST", "/v1/chat", object{"message": question, "context_ids": []string{contextID}})["content"])
}

// Requirements: EMB-06, RAG-09, RAG-08
func TestAStaticModelPutIntoTheFolderIsUsedFromTheNextStart(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	if got := ada.encoder(docs); got != "hash-v1" {
		t.Fatalf("without a model vectors are made by %v", got)
	}

	p.kill()
	models := filepath.Join(p.dir, "data", "shared", "models")
	if err := os.CopyFS(filepath.Join(models, "words"), os.DirFS("../internal/embed/static/testdata/wordlevel")); err != nil {
		t.Fatal(err)
	}
	p.again()
	ada.signIn()
	if answer := ada.answer(docs, "How long is the notice period of the lease?"); !strings.Contains(answer, "three months") {
		t.Errorf("before the roll it answers %q", answer)
	}
	p.sweep("encoders")
	p.until("the context to be read with the model", func() bool { return ada.encoder(docs) != "hash-v1" })
	if got := ada.encoder(docs); !strings.Contains(got, "words") {
		t.Errorf("vectors are made by %v", got)
	}
	if answer := ada.answer(docs, "How long is the notice period of the lease?"); !strings.Contains(answer, "three months") {
		t.Errorf("after the roll it answers %q", answer)
	}
}

// encoder is what a context's vectors are made by.
func (who *person) encoder(contextID string) string {
	who.p.t.Helper()
	meta, _ := who.must("GET", "/v1/contexts/"+contextID, nil)["meta"].(object)
	model, _ := meta["embedding_model"].(string)
	return model
}
