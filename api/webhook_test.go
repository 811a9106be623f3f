package api

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/vault"
	"liminal/internal/webhook"
)

// testDesk reaches every host but one of the inside.
func testDesk(t testing.TB, s *store.Store) *webhook.Desk {
	t.Helper()
	sealed, err := vault.New([]byte(strings.Repeat("k", vault.MinKey)), "test")
	if err != nil {
		t.Fatal(err)
	}
	return webhook.NewDesk(webhook.DeskOptions{Endpoints: s, Deliveries: s, Vault: sealed, Now: time.Now, Reaches: func(u *url.URL) error {
		if u.Hostname() == "10.0.0.1" {
			return fault.New(fault.Forbidden, "The page was not read: its host leads to %s, which is not an address of the public internet.", u.Hostname())
		}
		return nil
	}})
}

func TestAWebhookIsMadeChangedAndEndedAndItsSecretToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	made := ada.post("/v1/webhooks", map[string]any{"url": "https://example.org/hooks", "events": []string{"run.done", "question.waiting"}, "description": "n8n"}).ok()
	path, secret := "/v1/webhooks/"+made["id"].(string), made["secret"].(string)
	if !strings.HasPrefix(secret, "whsec_") || made["enabled"] != true || made["tenant"] != false {
		t.Errorf("made: %v", made)
	}
	for _, from := range []string{path, "/v1/webhooks"} {
		if got := ada.get(from); strings.Contains(string(got.body), secret) {
			t.Errorf("%s tells the secret: %s", from, got.body)
		}
	}
	renewed := ada.post(path+"/secret", nil).ok()["secret"]
	if renewed == secret || !strings.HasPrefix(renewed.(string), "whsec_") {
		t.Errorf("the new secret is %v", renewed)
	}
	if got := ada.post(path+"/test", nil).ok(); got["event"] != "webhook.test" || got["status"] != "waiting" {
		t.Errorf("tried: %v", got)
	}
	if got := ada.do("PATCH", path, map[string]any{"enabled": false, "events": []string{"run.failed"}}).ok(); got["enabled"] != false || got["url"] != made["url"] {
		t.Errorf("changed: %v", got)
	}
	d := items(ada.get(path + "/deliveries").ok())[0]
	if d["status"] != "skipped" || d["error"] != "off" {
		t.Errorf("what waited: %v", d)
	}
	ada.post(path+"/test", nil).fails(409, "conflict")
	ada.post(path+"/deliveries/"+d["id"].(string)+"/redeliver", nil).fails(409, "conflict")
	ada.do("PATCH", path, map[string]any{"enabled": true}).ok()
	if got := ada.post(path+"/deliveries/"+d["id"].(string)+"/redeliver", nil).ok(); got["status"] != "waiting" || got["id"] != d["id"] {
		t.Errorf("again: %v", got)
	}
	ada.do("DELETE", path, nil).ok()
	ada.get(path).fails(404, "not_found")
}

// Where a program is told of runs is news for their person, whoever named it; what is
// secret in the address is not in the mail.
func TestAMailSaysWhereAWebhookLeads(t *testing.T) {
	t.Parallel()
	w, letters := mailedWorld(t, func(*identity.Options) {})
	ada := w.signUp("ada@example.org")
	letters()
	told := func(what, address string) {
		t.Helper()
		got := letters()
		if address == "" {
			if len(got) != 0 {
				t.Errorf("%s: %+v", what, got)
			}
			return
		}
		if len(got) != 1 || got[0].To != "ada@example.org" || !strings.Contains(got[0].Text, address+"\n") || !strings.Contains(got[0].Text, "https://chat.example.org/settings/webhooks") || strings.Contains(got[0].Text, "hidden") {
			t.Errorf("%s: %+v", what, got)
		}
	}
	made := ada.post("/v1/webhooks", map[string]any{"url": "https://example.org/hooks?token=hidden", "events": []string{"run.done"}}).ok()
	told("made", "https://example.org/hooks")
	path := "/v1/webhooks/" + made["id"].(string)
	ada.do("PATCH", path, map[string]any{"description": "n8n"}).ok()
	told("described", "")
	ada.do("PATCH", path, map[string]any{"url": "https://example.net/others"}).ok()
	told("turned elsewhere", "https://example.net/others")
	ada.do("PATCH", path, map[string]any{"url": "https://10.0.0.1"}).fails(403, "forbidden")
	ada.post("/v1/webhooks", map[string]any{"url": "http://example.org", "events": []string{"run.done"}})
	told("refused", "")
}

// Requirements: SAFE-05
func TestAWebhookThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("root@example.org") // the first one is an administrator
	ada := w.signUp("ada@example.org")
	for _, address := range []string{"http://example.org", "ftp://example.org", "https://", "hooks", "https://ada:secret@example.org", "javascript:alert(1)", "http://10.0.0.2.example.org"} {
		if got := ada.post("/v1/webhooks", map[string]any{"url": address, "events": []string{"run.done"}}); got.status != 400 {
			t.Errorf("%s: %d %s", address, got.status, got.body)
		}
	}
	ada.post("/v1/webhooks", map[string]any{"url": "https://10.0.0.1", "events": []string{"run.done"}}).fails(403, "forbidden")
	ada.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"webhook.test"}}).fails(400, "validation_error")
	ada.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{}}).fails(400, "validation_error")
	ada.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"run.done"}, "tenant": true}).fails(403, "forbidden")
}

func TestAKeyForWebhooksSeesThoseItMadeAndNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	mine := ada.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"run.done"}}).ok()
	holder := ada.by("hooks", identity.ScopeWebhooks)
	holder.get("/v1/webhooks/"+mine["id"].(string)).fails(404, "not_found")
	made := holder.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"run.done"}}).ok()
	if list := items(holder.get("/v1/webhooks").ok()); len(list) != 1 || list[0]["id"] != made["id"] || list[0]["by_key"] != true {
		t.Errorf("the key's: %v", list)
	}
	if got := holder.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"run.done"}, "tenant": true}); got.status != 403 {
		t.Errorf("everybody's by a key that is not for administration: %d", got.status)
	}
	if got := ada.by("reads", "read").get("/v1/webhooks"); !got.closedToKey() {
		t.Errorf("by a key of read: %d", got.status)
	}
	some := &person{world: w, token: ada.post("/v1/keys", map[string]any{"name": "x", "scopes": []string{"webhooks"}, "assistants": []string{"default"}}).ok()["key"].(string), id: ada.id}
	for _, assistants := range [][]string{nil, {"other"}, {"default", "other"}} {
		some.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"run.done"}, "assistants": assistants}).fails(403, "forbidden")
	}
	one := some.post("/v1/webhooks", map[string]any{"url": "https://example.org", "events": []string{"run.done"}, "assistants": []string{"default"}}).ok()
	some.do("PATCH", "/v1/webhooks/"+one["id"].(string), map[string]any{"assistants": []string{}}).fails(403, "forbidden")
	for _, k := range items(ada.get("/v1/keys").ok()) {
		ada.do("DELETE", "/v1/keys/"+k["id"].(string), nil).ok()
	}
	for _, e := range items(ada.get("/v1/webhooks").ok()) {
		if ended := e["by_key"] == true; ended != (e["reason"] == "key_ended") || ended == e["enabled"].(bool) {
			t.Errorf("after the keys' end: %v", e)
		}
	}
}

func TestWhatOneIsWrittenOfIsChosen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	if got := ada.get("/v1/notifications").ok(); len(got["events"].([]any)) != 0 {
		t.Errorf("at first: %v", got)
	}
	ada.do("PUT", "/v1/notifications", map[string]any{"events": []string{"run.failed", "question.waiting"}, "after_minutes": 15}).ok()
	if got := ada.get("/v1/notifications").ok(); len(got["events"].([]any)) != 2 || got["after_minutes"] != 15.0 {
		t.Errorf("chosen: %v", got)
	}
	ada.do("PUT", "/v1/notifications", map[string]any{"events": []string{"webhook.test"}, "after_minutes": 15}).fails(400, "validation_error")
	ada.do("PUT", "/v1/notifications", map[string]any{"events": []string{}, "after_minutes": 0}).ok()
	if got := ada.get("/v1/notifications").ok(); len(got["events"].([]any)) != 0 {
		t.Errorf("in the end: %v", got)
	}
}
