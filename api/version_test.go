package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// ask says something and gives the ids of its conversation and of the message.
func (p *person) ask(body map[string]any) (conversation, message string) {
	p.Helper()
	got := p.post("/v1/chat", body).ok()
	return got["conversation_id"].(string), got["user_message_id"].(string)
}

// path is what a thread shows: the words, and which version a question is.
func path(thread map[string]any) string {
	var said []string
	for _, m := range items(thread) {
		text := m["content"].(string)
		if v, ok := m["versions"].(map[string]any); ok {
			text += fmt.Sprintf(" (%v of %d)", v["at"], len(v["ids"].([]any)))
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

// Requirements: CHAT-11, CHAT-15
func TestAQuestionIsSaidAnewAndItsVersionsAreShown(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	talk, one := ada.ask(map[string]any{"message": "one"})
	_, two := ada.ask(map[string]any{"message": "two", "conversation_id": talk})
	messages := "/v1/conversations/" + talk + "/messages"
	if got := path(ada.get(messages).ok()); got != "one, one, two, two" {
		t.Errorf("before: %s", got)
	}
	_, again := ada.ask(map[string]any{"message": "two again", "conversation_id": talk, "replaces": two})
	if got := path(ada.get(messages).ok()); got != "one, one, two again (1 of 2), two again" {
		t.Errorf("anew: %s", got)
	}
	show := func(message string) map[string]any {
		t.Helper()
		return ada.post("/v1/conversations/"+talk+"/version", map[string]any{"message_id": message}).ok()
	}
	shown := show(two)
	if got := path(shown); got != "one, one, two (0 of 2), two" || shown["thread_id"] != talk || shown["earlier_cursor"] != nil || shown["next_cursor"] != nil {
		t.Errorf("shown: %s, %v", got, shown)
	}
	// Ids may be spelt otherwise.
	loud := ada.post("/v1/conversations/"+strings.ToUpper(talk)+"/version", map[string]any{"message_id": strings.ToUpper(again)}).ok()
	if got := path(loud); got != "one, one, two again (1 of 2), two again" {
		t.Errorf("in capitals: %s", got)
	}
	if got, said := ada.history(talk); len(said) != 4 || !strings.HasSuffix(said[2], "two again") {
		t.Errorf("history: %v", got)
	}
	ada.ask(map[string]any{"message": "one again", "conversation_id": talk, "replaces": one})
	if got := path(ada.get(messages).ok()); got != "one again (1 of 2), one again" {
		t.Errorf("from the beginning: %s", got)
	}
	refused := ada.post("/v1/conversations/"+talk+"/version", map[string]any{"message_id": two}).fails(409, "conflict")
	if details := refused.Details.(map[string]any); details["reason"] != "aside" {
		t.Errorf("details = %v", details)
	}
	if title := ada.get("/v1/conversations/" + talk).ok()["conversation"].(map[string]any)["title"]; title != "one again" { // CHAT-13: what the first message is now
		t.Errorf("title = %v", title)
	}
}

func TestWhatCannotBeReplacedIsSaid(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	said := ada.post("/v1/chat", map[string]any{"message": "one"}).ok()
	talk, one := said["conversation_id"].(string), said["user_message_id"].(string)
	ada.ask(map[string]any{"message": "one again", "conversation_id": talk, "replaces": one})
	for what, c := range map[string]struct {
		body   map[string]any
		status int
		code   fault.Code
	}{
		"an answer":              {map[string]any{"conversation_id": talk, "replaces": said["message_id"]}, 400, "validation_error"},
		"what is set aside":      {map[string]any{"conversation_id": talk, "replaces": one}, 400, "validation_error"},
		"without a conversation": {map[string]any{"replaces": one}, 400, "validation_error"},
		"no id":                  {map[string]any{"conversation_id": talk, "replaces": "one"}, 400, "validation_error"},
		"nothing":                {map[string]any{"conversation_id": talk, "replaces": id.New()}, 404, "not_found"},
		"in no conversation":     {map[string]any{"conversation_id": id.New(), "replaces": one}, 404, "not_found"},
	} {
		c.body["message"] = "x"
		reason := ada.post("/v1/chat", c.body).fails(c.status, string(c.code))
		if field, ok := reason.Details.(map[string]any); c.status == 400 && what != "no id" && (!ok || field["field"] != "replaces") {
			t.Errorf("%s: details are %v", what, reason.Details)
		}
	}
	waiting := ada.post("/v1/chat", map[string]any{"message": "ask which"}).ok()
	for _, multitask := range []string{"reject", "enqueue", "interrupt"} {
		refused := ada.post("/v1/chat", map[string]any{
			"message": "x", "conversation_id": waiting["conversation_id"], "replaces": waiting["user_message_id"], "multitask": multitask,
		}).fails(409, "conflict")
		if details := refused.Details.(map[string]any); details["reason"] != "active" || details["run_id"] != waiting["run_id"] {
			t.Errorf("%s: details = %v", multitask, details)
		}
	}
}

// Requirements: API-05
func TestATurnThatReplacesIsOneForItsKey(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	talk, one := ada.ask(map[string]any{"message": "one"})
	_, other := ada.ask(map[string]any{"message": "two", "conversation_id": talk})
	body := map[string]any{"message": "one again", "conversation_id": talk, "replaces": one}
	first := ada.post("/v1/chat", body, "Idempotency-Key", "k").ok()
	if again := ada.post("/v1/chat", body, "Idempotency-Key", "k").ok(); again["run_id"] != first["run_id"] {
		t.Errorf("the same request made %v, then %v", first, again)
	}
	if got := path(ada.get("/v1/conversations/" + talk + "/messages").ok()); got != "one again (1 of 2), one again" {
		t.Errorf("the path is %s", got)
	}
	body["replaces"] = other
	ada.post("/v1/chat", body, "Idempotency-Key", "k").fails(400, "validation_error")
}

// Requirements: STREAM-02
func TestASocketSaysAQuestionAnew(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	talk, one := ada.ask(map[string]any{"message": "one"})
	k := ada.talk()
	k.say(map[string]any{"type": "chat_start", "message": "one again", "conversation_id": talk, "replaces": one})
	k.until("message_done")
	if got := path(ada.get("/v1/conversations/" + talk + "/messages").ok()); got != "one again (1 of 2), one again" {
		t.Errorf("the path is %s", got)
	}
	k.say(map[string]any{"type": "chat_start", "message": "x", "conversation_id": talk, "replaces": one})
	if refused, _ := k.until("error"); !strings.Contains(string(refused.Data), "validation_error") {
		t.Errorf("of what is set aside: %s", refused.Data)
	}
}

func TestAConversationBranchesOffAtAnAnswer(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	talk, _ := ada.ask(map[string]any{"message": "one"})
	_, two := ada.ask(map[string]any{"message": "two", "conversation_id": talk})
	ada.ask(map[string]any{"message": "three", "conversation_id": talk})
	branch := func(message, key string) *response {
		return ada.post("/v1/conversations/"+talk+"/branch", map[string]any{"message_id": message}, "Idempotency-Key", key)
	}
	made := branch(two, "k").ok()["conversation"].(map[string]any)
	from := made["branched_from"].(map[string]any)
	if made["id"] == talk || made["title"] != "one" || from["conversation_id"] != talk || from["message_id"] != two {
		t.Errorf("made %v", made)
	}
	copied := "/v1/conversations/" + made["id"].(string)
	if got := path(ada.get(copied + "/messages").ok()); got != "one, one, two, two" {
		t.Errorf("copied: %s", got)
	}
	if again := branch(two, "k").ok()["conversation"].(map[string]any); again["id"] != made["id"] {
		t.Errorf("the same key made %v", again)
	}
	if other := branch(two, "l").ok()["conversation"].(map[string]any); other["id"] == made["id"] {
		t.Error("another key made the same")
	}
	listed := items(ada.get("/v1/conversations").ok())
	if len(listed) != 3 || fmt.Sprint(listed[1]["branched_from"]) != fmt.Sprint(from) {
		t.Errorf("listed: %v", listed)
	}
	if plain := ada.get("/v1/conversations/" + talk).ok()["conversation"].(map[string]any); plain["branched_from"] != nil {
		t.Errorf("the original is from %v", plain["branched_from"])
	}
}

// Requirements: CHAT-11
func TestAThreadIsReadFromItsEnd(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	talk, _ := ada.ask(map[string]any{"message": "one"})
	for _, text := range []string{"two", "three"} {
		ada.ask(map[string]any{"message": text, "conversation_id": talk})
	}
	messages := "/v1/conversations/" + talk + "/messages?limit=2"
	last := ada.get(messages + "&latest=true").ok()
	earlier, _ := last["earlier_cursor"].(string)
	if got := path(last); got != "three, three" || earlier == "" || last["next_cursor"] != nil {
		t.Fatalf("latest: %s, %v", got, last)
	}
	before := ada.get(messages + "&before=" + url.QueryEscape(earlier)).ok()
	next, _ := before["next_cursor"].(string)
	if got := path(before); got != "two, two" || next == "" || before["earlier_cursor"] == nil {
		t.Fatalf("before: %s, %v", got, before)
	}
	if got := path(ada.get(messages + "&cursor=" + url.QueryEscape(next)).ok()); got != "three, three" {
		t.Errorf("after: %s", got)
	}
	begin := ada.get(messages + "&before=" + url.QueryEscape(before["earlier_cursor"].(string))).ok()
	if got := path(begin); got != "one, one" || begin["earlier_cursor"] != nil {
		t.Errorf("the beginning: %s, %v", got, begin)
	}
	for _, q := range []string{"&latest=true&cursor=" + next, "&latest=true&before=" + earlier, "&cursor=" + next + "&before=" + earlier, "&before=x", "&before=" + next} {
		ada.get(messages+q).fails(400, "validation_error")
	}
}

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
