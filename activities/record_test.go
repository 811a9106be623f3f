package activities_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// recorded opens and closes a turn in which these things happened.
func recorded(t *testing.T, set *activities.Set, w *activitiestest.World, turn chat.TurnInput, happened []activities.Outcome) (*run.Recording, rehearsal.Record) {
	t.Helper()
	set.Record = true
	in := w.Chat("hello", turn)
	o, err := set.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Close(t.Context(), activities.CloseInput{
		Run: in, Opened: o, Outcome: graph.Outcome{Response: strings.Repeat("ü", 3000)},
		Steps:    []graph.Step{{Node: "a", Type: "tool_call", Visit: 1, Outcome: graph.ResultOK}},
		Outcomes: &activities.RunOutcomes{Began: time.Unix(1000, 0).UTC(), All: happened, Took: 1500 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	head := w.Closed[len(w.Closed)-1].End.Recording
	if head == nil {
		t.Fatal("the turn left no recording")
	}
	rec, err := rehearsal.Unpack(head.Body)
	if err != nil {
		t.Fatal(err)
	}
	return head, rec
}

// noise is a text nothing compresses.
func noise(n int) string {
	raw := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// Requirements: CFG-11
func TestARecordingIsCutWhereItIsTooLarge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcomes, size int
		partial        bool
	}{
		"small": {10, 100, false}, "large": {100, 20_000, true}, "one that alone is too large": {1, 300_000, true}, "beyond any bound": {20, 500_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var happened []activities.Outcome
			for i := range c.outcomes {
				happened = append(happened, activities.Outcome{
					Effect: fmt.Sprintf("a#%d", i+1), Kind: graph.KindCall, Tool: "t", Result: map[string]any{"v": noise(c.size)},
				})
			}
			w := activitiestest.New(after)
			head, rec := recorded(t, w.Set(), w, chat.TurnInput{}, happened)
			if len(head.Body) > 256<<10 || rec.Partial != c.partial || !c.partial && len(rec.Order) != c.outcomes {
				t.Errorf("the body has %d bytes and %d outcomes, partial %v", len(head.Body), len(rec.Order), rec.Partial)
			}
			if len(rec.Order) > 0 && rec.Order[0] != "a#1" || head.MS != 1500 || head.Branch == "" || len(rec.Outcome.Response) > rehearsal.MaxResponse {
				t.Errorf("the head is %d ms on %q; the response kept has %d bytes", head.MS, head.Branch, len(rec.Outcome.Response))
			}
		})
	}
}

// Requirements: CFG-11, ROUTE-09 (fired rules and weights)
func TestARecordingHasWhatTheTurnWasRoutedBy(t *testing.T) {
	t.Parallel()
	centroid := slices.Repeat([]string{"0.1234567890123"}, 6000)
	wide := `{"kind":"adapter.lora","mode":"prompt","prompt_instructions":"x","type":"persona","applicability":{"embedding_centroid":[` + strings.Join(centroid, ",") + `]}}`
	for name, c := range map[string]struct {
		named  []string
		vector bool
		blobs  int
	}{
		"without candidates":   {nil, false, 0},
		"with one":             {[]string{"p"}, true, 0},
		"with one that is big": {[]string{"wide"}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(after)
			set := w.Set()
			r := activities.NewRouter(&memStore{
				policies: map[string]artifacts.Artifact{"": activates("global", 3, "persona", "0.5")},
				things: map[string]artifacts.Artifact{
					"p": document("p", 1, artifacts.KindAdapter, persona), "wide": document("wide", 1, artifacts.KindAdapter, wide),
				},
			}, routing.Backend{Max: 2}, nil)
			set.Router, set.Embedder = r, plain{}
			head, rec := recorded(t, set, w, chat.TurnInput{ArtifactIDs: c.named}, nil)
			if head.Policy.ArtifactID != "global" || head.Policy.Version != 3 || head.Graph.Name != "default" {
				t.Errorf("the head names %+v and %+v", head.Policy, head.Graph)
			}
			if rec.Router == nil || (len(rec.Router.Embedding) > 0) != c.vector || len(rec.Router.Adapters) != len(c.named) || rec.Router.Backend.Max != 2 || len(w.Blobs) != c.blobs {
				t.Fatalf("the turn was routed by %+v, %d values were stored", rec.Router, len(w.Blobs))
			}
			policy, err := routing.Compile(activates("", 1, "persona", "0.5").Schema)
			if err != nil {
				t.Fatal(err)
			}
			again := policy.Route(*rec.Router).Gates
			if len(again) != len(rec.Gates) || len(again) == 1 && rec.Gates[again[0].ID] != again[0].Weight {
				t.Errorf("routed again it gives %v, then it was %v", again, rec.Gates)
			}
		})
	}
}

// Requirements: CFG-11
func TestARefusedRecordingIsLoggedAndTheEndIsWritten(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	w := activitiestest.New(after)
	w.FailClose = []error{errors.New("no room")}
	set := w.Set()
	set.Record, set.Logger = true, slog.New(slog.NewTextHandler(&logged, nil))
	in := w.Chat("hello", chat.TurnInput{})
	o, err := set.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Close(t.Context(), activities.CloseInput{Run: in, Opened: o, Outcomes: &activities.RunOutcomes{}}); err != nil {
		t.Fatal(err)
	}
	if len(w.Closed) != 1 || w.Closed[0].End.Recording != nil || !strings.Contains(logged.String(), "no room") {
		t.Errorf("the turn was closed %d times; logged: %s", len(w.Closed), logged.String())
	}
}

// plain is an encoder for which everything is alike.
type plain struct{}

func (plain) Version() string { return "plain" }
func (plain) Dim() int        { return 2 }
func (plain) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
}

// What a recording costs a turn: five calls whose results are like those of a
// retrieval, and the answer of a model.
func BenchmarkRecording(b *testing.B) {
	w := activitiestest.New(after)
	set := w.Set()
	in := w.Chat("hello", chat.TurnInput{})
	o, err := set.Open(b.Context(), in)
	if err != nil {
		b.Fatal(err)
	}
	closing := activities.CloseInput{Run: in, Opened: o, Outcome: graph.Outcome{Response: strings.Repeat("an answer ", 100)}, Outcomes: &activities.RunOutcomes{}}
	for i := range 6 {
		effect := fmt.Sprintf("a#%d", i)
		closing.Steps = append(closing.Steps, graph.Step{Node: effect, Effect: effect, Type: "tool_call", Visit: 1, Outcome: graph.ResultOK})
		closing.Outcomes.All = append(closing.Outcomes.All, activities.Outcome{
			Effect: effect, Kind: graph.KindCall, Tool: "t", Result: map[string]any{"text": strings.Repeat("some words of a passage ", 60), "score": 0.5},
		})
	}
	for name, on := range map[string]bool{"off": false, "on": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			set.Record = on
			for b.Loop() {
				w.Closed, w.Events, w.Log = nil, nil, nil
				if _, err := set.Close(b.Context(), closing); err != nil {
					b.Fatal(err)
				}
			}
			if on {
				b.ReportMetric(float64(len(w.Closed[0].End.Recording.Body)), "body-bytes")
			}
		})
	}
}
