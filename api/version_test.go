package api

import (
	"strings"
)

// replacing says another's question anew, in their conversation and in one's
// own.
func replacing(p *person, of belongings) []attack {
	own := p.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)["id"].(string)
	return []attack{
		{request: p.request("POST", "/v1/chat", map[string]any{"message": "hi", "conversation_id": of.conversation, "replaces": of.message}), want: 404},
		{request: p.request("POST", "/v1/chat", map[string]any{"message": "hi", "conversation_id": own, "replaces": of.message}), want: 404},
	}
}

// pathOf names another's message, of their conversation and as if it were of
// one's own.
func pathOf(p *person, of belongings) []attack {
	own := p.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)["id"].(string)
	body := map[string]any{"message_id": of.message}
	return []attack{
		{request: p.request(p.method, strings.ReplaceAll(p.path, "{id}", of.conversation), body), want: 404},
		{request: p.request(p.method, strings.ReplaceAll(p.path, "{id}", own), body), want: 404},
	}
}
