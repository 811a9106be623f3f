package api

import (
	"net/http"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/inproc"
	"liminal/internal/knowledge/extract"
	"liminal/internal/quota"
)

// three people of one tenant, of whom ada has a context with a document.
func sharers(t *testing.T, change ...func(*Options)) (w *world, ada, bob, eve *person, of belongings) {
	t.Helper()
	w = newWorld(t, change...)
	w.signUp("admin@example.org")
	ada, bob, eve = w.signUp("ada@example.org"), w.signUp("bob@example.org"), w.signUp("eve@example.org")
	of.context = ada.post("/v1/contexts", map[string]any{"name": "Law"}).ok()["id"].(string)
	up := ada.upload("law.md", "# law", "context_id", of.context).ok()
	of.document = up["document"].(map[string]any)["id"].(string)
	w.must(w.store.PutText(t.Context(), ada.viewer(), of.document, extract.Document{Text: "law"}))
	return w, ada, bob, eve, of
}

// Requirements: ISO-06 (shared)
func TestASharedContextIsReadAddedToAndTakenBack(t *testing.T) {
	t.Parallel()
	_, ada, bob, eve, of := sharers(t)
	bob.get("/v1/contexts/"+of.context).fails(404, "not_found")
	made := ada.post("/v1/shares", map[string]any{"context_id": of.context, "with": "bob@example.org"}).ok()
	if made["name"] != "Law" || made["with"].(map[string]any)["email"] != "bob@example.org" || made["kind"] != "context" || made["write"] != false {
		t.Errorf("shared: %v", made)
	}
	seen := bob.get("/v1/contexts/" + of.context).ok()
	if seen["visibility"] != "shared" || seen["mine"] != false || seen["writable"] != false {
		t.Errorf("seen: %v", seen)
	}
	bob.get("/v1/documents/" + of.document + "/text").ok()
	bob.post("/v1/documents/"+of.document+"/link", map[string]any{}).ok() // the file itself opens for the reader
	received := items(bob.get("/v1/shares?received=true").ok())
	if len(received) != 1 || received[0]["owner"].(map[string]any)["email"] != "ada@example.org" {
		t.Errorf("received: %v", received)
	}
	if got := items(bob.get("/v1/contexts?owner=shared").ok()); len(got) != 1 {
		t.Errorf("shared with me: %v", got)
	}
	if got := items(bob.get("/v1/contexts?q=LA").ok()); len(got) != 1 {
		t.Errorf("found: %v", got)
	}
	bob.post("/v1/chat", map[string]any{"message": "hi", "context_ids": []string{of.context}}).ok()
	bob.upload("bob.md", "x", "context_id", of.context).fails(403, "forbidden")
	for _, p := range []*person{bob, eve} {
		want := map[*person]int{bob: 403, eve: 404}[p]
		for _, r := range []*http.Request{
			p.request("DELETE", "/v1/contexts/"+of.context, nil), p.request("PATCH", "/v1/contexts/"+of.context, map[string]any{"name": "mine"}),
			p.request("DELETE", "/v1/documents/"+of.document, nil),
		} {
			if got := p.send(r); got.status != want {
				t.Errorf("%s: %d, want %d: %s", got.what, got.status, want, got.body)
			}
		}
	}
	bob.post("/v1/shares", map[string]any{"context_id": of.context, "with": "eve@example.org"}).fails(404, "not_found")

	again := ada.post("/v1/shares", map[string]any{"context_id": of.context, "with": "bob@example.org", "write": true}).ok()
	if again["id"] != made["id"] || again["write"] != true {
		t.Errorf("shared again: %v", again)
	}
	added := bob.upload("bob.md", "# from bob", "context_id", of.context).ok()["document"].(map[string]any)
	ada.get("/v1/documents/" + added["id"].(string)).ok()
	bob.do("DELETE", "/v1/documents/"+of.document, nil).fails(403, "forbidden")
	bob.do("DELETE", "/v1/documents/"+added["id"].(string), nil).ok() // what they put there themselves
	eve.do("DELETE", "/v1/shares/"+made["id"].(string), nil).fails(404, "not_found")
	ada.do("DELETE", "/v1/shares/"+made["id"].(string), nil).ok()
	for _, path := range []string{"/v1/contexts/" + of.context, "/v1/documents/" + of.document, "/v1/documents/" + of.document + "/text", "/v1/contexts/" + of.context + "/chunks"} {
		bob.get(path).fails(404, "not_found")
	}
	bob.post("/v1/chat", map[string]any{"message": "hi", "context_ids": []string{of.context}}).fails(404, "not_found")
	if got := items(bob.get("/v1/shares?received=true").ok()); len(got) != 0 {
		t.Errorf("received afterwards: %v", got)
	}
	if got := ada.get("/v1/contexts/" + of.context).ok(); got["visibility"] != "private" {
		t.Errorf("afterwards: %v", got["visibility"])
	}
}

// Requirements: ISO-06 (shared)
func TestASharedSetAndArtifactOpenForWhomTheyAreSharedWith(t *testing.T) {
	t.Parallel()
	w, ada, bob, eve, of := sharers(t)
	set := ada.post("/v1/document-sets", map[string]any{"title": "For all", "document_ids": []string{of.document}}).ok()["id"].(string)
	ada.post("/v1/shares", map[string]any{"document_set_id": set, "everyone": true, "write": true}).fails(400, "validation_error")
	given := ada.post("/v1/shares", map[string]any{"document_set_id": set, "everyone": true}).ok()
	if given["with"] != nil {
		t.Errorf("with everybody: %v", given)
	}
	for _, p := range []*person{bob, eve} {
		if got := p.get("/v1/document-sets/" + set).ok(); len(got["documents"].([]any)) != 1 || got["owner_id"] != ada.id {
			t.Errorf("the set: %v", got)
		}
		p.get("/v1/documents/" + of.document + "/text").ok()
		p.get("/v1/contexts/"+of.context).fails(404, "not_found")
		p.do("DELETE", "/v1/documents/"+of.document, nil).fails(403, "forbidden")
		p.do("DELETE", "/v1/document-sets/"+set, nil).fails(404, "not_found")
	}
	bob.do("DELETE", "/v1/shares/"+given["id"].(string), nil).fails(404, "not_found") // it is not theirs alone

	a, err := w.store.CreateArtifact(t.Context(), ada.viewer(), artifacts.Artifact{
		ID: id.New(), OwnerID: ada.id, Type: artifacts.KindWorkflow, Name: "flow", Visibility: "private", Version: 1, Schema: []byte(`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`), CreatedBy: "user",
	}, "")
	w.must(err)
	patch := []any{map[string]any{"op": "add", "path": "/title", "value": "bob's"}}
	bob.get("/v1/artifacts/"+a.ID).fails(404, "not_found")
	ada.post("/v1/shares", map[string]any{"artifact_id": a.ID, "with": "bob@example.org"}).ok()
	if got := bob.get("/v1/artifacts/" + a.ID).ok(); got["opened"] != false || got["visibility"] != "shared" {
		t.Errorf("the artifact: %v", got)
	}
	bob.post("/v1/workflows/run", map[string]any{"workflow_id": a.ID}).ok()
	bob.do("PATCH", "/v1/artifacts/"+a.ID, patch).fails(403, "forbidden")
	ada.post("/v1/shares", map[string]any{"artifact_id": a.ID, "with": "bob@example.org", "write": true}).ok()
	bob.do("PATCH", "/v1/artifacts/"+a.ID, patch).ok()
	eve.get("/v1/artifacts/"+a.ID).fails(404, "not_found")
	if got := ada.get("/v1/artifacts/" + a.ID).ok(); got["version"] != 2.0 || got["owner_id"] != ada.id {
		t.Errorf("after a version of another's: %v", got)
	}
}

// Accounts must not be found by sharing with every name there could be.
func TestWhoIsHereIsNotFoundOutBySharing(t *testing.T) {
	t.Parallel()
	_, ada, bob, _, of := sharers(t, func(o *Options) {
		m, _ := o.Log.(*inproc.Memory)
		o.Limits = quota.NewLimits(frozen{m})
	})
	body := map[string]any{"context_id": of.context, "with": "nobody@example.org"}
	if got := ada.post("/v1/shares", body).fails(404, "not_found"); !strings.Contains(got.Message, "exactly") {
		t.Errorf("nobody: %s", got.Message)
	}
	body["with"] = "ada@example.org"
	ada.post("/v1/shares", body).fails(400, "validation_error")
	// Who has nothing to share learns nothing of anybody.
	one := bob.post("/v1/shares", map[string]any{"context_id": of.context, "with": "eve@example.org"}).fails(404, "not_found")
	two := bob.post("/v1/shares", map[string]any{"context_id": of.context, "with": "nobody@example.org"}).fails(404, "not_found")
	if one.Message != two.Message {
		t.Errorf("%q and %q", one.Message, two.Message)
	}
	last := 0
	for range 60 {
		last = ada.post("/v1/shares", map[string]any{"context_id": of.context, "with": id.New() + "@example.org"}).status
		if last == http.StatusTooManyRequests {
			break
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last try: %d", last)
	}
}
