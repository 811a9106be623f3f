package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/knowledge"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// busyShares are shares that are taken each time but every seventh: more often than a step has attempts.
type busyShares struct {
	mu      sync.Mutex
	asked   int
	persons map[string]bool
}

func (s *busyShares) Enter(_ context.Context, person string) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.persons[person] = true
	if s.asked++; s.asked%7 != 0 {
		return nil, &tool.FullError{After: time.Minute}
	}
	return func() {}, nil
}

// A step whose person's share of the work is taken goes back to the engine and
// is made again, however often: none of its own attempts is spent on that.
//
// Requirements: RAG-19
func TestADocumentWaitsForItsPersonsShareInTheEngine(t *testing.T) {
	t.Parallel()
	in := newIntake(t, func(int32) bool { return false })
	id := in.put(t, "rules.md", manySections(4))
	b := setup(t, in.World)
	shares := &busyShares{persons: map[string]bool{}}
	b.set.Shares = shares
	r := in.Run(run.KindIngest, activities.IngestInput{DocumentID: id, Path: "files/rules.md"})
	b.env.ExecuteWorkflow(workflows.IngestType, r)
	d, err := in.shelf.Document(t.Context(), activitiestest.Viewer, id)
	if err != nil || d.Status != knowledge.Ready || in.Ended[r.RunID].Status != run.Done {
		t.Errorf("the document is %s (%s), the run %+v, %v", d.Status, d.Error, in.Ended[r.RunID], err)
	}
	if calls := len(in.Calls); shares.asked != 7*calls || !shares.persons[activitiestest.Viewer.UserID] || len(shares.persons) != 1 {
		t.Errorf("%d calls asked %d times, for %v", calls, shares.asked, shares.persons)
	}
}
