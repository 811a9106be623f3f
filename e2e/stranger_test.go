package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"liminal/internal/id"
)

// heard is a request of the assistant's surface that may well be refused: its
// status, what it told, and all of its body.
func (who *person) heard(path string, body object) (status int, events []object, all string) {
	raw, err := json.Marshal(body)
	if err != nil {
		who.p.t.Error(err)
	}
	req := who.request(who.p.t.Context(), "POST", path, bytes.NewReader(raw))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		who.p.t.Error(err)
		return 0, nil, ""
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		who.p.t.Error(err)
	}
	for line := range strings.Lines(string(said)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var e object
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				who.p.t.Errorf("%q: %v", data, err)
			}
			events = append(events, e)
		}
	}
	return res.StatusCode, events, string(said)
}

// mentions is an editor's document with one tag in it.
func mentions(id, category string) object {
	tag := object{"type": "mention", "attrs": object{"id": id, "label": "it", "category": category}}
	return object{"type": "doc", "content": []any{object{"type": "paragraph", "content": []any{tag}}}}
}

// Whatever field carries the id of another person's document, set or thread,
// nothing of it is told, not even that it is there.
//
// Requirements: ISO-01, ISO-11, LG-26
func TestAStrangersIDsAreNothingToTheAssistant(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada, bob := p.signUp("ada@example.org"), p.signUp("bob@example.org")
	ids := ada.policies()
	set := ada.must("POST", "/v1/document-sets", object{"title": "Laws", "document_ids": ids})["id"].(string)
	hers, his := id.New(), id.New()
	if q := end(ada.say(hers, "Summarize")); q["type"] != "interrupt" {
		t.Fatalf("told %v", q)
	}
	reply := func(kind string, value any) object { return object{"type": kind, "value": value} }
	for name, c := range map[string]struct {
		path   string
		body   object
		status int
	}{
		"tagged":      {"/api/chat", object{"message": "Summarize", "tagged_doc_ids": ids}, 404},
		"tagged set":  {"/api/chat", object{"message": "Summarize", "tagged_set_ids": []any{set}}, 404},
		"thread":      {"/api/chat", object{"message": "Summarize", "thread_id": strings.ToUpper(hers)}, 404},
		"resumed":     {"/api/chat/resume", object{"thread_id": hers, "resume_value": reply("text_input", "x")}, 404},
		"mentioned":   {"/api/chat", object{"message": "Summarize", "action": "summarize", "tiptap_json": mentions(ids[0], "document")}, 200},
		"set in text": {"/api/chat", object{"message": "Summarize", "action": "summarize", "tiptap_json": mentions(set, "set")}, 200},
		"written":     {"/api/chat", object{"message": "Summarize " + ids[0] + " and @" + ids[1], "thread_id": his}, 200},
	} {
		if status, events, all := bob.heard(c.path, c.body); status != c.status || status == 200 && end(events)["type"] != "interrupt" || strings.Contains(all, "eave") {
			t.Errorf("%s: %d, %s", name, status, all)
		}
	}
	if q := end(bob.resume(his, "text_input", ids[0])); q["type"] != "interrupt" {
		t.Errorf("her document as an answer: %v", q)
	}
	if status, _, _, _ := bob.do("GET", "/api/chat/history/"+hers, nil); status != 404 {
		t.Errorf("her history: %d", status)
	}
	if q := end(ada.resume(hers, "text_input", "Leave policy 2023")); q["type"] != "response" {
		t.Errorf("her own question after all that: %v", q)
	}
}

// Several requests at once for one thread or question: one of them has it, each
// that is told anything is told one end, and what was deleted meanwhile is
// asked for.
//
// Requirements: INT-31, STREAM-15
func TestOneOfSeveralHasTheThreadAndTheQuestion(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada, bob := p.signUp("ada@example.org"), p.signUp("bob@example.org")
	ids := ada.policies()
	atOnce := func(send ...func() (int, []object, string)) (told, refused int, last object) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, f := range send {
			all.Go(func() {
				status, events, _ := f()
				mu.Lock()
				defer mu.Unlock()
				if status != 200 {
					refused++
					return
				}
				told, last = told+1, end(events)
				if strings.Count(nodes(events), "=") != 1 {
					t.Errorf("told %q", nodes(events))
				}
			})
		}
		all.Wait()
		return told, refused, last
	}
	thread := id.New()
	hello := func(who *person) func() (int, []object, string) {
		return func() (int, []object, string) {
			return who.heard("/api/chat", object{"message": "hello", "thread_id": thread})
		}
	}
	if told, refused, _ := atOnce(hello(ada), hello(bob), hello(bob), hello(ada)); told != 2 || refused != 2 {
		t.Errorf("of two people %d have the thread, and %d have not", told, refused)
	}
	thread = id.New()
	if q := end(ada.say(thread, "Summarize and audit", object{"tagged_doc_ids": ids[:1]})); q["type"] != "interrupt" {
		t.Fatalf("told %v", q)
	}
	ada.must("DELETE", "/v1/documents/"+ids[0], nil)
	answer := func() (int, []object, string) {
		return ada.heard("/api/chat/resume", object{"thread_id": thread, "resume_value": object{"type": "action_choice", "value": "summarize"}})
	}
	told, refused, q := atOnce(answer, answer, answer)
	if told != 1 || refused != 2 || q["type"] != "interrupt" || q["message"] != "Please tag the document you'd like to summarize." {
		t.Errorf("%d answers count, %d do not: %v", told, refused, q)
	}
}
