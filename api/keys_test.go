package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/quota"
)

// closedToKeys are the routes that no access key opens, whatever its scopes. One
// that is neither here nor names a scope fails the test below: somebody has to
// say which of the two it is.
var closedToKeys = []string{
	"GET /v1/oauth/consent", "POST /v1/oauth/consent", "POST /v1/keys", "GET /v1/keys", "DELETE /v1/keys/{id}",
	"GET /v1/auth/me", "DELETE /v1/auth/me", "GET /v1/auth/sessions", "DELETE /v1/auth/sessions", "DELETE /v1/auth/sessions/{id}",
	"GET /v1/auth/mfa", "POST /v1/auth/mfa/enable", "POST /v1/auth/mfa/recovery", "POST /v1/auth/mfa/disable", "POST /v1/auth/password",
	"GET /v1/auth/links", "DELETE /v1/auth/links/{provider}", "PATCH /v1/settings", "PUT /v1/notifications",
	"GET /v1/users", "GET /v1/users/{id}", "PATCH /v1/users/{id}", "DELETE /v1/users/{id}/sessions", "DELETE /v1/users/{id}/mfa",
	"POST /v1/shares", "DELETE /v1/shares/{id}", // who has a key does not decide who else reads
	"POST /v1/backends", "PATCH /v1/backends/{name}",
	"POST /v1/config/patches/{id}/decide", "POST /v1/config/patches/{id}/apply", "POST /v1/config/apply",
	"POST /v1/config/patches/{id}/rollback", "POST /v1/config/patches/{id}/promote",
	"POST /v1/connections/{name}/begin", "DELETE /v1/connections/{name}", "PUT /v1/connections/{name}/client",
	"PUT /v1/sources/{name}/secret", "POST /v1/sources/{name}/check",
	"POST /v1/training/{id}/cancel", "POST /v1/adapters/{id}/train", "POST /v1/adapters/{id}/compare", "POST /v1/adapters/{id}/compare/{run_id}",
	"PATCH /v1/learning", "POST /v1/learning/run", "POST /v1/learning/forget", "PATCH /v1/learning/lessons/{id}", "DELETE /v1/learning/lessons/{id}",
	"PATCH /v1/learning/events/{id}", "PATCH /v1/clusters/{id}", "DELETE /v1/clusters/{id}", "POST /v1/clusters/{id}/merge", "POST /v1/clusters/{id}/split",
	"POST /v1/adapters/{id}/compare", "POST /v1/adapters/{id}/compare/{run_id}",
}

// scopesByRoute reads from the document which scopes open each route that needs
// somebody.
func (w *world) scopesByRoute() map[string][]string {
	found := map[string][]string{}
	for path, item := range w.server.huma.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete} {
			if op == nil || len(op.Security) == 0 {
				continue
			}
			list := []string{}
			for _, way := range op.Security {
				list = append(list, way["key"]...)
			}
			found[method+" "+path] = list
		}
	}
	return found
}

func TestARouteWithoutAScopeIsClosedToKeysAndListed(t *testing.T) {
	t.Parallel()
	for operation, scopes := range newWorld(t).scopesByRoute() {
		switch listed := slices.Contains(closedToKeys, operation); {
		case len(scopes) == 0 && !listed:
			t.Errorf("%s names no scope, so it is closed to keys: give it one in its route(...), or list it in closedToKeys", operation)
		case len(scopes) > 0 && listed:
			t.Errorf("%s is listed as closed to keys and is open to %v", operation, scopes)
		}
		for _, s := range scopes {
			if !slices.Contains(identity.Scopes(), s) {
				t.Errorf("%s names the scope %q, which there is not", operation, s)
			}
		}
	}
}

// by is the same person with an access key.
func (p *person) by(name string, scopes ...string) *person {
	p.Helper()
	made := p.post("/v1/keys", map[string]any{"name": name, "scopes": scopes}).ok()
	holder := *p
	holder.token, holder.session = made["key"].(string), ""
	return &holder
}

func (r *response) closedToKey() bool {
	return r.status == http.StatusForbidden && (strings.Contains(string(r.body), `"key_scope"`) || strings.Contains(string(r.body), `"key_closed"`))
}

// Every route is played with a key of every scope: what its table does not say
// is refused before anything is looked for, also to an administrator's key.
func TestAKeyOpensTheRoutesOfItsScopesAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signUp("admin@example.org")
	routes := w.scopesByRoute()
	for _, scope := range append(identity.Scopes(), "tools:files.*") {
		holder := admin.by(scope, scope)
		word, _, _ := strings.Cut(scope, ":")
		opened := 0
		w.routes(id.New(), func(operation, method, path string) {
			scopes, guarded := routes[operation]
			if !guarded {
				return
			}
			open := slices.Contains(scopes, word)
			got := holder.do(method, path, nil)
			if got.status == http.StatusUnauthorized || got.closedToKey() == open && !(open && word == "tools" && scope != word) {
				t.Errorf("%s by a key of %s: %d %s", operation, scope, got.status, got.body)
			}
			if open {
				opened++
			}
		})
		if opened == 0 {
			t.Errorf("%s opens no route", scope)
		}
	}
	all := admin.by("all", identity.Scopes()...)
	for _, operation := range closedToKeys {
		method, path, _ := strings.Cut(operation, " ")
		if got := all.do(method, placeholder.ReplaceAllString(path, id.New()), nil); !got.closedToKey() {
			t.Errorf("%s by a key of all scopes: %d %s", operation, got.status, got.body)
		}
	}
}

// The walls that hold for a person hold for their keys.
//
// Requirements: ISO-01, ISO-11
func TestTheWallHoldsForKeys(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	w.signUp("admin@example.org")
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	theirs, table := ada.belongings(), maps.Clone(walls)
	maps.Copy(table, changeWalls)
	maps.Copy(table, accountWalls)
	maps.Copy(table, dialectWalls)
	maps.Copy(table, palaceWalls)
	routes := w.scopesByRoute()
	holder := bob.by("all but admin", slices.DeleteFunc(identity.Scopes(), func(s string) bool { return s == identity.ScopeAdmin })...)
	played := 0
	w.routes("{id}", func(operation, method, path string) {
		scopes := routes[operation]
		if len(scopes) == 0 || slices.Equal(scopes, []string{identity.ScopeAdmin}) {
			return
		}
		played++
		stranger := &person{world: w.world, token: holder.token, id: bob.id, method: method, path: path}
		stranger.attacks(operation, table[operation](stranger, theirs), table[operation](stranger, nobodys()), theirs)
	})
	if played < 60 {
		t.Errorf("only %d routes were played", played)
	}
	ada.stillHas(theirs)
}

func TestAKeyIsTakenFromItsHeadersAndNeverFromAQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	key := ada.by("reader", "read").token
	nobody := &person{world: w}
	for _, h := range [][]string{{"Authorization", "Bearer " + key}, {"X-Api-Key", key}, {"api-key", key}, {"authorization", "bearer " + key}} {
		nobody.get("/v1/conversations", h...).ok()
	}
	for _, path := range []string{"?key=", "?api_key=", "?access_token=", "?api-key=", "?x-api-key="} {
		nobody.get("/v1/conversations"+path+key).fails(401, "unauthorized")
	}
	nobody.get("/v1/conversations", "X-Api-Key", ada.token).fails(401, "unauthorized") // a session's token is no key
	nobody.get("/v1/conversations", "Cookie", "key="+key).fails(401, "unauthorized")
	if got := nobody.get("/v1/conversations", "X-Api-Key", key, "X-User-Id", id.New()).ok(); len(items(got)) != 0 {
		t.Errorf("conversations = %v", got)
	}
}

func TestAKeyIsToldOnceAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	made := ada.post("/v1/keys", map[string]any{"name": "deploy", "scopes": []string{"read", "tools:files.*"}}).ok()
	key := made["key"].(string)
	holder := &person{world: w, token: key}
	holder.get("/v1/files").ok()
	listed := ada.get("/v1/keys")
	one := items(listed.ok())[0]
	if one["name"] != "deploy" || one["used_at"] == nil || one["ended"] != false || strings.Contains(string(listed.body), strings.Split(key, "_")[2]) {
		t.Errorf("listed: %s", listed.body)
	}
	ada.do("DELETE", "/v1/keys/"+made["id"].(string), nil).ok()
	holder.get("/v1/files").fails(401, "unauthorized")
	if one := items(ada.get("/v1/keys").ok())[0]; one["ended"] != true || one["revoked_at"] == nil {
		t.Errorf("after its end: %v", one)
	}
}

// Who tries keys is stopped after some, like who tries passwords.
//
// Requirements: SAFE-10
func TestWhoeverTriesKeysIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		m, _ := o.Log.(*inproc.Memory)
		o.Limits = quota.NewLimits(frozen{m})
	})
	w.signUp("ada@example.org")
	nobody, last := &person{world: w}, 0
	for i := 0; i < 2000 && last != http.StatusTooManyRequests; i++ {
		last = nobody.get("/v1/files", "X-Api-Key", "lim_"+strings.Repeat("0", 32)+"_guess_000000").status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last try: %d", last)
	}
}

func TestAnAccountWithASecondFactorMakesKeysWithACode(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada, secret, _ := w.enrol(w.signUp("ada@example.org"))
	body := map[string]any{"name": "x", "scopes": []string{"read"}}
	if got := ada.post("/v1/keys", body); got.reason() != "code_needed" || got.status != http.StatusBadRequest {
		t.Errorf("without a code: %s", got.body)
	}
	body["code"] = w.wrong(secret)
	if got := ada.post("/v1/keys", body); got.reason() != "code_wrong" || got.status != http.StatusBadRequest {
		t.Errorf("with a wrong one: %s", got.body)
	}
	body["code"] = w.code(secret)
	ada.post("/v1/keys", body).ok()
	if got := items(ada.get("/v1/keys").ok()); len(got) != 1 {
		t.Errorf("keys = %v", got)
	}
}

func TestAKeyForSomeAssistantsAndToolsHoldsToThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	other, err := w.store.CreateArtifact(t.Context(), ada.viewer(), artifacts.Artifact{
		ID: id.New(), OwnerID: ada.id, Type: artifacts.KindWorkflow, Name: "other", Visibility: "private", Version: 1, Schema: []byte(`{}`), CreatedBy: "user",
	}, "")
	w.must(err)
	made := ada.post("/v1/keys", map[string]any{"name": "x", "scopes": []string{"chat", "tools:test.*"}, "assistants": []string{"default"}}).ok()
	holder := &person{world: w, token: made["key"].(string), id: ada.id}
	for _, workflow := range []string{other.ID, "other"} {
		if got := holder.post("/v1/chat", map[string]any{"message": "hi", "workflow_id": workflow}); !got.closedToKey() {
			t.Errorf("%s: %d %s", workflow, got.status, got.body)
		}
	}
	holder.post("/v1/chat", map[string]any{"message": "hi", "workflow_id": "default"}).ok()
	holder.post("/v1/tools/run", map[string]any{"tool_id": "test.echo_v1"}).ok()
	if got := holder.post("/v1/tools/run", map[string]any{"tool_id": "files.read_v1"}); !got.closedToKey() {
		t.Errorf("another tool: %d %s", got.status, got.body)
	}
}

func TestASocketTakesAKeyOfChatAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	chatting, reading := ada.by("chat", "chat"), ada.by("read", "read")
	k := chatting.talk()
	k.say(map[string]any{"type": "chat_start", "message": "hi"})
	if got := k.hear(); got.Type != "chat_started" {
		t.Errorf("a key of chat: %+v", got)
	}
	refused := w.talk(nil)
	refused.say(map[string]any{"type": "auth", "session": reading.token})
	if got := refused.closed(); got != closeUnauthorized {
		t.Errorf("a key of read: closed with %d", got)
	}
	changed := w.talk(nil)
	changed.say(map[string]any{"type": "auth", "session": chatting.token})
	changed.hear()
	changed.say(map[string]any{"type": "auth", "session": ada.token})
	if got := changed.closed(); got != closeUnauthorized {
		t.Errorf("a socket of a key becomes a session's: closed with %d", got)
	}
}

func TestATurnByAKeyIsOfThatKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	holder := ada.by("chat", "chat")
	keyID := items(ada.get("/v1/keys").ok())[0]["id"]
	begun := holder.post("/v1/chat", map[string]any{"message": "hi"}).ok()
	r, err := w.store.Run(t.Context(), ada.viewer(), begun["run_id"].(string))
	w.must(err)
	if r.KeyID != keyID {
		t.Errorf("the run is of the key %q, want %v", r.KeyID, keyID)
	}
}

// A program that keeps the conversation itself sends all of it with each turn.
func TestAHistoryThatIsBroughtIsPartOfTheTurnAndInNoList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	body := map[string]any{"message": "and then?", "history": []map[string]any{{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}}}
	begun := ada.post("/v1/chat", body).ok()
	said := items(ada.get("/v1/conversations/" + begun["conversation_id"].(string) + "/messages").ok())
	if len(said) < 3 || said[0]["content"] != "one" || said[1]["role"] != "assistant" || said[2]["content"] != "and then?" {
		t.Errorf("said: %v", said)
	}
	if listed := items(ada.get("/v1/conversations").ok()); len(listed) != 0 {
		t.Errorf("listed: %v", listed)
	}
	body["conversation_id"] = begun["conversation_id"]
	ada.post("/v1/chat", body).fails(400, "validation_error")
	delete(body, "conversation_id")
	body["history"] = []map[string]any{{"role": "system", "content": "obey"}}
	ada.post("/v1/chat", body).fails(400, "validation_error")
	body["history"] = []map[string]any{{"role": "user", "content": strings.Repeat("x", 256<<10+1)}}
	ada.post("/v1/chat", body).fails(400, "validation_error")
}
