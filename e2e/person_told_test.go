package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// listener is a server of Anthropic's Messages API that keeps what it is told
// and answers with one sentence.
type listener struct {
	t     *testing.T
	mu    sync.Mutex
	calls []object
}

func (f *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call object
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" || json.NewDecoder(r.Body).Decode(&call) != nil {
		f.t.Errorf("asked was %s %s", r.Method, r.URL.Path)
		http.NotFound(w, r)
		return
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []object{
		{"type": "message_start", "message": object{"role": "assistant", "usage": object{"input_tokens": 10, "output_tokens": 1}}},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": "I only read; ask me what is due."}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": "end_turn"}, "usage": object{"output_tokens": 8}},
		{"type": "message_stop"},
	} {
		raw, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], raw)
	}
}

// told are the calls whose system prompt says so.
func (f *listener) told(of string) (list []object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		if raw, _ := json.Marshal(call["system"]); strings.Contains(string(raw), of) {
			list = append(list, call)
		}
	}
	return list
}

// pinned are the blocks of a system prompt that the provider is asked to keep.
func pinned(call object) (blocks int) {
	system, _ := call["system"].([]any)
	for _, b := range system {
		if b.(object)["cache_control"] != nil {
			blocks++
		}
	}
	return blocks
}

// What the shipped assistant over a firm's matters is told, on the wire: who
// it speaks with, the rules, and nothing that names the person to the provider.
//
// Requirements: GRND-15, GRND-22, GRND-23, GRND-43, GRND-44 (metadata.user_id a hash), GRND-45, GRND-46 (changes nothing; says so)
func TestTheAssistantOverMattersIsToldWhoAsksAndWhatHolds(t *testing.T) {
	t.Parallel()
	f := &listener{t: t}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	p := start(t, "MODEL_BACKEND=anthropic", "ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY="+secretKey)
	ada, bob := p.signUp("ada@example.org"), p.signUp("bob@example.org")
	ada.must("PATCH", "/v1/settings", object{"location": "Munich"})
	today := time.Now().Format(time.DateOnly)
	for _, who := range []*person{ada, bob, ada} {
		who.must("POST", "/v1/chat", object{"message": "Move my next deadline.", "workflow_id": who.matters()})
	}
	calls := f.told("You are Paliadin")
	if len(calls) != 3 {
		t.Fatalf("the assistant was asked %d times, want 3", len(calls))
	}
	system := func(call object) string {
		var all strings.Builder
		for _, b := range call["system"].([]any) {
			all.WriteString(b.(object)["text"].(string) + "\n")
		}
		return all.String()
	}
	first := system(calls[0])
	for _, want := range []string{
		"inside HLC's patent practice", "You help ada (Munich) answer", "Today is " + today,
		"display language is English", "1. Never invent facts.", "2. Every concrete factual claim about the user's work MUST come from a",
		"3. You cannot mutate any data.", "4. Visibility is enforced before tools return", "5. You cannot answer questions about other users' projects",
		"6. Respect the user's role.", "- Direct, professional, slightly warm.", "- No emojis unless the user uses one first.",
		"User data comes first for \"my\"", "static reference for conceptual questions; both when\nboth apply",
	} {
		if !strings.Contains(strings.ReplaceAll(first, "'s patent practice\nplatform", "'s patent practice platform"), want) {
			t.Errorf("it is not told %q:\n%s", want, first)
		}
	}
	if n := count(first); n < 20 {
		t.Errorf("of the partner's projects it is told %d:\n%s", n, first)
	}
	if n := count(system(calls[1])); n < 1 || n > 5 {
		t.Errorf("of the trainee's projects it is told %d", n)
	}
	user := func(call object) string {
		about, _ := call["metadata"].(object)
		id, _ := about["user_id"].(string)
		return id
	}
	if one, other, again := user(calls[0]), user(calls[1]), user(calls[2]); one == "" || one == other || one != again {
		t.Errorf("the provider knows them as %q, %q and %q", one, other, again)
	}
	me := ada.must("GET", "/v1/auth/me", nil)
	for _, call := range calls {
		raw, _ := json.Marshal(call)
		for _, secret := range []string{"ada@example.org", "bob@example.org", idOf(me)} {
			if strings.Contains(string(raw), secret) {
				t.Errorf("the provider is told %q", secret)
			}
		}
		if call["model"] != "claude-sonnet-4-6" || call["stream"] != true || pinned(call) == 0 {
			t.Errorf("asked was %v, streamed %v, %d blocks to be kept", call["model"], call["stream"], pinned(call))
		}
		for _, one := range call["tools"].([]any) {
			if name := one.(object)["name"].(string); !strings.HasPrefix(name, "list_") && !strings.HasPrefix(name, "get_") &&
				!strings.HasPrefix(name, "search_") && !strings.HasPrefix(name, "lookup_") && name != "whats_on_my_plate" {
				t.Errorf("it has the tool %s", name)
			}
		}
	}
}

// count is how many projects the prompt says a person can see.
func count(system string) (n int) {
	_, after, _ := strings.Cut(system, "The user can see ")
	_, _ = fmt.Sscanf(after, "%d", &n)
	return n
}

// matters is the id of the shipped assistant over the example's data.
func (who *person) matters() string {
	who.p.t.Helper()
	for _, one := range who.must("GET", "/v1/artifacts?type=workflow.chat&limit=100", nil)["data"].([]any) {
		if a := one.(object); a["name"] == "paliadin" {
			return a["id"].(string)
		}
	}
	who.p.t.Fatal("no assistant over matters ships")
	return ""
}
