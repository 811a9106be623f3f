package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/quota"
)

// Training proves learning.Training, learning.WeightsStore and
// learning.Erasures.
func Training(t *testing.T, open Open) {
	t.Run("one job of an adapter waits", func(t *testing.T) { queuedJobs(t, open) })
	t.Run("one job of a person runs, whoever asks", func(t *testing.T) { claimedJobs(t, open) })
	t.Run("a person's next job waits an hour", func(t *testing.T) { cooledJobs(t, open) })
	t.Run("plans, waiting and praise order the queue", func(t *testing.T) { orderedJobs(t, open) })
	t.Run("a job is moved on by who has it", func(t *testing.T) { steppedJobs(t, open) })
	t.Run("a cancelled job is nobody's", func(t *testing.T) { cancelledJobs(t, open) })
	t.Run("jobs and versions are their person's", func(t *testing.T) { foreignJobs(t, open) })
	t.Run("versions are numbered by who writes them", func(t *testing.T) { reservedWeights(t, open) })
	t.Run("an event marks the versions it is in", func(t *testing.T) { markedWeights(t, open) })
	t.Run("a version being written does not miss that an event goes", func(t *testing.T) { racedWeights(t, open) })
	t.Run("what is learnt from goes with its account, and its paths are kept", func(t *testing.T) { goneTrained(t, open) })
	t.Run("an adapter's middle moves", func(t *testing.T) { trainedState(t, open) })
	t.Run("cases have what was said before", func(t *testing.T) { trainingCases(t, open) })
}

// owns makes an adapter of the person's own.
func (p taught) owns(t testing.TB) string {
	t.Helper()
	a := artifacts.Artifact{Type: artifacts.KindAdapter, Name: id.New(), OwnerID: p.v.UserID, Visibility: artifacts.Private, Schema: []byte(`{"kind":"adapter.lora","scope":"per-user"}`), CreatedBy: "llm"}
	return got(p.s.CreateArtifact(t.Context(), p.v, a, ""))(t).ID
}

func (p taught) queues(t testing.TB, adapterID string) learning.Job {
	t.Helper()
	j, _, err := p.s.QueueJob(t.Context(), p.v, learning.Job{AdapterID: adapterID})
	need(t, err)
	return j
}

// claim gives the next job to a process; the zero one when there is none.
func (p taught) claim(t testing.TB, process string) learning.Job {
	t.Helper()
	j, ok, err := p.s.ClaimJob(t.Context(), system, process, id.New())
	need(t, err)
	want(t, "a job that was claimed is one", j.ID != "", ok)
	return j
}

func queuedJobs(t *testing.T, open Open) {
	p := teach(t, open)
	one, other := p.owns(t), p.owns(t)
	made, is, err := p.s.QueueJob(t.Context(), p.v, learning.Job{AdapterID: one, ClusterID: id.New(), Meta: map[string]any{"why": "asked"}})
	need(t, err)
	want(t, "made", is, true)
	want(t, "state", fmt.Sprint(made.Status, made.Stage, made.Kind, made.Attempts, made.Meta["why"], made.CreatedAt.Equal(p.clock.now())), fmt.Sprint("queued", "queue", "sft", 0, "asked", true))
	ids := make([]string, writers)
	for _, err := range race(writers, func(i int) error {
		j, made, err := p.s.QueueJob(t.Context(), p.v, learning.Job{AdapterID: one})
		if made {
			t.Error("two jobs of one adapter wait")
		}
		ids[i] = j.ID
		return err
	}) {
		need(t, err)
	}
	want(t, "the one that waits", len(slices.Compact(ids)), 1)
	want(t, "its id", ids[0], made.ID)
	want(t, "of another adapter", p.queues(t, other).ID != made.ID, true)
	workflow := got(p.s.CreateArtifact(t.Context(), p.v, draft("graph"), ""))(t).ID
	for _, odd := range []string{id.New(), workflow} {
		_, _, err := p.s.QueueJob(t.Context(), p.v, learning.Job{AdapterID: odd})
		wantFault(t, err, fault.NotFound)
	}
	places := got(p.s.JobPlaces(t.Context(), p.v))(t)
	want(t, "places", len(places), 2)
	want(t, "ahead of both", places[made.ID].Ahead+places[ids[0]].Ahead < 2, true)
}

// Two platforms on one queue: of those who ask at once one gets a job, and a
// second of its person nobody.
func claimedJobs(t *testing.T, open Open) {
	p := teach(t, open)
	first, second := p.queues(t, p.owns(t)), p.queues(t, p.owns(t))
	_, _, err := p.s.ClaimJob(t.Context(), p.v, "process", id.New())
	wantFault(t, err, fault.Forbidden)
	claimed := make([]learning.Job, writers)
	for _, err := range race(writers, func(i int) (err error) {
		claimed[i], _, err = p.s.ClaimJob(t.Context(), system, fmt.Sprint("process ", i), id.New())
		return err
	}) {
		need(t, err)
	}
	claimed = slices.DeleteFunc(claimed, func(j learning.Job) bool { return j.ID == "" })
	if len(claimed) != 1 {
		t.Fatalf("%d jobs of one person were given out", len(claimed))
	}
	j := claimed[0]
	want(t, "which", j.ID == first.ID || j.ID == second.ID, true)
	want(t, "state", fmt.Sprint(j.Status, j.Stage, j.Fence, j.Attempts, j.RunID != "", j.Process != "", j.StartedAt.Equal(p.clock.now())), fmt.Sprint("running", "dataset", 1, 1, true, true, true))

	// The database itself holds one of a person, whatever asked it.
	o := p.another(t)
	o.queues(t, o.owns(t))
	want(t, "of somebody else", p.claim(t, "another").UserID, o.v.UserID)
	// The house trains two at once, and each process one.
	third := o.another(t)
	third.queues(t, third.owns(t))
	want(t, "a third at once", p.claim(t, "a third").ID, "")
	need(t, p.end(t, j, learning.JobSucceeded))
	want(t, "of a process that trains", p.claim(t, "another").ID, "")
	want(t, "of a process that is free", p.claim(t, "a third").UserID, third.v.UserID)
}

// end ends a job that runs.
func (p taught) end(t testing.TB, j learning.Job, status learning.JobStatus) error {
	t.Helper()
	_, err := p.s.StepJob(t.Context(), system, learning.JobStep{ID: j.ID, Fence: j.Fence, To: learning.StageDone, Status: status})
	return err
}

func cooledJobs(t *testing.T, open Open) {
	p := teach(t, open)
	adapterID := p.owns(t)
	p.queues(t, adapterID)
	j := p.claim(t, "process")
	again := p.queues(t, adapterID)
	need(t, p.end(t, j, learning.JobFailed))
	place := got(p.s.JobPlaces(t.Context(), p.v))(t)[again.ID]
	want(t, "why it waits", place.Reason, "cooldown")
	want(t, "until", place.Until.Equal(p.clock.now().Add(time.Hour)), true)
	p.clock.add(time.Hour - time.Second)
	want(t, "within the hour", p.claim(t, "process").ID, "")
	p.clock.add(time.Second)
	want(t, "after the hour", p.claim(t, "process").ID, again.ID)
}

func orderedJobs(t *testing.T, open Open) {
	p := teach(t, open)
	free, rich, chief, closed, silent := p.another(t), p.another(t), p.another(t), p.another(t), p.another(t)
	plan, role, inactive := quota.Paid, identity.RoleAdmin, false
	got(p.s.ChangeUser(t.Context(), rich.v.UserID, identity.UserChange{Plan: &plan}))(t)
	got(p.s.ChangeUser(t.Context(), chief.v.UserID, identity.UserChange{Role: &role}))(t)
	praised := free.another(t)
	for _, who := range []taught{free, rich, chief, praised, closed, silent} {
		who.queues(t, who.owns(t))
	}
	praised.says(t, "What?", learning.Feedback{})
	got(p.s.ChangeUser(t.Context(), closed.v.UserID, identity.UserChange{Active: &inactive}))(t)
	need(t, p.s.PutLearningSettings(t.Context(), silent.v, learning.Settings{}))
	for _, who := range []taught{chief, rich, praised, free} {
		j := p.claim(t, "process")
		want(t, "whose is next", j.UserID, who.v.UserID)
		need(t, p.end(t, j, learning.JobSucceeded))
	}
	want(t, "of whose account is closed, or who wants nothing learnt", p.claim(t, "process").ID, "")
}

func steppedJobs(t *testing.T, open Open) {
	p := teach(t, open)
	p.queues(t, p.owns(t))
	j := p.claim(t, "process")
	step := func(s learning.JobStep) error {
		s.ID = j.ID
		_, err := p.s.StepJob(t.Context(), p.v, s)
		return err
	}
	tokens, loss, version, dataset, base := 12, 0.5, 3, "users/u/adapters/a/train_jobs/j", "ab"
	need(t, step(learning.JobStep{
		Fence: 1, From: learning.StageDataset, To: learning.StageFit, Events: []int64{5, 7}, Tokens: &tokens, Dataset: &dataset, BaseSHA: &base,
		Meta: map[string]any{"one": 1.0},
	}))
	wantFault(t, step(learning.JobStep{Fence: 1, From: learning.StageDataset, To: learning.StageFit}), fault.Conflict)
	wantFault(t, step(learning.JobStep{Fence: 0, From: learning.StageFit, To: learning.StageJudge}), fault.Conflict)
	need(t, step(learning.JobStep{Fence: 1, From: learning.StageFit, To: learning.StageJudge, Meta: map[string]any{"two": 2.0}, Report: []byte(`{"p": 0.5}`)}))
	why := learning.Remarks{learning.Say("failed", map[string]any{"at": "judge"}, "It was %d\x00.", 5), learning.Say("again", nil, "Again.")}
	need(t, step(learning.JobStep{Fence: 1, To: learning.StageFailed, Status: learning.JobQueued, Why: why, NotBefore: p.clock.now().Add(time.Minute)}))
	waits := got(p.s.TrainingJob(t.Context(), p.v, j.ID))(t)
	want(t, "why, in parts", fmt.Sprint(waits.Why()), fmt.Sprint(learning.Remarks{{Code: "failed", Data: map[string]any{"at": "judge"}, Text: "It was 5\uFFFD."}, why[1]}))
	delete(waits.Meta, "why")
	want(t, "it waits again", fmt.Sprint(waits.Status, waits.Reason, waits.Events, waits.NumEvents, waits.Tokens, waits.Dataset, waits.BaseSHA, waits.Meta, string(waits.Report)),
		fmt.Sprint("queued", "It was 5\uFFFD. Again.", []int64{5, 7}, 2, 12, dataset, "ab", map[string]any{"one": 1.0, "two": 2.0}, `{"p": 0.5}`))
	want(t, "before its time", p.claim(t, "process").ID, "")
	p.clock.add(time.Minute)
	again := p.claim(t, "process")
	want(t, "tried again", fmt.Sprint(again.ID, again.Fence, again.Attempts), fmt.Sprint(j.ID, 2, 2))
	wantFault(t, step(learning.JobStep{Fence: 1, To: learning.StageFit}), fault.Conflict)
	need(t, step(learning.JobStep{Fence: 2, To: learning.StageDone, Status: learning.JobSucceeded, Loss: &loss, Version: &version, Why: learning.Remarks{}}))
	done := got(p.s.TrainingJob(t.Context(), p.v, j.ID))(t)
	want(t, "nothing to say", fmt.Sprint(done.Reason, len(done.Why()), done.Meta["why"]), fmt.Sprint("", 0, nil))
	want(t, "done", fmt.Sprint(done.Status, *done.Loss, done.Version, done.EndedAt.Equal(p.clock.now())), fmt.Sprint("succeeded", 0.5, 3, true))
	wantFault(t, step(learning.JobStep{Fence: 2, To: learning.StageFit}), fault.Conflict)
	wantFault(t, func() error {
		_, err := p.s.StepJob(t.Context(), p.v, learning.JobStep{ID: id.New()})
		return err
	}(), fault.NotFound)
}

func cancelledJobs(t *testing.T, open Open) {
	p := teach(t, open)
	waits := p.queues(t, p.owns(t))
	gone := got(p.s.CancelJob(t.Context(), p.v, waits.ID, learning.Cancelled()))(t)
	want(t, "counted", fmt.Sprint(got(p.s.Figures(t.Context()))(t).Training), "map[cancelled:1]")
	want(t, "one that waited", fmt.Sprint(gone.Status, gone.Stage, gone.Why()), fmt.Sprint("failed", "cancelled", learning.Remarks{learning.Cancelled()}))
	p.queues(t, p.owns(t))
	j := p.claim(t, "process")
	got(p.s.CancelJob(t.Context(), p.v, j.ID, learning.Cancelled()))(t)
	_, err := p.s.StepJob(t.Context(), p.v, learning.JobStep{ID: j.ID, Fence: j.Fence, To: learning.StageFit})
	wantFault(t, err, fault.Conflict)
	p.queues(t, p.owns(t))
	p.clock.add(time.Hour)
	j = p.claim(t, "process")
	need(t, p.end(t, j, learning.JobSucceeded))
	want(t, "one that has ended stays", got(p.s.CancelJob(t.Context(), p.v, j.ID, learning.Cancelled()))(t).Status, learning.JobSucceeded)
}

func foreignJobs(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	adapterID := p.owns(t)
	p.queues(t, adapterID)
	j := p.claim(t, "process")
	e := p.says(t, "What?", learning.Feedback{})
	got(p.reserve(t, adapterID, j.ID, e))(t)
	for _, err := range []error{
		second(o.s.TrainingJob(t.Context(), o.v, j.ID)),
		second(o.s.CancelJob(t.Context(), o.v, j.ID, learning.Cancelled())),
		second(o.s.StepJob(t.Context(), o.v, learning.JobStep{ID: j.ID, Fence: 1, To: learning.StageFit})),
		second(o.s.FinishWeights(t.Context(), o.v, learning.Weights{AdapterID: adapterID, Version: 1, SHA256: "x"})),
		second(o.reserve(t, adapterID, "", e)),
		func() error {
			_, _, err := o.s.QueueJob(t.Context(), o.v, learning.Job{AdapterID: adapterID})
			return err
		}(),
	} {
		wantFault(t, err, fault.NotFound)
	}
	jobs, _, err := o.s.TrainingJobs(t.Context(), o.v, learning.JobFilter{})
	need(t, err)
	want(t, "jobs", len(jobs), 0)
	want(t, "versions", len(got(o.s.Weights(t.Context(), o.v, adapterID))(t)), 0)
	want(t, "places", len(got(o.s.JobPlaces(t.Context(), o.v))(t)), 0)
	want(t, "cases", len(got(o.s.TrainingCases(t.Context(), o.v, "", 10, nil))(t)), 0)
	for _, err := range []error{
		o.s.Erase(t.Context(), o.v, "users", p.clock.now()),
		o.s.Erased(t.Context(), o.v, "users"),
		second(o.s.Erasures(t.Context(), o.v, 1)),
		o.s.ApplyWeights(t.Context(), o.v, adapterID, 1),
		o.s.AdapterTrained(t.Context(), o.v, adapterID, nil, 1),
	} {
		wantFault(t, err, fault.Forbidden)
	}
	mine, _, err := p.s.TrainingJobs(t.Context(), p.v, learning.JobFilter{AdapterID: adapterID, Status: learning.JobRunning})
	need(t, err)
	want(t, "one's own", len(mine), 1)
	// What another person said is in nobody's version.
	theirs := o.says(t, "What?", learning.Feedback{})
	wantFault(t, second(p.reserve(t, adapterID, "", theirs)), fault.Conflict)
}

// reserve notes that a job writes a version of an adapter out of events.
func (p taught) reserve(t testing.TB, adapterID, jobID string, events ...learning.Event) (learning.Weights, error) {
	var sources []learning.Source
	for i, e := range events {
		sources = append(sources, learning.Source{EventID: e.ID, HeldOut: i > 0})
	}
	return p.s.ReserveWeights(t.Context(), p.v, learning.Weights{AdapterID: adapterID, BaseSHA: "ab", Rank: 4, JobID: jobID, Dataset: "data/" + jobID},
		func(n int) string { return fmt.Sprintf("versions/v%04d", n) }, sources)
}

func (p taught) versions(t testing.TB, adapterID string) (out string) {
	t.Helper()
	for _, w := range got(p.s.Weights(t.Context(), p.v, adapterID))(t) {
		out += fmt.Sprint(w.Version, " ", w.State, ", ")
	}
	return out
}

func reservedWeights(t *testing.T, open Open) {
	p := teach(t, open)
	adapterID := p.owns(t)
	j := p.queues(t, adapterID)
	one, two := p.says(t, "What?", learning.Feedback{}), p.says(t, "What?", learning.Feedback{})
	w := got(p.reserve(t, adapterID, j.ID, one, two))(t)
	want(t, "reserved", fmt.Sprint(w.Version, w.State, w.Path, w.Dataset, w.Rank, w.UserID == p.v.UserID), fmt.Sprint(1, "writing", "versions/v0001", "data/"+j.ID, 4, true))
	want(t, "again", got(p.reserve(t, adapterID, j.ID, one, two))(t).Version, 1)
	want(t, "of other events", got(p.reserve(t, adapterID, j.ID, two))(t).Version, 2)
	want(t, "what was given up is gone", p.versions(t, adapterID), "2 writing, ")
	w.Version, w.SHA256, w.Bytes = 2, "cd", 99
	done := got(p.s.FinishWeights(t.Context(), p.v, w))(t)
	want(t, "there", fmt.Sprint(done.State, done.SHA256, done.Bytes), fmt.Sprint("ready", "cd", 99))
	got(p.s.FinishWeights(t.Context(), p.v, w))(t)
	w.SHA256 = "ef"
	wantFault(t, second(p.s.FinishWeights(t.Context(), p.v, w)), fault.Conflict)
	want(t, "without a job", got(p.reserve(t, adapterID, ""))(t).Version, 3)
	need(t, p.s.ApplyWeights(t.Context(), system, adapterID, 2))
	want(t, "applied", p.versions(t, adapterID), "3 writing, 2 applied, ")
	need(t, p.s.ApplyWeights(t.Context(), system, adapterID, 0))
	want(t, "none applied", p.versions(t, adapterID), "3 writing, 2 rolled_back, ")
}

func (p taught) erasures(t testing.TB) (out []string) {
	t.Helper()
	out = got(p.s.Erasures(t.Context(), system, 100))(t)
	slices.Sort(out)
	return out
}

func markedWeights(t *testing.T, open Open) {
	for name, remove := range map[string]func(t testing.TB, p taught, e learning.Event){
		"taken back": func(t testing.TB, p taught, e learning.Event) { p.back(t, e) },
		"excluded":   func(t testing.TB, p taught, e learning.Event) { need(t, p.s.Exclude(t.Context(), p.v, e.ID, true)) },
		"its conversation goes": func(t testing.TB, p taught, e learning.Event) {
			need(t, p.s.DeleteConversation(t.Context(), p.v, e.ConversationID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := teach(t, open)
			adapterID := p.owns(t)
			j := p.queues(t, adapterID)
			one, two := p.says(t, "What?", learning.Feedback{}), p.says(t, "What?", learning.Feedback{})
			w := got(p.reserve(t, adapterID, j.ID, one))(t)
			w.SHA256 = "cd"
			got(p.s.FinishWeights(t.Context(), p.v, w))(t)
			other := got(p.reserve(t, adapterID, "", two))(t)
			p.clock.add(time.Hour * 24 * 365 * 100) // the database's own clock says when
			remove(t, p, one)
			want(t, "versions", p.versions(t, adapterID), "2 writing, 1 marked, ")
			want(t, "to delete", fmt.Sprint(p.erasures(t)), fmt.Sprint([]string{"data/" + j.ID, "versions/v0001/batches"}))
			remove(t, p, two)
			want(t, "versions", p.versions(t, adapterID), "2 marked, 1 marked, ")
			other.SHA256 = "ef"
			wantFault(t, second(p.s.FinishWeights(t.Context(), p.v, other)), fault.Conflict)
			need(t, p.s.ApplyWeights(t.Context(), system, adapterID, 1))
			want(t, "versions", p.versions(t, adapterID), "2 marked, 1 marked, ")
			wantFault(t, second(p.reserve(t, adapterID, "", one)), fault.Conflict)
			need(t, p.s.Erased(t.Context(), system, "data/"+j.ID))
			want(t, "one is deleted", slices.Contains(p.erasures(t), "data/"+j.ID), false)
			soon := p.clock.now().Add(time.Minute)
			need(t, p.s.Erase(t.Context(), system, "later", soon))
			need(t, p.s.Erase(t.Context(), system, "later", soon.Add(time.Hour)))
			want(t, "before its time", slices.Contains(p.erasures(t), "later"), false)
			p.clock.add(time.Minute)
			want(t, "in its time", slices.Contains(p.erasures(t), "later"), true)
		})
	}
}

// Whichever comes first, an event that is gone is in no version that is whole.
func racedWeights(t *testing.T, open Open) {
	p := teach(t, open)
	adapterID := p.owns(t)
	for range 10 {
		e := p.says(t, "What?", learning.Feedback{})
		var version int
		errs := race(2, func(i int) error {
			if i == 0 {
				return second(p.s.DropPreference(t.Context(), p.v, learning.Retraction{ID: e.ID}))
			}
			w, err := p.reserve(t, adapterID, "", e)
			version = w.Version
			return err
		})
		need(t, errs[0])
		if errs[1] != nil {
			wantFault(t, errs[1], fault.Conflict)
			continue
		}
		for _, w := range got(p.s.Weights(t.Context(), p.v, adapterID))(t) {
			if w.Version == version {
				want(t, "its state", w.State, learning.WeightsMarked)
			}
		}
	}
}

// An account that is deleted while its training runs leaves paths to delete and
// nothing else.
func goneTrained(t *testing.T, open Open) {
	p := teach(t, open)
	adapterID := p.owns(t)
	p.queues(t, adapterID)
	j := p.claim(t, "process")
	dataset := "users/" + p.v.UserID + "/adapters/" + adapterID + "/train_jobs/" + j.ID
	got(p.s.StepJob(t.Context(), p.v, learning.JobStep{ID: j.ID, Fence: 1, To: learning.StageFit, Dataset: &dataset}))(t)
	got(p.reserve(t, adapterID, j.ID, p.says(t, "What?", learning.Feedback{})))(t)
	p.clock.add(time.Hour * 24 * 365 * 100)
	got(p.s.DeleteUser(t.Context(), p.v.UserID))(t)
	for _, path := range []string{dataset, "versions/v0001"} {
		if list := p.erasures(t); !slices.Contains(list, path) {
			t.Errorf("%s is not among %v", path, list)
		}
	}
	wantFault(t, second(p.s.TrainingJob(t.Context(), system, j.ID)), fault.NotFound)
	wantFault(t, second(p.s.StepJob(t.Context(), p.v, learning.JobStep{ID: j.ID, Fence: 1, To: learning.StageJudge})), fault.NotFound)
	want(t, "versions", len(got(p.s.Weights(t.Context(), system, adapterID))(t)), 0)
}

func trainedState(t *testing.T, open Open) {
	p := teach(t, open).another(t) // the first may be an administrator, who goes first
	adapterID := p.owns(t)
	p.queues(t, adapterID)
	need(t, p.s.AdapterTrained(t.Context(), system, adapterID, direction(0), 0.5))
	use := got(p.s.AdapterUse(t.Context(), adapterID))(t)
	want(t, "nobody has rated it", use.Score, 0.5)
	middle := got(p.s.AdapterMiddle(t.Context(), adapterID))(t)
	want(t, "the first middle", fmt.Sprint(middle[:2]), "[1 0]")
	need(t, p.s.AdapterTrained(t.Context(), system, adapterID, direction(1), 0.25))
	middle = got(p.s.AdapterMiddle(t.Context(), adapterID))(t)
	if r := middle[1] / middle[0]; r < 0.249 || r > 0.251 { // 0.2 of the new, 0.8 of the old
		t.Errorf("the middle is %v", middle[:2])
	}
	need(t, p.s.AdapterTrained(t.Context(), system, adapterID, nil, 0.25))
	want(t, "of nothing", len(got(p.s.AdapterMiddle(t.Context(), adapterID))(t)), len(middle))
	need(t, p.s.AdapterTrained(t.Context(), system, id.New(), direction(0), 1)) // it is gone

	// When it was trained counts: what came later and has not been goes before it.
	p.clock.add(time.Minute)
	later := p.another(t)
	later.queues(t, later.owns(t))
	want(t, "what has not been trained", p.claim(t, "process").UserID, later.v.UserID)
}

func trainingCases(t *testing.T, open Open) {
	p := teach(t, open)
	a, _ := answered(t, p.s, p.v, "What is a lemma?")
	again := accept(t, p.s, p.v, chat.NewTurn{ConversationID: a.ConversationID, Message: "And a theorem?"})
	closed := closeTurn(t, p.s, p.v, answer(again.Run.ID, "It is larger."))
	e := p.saysOf(t, a.ConversationID, closed.MessageID, learning.Feedback{Corrected: "A larger one."})
	bad := p.says(t, "Where?", learning.Feedback{Signal: "dislike"})
	need(t, p.s.Exclude(t.Context(), p.v, bad.ID, true))
	list := got(p.s.TrainingCases(t.Context(), p.v, "", 10, nil))(t)
	if len(list) != 2 || list[0].ID != e.ID || list[1].ID != bad.ID {
		t.Fatalf("%+v", list)
	}
	want(t, "the turns", fmt.Sprint(list[0].Turns), "[{user What is a lemma?} {assistant So it is.} {user And a theorem?}]")
	want(t, "the answer", fmt.Sprint(list[0].Answer, " ", list[0].Corrected, " ", list[0].TurnID != "", " ", list[0].Withheld), "It is larger. A larger one. true false")
	want(t, "left out", fmt.Sprint(list[1].Excluded, list[1].Turns), "true [{user Where?}]")
	want(t, "the newest", got(p.s.TrainingCases(t.Context(), p.v, "", 1, nil))(t)[0].ID, bad.ID)
	want(t, "of a situation", len(got(p.s.TrainingCases(t.Context(), p.v, id.New(), 10, nil))(t)), 0)
}
