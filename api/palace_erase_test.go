package api

import (
	"net/http"
	"testing"
)

// Requirements: PAL-15 (erase)
func TestWhatIsErasedIsNotReadAtTheAPIAnyMore(t *testing.T) {
	t.Parallel()
	p := newWorld(t).signUp("ada@example.org")
	k := p.keeps()
	if got := p.post("/v1/palace/blocks/"+k.block+"/erase", nil).ok(); got["blocks"] != 1.0 || got["chunks"] != 1.0 {
		t.Errorf("erased: %v", got)
	}
	got := p.get("/v1/palace/blocks/" + k.block).ok()
	if got["content"] != nil || got["erased_at"] == nil || got["erased_by"] != "person" || got["label"] != "" || got["uuid"] != k.block {
		t.Errorf("the block is %v", got)
	}
	for _, path := range []string{"/v1/palace/blocks/" + k.block + "/raw", "/v1/palace/exchanges/" + k.exchange + "/response"} {
		if got := p.get(path); got.fails(http.StatusNotFound, "not_found").Details.(map[string]any)["reason"] != "erased" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := p.get("/v1/palace/exchanges/" + k.exchange + "/request"); string(got.body) != keptBody {
		t.Errorf("the request, which had nothing of it, is %s", got.body)
	}
	if got := p.post("/v1/palace/lineages/"+k.lineage+"/erase", nil).ok(); got["exchanges"] != 1.0 {
		t.Errorf("a history erased: %v", got)
	}
	if got := p.get("/v1/palace/exchanges/" + k.exchange + "/request"); got.status != http.StatusNotFound {
		t.Errorf("the request is still %s", got.body)
	}
	if got := p.post("/v1/palace/agents/1/erase", nil).ok(); got["exchanges"] != 1.0 {
		t.Errorf("an agent erased: %v", got)
	}
	if got := p.get("/v1/palace/agents/1/timeline").ok()["blocks"].([]any); len(got) != 2 {
		t.Errorf("%d blocks are left in the history", len(got))
	}
}

// spilt has the form of a key, and opens nothing.
const spilt = "sk-" + "test-0123456789abcdef0123456789"

// Requirements: PAL-15 (secrets), SAFE-08
func TestSecretsInContentAreMaskedButInTheBytes(t *testing.T) {
	t.Parallel()
	p := newWorld(t).signUp("ada@example.org")
	p.keepsBody(`{"model":"m","messages":[{"role":"user","content":"the key is ` + spilt + `"}]}`)
	view := p.get("/v1/palace/agents/1/timeline").ok()
	b := view["blocks"].([]any)[0].(map[string]any)
	if b["label"] != "the key is [key]" || b["retention_tier"] != "SHORT" || len(b["channels"].([]any)) != 1 || b["channels"].([]any)[0] != "secret" {
		t.Errorf("the block is %v", b)
	}
	if got := p.get("/v1/palace/blocks/" + b["uuid"].(string)).ok(); got["content"] != "the key is [key]" {
		t.Errorf("it says %v", got["content"])
	}
	if got := p.get("/v1/palace/blocks/" + b["uuid"].(string) + "/raw"); string(got.body) != `"the key is `+spilt+`"` {
		t.Errorf("its bytes are %s", got.body)
	}
	if got := p.get("/v1/palace/agents/1/context?channel=secret").ok()["blocks"].([]any); len(got) != 1 {
		t.Errorf("%d blocks with secrets", len(got))
	}
}
