package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/insights"
	"liminal/internal/store"
)

// BenchmarkInsights counts 100,000 turns of fifty people in four weeks, each
// with its question, its recording and a trace of 3 KB.
func BenchmarkInsights(b *testing.B) {
	db, err := Open(b.Context(), filepath.Join(b.TempDir(), "db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := store.New(db, store.Options{})
	const turns, people = 100_000, 50
	var users []string
	var admin identity.Viewer
	for range people {
		admin = user(b, s)
		users = append(users, admin.UserID)
	}
	admin.Role = identity.RoleAdmin
	now := time.Now()
	body, trace := make([]byte, 2000), fmt.Sprintf("%q", make([]byte, 700))
	for from := 0; from < turns; from += 5000 {
		err := db.Write(b.Context(), identity.System(), func(tx store.Tx) error {
			for i := from; i < from+5000; i++ {
				args := store.Args{
					"id": id.New(), "user": users[i%people], "c": id.New(), "at": now.Add(-time.Duration(i) * 24 * time.Second),
					"text": fmt.Sprintf("What about %d of these?", i%5000), "body": body, "trace": trace, "ms": 100 + i%9000, "tools": i % 3,
				}
				args["m"] = chat.AskedID(args["id"].(string))
				for _, q := range []string{
					`INSERT INTO conversation (id, user_id, created_at, updated_at) VALUES (@c, @user, @at, @at)`,
					`INSERT INTO run (id, user_id, workflow_id, kind, conversation_id, status, trace, created_at, started_at, ended_at) VALUES (@id, @user, @id, 'chat', @c, 'done', @trace, @at, @at, @at)`,
					`INSERT INTO message (id, conversation_id, user_id, run_id, sender, role, content, seq, created_at) VALUES (@m, @c, @user, @id, 'user', 'user', @text, 1, @at)`,
					`INSERT INTO recording (run_id, user_id, kind, status, ms, tool_calls, at, body) VALUES (@id, @user, 'chat', 'done', @ms, @tools, @at, @body)`,
				} {
					if _, err := tx.Exec(q, args); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, wordless := range []bool{true, false} {
		b.Run(fmt.Sprintf("wordless=%v", wordless), func(b *testing.B) {
			reader := insights.NewReader(s, insights.Options{Wordless: wordless})
			for b.Loop() {
				r, err := reader.Read(b.Context(), admin, insights.Filter{Days: 28, Zone: "Europe/Berlin"})
				if err != nil || r.Turns < turns/2 {
					b.Fatal(r.Turns, err)
				}
			}
		})
	}
}
