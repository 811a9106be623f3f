package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/store"
)

// PalaceIntake measures how fast exchanges are taken in: of a conversation that grows,
// and of requests of so many kilobytes that begin alike and go on in their own way.
func PalaceIntake(b *testing.B, s *store.Store) {
	for name, bodies := range map[string]func(n int) string{
		"growing": func(n int) string {
			var said []string
			for i := range n + 1 {
				said = append(said, user(fmt.Sprintf("%d %s", i, strings.Repeat("q", 1000))), assistant(fmt.Sprintf(`{"type":"text","text":"answer %d"}`, i)))
			}
			return request(said[:len(said)-1]...)
		},
		"alike_52": func(n int) string { return alike(52, n) }, "alike_400": func(n int) string { return alike(400, n) },
	} {
		b.Run(name, func(b *testing.B) {
			const count = 256
			for b.Loop() {
				b.StopTimer()
				p := &spooled{t: b, store: s, v: person(b, s), dir: b.TempDir()}
				p.write()
				for n := range count {
					p.say(passed{body: bodies(n), answer: events(textBlock(fmt.Sprint("answer ", n)))})
				}
				need(b, p.spool.Close(b.Context()))
				intake := palace.NewIntake(palace.IntakeOptions{
					Dir: filepath.Join(p.dir, "intake"), Spool: p.dir, Store: s, Log: slog.New(slog.DiscardHandler), Owner: func(context.Context) (identity.Viewer, error) { return p.v, nil },
				})
				b.StartTimer()
				began := time.Now()
				need(b, intake.All(b.Context()))
				b.ReportMetric(count/time.Since(began).Seconds(), "exchanges/s")
			}
		})
	}
}

// alike is a request of so many messages of a kilobyte, the last of which is its own.
func alike(messages, n int) string {
	var said []string
	for i := range messages {
		said = append(said, user(fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000))))
	}
	return request(append(said, user(fmt.Sprint(n)))...)
}
