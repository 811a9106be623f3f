package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// Requirements: ISO-01, ISO-07, ISO-11, CHAT-11, INT-30
func TestTheWall(t *testing.T) {
	t.Parallel()
	newSecuredWorld(t).walk(t)
}

// walk attacks every route of the document.
func (w *world) walk(t *testing.T) {
	w.signUp("admin@example.org")
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	theirs, table, seen := ada.belongings(), maps.Clone(walls), map[string]bool{}
	maps.Copy(table, accountWalls)
	maps.Copy(table, changeWalls)
	maps.Copy(table, dialectWalls)
	maps.Copy(table, palaceWalls)
	w.routes("{id}", func(operation, method, path string) {
		seen[operation] = true
		try := table[operation]
		if try == nil {
			t.Errorf("%s has no entry in the table: say how a stranger would reach another's things through it", operation)
			return
		}
		stranger := &person{world: w, token: bob.token, id: bob.id, session: bob.session, method: method, path: path}
		stranger.attacks(operation, try(stranger, theirs), try(stranger, nobodys()), theirs)
	})
	for operation := range table {
		if !seen[operation] {
			t.Errorf("%s is in the table and is no route", operation)
		}
	}
	ada.stillHas(theirs)
}

// attacks sends each attack on another's things and its twin on nobody's.
func (p *person) attacks(operation string, on, twins []attack, theirs belongings) {
	p.Helper()
	for i, a := range on {
		what := fmt.Sprintf("%s, attack %d", operation, i)
		got := p.send(a.request)
		if got.status != a.want {
			p.Errorf("%s: %d, want %d: %s", what, got.status, a.want, got.body)
		}
		p.leaksNothing(what, got, theirs)
		twin := p.send(twins[i].request)
		if a.want != http.StatusNotFound || a.alone {
			continue
		}
		one, two := got.fails(404, "not_found"), twin.fails(404, "not_found")
		if neutral(one.Message) != neutral(two.Message) || !reflect.DeepEqual(one.Details, two.Details) {
			p.Errorf("%s tells another's from nobody's: %+v, %+v", what, one, two)
		}
	}
}

// neutral is a message without the path or the name it was asked for.
func neutral(message string) string {
	before, _, _ := strings.Cut(message, `"`)
	before, _, _ = strings.Cut(before, " named ")
	return before
}

// leaksNothing looks for another's things in an answer.
func (p *person) leaksNothing(what string, got *response, theirs belongings) {
	p.Helper()
	asked := got.asked
	for _, secret := range []string{
		mark, theirs.user, theirs.conversation, theirs.message, theirs.run, theirs.interrupt, theirs.context, theirs.document, theirs.set, theirs.artifact, theirs.cluster, theirs.lesson, theirs.training, theirs.key, theirs.share, theirs.sessionOf,
		"ada@example.org", theirs.session,
	} {
		if strings.Contains(string(got.body), secret) && !strings.Contains(asked, secret) {
			p.Errorf("%s answers with %q: %s", what, secret, got.body)
		}
	}
}

// stillHas checks that nothing was taken or changed.
func (p *person) stillHas(b belongings) {
	p.Helper()
	for _, path := range []string{
		"/v1/conversations/" + b.conversation, "/api/agent/history?session_id=" + b.sessionOf, "/v1/contexts/" + b.context, "/v1/document-sets/" + b.set, "/v1/documents/" + b.document + "/text", "/v1/artifacts/" + b.artifact,
	} {
		if got := p.get(path); got.status != 200 || !strings.Contains(string(got.body), mark) {
			p.Errorf("%s is now %d %s", path, got.status, got.body)
		}
	}
	if got := p.get(fmt.Sprint("/v1/config/patches/", b.patch)).ok(); got["status"] != "pending" || len(got["events"].([]any)) != 1 {
		p.Errorf("the proposal is %v: %v", got["status"], got["events"])
	}
	if r := p.get("/v1/runs/" + b.run).ok()["run"].(map[string]any); r["status"] != "waiting" {
		p.Errorf("the run is %v", r["status"])
	}
	if open := items(p.get("/v1/interrupts").ok()); len(open) != 2 { // of a turn, and of a comparison
		p.Errorf("open questions: %v", open)
	}
	if got := p.do("GET", "/v1/files/download?"+b.link.Encode(), nil); string(got.body) != "# "+mark {
		p.Errorf("the file is %d %s", got.status, got.body)
	}
	list, _, err := p.store.ListPreferences(p.Context(), p.viewer(), "", 10)
	if p.must(err); len(list) != 1 || list[0].ID != b.preference {
		p.Errorf("feedback: %v", list)
	}
	if got := p.get("/v1/learning").ok()["lessons"].([]any); len(got) != 1 || got[0].(map[string]any)["text"] != mark {
		p.Errorf("lessons: %v", got)
	}
	if got := items(p.get("/v1/clusters").ok()); len(got) != 1 || got[0]["label"] != mark {
		p.Errorf("situations: %v", got)
	}
	if got := items(p.get("/v1/keys").ok()); len(got) != 1 || got[0]["ended"] != false {
		p.Errorf("keys: %v", got)
	}
	if got := items(p.get("/v1/shares").ok()); len(got) != 1 || got[0]["id"] != b.share {
		p.Errorf("shares: %v", got)
	}
	p.get("/v1/auth/me").ok()
}

// Requirements: ISO-01, INT-30, STREAM-07
func TestASocketReachesNothingOfAnothers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	theirs := ada.belongings()
	value := map[string]any{"type": "doc_choice", "value": "one"}
	k := bob.talk()
	for _, frame := range []map[string]any{
		{"type": "follow", "run_id": theirs.run},
		{"type": "cancel", "run_id": theirs.run},
		{"type": "cancel", "request_id": theirs.request},
		{"type": "resume", "interrupt_id": theirs.interrupt, "resume_value": value},
		{"type": "resume", "conversation_id": theirs.conversation, "resume_value": value},
		{"type": "chat_start", "message": "hi", "conversation_id": theirs.conversation},
		{"type": "chat_start", "message": "hi", "context_ids": []string{theirs.context}},
		{"type": "chat_start", "message": "hi", "workflow_id": theirs.artifact},
		{"type": "chat_start", "message": "hi", "conversation_id": theirs.conversation, "replaces": theirs.message},
		{"type": "chat_start", "message": "hi", "tagged_doc_ids": []string{theirs.document}},
		{"type": "chat_start", "message": "hi", "tagged_set_ids": []string{theirs.set}},
	} {
		k.say(frame)
		got := k.hear()
		if got.Event != "error" || !strings.Contains(string(got.Data), "not_found") || strings.Contains(string(got.Data), mark) {
			t.Errorf("%v: %+v %s", frame, got, got.Data)
		}
	}
	k.say(map[string]any{"type": "unfollow", "run_id": theirs.run})
	k.say(map[string]any{"type": "ping"})
	if got := k.hear(); got.Event != "pong" {
		t.Errorf("after it all: %+v", got)
	}
	ada.stillHas(theirs)
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
	bob.do("PATCH", "/v1/contexts/"+global.ID, map[string]any{"name": "bob's"}).fails(403, "forbidden")
	bob.upload("a.md", "x", "context_id", global.ID).fails(403, "forbidden")
	body := map[string]any{"type": "workflow", "name": "everybodys", "visibility": "global", "schema": smallest}
	bob.post("/v1/artifacts", body).fails(403, "forbidden")
	made := admin.post("/v1/artifacts", body).ok()
	if made["visibility"] != "global" || made["owner_id"] != nil {
		t.Errorf("made = %v", made)
	}
	bob.get("/v1/artifacts/" + made["id"].(string)).ok()
	bob.do("PATCH", "/v1/artifacts/"+made["id"].(string), []any{}).fails(403, "forbidden")
}

// pages are the two shapes of a list (API-07): a cursor, or numbered pages.
var pages = map[string][]string{"cursor": {"data", "next_cursor"}, "numbered": {"page", "page_size", "total"}}

// Requirements: API-07
func TestEveryListSaysHowItPages(t *testing.T) {
	t.Parallel()
	s := newServer(Options{SiteOptions: SiteOptions{Version: "1"}})
	lists := 0
	for path, item := range s.huma.OpenAPI().Paths {
		op := item.Get
		if op == nil || !strings.HasPrefix(op.OperationID, "list") || path == modelsPath { // of another protocol
			continue
		}
		lists++
		schema := op.Responses["200"].Content["application/json"].Schema
		data := s.huma.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref).Properties["data"]
		if data.Ref != "" {
			data = s.huma.OpenAPI().Components.Schemas.SchemaFromRef(data.Ref)
		}
		shapes := 0
		for _, fields := range pages {
			if !slices.ContainsFunc(fields, func(f string) bool { return data.Properties[f] == nil }) {
				shapes++
			}
		}
		if shapes != 1 {
			t.Errorf("GET %s pages in %d of the shapes: %v", path, shapes, slices.Sorted(maps.Keys(data.Properties)))
		}
	}
	if lists < 8 {
		t.Errorf("only %d lists", lists)
	}
}
