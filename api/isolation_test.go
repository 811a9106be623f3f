package api

import (
	"reflect"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

func isNil(v any) bool { return reflect.ValueOf(v).IsNil() }

// belongings are one thing of each kind that ada owns, by the first part of
// the path that serves it.
func (p *person) belongings() map[string]string {
	p.Helper()
	asked := p.post("/v1/chat", map[string]any{"message": "ask secret"}).ok()
	c := p.post("/v1/contexts", map[string]any{"name": "mine"}).ok()
	up := p.upload("secret.md", "# Secret", "context_id", c["id"].(string)).ok()
	d := up["document"].(map[string]any)["id"].(string)
	p.must(p.store.PutText(p.Context(), p.viewer(), d, knowledge.Extract{Text: "secret text"}))
	a, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		ID: id.New(), OwnerID: p.id, Type: artifacts.KindWorkflow,
		Name: "mine", Visibility: "private", Version: 1, Schema: []byte(`{}`), CreatedBy: "user",
	}, "")
	p.must(err)
	return map[string]string{
		"conversations": asked["conversation_id"].(string), "runs": asked["run_id"].(string), "contexts": c["id"].(string),
		"documents": d, "artifacts": a.ID, "interrupt": asked["interrupt"].(map[string]any)["interrupt_id"].(string),
		"file": up["file"].(map[string]any)["path"].(string),
	}
}

// Requirements: ISO-01, ISO-11, CHAT-11, INT-30
func TestNobodyReachesAnothersThingsByTheirIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	mine := ada.belongings()
	tried := 0
	w.routes("{id}", func(operation, method, path string) {
		if !strings.Contains(path, "{id}") {
			return
		}
		noun := strings.Split(path, "/")[2]
		if mine[noun] == "" {
			t.Errorf("%s: this test knows no %s to try", operation, noun)
			return
		}
		tried++
		body := map[string]any(nil)
		if method == "PATCH" {
			body = map[string]any{"title": "stolen", "patch": []any{}}
		}
		foreign := bob.do(method, strings.ReplaceAll(path, "{id}", mine[noun]), body)
		absent := bob.do(method, strings.ReplaceAll(path, "{id}", id.New()), body)
		foreign.fails(404, "not_found")
		if a, b := foreign.fails(404, "not_found"), absent.fails(404, "not_found"); a.Message != b.Message || !reflect.DeepEqual(a.Details, b.Details) {
			t.Errorf("%s tells them apart: %+v, %+v", operation, a, b)
		}
	})
	if tried < 15 {
		t.Errorf("only %d routes with an id", tried)
	}
	bob.reachesNothing(mine)
	ada.get("/v1/conversations/" + mine["conversations"]).ok()
	ada.get("/v1/documents/" + mine["documents"] + "/text").ok()
}

// reachesNothing tries another's things where they are named in bodies,
// queries and lists.
func (p *person) reachesNothing(theirs map[string]string) {
	p.Helper()
	value := map[string]any{"type": "doc_choice", "value": "one"}
	p.post("/v1/chat/resume", map[string]any{"interrupt_id": theirs["interrupt"], "resume_value": value}).fails(404, "not_found")
	p.post("/v1/chat/resume", map[string]any{"conversation_id": theirs["conversations"], "resume_value": value}).fails(404, "not_found")
	p.post("/v1/chat/cancel", map[string]any{"run_id": theirs["runs"]}).fails(404, "not_found")
	p.post("/v1/chat", map[string]any{"message": "hi", "conversation_id": theirs["conversations"]}).fails(404, "not_found")
	p.get("/v1/interrupts?conversation_id="+theirs["conversations"]).fails(404, "not_found")
	p.post("/v1/files/link", map[string]any{"path": theirs["file"]}).fails(404, "not_found")
	p.do("DELETE", "/v1/files?path="+theirs["file"], nil).fails(404, "not_found")
	p.post("/v1/contexts", map[string]any{"name": "x", "paths": []string{theirs["file"]}}).fails(404, "not_found")
	p.upload("a.md", "x", "context_id", theirs["contexts"]).fails(404, "not_found")
	for _, path := range []string{"/v1/conversations", "/v1/runs", "/v1/files", "/v1/contexts", "/v1/interrupts", "/v1/artifacts"} {
		if list := items(p.get(path).ok()); len(list) != 0 {
			p.Errorf("%s shows %v", path, list)
		}
	}
}

// Requirements: ISO-07
func TestOnlyAdministratorsWriteWhatIsGlobal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, bob := w.signUp("admin@example.org"), w.signUp("bob@example.org")
	global, err := w.store.CreateContext(t.Context(), identity.System(), knowledge.Context{Name: "laws", Visibility: "global"})
	w.must(err)
	bob.get("/v1/contexts/" + global.ID).ok()
	bob.do("DELETE", "/v1/contexts/"+global.ID, nil).fails(403, "forbidden")
	bob.upload("a.md", "x", "context_id", global.ID).fails(403, "forbidden")
	body := map[string]any{
		"type": "workflow", "name": "everybodys", "visibility": "global",
		"schema": map[string]any{"kind": "workflow.chat", "entrypoint": "a", "nodes": []any{map[string]any{"id": "a", "type": "end"}}},
	}
	bob.post("/v1/artifacts", body).fails(403, "forbidden")
	made := admin.post("/v1/artifacts", body).ok()
	if made["visibility"] != "global" || made["owner_id"] != nil {
		t.Errorf("made = %v", made)
	}
	bob.get("/v1/artifacts/" + made["id"].(string)).ok()
}
