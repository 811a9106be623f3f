package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/leaktest"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
)

// crashFile names the file a child process writes to until it is killed.
const crashFile = "LIMINAL_TEST_CRASH_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := writeUntilKilled(context.Background(), path); err != nil {
			slog.Error("the writer stopped", "error", err)
		}
		os.Exit(1)
	}
	leaktest.Main(m)
}

// Requirements: CHAT-16, CHAT-28
func TestAKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liminal.db")
	for round := range 6 {
		acknowledged := killedAfter(t, path, 20+10*round)
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		s, x := store.New(db, store.Options{}), sqlite.NewIndex(db, sqlite.IndexOptions{})
		for _, line := range acknowledged {
			check(t, s, x, strings.Fields(line))
		}
		sound(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// sound asks SQLite whether the file and the word index are whole.
func sound(t *testing.T, db *sqlite.DB) {
	t.Helper()
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		if _, err := tx.Exec(`INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')`, nil); err != nil {
			return err
		}
		return tx.Query(`PRAGMA integrity_check`, nil, func(scan store.Scan) error {
			var verdict string
			if err := scan(&verdict); err != nil || verdict != "ok" {
				return fmt.Errorf("%s %w", verdict, err)
			}
			return nil
		})
	})
	if err != nil {
		t.Errorf("the file is damaged: %v", err)
	}
}

// killedAfter starts a writer, kills it after n acknowledgements, and returns
// all that arrived.
func killedAfter(t *testing.T, path string, n int) (lines []string) {
	t.Helper()
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), crashFile+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		if lines = append(lines, scanner.Text()); len(lines) == n {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = writer.Wait() // it was killed
	if len(lines) < n {
		t.Fatalf("the writer acknowledged %d of %d", len(lines), n)
	}
	return lines
}

// check finds what a line acknowledged: "turn USER RUN MESSAGE" or "chunk USER CHUNK".
func check(t *testing.T, s *store.Store, x *sqlite.Index, fields []string) {
	t.Helper()
	v := identity.Viewer{UserID: fields[1]}
	if fields[0] == "chunk" {
		c, err := x.Chunk(t.Context(), v, fields[2])
		if err != nil {
			t.Errorf("a chunk is lost: %v", err)
			return
		}
		hits, err := x.Search(t.Context(), v, knowledge.Query{ContextIDs: []string{c.ContextID}, Text: c.Content, Vector: []float32{1, 0}, Limit: 100})
		if err != nil || len(hits) == 0 {
			t.Errorf("a chunk is not found: %v", err)
		}
		return
	}
	if r, err := s.Run(t.Context(), v, fields[2]); err != nil || r.Status != run.Done {
		t.Errorf("run %s is %s, %v", fields[2], r.Status, err)
	}
	if _, err := s.Message(t.Context(), v, fields[3]); err != nil {
		t.Errorf("the answer of run %s: %v", fields[2], err)
	}
}

// writeUntilKilled writes turns and chunks from four goroutines, and prints a
// line for each one that is acknowledged.
func writeUntilKilled(ctx context.Context, path string) error {
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	s, x := store.New(db, store.Options{Running: -1}), sqlite.NewIndex(db, sqlite.IndexOptions{})
	failed := make(chan error)
	for range 4 {
		go func() { failed <- writeForever(ctx, s, x) }()
	}
	return <-failed
}

func writeForever(ctx context.Context, s *store.Store, x *sqlite.Index) error {
	u, err := s.CreateUser(ctx, identity.User{ID: id.New(), Email: id.New(), Active: true}, identity.Credential{})
	if err != nil {
		return err
	}
	v := u.Viewer("")
	k, err := s.CreateContext(ctx, v, knowledge.Context{Name: "c"})
	if err != nil {
		return err
	}
	d, err := s.PutDocument(ctx, v, knowledge.Document{ContextID: k.ID, Path: "files/a"})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		a, err := s.Accept(ctx, v, chat.NewTurn{Message: "question"})
		if err != nil {
			return err
		}
		closed, err := s.CloseTurn(ctx, v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}, Message: &chat.Message{Role: "assistant", Content: "answer"}})
		if err != nil {
			return err
		}
		c := knowledge.Chunk{ID: id.New(), DocumentID: d.ID, ContextID: k.ID, Index: n, Content: fmt.Sprint("word", n), Vector: []float32{1, float32(n)}}
		if err := x.Upsert(ctx, v, []knowledge.Chunk{c}); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(os.Stdout, "turn %s %s %s\nchunk %s %s\n", v.UserID, a.Run.ID, closed.MessageID, v.UserID, c.ID); err != nil {
			return err
		}
	}
}
