package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// near is a model on this machine that speaks as Ollama does. Of an agent whose task
// begins with hold it says nothing before it is let go, and of one whose task begins with
// talk it says what is no answer.
type near struct {
	mu    sync.Mutex
	asked map[string]int // by the task
	free  chan struct{}
}

func (n *near) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) != 2 {
		http.Error(w, "this is no question", http.StatusBadRequest)
		return
	}
	doc := strings.TrimSuffix(strings.TrimPrefix(body.Messages[1].Content, "<data>\n"), "\n</data>")
	var window struct {
		Task   string
		Blocks []struct{ ID int }
	}
	if err := json.Unmarshal([]byte(doc), &window); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	n.asked[window.Task]++
	n.mu.Unlock()
	answer := fmt.Sprintf("<think>the last one</think>++%d channels=wren", window.Blocks[len(window.Blocks)-1].ID)
	switch {
	case strings.HasPrefix(window.Task, "hold"):
		select {
		case <-n.free:
		case <-r.Context().Done():
			return
		}
	case strings.HasPrefix(window.Task, "talk"):
		answer = "I think that all of it is needed."
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", answer)
}

func (n *near) times(task string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[task]
}

// After each exchange a model on this machine is asked about it, of two agents at once.
// Neither a model that is slow nor one that talks holds anything back, and a platform that
// is killed while one is asked goes on with it.
//
// Requirements: PAL-02 (classifies), PAL-07 (a model is asked so), PAL-08 (by a model; the latency in /stats), PAL-09
func TestAModelIsAskedAboutEachExchangeAndNothingWaitsForIt(t *testing.T) {
	t.Parallel()
	model := &near{asked: map[string]int{}, free: make(chan struct{})}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	x := startProxied(t)
	owner := &person{p: x.program, email: "palace.owner@example.org"}
	owner.signIn()
	owner.must("POST", "/v1/backends", object{"name": "near", "protocol": "ollama", "url": server.URL + "/v1", "model": "qwen3:4b"})
	owner.must("POST", "/v1/artifacts", object{"type": "policy.palace", "name": "default", "schema": object{"kind": "policy.palace", "classifier": object{"by": "model", "model": "@near", "deadline_ms": 50_000}}})
	operator, err := os.ReadFile(filepath.Join(x.dir, "data", "palace", "operator.token"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	say := func(text string) {
		t.Helper()
		said[text] = append(said[text], fmt.Sprintf(`{"role":"user","content":%q}`, text))
		body := `{"model":"claude-opus-5-5","max_tokens":64,"stream":true,"messages":[` + strings.Join(said[text], `,{"role":"assistant","content":"yes"},`) + `]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.ready.Palace+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"X-Palace-Token": strings.TrimSpace(string(operator)), "X-Api-Key": "sk-of-nobody", "X-Claude-Code-Session-Id": text, "Content-Type": "application/json"} {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", text, answer.Status)
		}
	}
	kept := func() (list []struct {
		Outcome string
		Took    int64 `json:"took_us"`
	}) {
		t.Helper()
		out, _ := x.palace(0, "classified", "--json")
		var page struct {
			Classifications *[]struct {
				Outcome string
				Took    int64 `json:"took_us"`
			}
		}
		page.Classifications = &list
		if err := json.Unmarshal([]byte(out), &page); err != nil {
			t.Fatal(err)
		}
		return list
	}
	say("hold on")
	x.until("the question that is held", func() bool { return model.times("hold on") == 1 })
	for _, text := range []string{"go on", "talk on"} { // while that one is asked
		say(text)
		x.until("the question about "+text, func() bool { return model.times(text) == 1 })
	}
	x.until("two answers", func() bool { return len(kept()) == 2 })
	x.kill()
	close(model.free)
	x.again()
	owner.signIn()
	x.until("the answer that was waited for", func() bool { return len(kept()) == 3 })
	if n := model.times("hold on"); n != 2 {
		t.Errorf("what was under way was asked %d times", n)
	}
	stats := owner.must("GET", "/v1/palace/stats", nil)["classifier_latency"].(object)["model"].(object)
	if outcomes := stats["outcomes"].(object); stats["calls"] != 3.0 || outcomes["understood"] != 2.0 || outcomes["unreadable"] != 1.0 || stats["p50_us"].(float64) <= 0 {
		t.Errorf("the figures are %v", stats)
	}
	if out, _ := x.palace(0, "classified"); !strings.Contains(out, "channels=wren") || !strings.Contains(out, "is no part of an answer") || !strings.Contains(out, "qwen3:4b") {
		t.Errorf("classified: %s", out)
	}
	if out, _ := x.palace(0, "notes"); !strings.Contains(out, "no note") {
		t.Errorf("notes: %s", out)
	}
	x.palace(2, "notes", "burn", "1")
	x.palace(2, "notes", "keep", "1")
}
