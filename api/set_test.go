package api

import (
	"fmt"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/knowledge"
	"liminal/internal/quota"
)

// Requirements: LG-21
func TestDocumentSets(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	ids := ada.documents("GDPR", "Policy", "Handbook")
	key := id.New()
	body := map[string]any{"title": " Laws ", "document_ids": []string{ids[1], ids[0], ids[1]}}
	made := ada.post("/v1/document-sets", body, "Idempotency-Key", key).ok()
	path := "/v1/document-sets/" + made["id"].(string)
	if again := ada.post("/v1/document-sets", body, "Idempotency-Key", key).ok(); again["id"] != made["id"] {
		t.Errorf("made twice: %v and %v", made, again)
	}
	titles := func(data map[string]any) (list []any) {
		for _, d := range data["documents"].([]any) {
			list = append(list, d.(map[string]any)["title"])
		}
		return list
	}
	if got := ada.get(path).ok(); got["title"] != "Laws" || fmt.Sprint(titles(got)) != "[Policy GDPR]" || fmt.Sprint(got["document_ids"]) != fmt.Sprint([]string{ids[1], ids[0]}) {
		t.Errorf("the set is %v", got)
	}
	changed := ada.do("PATCH", path, map[string]any{"title": "Rules", "document_ids": []string{ids[2]}}).ok()
	if changed["title"] != "Rules" || fmt.Sprint(titles(changed)) != "[Handbook]" {
		t.Errorf("changed to %v", changed)
	}
	ada.do("DELETE", "/v1/documents/"+ids[2], nil).ok()
	if list := items(ada.get("/v1/document-sets").ok()); len(list) != 1 || len(list[0]["document_ids"].([]any)) != 0 {
		t.Errorf("listed %v", list)
	}
	ada.post("/v1/document-sets", map[string]any{"title": ""}).fails(400, "validation_error")
	ada.post("/v1/document-sets", map[string]any{"title": "x", "document_ids": []string{"x"}}).fails(400, "validation_error")
	ada.post("/v1/document-sets", map[string]any{"title": "x", "document_ids": []string{id.New()}}).fails(404, "not_found")
	ada.do("DELETE", path, nil).ok()
	ada.get(path).fails(404, "not_found")
}

// Requirements: LG-27
func TestDocumentsAreFoundByTitleAcrossContexts(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	ada.documents("GDPR", "Travel policy")
	other := ada.documents("Travel notes")
	if list := items(ada.get("/v1/documents").ok()); len(list) != 3 || list[0]["title"] != "Travel notes" || list[0]["status"] != "waiting" {
		t.Errorf("listed %v", list)
	}
	first := ada.get("/v1/documents?q=TRAVEL&limit=1").ok()
	if list := items(first); len(list) != 1 || list[0]["title"] != "Travel notes" {
		t.Errorf("found %v", list)
	}
	if list := items(ada.get("/v1/documents?q=TRAVEL&cursor=" + first["next_cursor"].(string)).ok()); len(list) != 1 || list[0]["title"] != "Travel policy" {
		t.Errorf("then %v", list)
	}
	if d := ada.do("PATCH", "/v1/documents/"+other[0], map[string]any{"title": "Diary"}).ok(); d["title"] != "Diary" {
		t.Errorf("renamed %v", d)
	}
	ada.do("PATCH", "/v1/documents/"+other[0], map[string]any{"title": "a\nb"}).fails(400, "validation_error")
	ada.get("/v1/documents?cursor=x").fails(400, "validation_error")
}

// A list of documents says of one that could not be read why, as the document
// itself does.
//
// Requirements: LG-27, RAG-05
func TestTheListOfDocumentsSaysWhyOneFailed(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	ids := ada.documents("Whole", "Locked")
	locked, err := ada.store.Document(t.Context(), ada.viewer(), ids[1])
	ada.must(err)
	locked.Status, locked.Error = knowledge.Failed, "this PDF is protected by a password."
	ada.must(ada.store.SetDocument(t.Context(), ada.viewer(), locked))
	list := items(ada.get("/v1/documents").ok())
	if len(list) != 2 || list[0]["status"] != "failed" || list[0]["error"] != locked.Error || list[1]["error"] != nil {
		t.Errorf("listed %v", list)
	}
	if one := ada.get("/v1/documents/" + ids[1]).ok(); one["error"] != list[0]["error"] {
		t.Errorf("by itself it says %v", one["error"])
	}
}

// Requirements: OBS-09
func TestUsageIsShownAndBoundByABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withinADay()
	admin, ada := w.signUp("admin@example.org"), w.signUp("ada@example.org")
	thread := ada.thread(nil)
	for _, attempt := range []int{1, 1, 2} { // the second is told again
		w.must(w.store.AddUsage(t.Context(), ada.viewer(), quota.Entry{
			RunID: "0190c5b2-0000-7000-8000-000000000001", Effect: "answer", Attempt: attempt, ConversationID: thread, Model: "m",
			Use: quota.Use{Calls: 1, Input: 100, Output: 10, CostUSD: 0.5},
		}))
	}
	want := map[string]any{"calls": 2.0, "input_tokens": 200.0, "output_tokens": 20.0, "tokens_used": 220.0, "cost_usd": 1.0}
	got := ada.get("/v1/usage").ok()
	if fmt.Sprint(got["today"]) != fmt.Sprint(want) || fmt.Sprint(got["month"]) != fmt.Sprint(want) || len(got["models"].([]any)) != 1 {
		t.Errorf("used %v", got)
	}
	if renews, err := time.Parse(time.RFC3339, got["today_renews_at"].(string)); err != nil || !renews.After(time.Now()) {
		t.Errorf("renewed at %v", got["today_renews_at"])
	}
	if talk := ada.get("/v1/conversations/" + thread).ok(); fmt.Sprint(talk["usage"]) != fmt.Sprint(want) {
		t.Errorf("the conversation used %v", talk["usage"])
	}
	if other := admin.get("/v1/usage").ok(); other["today"].(map[string]any)["calls"] != 0.0 {
		t.Errorf("another person used %v", other)
	}
	budget := func(p *person, b any) *response {
		return p.do("PATCH", "/v1/users/"+ada.id, map[string]any{"budget": b})
	}
	budget(ada, map[string]any{"tokens_per_day": 1, "usd_per_month": 0}).fails(403, "forbidden")
	budget(admin, map[string]any{"tokens_per_day": -1, "usd_per_month": 0}).fails(400, "validation_error")
	budget(admin, "all").fails(400, "validation_error")
	own := map[string]any{"tokens_per_day": 220.0, "usd_per_month": 2.5}
	if a := budget(admin, own).ok(); fmt.Sprint(a["budget"]) != fmt.Sprint(own) {
		t.Errorf("given %v", a["budget"])
	}
	if got := ada.get("/v1/usage").ok(); fmt.Sprint(got["budget"]) != fmt.Sprint(own) {
		t.Errorf("the budget is %v", got["budget"])
	}
	refused := ada.post("/v1/chat", map[string]any{"message": "fail budget"})
	details, _ := refused.fails(429, "rate_limited").Details.(map[string]any)
	if details["reason"] != "budget" || details["used"] != 220.0 || details["limit"] != 220.0 || details["run_id"] == nil || refused.header.Get("Retry-After") == "" {
		t.Errorf("refused with %v, to be tried again after %q", details, refused.header.Get("Retry-After"))
	}
	if list := ada.hear("/api/chat", map[string]any{"message": "fail budget"}); types(list) != "status error" || list[1].Code != "rate_limited" || list[1].Reason != "budget" {
		t.Errorf("told %+v", list)
	}
	admin.do("PATCH", "/v1/users/"+ada.id, map[string]any{"active": true}).ok()
	if got := ada.get("/v1/usage").ok(); fmt.Sprint(got["budget"]) != fmt.Sprint(own) {
		t.Errorf("after another change the budget is %v", got["budget"])
	}
	if a := budget(admin, map[string]any{"usd_per_month": 3}).ok(); fmt.Sprint(a["budget"]) != fmt.Sprint(map[string]any{"tokens_per_day": 0.0, "usd_per_month": 3.0}) {
		t.Errorf("given in part: %v", a["budget"])
	}
	if a := budget(admin, nil).ok(); a["budget"] != nil {
		t.Errorf("taken back, it is %v", a["budget"])
	}
	w.must(w.server.Budgets.Afford(t.Context(), ada.viewer()))
}
