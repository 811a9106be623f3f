package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// takesNotes tells a request for a summary by what the program ships for it.
func takesNotes(call object) bool {
	return strings.Contains(words(call), "Write notes on a conversation")
}

// which are the requests so far that are, or are not, for a summary.
func (f *provider) which(notes bool) (calls []object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		if takesNotes(call) == notes {
			calls = append(calls, call)
		}
	}
	return calls
}

// told is the text of the latest request that is, or is not, for a summary.
func (f *provider) told(notes bool) string {
	calls := f.which(notes)
	if len(calls) == 0 {
		return ""
	}
	return words(calls[len(calls)-1])
}

// talk is a conversation that goes on until its older part is summarised.
type talk struct {
	*person
	id   string
	said int
}

// say asks a question of some eight hundred tokens: four of them, answered,
// are more than the older ones of are shown for long.
func (c *talk) say() {
	c.p.t.Helper()
	c.said++
	message := object{"message": fmt.Sprintf("Question %d. ", c.said) + strings.Repeat("The lease of the boat is long. ", 104)}
	if c.id != "" {
		message["conversation_id"] = c.id
	}
	c.id = c.must("POST", "/v1/chat", message)["conversation_id"].(string)
}

func (c *talk) artifact() object {
	c.p.t.Helper()
	id, _ := c.must("GET", "/v1/conversations/"+c.id, nil)["conversation"].(object)["memory_artifact_id"].(string)
	if id == "" {
		return nil
	}
	return c.must("GET", "/v1/artifacts/"+id, nil)
}

// untilRemembered waits for a version of the summary: it is made after a turn,
// and no turn waits for it.
func (c *talk) untilRemembered(version float64) (a object) {
	c.p.t.Helper()
	c.p.until(fmt.Sprintf("version %v of the summary", version), func() bool {
		a = c.artifact()
		return a != nil && a["version"] == version
	})
	return a
}

// long is a conversation with its first summary.
func long(t *testing.T, f *provider) (*talk, object) {
	t.Helper()
	c := &talk{person: start(t, f.env()...).signUp("ada@example.org")}
	for range 4 {
		c.say()
	}
	if a := c.artifact(); a != nil || len(f.which(true)) != 0 {
		t.Fatalf("a short conversation is summarised: %v", a)
	}
	c.say()
	return c, c.untilRemembered(1)
}

func notebook(t *testing.T) *provider {
	t.Helper()
	return offer(t, func(w http.ResponseWriter, call object, n int) {
		if takesNotes(call) {
			says(w, fmt.Sprintf("Ada compares the leases of boats, note %d.", n))
			return
		}
		says(w, "It is.")
	})
}

// Requirements: ART-03, ART-06, ART-11, CHAT-06, CHAT-19, CHAT-20
func TestALongConversationIsRememberedInAnArtifactThatItsOwnerChanges(t *testing.T) {
	t.Parallel()
	f := notebook(t)
	c, first := long(t, f)
	summary := first["schema"].(object)["summary"].(string)
	if first["type"] != "memory.summary" || first["visibility"] != "private" || first["created_by"] != "llm" || !strings.Contains(summary, "leases of boats") {
		t.Errorf("the summary is %v", first)
	}
	if told := f.told(true); !strings.Contains(told, "Question 1.") || strings.Contains(told, "Question 4.") {
		t.Errorf("it was made from %.300q…", told)
	}
	c.say()
	if told := f.told(false); !strings.Contains(told, summary) || strings.Contains(told, "Question 1.") || !strings.Contains(told, "Question 5.") {
		t.Errorf("the next turn is told %.600q…", told)
	}
	if n := len(f.which(true)); n != 1 {
		t.Errorf("%d requests for one summary", n)
	}
	if held := strings.Join(c.messages(c.id), "\n"); strings.Count(held, "system: Earlier in this conversation:\n"+summary) != 1 {
		t.Errorf("the conversation holds %.900q…", held)
	}

	c.must("PATCH", "/v1/artifacts/"+first["id"].(string), []object{{"op": "replace", "path": "/summary", "value": "Ada compares kites."}})
	c.say()
	if told := f.told(false); !strings.Contains(told, "Ada compares kites.") || strings.Contains(told, summary) {
		t.Errorf("after the edit a turn is told %.600q…", told)
	}
	third := c.untilRemembered(3)
	if told := f.told(true); !strings.Contains(told, "Ada compares kites.") || strings.Contains(told, "Question 1.") || third["created_by"] != "llm" {
		t.Errorf("it was extended by %v from %.600q…", third["created_by"], told)
	}
	versions := c.must("GET", "/v1/artifacts/"+first["id"].(string)+"/versions", nil)
	if list := versions["data"].([]any); len(list) != 3 || list[1].(object)["created_by"] != "user" {
		t.Errorf("the versions are %v", list)
	}
	if n := len(f.which(true)); n != 2 {
		t.Errorf("%d requests for two summaries", n)
	}
}

// Requirements: ART-08, ART-11, CHAT-12, DATA-15
func TestTheMemoryOfAConversationIsItsOwnersAndGoesWithIt(t *testing.T) {
	t.Parallel()
	f := notebook(t)
	ada, memory := long(t, f)
	id := memory["id"].(string)
	bob := ada.p.signUp("bob@example.org")
	if status, _, _, _ := bob.do("GET", "/v1/artifacts/"+id, nil); status != http.StatusNotFound {
		t.Errorf("another person gets it: %d", status)
	}
	if list := bob.must("GET", "/v1/artifacts?type=memory", nil)["data"].([]any); len(list) != 0 {
		t.Errorf("another person lists %v", list)
	}
	reader := object{"kind": "workflow.chat", "entrypoint": "read", "nodes": []object{
		{"id": "read", "type": "tool_call", "tool": "artifacts.read_v1", "inputs": object{"type": "memory", "name": memory["name"]}, "next": "say"},
		{"id": "say", "type": "tool_call", "tool": "llm.generic_chat_v1", "inputs": object{"message": "Remember: ${vars.read.schema.summary}"}},
	}}
	ada.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "reminded", "schema": reader})
	ada.must("POST", "/v1/chat", object{"message": "What was it about?", "workflow_id": "reminded"})
	if told := f.told(false); !strings.Contains(told, "Remember: Ada compares the leases of boats") {
		t.Errorf("a workflow that reads it says %.600q…", told)
	}

	payloads := filepath.Join(ada.p.dir, "data", "artifacts")
	if _, err := os.Stat(filepath.Join(payloads, id, "v0001.json")); err != nil {
		t.Fatal(err)
	}
	ada.must("DELETE", "/v1/conversations/"+ada.id, nil)
	for _, path := range []string{"", "/versions"} {
		if status, _, _, _ := ada.do("GET", "/v1/artifacts/"+id+path, nil); status != http.StatusNotFound {
			t.Errorf("the summary of a deleted conversation%s: %d", path, status)
		}
	}
	if _, err := os.Stat(filepath.Join(payloads, id)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the files of the summary are still there: %v", err)
	}
	if text, where := found(t, payloads, "leases of boats"); text {
		t.Errorf("its text is still in %s", where)
	}
}

// found looks for a text in the files below a folder.
func found(t *testing.T, dir, text string) (there bool, where string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), text) {
			there, where = true, path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return there, where
}
