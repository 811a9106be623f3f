package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// tiny measures next to nothing of everything.
func tiny() sizes {
	return sizes{
		warm: 1, alone: 5, during: 100 * time.Millisecond, turns: 50, resumes: 3, paused: 20,
		tokens: 20, ingest: 50_000, chunks: 600, searches: 3,
	}
}

func TestEverythingIsMeasuredAndNothingElseReported(t *testing.T) {
	t.Parallel()
	report := Report{Stands: embedded}
	b := &benchmark{sizes: tiny(), report: &report, progress: t.Output(), dir: t.TempDir()}
	if err := b.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"empty workflow (the floor), CPU", "turn of 5 no-op nodes, p99", "default chat turn, 64 at once",
		"chat turn with a model elsewhere, CPU", "turn over /v1/chat/completions over /v1/chat, CPU", "turn over /v1/messages over /v1/chat, p50", "turn over /v1/messages as a stream over /v1/chat, CPU", "answer to end of turn, CPU",
		"first-token overhead, p50", "token overhead, p99", "answer to end of turn, p95",
		"bytes of turn 50 over turn 10", "memory of paused runs, over idle", "paused runs resumed",
		"ingestion of Markdown", "hybrid search in 600 chunks, p95",
		"capture proxy: streams cut", "capture proxy: streams with a byte changed", "capture proxy: disk of a conversation", "rules on 100 blocks", "rehearsal of a policy of views", "capture proxy, 1600 KB, a view in force: added to the first byte", "capture proxy, 1600 KB: added to a chunk, p99",
		"rehearsal of 1000 recorded runs", "rehearsal of one run over one step",
	} {
		found := false
		for _, r := range report.Rows {
			found = found || strings.HasPrefix(r.What, want)
		}
		if !found {
			t.Errorf("no figure %q", want)
		}
	}
	for _, r := range report.Rows {
		// What is added is a difference of two runs: where nothing is, either is the larger.
		if r.Value <= 0 && !strings.HasPrefix(r.What, "memory") && !strings.Contains(r.What, ": added to ") && !strings.Contains(r.What, ": streams ") {
			t.Errorf("%s is %g", r.What, r.Value)
		}
	}
}

func TestOnlyWhatIsNamedIsMeasured(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Options{Only: []string{"turn", "all"}})
	if err == nil || !strings.Contains(err.Error(), `"all"`) || !strings.Contains(err.Error(), "floor, turn, chat") {
		t.Errorf("an unknown measurement: %v", err)
	}
	var profile bytes.Buffer
	report := Report{Stands: embedded}
	b := &benchmark{sizes: tiny(), report: &report, progress: t.Output(), dir: t.TempDir(), only: []string{"resume"}, profile: &profile}
	if err := b.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rows {
		if !strings.HasPrefix(r.What, "empty workflow") && !strings.HasPrefix(r.What, "answer to end") {
			t.Errorf("%s was measured", r.What)
		}
	}
	if !bytes.HasPrefix(profile.Bytes(), []byte{0x1f, 0x8b}) {
		t.Errorf("a profile of %d bytes", profile.Len())
	}
}

func TestTheReportSaysWhichTargetsAreMissed(t *testing.T) {
	t.Parallel()
	r := Report{Version: "v", Machine: "m", Stands: embedded, Quick: true}
	r.add(
		row("good", 5, "ms", "9").ratio(4).atMost(8).aim("≤ 1.8 × floor", true),
		row("half", 9, "ms", "9").atMost(8).aim("anything", true),
		row("slow", 100, "/s", "9").atLeast(220),
		row("free", 1.234, "B", "9"),
	)
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	if r.Missed() != 2 {
		t.Errorf("%d missed", r.Missed())
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"Quick:", "good 5 ms 1.25 ≤ 8 ms, ≤ 1.8 × floor yes 9", "half 9 ms ≤ 8 ms, anything NO 9", "slow 100 /s ≥ 220 /s NO 9", "free 1.23 B 9",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestQuantilesAreNearestRanks(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for n := 100; n >= 1; n-- {
		took = append(took, time.Duration(n))
	}
	if got := distribution(took); got != (spread{50, 95, 99}) {
		t.Errorf("got %v", got)
	}
	if got := distribution([]time.Duration{7}); got != (spread{7, 7, 7}) {
		t.Errorf("got %v", got)
	}
}

func TestRateCountsWhatWasFinishedAndStopsAtAnError(t *testing.T) {
	t.Parallel()
	per, _, err := rate(t.Context(), 4, 50*time.Millisecond, func(context.Context, int) error { return nil })
	if err != nil || per <= 0 {
		t.Errorf("%g, %v", per, err)
	}
	if _, _, err := rate(t.Context(), 4, time.Minute, func(context.Context, int) error { return context.Canceled }); err == nil {
		t.Error("the error was lost")
	}
}

func TestTheBookIsTheSameAtEveryRunAndOfTheLengthAskedFor(t *testing.T) {
	t.Parallel()
	if a, b := book(10_000), book(10_000); a != b || len(a) != 10_000 {
		t.Errorf("%d and %d bytes", len(a), len(b))
	}
}
