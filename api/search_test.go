package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
)

// Requirements: CHAT-11, CHAT-12
func TestMessagesAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	said := ada.post("/v1/chat", map[string]any{"message": "Where is the Übergabe protocol?"}).ok()
	ada.post("/v1/chat", map[string]any{"message": "something else"}).ok()
	find := func(p *person, q, more string) []map[string]any {
		t.Helper()
		return items(p.get("/v1/conversations/search?q=" + url.QueryEscape(q) + more).ok())
	}
	found := find(ada, "ubergabe prot", "")
	if len(found) != 2 || found[0]["role"] != "assistant" || found[1]["role"] != "user" {
		t.Fatalf("found %v", found)
	}
	if m := found[1]; m["conversation_id"] != said["conversation_id"] || m["message_id"] != said["user_message_id"] || m["title"] != "Where is the Übergabe protocol?" {
		t.Errorf("found %v", m)
	}
	if got := fmt.Sprint(found[1]["excerpt"]); got != "[map[hit:false text:Where is the ] map[hit:true text:Übergabe] map[hit:false text: ] map[hit:true text:protocol] map[hit:false text:?]]" {
		t.Errorf("the excerpt is %s", got)
	}
	page := ada.get("/v1/conversations/search?q=ubergabe&limit=1").ok()
	if rest := find(ada, "ubergabe", "&limit=1&cursor="+page["next_cursor"].(string)); len(rest) != 1 || rest[0]["role"] != "user" {
		t.Errorf("the second page is %v", rest)
	}
	if got := find(bob, "ubergabe", ""); len(got) != 0 {
		t.Errorf("bob finds %v", got)
	}
	for _, q := range []string{"", " -- ", strings.Repeat("x", 501)} {
		ada.get("/v1/conversations/search?q="+url.QueryEscape(q)).fails(400, "validation_error")
	}
	ada.do("DELETE", "/v1/conversations/"+said["conversation_id"].(string), nil).ok()
	if got := find(ada, "ubergabe", ""); len(got) != 0 {
		t.Errorf("of what was deleted %v is found", got)
	}
}

// Requirements: CHAT-10, CHAT-12
func TestAPinnedConversationIsListedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	first := ada.post("/v1/chat", map[string]any{"message": "first"}).ok()["conversation_id"].(string)
	ada.post("/v1/chat", map[string]any{"message": "second"}).ok()
	titles := func() (list []string) {
		for _, c := range items(ada.get("/v1/conversations").ok()) {
			list = append(list, fmt.Sprint(c["title"], c["pinned"]))
		}
		return list
	}
	if got := fmt.Sprint(titles()); got != "[secondfalse firstfalse]" {
		t.Errorf("listed %s", got)
	}
	got := ada.do("PATCH", "/v1/conversations/"+first, map[string]any{"pinned": true}).ok()["conversation"].(map[string]any)
	if got["pinned"] != true || got["title"] != "first" {
		t.Errorf("pinned %v", got)
	}
	if got := fmt.Sprint(titles()); got != "[firsttrue secondfalse]" {
		t.Errorf("listed %s", got)
	}
	ada.do("PATCH", "/v1/conversations/"+first, map[string]any{"pinned": false}).ok()
	if got := fmt.Sprint(titles()); got != "[secondfalse firstfalse]" {
		t.Errorf("listed %s", got)
	}
}

// Requirements: CHAT-11, CHAT-16
func TestAConversationIsExported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	talk := ada.post("/v1/chat", map[string]any{"message": "What is a lemma?"}).ok()["conversation_id"].(string)
	for i := range 60 { // more than a page
		ada.post("/v1/chat", map[string]any{"message": fmt.Sprint("and ", i), "conversation_id": talk}).ok()
	}
	ada.do("PATCH", "/v1/conversations/"+talk, map[string]any{"title": "A/B: \"lemma\"?\n"}).ok()
	path := "/v1/conversations/" + talk + "/export"

	got := ada.get(path)
	text := string(got.body)
	if got.status != 200 || got.header.Get("Content-Type") != "text/markdown; charset=utf-8" || got.header.Get("Content-Disposition") != "attachment; filename*=UTF-8''A%20B%20lemma.md" {
		t.Errorf("%d %v", got.status, got.header)
	}
	for _, part := range []string{"# A/B: \"lemma\"?\n\n*Exported on ", "\n## You · ", "\n\nWhat is a lemma?\n", "\n## Liminal · ", "\n**Sources**\n\n1. *T*: “q”\n", "\n\nand 59\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing", part)
		}
	}
	if n := strings.Count(text, "\n## "); n != 122 || strings.Index(text, "and 8\n") > strings.Index(text, "and 51\n") {
		t.Errorf("%d messages", n)
	}

	got = ada.get(path + "?format=json")
	var e Exported
	if err := json.Unmarshal(got.body, &e); err != nil || got.status != 200 || len(e.Messages) != 122 || e.Conversation.ID != talk || !strings.HasSuffix(got.header.Get("Content-Disposition"), ".json") {
		t.Errorf("%d, %v, %d messages of %s", got.status, err, len(e.Messages), e.Conversation.ID)
	}
	if m := e.Messages[1]; m.Role != "assistant" || m.ContentStruct.V == nil || len(m.ContentStruct.V.Citations()) != 1 || m.Seq != 2 {
		t.Errorf("the second is %+v", m)
	}
	ada.get(path+"?format=pdf").fails(400, "validation_error")
	ada.get("/v1/conversations/7/export").fails(400, "validation_error")
	ada.get("/v1/conversations/"+id.New()+"/export").fails(404, "not_found")
	bob.get(path).fails(404, "not_found")
}

// Requirements: ISO-09, CHAT-27, API-17
func TestAModelThatRestsSaysWhenItIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	got := ada.post("/v1/chat", map[string]any{"message": "fail resting"})
	details, _ := got.fails(502, "server_error").Details.(map[string]any)
	at, err := time.Parse(time.RFC3339, fmt.Sprint(details["retry_at"]))
	if left := time.Until(at); err != nil || left < 10*time.Second || left > 30*time.Second || details["reason"] != "upstream" {
		t.Errorf("details %v, %v", details, err)
	}
	if after, _ := strconv.Atoi(got.header.Get("Retry-After")); after < 10 || after > 30 {
		t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
	}
	run, _ := ada.get("/v1/runs/" + details["run_id"].(string)).ok()["run"].(map[string]any)
	if failed, _ := run["error"].(map[string]any); failed["retry_at"] != details["retry_at"] {
		t.Errorf("the run says %v", run["error"])
	}
}
