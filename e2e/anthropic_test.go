package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const fee = "Die Gebühr beträgt 40 € und ist bis zum 3. März fällig."

// TestClaudeCitesADocumentAndIsChosenByPolicy asks about a document over
// Anthropic's own protocol: who is asked follows the role and the person's own
// policy, and what is cited stands in the document at its offsets.
//
// Requirements: LORA-26, RAG-14, CHAT-09
func TestClaudeCitesADocumentAndIsChosenByPolicy(t *testing.T) {
	t.Parallel()
	f := &claude{t: t}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	p := start(t, "MODEL_BACKEND=anthropic", "ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY="+secretKey)
	ada := p.signUp("ada@example.org")
	text := "# Satzung\n\nÜber Fische: 🐟 sind frei.\n\n" + fee + "\n\nAlles Weitere regelt der Vorstand.\n"
	docs := ada.must("POST", "/v1/contexts", object{"name": "Verein"})["id"].(string)
	document := ada.upload(docs, "satzung.md", []byte(text))

	asked := ada.must("POST", "/v1/chat", object{"message": "Wie hoch ist die Gebühr?", "context_id": docs})
	if asked["content"] != "Vierzig Euro.[1]" {
		t.Errorf("answered %q", asked["content"])
	}
	citations := asked["citations"].([]any)
	if len(citations) != 1 {
		t.Fatalf("%d citations: %v", len(citations), citations)
	}
	if c := citations[0].(object); c["document_id"] != document["id"] || c["text"] != fee {
		t.Errorf("cited is %v", c)
	}
	if usage := asked["usage"].(object); usage["input_tokens"] != 2000.0 || usage["cache_read_tokens"] != 1000.0 || usage["cost_usd"] == nil {
		t.Errorf("usage is %v", usage)
	}
	ada.must("POST", "/v1/artifacts", object{"type": "models", "name": "default", "schema": object{
		"kind": "policy.models", "roles": object{"answer": object{"tier": "small", "max_tokens": 123}},
	}})
	ada.must("POST", "/v1/chat", object{"message": "Wie hoch ist die Gebühr nun?", "context_id": docs})
	// What is wanted is asked for first, each time.
	if got := f.models(); got != "claude-haiku-4-5/100 claude-sonnet-4-6/4096 claude-haiku-4-5/100 claude-haiku-4-5/123" {
		t.Errorf("asked were %s", got)
	}
}

// claude is a server of Anthropic's Messages API that cites the fee in the
// first document that names it.
type claude struct {
	t     *testing.T
	mu    sync.Mutex
	asked []string
}

func (f *claude) models() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.asked, " ")
}

func (f *claude) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Messages  []struct {
			Content []struct {
				Type   string `json:"type"`
				Source struct {
					Data string `json:"data"`
				} `json:"source"`
			} `json:"content"`
		} `json:"messages"`
	}
	if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != secretKey || json.NewDecoder(r.Body).Decode(&call) != nil {
		f.t.Errorf("%s was asked with the key %q", r.URL.Path, r.Header.Get("X-Api-Key"))
		http.NotFound(w, r)
		return
	}
	f.mu.Lock()
	f.asked = append(f.asked, fmt.Sprintf("%s/%d", call.Model, call.MaxTokens))
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, data object) {
		data["type"] = kind
		raw, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
	}
	send("message_start", object{"message": object{"role": "assistant", "usage": object{"input_tokens": 1000, "output_tokens": 1, "cache_read_input_tokens": 500}}})
	send("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	send("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": "Vierzig Euro."}})
	index := -1
	for _, b := range call.Messages[len(call.Messages)-1].Content {
		if b.Type != "document" {
			continue
		}
		index++
		if at := strings.Index(b.Source.Data, fee); at >= 0 {
			start := utf8.RuneCountInString(b.Source.Data[:at])
			send("content_block_delta", object{"index": 0, "delta": object{"type": "citations_delta", "citation": object{
				"type": "char_location", "cited_text": fee, "document_index": index,
				"start_char_index": start, "end_char_index": start + utf8.RuneCountInString(fee),
			}}})
			break
		}
	}
	send("content_block_stop", object{"index": 0})
	send("message_delta", object{"delta": object{"stop_reason": "end_turn"}, "usage": object{"output_tokens": 20}})
	send("message_stop", object{})
}
