package api

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"liminal/internal/backends/backendstest"
	"liminal/internal/identity"
	"liminal/internal/store"
)

const modelKey = "sk-nobody-reads-this-4711-wxyz"

func (p *person) backend(name string, server *backendstest.Server, more map[string]any) map[string]any {
	p.Helper()
	body := map[string]any{"name": name, "title": strings.ToUpper(name), "protocol": "openai", "url": server.Base(), "model": "tiny", "api_key": modelKey}
	for field, value := range more {
		body[field] = value
	}
	return p.post("/v1/backends", body).ok()
}

func fieldOf(list any, field string) (values []string) {
	for _, one := range list.([]any) {
		name, _ := one.(map[string]any)[field].(string)
		values = append(values, name)
	}
	return values
}

// Requirements: LORA-05, SAFE-08
func TestAdministratorsSetUpBackendsWhoseKeysNobodyReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := backendstest.Serve(t, "one")
	w.overhear = func(r *response) {
		if bytes.Contains(r.body, []byte(modelKey)) || bytes.Contains(r.body, []byte("nobody-reads")) {
			t.Errorf("%s shows the key: %s", r.what, r.body)
		}
	}
	ada := w.signUp("ada@example.org")
	made := ada.backend("office", server, map[string]any{"price": map[string]any{"input": 1, "output": 2}, "models": map[string]any{"small": "tiny"}})
	if made["key_set"] != true || made["key_end"] != "wxyz" || made["is_default"] != false || made["changeable"] != true || made["people_may_choose"] != false {
		t.Errorf("made is %v", made)
	}
	ada.post("/v1/backends", map[string]any{"name": "office", "protocol": "openai"}).fails(409, "conflict")
	ada.post("/v1/backends", map[string]any{"name": "lab", "protocol": "vllm"}).fails(400, "validation_error")
	ada.post("/v1/backends", map[string]any{"name": "lab", "protocol": "openai", "url": "https://u:p@x/v1"}).fails(400, "validation_error")

	list := ada.get("/v1/backends").ok()
	first := list["data"].([]any)[0].(map[string]any)
	if got := fieldOf(list["data"], "name"); !slices.Equal(got, []string{"environment", "office"}) || first["changeable"] != false || first["is_default"] != true {
		t.Errorf("listed are %v, the first %v", got, first)
	}
	if got := fieldOf(list["protocols"], "name"); !slices.Contains(got, "anthropic") || slices.Contains(got, "extractive") {
		t.Errorf("the protocols are %v", got)
	}
	tested := ada.post("/v1/backends/office/test", nil).ok()
	if tested["ok"] != true || tested["model"] != "tiny" || tested["text"] != "one as tiny" {
		t.Errorf("the test says %v", tested)
	}
	if keys := server.Keys(); len(keys) == 0 || keys[len(keys)-1] != modelKey {
		t.Errorf("the server was sent %q", keys)
	}
	ada.post("/v1/backends/office/default", nil).ok()
	if ui := ada.get("/v1/config/ui").ok()["model"].(map[string]any); ui["name"] != "tiny" || ui["generative"] != true {
		t.Errorf("the client is told of the model %v", ui)
	}
	ada.do("DELETE", "/v1/backends/office", nil).fails(409, "conflict")
	ada.do("PATCH", "/v1/backends/environment", map[string]any{"title": "mine"}).fails(400, "validation_error")
	changed := ada.do("PATCH", "/v1/backends/office", map[string]any{"no_price": true, "api_key": ""}).ok()
	if changed["key_set"] != false || changed["price"] != nil || changed["model"] != "tiny" {
		t.Errorf("changed is %v", changed)
	}
	if tested = ada.post("/v1/backends/office/test", nil).ok(); tested["ok"] != false || !strings.Contains(tested["says"].(string), "no key") {
		t.Errorf("without a key the test says %v", tested)
	}
	ada.post("/v1/backends/environment/default", nil).ok()
	ada.do("DELETE", "/v1/backends/office", nil).ok()
	ada.do("DELETE", "/v1/backends/office", nil).fails(404, "not_found")
	done := ada.get("/v1/backends/changes").ok()["data"]
	if got := fieldOf(done, "action"); !slices.Equal(got, []string{"removed", "default", "changed", "default", "added"}) {
		t.Errorf("what was done is %v", got)
	}
	if got := fieldOf(done, "actor"); got[0] != "ada@example.org" {
		t.Errorf("who did it is %v", got)
	}
	var kept string
	w.must(w.db.Read(t.Context(), identity.System(), func(tx store.Tx) error {
		return tx.Query(`SELECT coalesce(fields, '') FROM model_backend_change`, nil, func(scan store.Scan) error {
			var fields string
			err := scan(&fields)
			kept += fields
			return err
		})
	}))
	if strings.Contains(kept, "wxyz") || !strings.Contains(kept, "api_key") {
		t.Errorf("the entries hold %s", kept)
	}
}

// Requirements: ISO-01
func TestAPersonChoosesAmongTheBackendsTheyMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := backendstest.Serve(t, "one")
	ada := w.signUp("ada@example.org")
	bob := w.signUp("bob@example.org")
	if got := bob.get("/v1/backends/options").ok()["data"].([]any); len(got) != 0 {
		t.Errorf("with one backend there is a choice of %v", got)
	}
	ada.backend("lab", server, nil)
	ada.backend("office", server, map[string]any{"people_may_choose": true})
	if got := fieldOf(bob.get("/v1/backends/options").ok()["data"], "name"); !slices.Equal(got, []string{"environment", "office"}) {
		t.Errorf("offered are %v", got)
	}
	turn := bob.post("/v1/chat", map[string]any{"message": "hello", "backend": "office", "stream": true}).ok()
	thread := "/v1/conversations/" + turn["conversation_id"].(string)
	chosen := func() any { return bob.get(thread).ok()["conversation"].(map[string]any)["backend"] }
	if chosen() != "office" {
		t.Errorf("the conversation has %v", chosen())
	}
	w.engine.wait()
	for _, name := range []string{"lab", "nowhere"} {
		want := map[string]int{"lab": 403, "nowhere": 400}[name]
		code := map[string]string{"lab": "forbidden", "nowhere": "validation_error"}[name]
		bob.post("/v1/chat", map[string]any{"message": "hello", "backend": name}).fails(want, code)
		bob.do("PATCH", thread, map[string]any{"backend": name}).fails(want, code)
	}
	if got := bob.do("PATCH", thread, map[string]any{"backend": ""}).ok()["conversation"].(map[string]any)["backend"]; got != "" {
		t.Errorf("given up, it has %v", got)
	}
	bob.do("PATCH", thread, map[string]any{"backend": "office"}).ok()
	ada.do("DELETE", "/v1/backends/office", nil).ok()
	if chosen() != "office" {
		t.Errorf("of one that is gone the conversation says %v", chosen())
	}
	if got := bob.get("/v1/backends/options").ok()["data"].([]any); len(got) != 0 {
		t.Errorf("offered are %v", got)
	}
}
