package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"liminal/internal/id"
)

// told reads a stream of the assistant's surface to its end.
func (who *person) told(path string, body object) (events []object) {
	who.p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		who.p.t.Fatal(err)
	}
	req := who.request(who.p.t.Context(), "POST", path, bytes.NewReader(raw))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		who.p.t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		who.p.t.Fatalf("%s answered %d, %s", path, res.StatusCode, got)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e object
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				who.p.t.Fatalf("%q: %v", data, err)
			}
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		who.p.t.Fatalf("%s told nothing", path)
	}
	return events
}

// say sends a message to the assistant; more are further fields of it.
func (who *person) say(thread, message string, more ...object) []object {
	who.p.t.Helper()
	body := object{"message": message, "thread_id": thread}
	for _, m := range more {
		maps.Copy(body, m)
	}
	return who.told("/api/chat", body)
}

// resume answers the question a thread waits with.
func (who *person) resume(thread, kind string, value any) []object {
	who.p.t.Helper()
	return who.told("/api/chat/resume", object{"thread_id": thread, "resume_value": object{"type": kind, "value": value}})
}

// nodes are the steps that were told, and the type of the end.
func nodes(events []object) string {
	var out []string
	for _, e := range events {
		if e["type"] == "status" {
			out = append(out, e["node"].(string))
		} else {
			out = append(out, "="+e["type"].(string))
		}
	}
	return strings.Join(out, " ")
}

func end(events []object) object { return events[len(events)-1] }

const (
	leave2023 = "# Leave policy 2023\n\nEmployees have 25 days of paid leave a year. Leave is requested two weeks ahead. Up to five days are carried over.\n"
	leave2024 = "# Leave policy 2024\n\nEmployees have 28 days of paid leave a year. Leave is requested four weeks ahead. No days are carried over.\n"
)

// policies are two documents that are like each other.
func (who *person) policies() (ids []string) {
	who.p.t.Helper()
	docs := who.must("POST", "/v1/contexts", object{"name": "Policies"})["id"].(string)
	for name, text := range map[string]string{"Leave policy 2023.md": leave2023, "Leave policy 2024.md": leave2024} {
		ids = append(ids, who.upload(docs, name, []byte(text))["id"].(string))
	}
	return ids
}

// The success list at the head of seed 004, on the keyless default.
//
// Requirements: LG-01, LG-02, LG-05, LG-29, INT-06, INT-11, INT-14, INT-17, INT-23, INT-24, STREAM-12, STREAM-13, STREAM-15, STREAM-17, STREAM-18, CHAT-15, CHAT-17, CHAT-24
func TestTheAssistantDoesWhatItsListSays(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	ids := ada.policies()
	thread := id.New()

	// An explicit action and tags: no intent step, the documents as pills.
	got := ada.say(thread, "", object{"message": "Compare", "action": "compare", "tagged_doc_ids": ids})
	if want := "doc_resolver validate_inputs compare format_response =response"; nodes(got) != want {
		t.Fatalf("told %q, want %q", nodes(got), want)
	}
	if docs, _ := got[0]["docs_found"].([]any); len(docs) != 2 {
		t.Errorf("found %v", got[0]["docs_found"])
	}
	answer := end(got)
	if text := answer["response"].(string); !strings.Contains(text, "25 days") || !strings.Contains(text, "28 days") {
		t.Errorf("compared as %q", text)
	}
	for _, field := range []string{"citations", "action", "inference_confidence", "retrieval_confidence", "tokens_used", "cost_usd"} {
		if answer[field] == nil {
			t.Errorf("the response has no %s", field)
		}
	}
	if answer["action"] != "compare" || len(answer["citations"].([]any)) == 0 {
		t.Errorf("the response is %v", answer)
	}

	// The documents of before, without their names.
	got = ada.say(thread, "Summarize those two documents")
	if want := "intent_resolver doc_resolver validate_inputs summarize format_response =response"; nodes(got) != want {
		t.Fatalf("told %q, want %q: %v", nodes(got), want, end(got))
	}
	if docs, _ := got[1]["docs_found"].([]any); len(docs) != 2 {
		t.Errorf("those two are %v", got[1]["docs_found"])
	}

	// Two actions at once, then a missing text: asked one after the other.
	got = ada.say(thread, "Summarize and audit the Leave policy 2024")
	if q := end(got); nodes(got) != "intent_resolver =interrupt" || q["interrupt_type"] != "action_choice" ||
		q["message"] != "I can only perform one action at a time. Which would you like to do first?" {
		t.Fatalf("told %q: %v", nodes(got), q)
	}
	got = ada.resume(thread, "action_choice", "audit")
	if q := end(got); q["interrupt_type"] != "text_input" ||
		q["message"] != "Please enter the text you'd like to audit (e.g., an email or policy excerpt)." {
		t.Fatalf("told %q: %v", nodes(got), q)
	}
	history := ada.history(thread)
	if q, _ := history["pending_interrupt"].(object); q == nil || q["interrupt_type"] != "text_input" {
		t.Errorf("after a refresh the question is %v", history["pending_interrupt"])
	}
	got = ada.resume(thread, "text_input", "All employees get 25 days of paid leave a year and may carry over five days.")
	if answer := end(got); answer["type"] != "response" || answer["action"] != "audit" || !strings.Contains(answer["response"].(string), "28 days") {
		t.Fatalf("audited as %v", answer)
	}

	// A cancelled question leaves nothing behind but itself, and the next
	// message starts anew with the documents it knows.
	got = ada.say(id.New(), "Summarize")
	if q := end(got); q["message"] != "Please tag the document you'd like to summarize." {
		t.Fatalf("asked %v", q)
	}
	got = ada.say(thread, "Summarize and compare them")
	if end(got)["type"] != "interrupt" {
		t.Fatalf("told %q", nodes(got))
	}
	ada.resume(thread, "cancel", nil)
	got = ada.say(thread, "How many days of leave are there in the Leave policy 2023?")
	if answer := end(got); answer["type"] != "response" || !strings.Contains(answer["response"].(string), "25 days") {
		t.Fatalf("answered %v", answer)
	}

	history = ada.history(thread)
	if history["pending_interrupt"] != nil {
		t.Errorf("still pending: %v", history["pending_interrupt"])
	}
	var roles []string
	for _, m := range history["messages"].([]any) {
		roles = append(roles, m.(object)["role"].(string))
	}
	if n := countOf(roles, "assistant"); n != 4 {
		t.Errorf("the history holds %v, want four answers and no suppressed one", roles)
	}
}

func countOf(list []string, what string) (n int) {
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

// history is a thread as the assistant's surface tells it.
func (who *person) history(thread string) object {
	who.p.t.Helper()
	return who.must("GET", "/api/chat/history/"+thread, nil)
}

// classifies is a model that knows what every message means: the reply of each
// kind of call is what the test says.
func classifies(intent, documents func(n int) object, answer string) func(http.ResponseWriter, object, int) {
	var intents, resolutions int
	return func(w http.ResponseWriter, call object, _ int) {
		schema, _ := json.Marshal(call["response_format"])
		switch {
		case bytes.Contains(schema, []byte("multi_action_detected")):
			intents++
			raw, _ := json.Marshal(intent(intents))
			says(w, string(raw))
		case bytes.Contains(schema, []byte("resolved_uuids")):
			resolutions++
			raw, _ := json.Marshal(documents(resolutions))
			says(w, string(raw))
		default:
			says(w, answer)
		}
	}
}

// Calls of the model are counted: none is repeated by a question, by a crash
// while it waits, or by its answer.
//
// Requirements: INT-05, INT-03, LG-06, LG-09, LG-13, LG-14, INT-19, INT-20, LORA-26, LORA-27
func TestTheAssistantRepeatsNoModelCall(t *testing.T) {
	t.Parallel()
	uuids := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	var doubt bool
	var f *provider
	f = offer(t, classifies(
		func(int) object { return object{"action": "summarize", "confidence": "high"} },
		func(int) object {
			ids := slices.Compact(slices.Sorted(slices.Values(uuids.FindAllString(words(f.call(f.count())), -1))))
			if doubt {
				return object{"resolved_uuids": []string{}, "suggested_uuids": ids, "inference_confidence": "medium"}
			}
			return object{"resolved_uuids": ids[:1], "inference_confidence": "high"}
		},
		"It is about leave.",
	))
	p := start(t, f.env()...)
	ada := p.signUp("ada@example.org")
	ids := ada.policies()

	spent := func(f0 func()) int {
		before := f.count()
		f0()
		return f.count() - before
	}
	if n := spent(func() {
		ada.say(id.New(), "Summarize", object{"action": "summarize", "tagged_doc_ids": ids[:1]})
	}); n != 1 {
		t.Errorf("an explicit action and a pure mention took %d calls, want the answer's one", n)
	}
	plain := spent(func() {
		if got := ada.say(id.New(), "Summarize the policy"); end(got)["type"] != "response" {
			t.Fatalf("told %q: %v", nodes(got), end(got))
		}
	})
	if plain != 3 {
		t.Errorf("a clear message took %d calls, want one each for intent, documents and answer", plain)
	}

	doubt = true
	thread := id.New()
	asked := spent(func() {
		got := ada.say(thread, "Summarize the policy")
		q := end(got)
		if q["interrupt_type"] != "doc_choice" || len(q["options"].([]any)) != 3 {
			t.Fatalf("told %q: %v", nodes(got), q)
		}
		p.kill()
		p.again()
		ada.signIn()
		got = ada.resume(thread, "doc_choice", "all")
		if answer := end(got); answer["type"] != "response" || answer["response"] != "It is about leave." {
			t.Fatalf("told %q: %v", nodes(got), answer)
		}
	})
	if asked != plain {
		t.Errorf("with a question and a crash it took %d calls, without %d", asked, plain)
	}
	for n := range f.count() {
		if call := f.call(n + 1); call["model"] != "gpt-4o-mini" {
			t.Errorf("call %d asked %v", n+1, call["model"])
		}
	}
}
