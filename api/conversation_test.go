package api

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// Requirements: CHAT-12
func TestAConversationIsMadeRenamedArchivedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	notes := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	make := map[string]any{"title": " Plans ", "active_context_id": notes, "user_id": bob.id}
	c := ada.post("/v1/conversations", make, "Idempotency-Key", "once").ok()["conversation"].(map[string]any)
	if c["title"] != "Plans" || c["status"] != "open" || c["active_context_id"] != notes || c["active_run"] != nil {
		t.Errorf("made %v", c)
	}
	if again := ada.post("/v1/conversations", make, "Idempotency-Key", "once").ok()["conversation"].(map[string]any); again["id"] != c["id"] {
		t.Errorf("the same key made %v", again)
	}
	path := "/v1/conversations/" + c["id"].(string)
	if thread := ada.get(path + "/messages").ok(); len(items(thread)) != 0 {
		t.Errorf("thread = %v", thread)
	}
	said := ada.post("/v1/chat", map[string]any{"message": "hello", "conversation_id": c["id"]}).ok()
	if said["conversation_id"] != c["id"] {
		t.Errorf("said in %v", said["conversation_id"])
	}
	if got := ada.get(path).ok()["conversation"].(map[string]any); got["title"] != "Plans" {
		t.Errorf("a message renamed it: %v", got)
	}
	for field, value := range map[string]string{"title": "Older plans", "status": "archived"} {
		got := ada.do("PATCH", path, map[string]any{field: value}).ok()["conversation"].(map[string]any)
		if got[field] != value {
			t.Errorf("%s is %v", field, got[field])
		}
	}
	ada.do("DELETE", path, nil).ok()
	ada.get(path).fails(404, "not_found")
	ada.get("/v1/runs/"+said["run_id"].(string)).fails(404, "not_found")
}

// Requirements: UI-06
func TestAConversationKeepsTheWorkflowThatWasChosen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	thread := "/v1/conversations/" + ada.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)["id"].(string)
	chosen := func() any { return ada.get(thread).ok()["conversation"].(map[string]any)["workflow_id"] }
	ada.do("PATCH", thread, map[string]any{"workflow_id": "letters.weekly"}).ok()
	if chosen() != "letters.weekly" {
		t.Errorf("the conversation has %v", chosen())
	}
	ada.do("PATCH", thread, map[string]any{"title": "Letters"}).ok()
	if chosen() != "letters.weekly" {
		t.Errorf("after another change the conversation has %v", chosen())
	}
	ada.do("PATCH", thread, map[string]any{"workflow_id": id.New()}).fails(404, "not_found")
	bob.do("PATCH", thread, map[string]any{"workflow_id": ""}).fails(404, "not_found")
	ada.do("PATCH", thread, map[string]any{"workflow_id": ""}).ok()
	if chosen() != "" {
		t.Errorf("given up, the conversation has %v", chosen())
	}
}

func TestAConversationIsNotMadeOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	theirs := bob.post("/v1/contexts", map[string]any{"name": "theirs"}).ok()["id"]
	for _, of := range []any{theirs, id.New(), "7"} {
		ada.post("/v1/conversations", map[string]any{"active_context_id": of}).fails(404, "not_found")
	}
	ada.post("/v1/conversations", map[string]any{"title": strings.Repeat("x", 201)}).fails(400, "validation_error")
	untitled := ada.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)
	ada.post("/v1/chat", map[string]any{"message": "What is a lemma?", "conversation_id": untitled["id"]}).ok()
	if got := ada.get("/v1/conversations/" + untitled["id"].(string)).ok()["conversation"].(map[string]any); got["title"] != "What is a lemma?" {
		t.Errorf("title = %v", got["title"])
	}
}

// Requirements: ART-05, ART-08, ART-11
func TestAConversationNamesWhatIsRememberedOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	talk := ada.post("/v1/conversations", map[string]any{"title": "Leases"}).ok()["conversation"].(map[string]any)
	if named, ok := talk["memory_artifact_id"]; !ok || named != nil {
		t.Errorf("a new one remembers %v", named)
	}
	memories := artifacts.NewMemories(artifacts.NewLibrary(w.store, nil), w.store)
	w.must(memories.Remember(t.Context(), ada.viewer(), talk["id"].(string), chat.Memory{Summary: "They compare leases.", UptoSeq: 8}))
	named, _ := ada.get("/v1/conversations/" + talk["id"].(string)).ok()["conversation"].(map[string]any)["memory_artifact_id"].(string)
	listed := items(ada.get("/v1/conversations").ok())[0]["memory_artifact_id"]
	memory := ada.get("/v1/artifacts/" + named).ok()
	if memory["type"] != "memory.summary" || memory["created_by"] != "llm" || listed != named {
		t.Errorf("the artifact is %v, listed is %v", memory, listed)
	}
	bob.get("/v1/artifacts/"+named).fails(404, "not_found")
	bob.get("/v1/artifacts/"+named+"/versions").fails(404, "not_found")
	bob.do("PATCH", "/v1/artifacts/"+named, []map[string]any{{"op": "replace", "path": "/summary", "value": "x"}}).fails(404, "not_found")
	if all := items(bob.get("/v1/artifacts?type=memory").ok()); len(all) != 0 {
		t.Errorf("another person lists %v", all)
	}
}

// countedReads is an ArtifactStore that counts what is read by id.
type countedReads struct {
	ArtifactStore
	count atomic.Int32
}

func (c *countedReads) Get(ctx context.Context, v identity.Viewer, id string) (artifacts.Artifact, error) {
	c.count.Add(1)
	return c.ArtifactStore.Get(ctx, v, id)
}

// A list of conversations reads a workflow that several of them have once.
func TestAListOfConversationsReadsAWorkflowOnce(t *testing.T) {
	t.Parallel()
	var reads *countedReads
	h := newHouse(t, func(o *Options) {
		reads = &countedReads{ArtifactStore: o.Artifacts}
		o.Artifacts = reads
	})
	greeter := h.greeter()
	for range 3 {
		made := h.pia.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)
		h.pia.do("PATCH", "/v1/conversations/"+made["id"].(string), map[string]any{"workflow_id": greeter}).ok()
	}
	reads.count.Store(0)
	list := items(h.pia.get("/v1/conversations").ok())
	for _, c := range list {
		if got := c["workflow_id"]; got != greeter {
			t.Errorf("a listed conversation has the workflow %v", got)
		}
	}
	if n := reads.count.Load(); len(list) != 3 || n != 1 {
		t.Errorf("%d conversations were listed with %d reads of their workflow", len(list), n)
	}
}
