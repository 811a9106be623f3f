package wire

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
	"liminal/internal/telemetry"
)

// What people say of answers within a message is counted as what they say with a
// button.
//
// Requirements: PREF-06
func TestWhatIsSaidInPassingIsCounted(t *testing.T) {
	t.Parallel()
	s := store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "ada@example.org", Handle: "ada", Role: identity.RoleUser, Active: true}, identity.Credential{})
	must(err)
	v := u.Viewer(id.New())
	a, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "What is a lemma?", RequestID: id.New()})
	must(err)
	closed, err := s.CloseTurn(t.Context(), v, chat.Close{
		RunID: a.Run.ID, End: run.End{Status: run.Done, Result: json.RawMessage(`{}`), Trace: json.RawMessage(`[]`)},
		Message: &chat.Message{Role: "assistant", Content: "A small sentence."},
	})
	must(err)
	metrics := telemetry.NewMetrics("v")
	counted := countedFeedback{learning.NewRecorder(s, embed.Hash{}), metrics}
	f := learning.Feedback{ConversationID: a.ConversationID, MessageID: closed.MessageID, Signal: "always"}
	_, err = counted.Record(t.Context(), v, f)
	must(err)
	f.MessageID = id.New()
	if _, err := counted.Record(t.Context(), v, f); err == nil {
		t.Error("an answer there is not was judged")
	}
	w := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if line := `liminal_preferences_total{signal="always"} 1` + "\n"; !strings.Contains(w.Body.String(), line) {
		t.Errorf("no line %s", line)
	}
}
