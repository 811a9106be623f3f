package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

func benchStore(t testing.TB) *store.Store {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "liminal.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return store.New(db, store.Options{Running: -1})
}

func user(t testing.TB, s *store.Store) identity.Viewer {
	u, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@x", Active: true}, identity.Credential{Hash: "h", Algorithm: "a"})
	if err != nil {
		t.Fatal(err)
	}
	return u.Viewer("")
}

// BenchmarkTurn writes both ends of turns from 1 and from 16 writers, all in
// conversations of their own that grow.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprintf("%dwriters", n), func(b *testing.B) { benchTurns(b, n) })
	}
}

func benchTurns(b *testing.B, n int) {
	s := benchStore(b)
	v := user(b, s)
	accepts, closes := make([][]time.Duration, n), make([][]time.Duration, n)
	turns := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		talk := id.New()
		all.Go(func() {
			for range turns {
				start := time.Now()
				a, err := s.Accept(b.Context(), v, chat.NewTurn{ConversationID: talk, Message: "What does the lease say about pets?"})
				if err != nil {
					b.Error(err)
					continue
				}
				accepts[i] = append(accepts[i], time.Since(start))
				start = time.Now()
				_, err = s.CloseTurn(b.Context(), v, chat.Close{
					RunID: a.Run.ID, End: run.End{Status: run.Done, Trace: []byte(`[{"node":"answer","ms":12}]`)},
					Message: &chat.Message{Role: "assistant", Content: "Pets are welcome, says the lease in § 4, as long as they are small."},
				})
				if err != nil {
					b.Error(err)
				}
				closes[i] = append(closes[i], time.Since(start))
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		turns <- struct{}{}
	}
	close(turns)
	all.Wait()
	b.StopTimer()
	b.ReportMetric(median(accepts), "accept-p50-ms")
	b.ReportMetric(median(closes), "close-p50-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

func median(parts [][]time.Duration) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(parts...)))
	if len(all) == 0 {
		return 0
	}
	return float64(all[len(all)/2].Microseconds()) / 1000
}
