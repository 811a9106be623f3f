//go:build !race

// The race detector would make a promise of time worth nothing: `make engine`
// runs this without it.

package rehearsal_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// thousand are as many recorded runs of the graph that answers from documents.
func thousand(t testing.TB) (*artifacts.Library, artifacts.Artifact, *shelfOfRuns) {
	t.Helper()
	library := stocked(t)
	a, err := library.Workflow(t.Context(), admin, artifacts.AssistantWorkflow)
	if err != nil {
		t.Fatal(err)
	}
	return library, a, &shelfOfRuns{runs: lived(t, library, a, 1000, world{Rand: rand.New(rand.NewPCG(5, 5)), fails: 3})}
}

// A thousand recorded runs of the assistant are rehearsed in under two seconds
// with unpacking, on a machine of two cores. What counts is the time of this
// process's own work, shared by two, and of three times the best: other programs
// run beside.
//
// Requirements: CFG-11
func TestAThousandRunsRehearseInTwoSeconds(t *testing.T) {
	library, a, shelf := thousand(t)
	best := time.Hour
	for range 3 {
		began := worked()
		report, err := rehearsal.Run(t.Context(), library, shelf, rehearsal.Plan{Artifact: a, Doc: a.Schema, Sample: 1000})
		if err != nil || report.Moved != 0 || report.Sample.Taken < 900 {
			t.Fatalf("%+v, %v", report, err)
		}
		if best = min(best, (worked()-began)/2); best < time.Second {
			break
		}
	}
	if best > 2*time.Second {
		t.Errorf("a thousand runs took %s", best)
	}
}

func BenchmarkRehearsal(b *testing.B) {
	library, a, shelf := thousand(b)
	for b.Loop() {
		if _, err := rehearsal.Run(b.Context(), library, shelf, rehearsal.Plan{Artifact: a, Doc: a.Schema, Sample: len(shelf.runs)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(shelf.runs)), "µs/run")
}

var _ run.Recordings = (*shelfOfRuns)(nil)
