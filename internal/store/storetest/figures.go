package storetest

import (
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/learning"
	"liminal/internal/store"
)

// Figures proves what /metrics tells of the rows.
func Figures(t *testing.T, open Open) {
	t.Run("open runs by status, and nothing of what is not there", func(t *testing.T) { openRuns(t, open) })
	t.Run("the lag is the age of what waits longest", func(t *testing.T) { ingestLag(t, open) })
	t.Run("training jobs by how they ended, and the last loss of each adapter", func(t *testing.T) { trainedJobs(t, open) })
}

func openRuns(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	for range 2 {
		v := person(t, s)
		a := accept(t, s, v, chat.NewTurn{Message: "A?"})
		accept(t, s, v, chat.NewTurn{Message: "B?", ConversationID: a.ConversationID, Multitask: "enqueue"})
		ended := accept(t, s, v, chat.NewTurn{Message: "C?"})
		closeTurn(t, s, v, answer(ended.Run.ID, "So it is."))
	}
	f := got(s.Figures(t.Context()))(t)
	want(t, "open runs", fmt.Sprint(f.Open), "map[queued:2 running:2]")
	want(t, "series of what is not there", len(f.Training)+len(f.Loss)+len(f.Scores), 0)
	want(t, "lag", f.IngestLag, 0)
}

func ingestLag(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k := newContext(t, s, v, "c")
	newDocument(t, s, v, k.ID, "files/a.md")
	c.add(90 * time.Minute)
	want(t, "lag", got(s.Figures(t.Context()))(t).IngestLag, 90*time.Minute)
}

// trainedJobs counts as failed only what TrainingFailures should wake somebody
// for: not what a person ended, nor what had too little to train with.
func trainedJobs(t *testing.T, open Open) {
	p := teach(t, open)
	adapterID := p.owns(t)
	ends := func(to learning.JobStage, status learning.JobStatus, loss float64) {
		t.Helper()
		p.queues(t, adapterID)
		p.clock.add(time.Hour) // what an adapter waits after one that ended
		j := p.claim(t, "process")
		_, err := p.s.StepJob(t.Context(), p.v, learning.JobStep{ID: j.ID, Fence: j.Fence, To: to, Status: status, Loss: &loss})
		need(t, err)
	}
	ends(learning.StageDone, learning.JobSucceeded, 0.5)
	ends(learning.StageFailed, learning.JobFailed, 0.75)
	ends(learning.StageFailed, learning.JobFailed, 0.625)
	ends(learning.StageFew, learning.JobFailed, 0.25)
	got(p.s.CancelJob(t.Context(), p.v, p.queues(t, adapterID).ID, learning.Cancelled()))(t)
	p.queues(t, adapterID)
	f := got(p.s.Figures(t.Context()))(t)
	want(t, "jobs", fmt.Sprint(f.Training), "map[cancelled:1 failed:2 few:1 queued:1 succeeded:1]")
	want(t, "loss", fmt.Sprint(f.Loss), fmt.Sprint(map[string]float64{adapterID: 0.25}))
}
