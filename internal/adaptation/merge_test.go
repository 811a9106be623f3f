package adaptation_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/train"
)

// manner is what a person wants of the answers of a situation: how its questions
// are asked, and what is before each answer.
type manner struct {
	asks, wish string
	cluster    string
	adapter    string
}

// situated lets v correct the answers to questions of a situation, and makes that
// and its adapter, whose document has more in it.
func (h *house) situated(v identity.Viewer, m *manner, more map[string]any) {
	h.Helper()
	c := learning.Cluster{ID: id.New(), UserID: v.UserID, Label: m.asks, Status: learning.ClusterActive, Reach: 0.3, Strength: 0.8, Encoder: embed.Hash{}.Version()}
	of := map[int64]string{}
	middle := make([]float32, embed.Dim)
	for _, word := range subjects[:30] {
		about := h.turn(v, fmt.Sprintf(m.asks, word))
		e := h.says(v, about, learning.Feedback{Signal: "dislike", Corrected: m.wish + about.answer.Content})
		of[e.ID] = c.ID
		for i, x := range e.Embedding {
			middle[i] += x / 30
		}
	}
	c.Centroid, c.Size = embed.Unit(middle), len(of)
	h.must(h.store.PutClustering(h.Context(), v, learning.Clustering{Clusters: []learning.Cluster{c}, Of: of}))
	fields := map[string]any{
		"kind": "adapter.lora", "mode": "hybrid", "scope": "per-user", "type": "skill", "user_id": v.UserID, "current_version": 0, "cluster_id": c.ID,
		"rank": 8, "matrices": []string{"attn_q", "attn_k", "attn_v", "attn_o", "mlp_in", "mlp_out"}, "applicability": map[string]any{"embedding_centroid": c.Centroid},
	}
	maps.Copy(fields, more)
	doc, err := json.Marshal(fields)
	h.must(err)
	a, err := h.library.Create(h.Context(), v, artifacts.Draft{Type: artifacts.KindAdapter, Name: "learnt.skill." + c.ID, Schema: doc})
	h.must(err)
	m.cluster, m.adapter = c.ID, a.ID
}

// trains has the weights of a situation's adapter trained, and applies them; false:
// the gate kept them.
func (h *house) trains(v identity.Viewer, m manner) bool {
	h.Helper()
	_, err := h.training.Ask(h.Context(), v, m.adapter)
	h.must(err)
	h.pass(2 * time.Hour)
	h.sweep()
	j := h.jobs(v)[0]
	if j.AdapterID != m.adapter || j.Status != learning.JobSucceeded {
		h.Fatalf("%q: %s at %s: %s %s", m.asks, j.Status, j.Stage, j.Reason, j.Report)
	}
	if j.Stage != learning.StageDone {
		h.Logf("%q: %s", m.asks, j.Reason)
		return false
	}
	p := h.patches(v)[0]
	switch {
	case p.Status == changes.Pending:
		h.approves(v, p.ID)
	case h.rolling(v, m.adapter):
		_, err = h.desk.Promote(h.Context(), v, p.ID)
		h.must(err)
	}
	return true
}

// approves is a person's yes to a patch, for all of their conversations.
func (h *house) approves(v identity.Viewer, patch int64) {
	h.Helper()
	_, err := h.desk.Decide(h.Context(), v, patch, changes.Decision{Approve: true})
	h.must(err)
	_, err = h.desk.Apply(h.Context(), v, patch, changes.RolloutPlan{})
	h.must(err)
}

// rolling reports whether a version of an adapter is on trial.
func (h *house) rolling(v identity.Viewer, adapterID string) bool {
	h.Helper()
	a, err := h.library.Get(h.Context(), v, adapterID)
	h.must(err)
	return a.Rollout != nil
}

// obeys is how many of eight answers to questions of a situation are as wished.
func (h *house) obeys(v identity.Viewer, m manner) (n int, made []string) {
	h.Helper()
	for _, word := range strings.Fields("saddle bell anchor pillow spoon whistle curtain needle") {
		about := h.turn(v, fmt.Sprintf(m.asks, word))
		if strings.HasPrefix(about.answer.Content, m.wish) {
			n++
		}
		made = append(made, listed(h, about, "adapters")...)
	}
	return n, made
}

// document is an adapter's, as far as it is looked at here.
type document struct {
	Status   string
	Version  int `json:"current_version"`
	Checksum string
}

func (h *house) document(v identity.Viewer, adapterID string) (d document) {
	h.Helper()
	a, err := h.library.Get(h.Context(), v, adapterID)
	h.must(err)
	h.must(json.Unmarshal(a.Schema, &d))
	return d
}

// Questions of two situations that are alike. The same words train a model alike on
// a machine; one as small is no better for some of them where it rounds otherwise.
// Then the gate keeps what was trained, and the next are asked.
var alike = [][2]string{
	{"Describe a %[1]s. Explain a %[1]s.", "Please describe and explain a %[1]s."},
	{"Describe a %[1]s. Explain a %[1]s.", "Tell me what a %[1]s is. Describe it, explain it."},
	{"Describe a %[1]s. Explain a %[1]s.", "Explain to me and describe what a %[1]s is."},
}

// Of two adapters of situations alike, the one that nobody misses is taught to the
// other: its person is asked, once for both, and may take it back.
//
// Requirements: CLUS-06 (merged by distillation)
func TestWhatNobodyMissesIsTaughtToItsSibling(t *testing.T) {
	t.Parallel()
	onBoth(t, options{base: base(t), trainer: here{}}, mergedSiblings)
}

func mergedSiblings(t *testing.T, o options) {
	for _, ways := range alike {
		if mergesOnce(t, o, ways) {
			return
		}
	}
	t.Fatalf("of %d people nobody had two adapters to merge", len(alike))
}

// mergesOnce merges the adapters of one person, who asks in two ways; false: the gate kept one of them.
func mergesOnce(t *testing.T, o options, ways [2]string) bool {
	h := newHouse(t, o)
	kept, gone := manner{asks: ways[0], wish: "Hello! "}, manner{asks: ways[1], wish: "Hello! "}
	h.situated(h.ann, &kept, nil)
	h.situated(h.ann, &gone, nil)
	if !h.trains(h.ann, kept) || !h.trains(h.ann, gone) {
		return false
	}
	if n, _ := h.obeys(h.ann, kept); n < 4 {
		t.Logf("%d of 8 answers of the first situation are as wished", n)
		return false
	}
	h.disliked(h.ann, gone)
	h.pass(32 * 24 * time.Hour)
	if n, err := h.steps.Prune(t.Context(), h.ann); n != 0 || err != nil {
		t.Fatalf("%d adapters are proposed to be disabled, %v", n, err)
	}
	j := h.jobs(h.ann)[0]
	if j.Kind != learning.JobDistil || j.AdapterID != kept.adapter || j.From() != gone.adapter || j.Status != learning.JobQueued {
		t.Fatalf("queued is %+v", j)
	}
	if n, err := h.steps.Prune(t.Context(), h.ann); n != 0 || err != nil || h.jobs(h.ann)[0].ID != j.ID {
		t.Errorf("looked at again, %d are proposed to be disabled, and the last job is %s; %v", n, h.jobs(h.ann)[0].ID, err)
	}
	h.sweep()
	j = h.jobs(h.ann)[0]
	if j.Status != learning.JobSucceeded {
		t.Fatalf("it ended %s at %s: %s %s", j.Status, j.Stage, j.Reason, j.Report)
	}
	if j.Stage != learning.StageDone {
		t.Logf("merged: %s %s", j.Reason, j.Report)
		return false
	}
	h.learntFromBoth(j, kept, gone)
	p := h.patches(h.ann)[0]
	before := []document{h.document(h.ann, kept.adapter), h.document(h.ann, gone.adapter)}
	if p.Status != changes.Pending || len(p.Changes) != 2 || before[1].Status != "" || before[0].Version == j.Version {
		t.Fatalf("the patch is %+v; the adapters are %+v", p, before)
	}
	if n, err := h.steps.Prune(t.Context(), h.ann); n != 0 || err != nil || h.jobs(h.ann)[0].ID != j.ID {
		t.Errorf("while its person is asked, %d are proposed to be disabled, %v", n, err)
	}
	h.approves(h.ann, p.ID)
	if a, b := h.document(h.ann, kept.adapter), h.document(h.ann, gone.adapter); a.Version != j.Version || b.Status != "disabled" {
		t.Errorf("approved, the adapters are %+v and %+v", a, b)
	}
	for _, m := range []manner{kept, gone} {
		n, made := h.obeys(h.ann, m)
		if n < 4 || slices.Contains(made, gone.adapter) || !slices.Contains(made, kept.adapter) {
			t.Errorf("of %q %d answers are as wished, made with %v", m.asks, n, made)
		}
		t.Logf("of %q %d of 8 answers are as wished", m.asks, n)
	}
	_, err := h.desk.RollBack(t.Context(), h.ann, p.ID, "I want both.")
	h.must(err)
	if after := []document{h.document(h.ann, kept.adapter), h.document(h.ann, gone.adapter)}; !slices.Equal(after, before) {
		t.Errorf("taken back, the adapters are %+v; they were %+v", after, before)
	}
	// What its person took back is proposed no more.
	h.pass(32 * 24 * time.Hour)
	if n, err := h.steps.Prune(t.Context(), h.ann); n != 0 || err != nil || h.jobs(h.ann)[0].ID != j.ID || h.patches(h.ann)[0].ID != p.ID {
		t.Errorf("later %d are proposed to be disabled, %v; %+v", n, err, h.jobs(h.ann)[0])
	}
	return true
}

// isToBeDisabled checks that the next look proposes to disable ann's adapter of a
// situation, once.
func (h *house) isToBeDisabled(m manner) {
	h.Helper()
	if n, err := h.steps.Prune(h.Context(), h.ann); n != 1 || err != nil {
		h.Errorf("%d adapters are proposed to be disabled, %v", n, err)
	}
	p := h.patches(h.ann)[0]
	if p.Status != changes.Pending || len(p.Changes) != 1 || p.Changes[0].ArtifactID != m.adapter || !strings.Contains(string(p.Changes[0].Ops), "disabled") {
		h.Errorf("proposed is %+v", p)
	}
	if n, err := h.steps.Prune(h.Context(), h.ann); n != 0 || err != nil || h.jobs(h.ann)[0].Status == learning.JobQueued {
		h.Errorf("looked at again, %d are proposed to be disabled, %v", n, err)
	}
}

// What was to be merged and could not be, as its person cancelled it, is proposed to
// be disabled.
//
// Requirements: CLUS-06 (disabled)
func TestWhatCannotBeMergedIsProposedToBeDisabled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: hooked{func(string, train.Options) error {
		t.Error("it trains")
		return nil
	}}})
	kept, gone := manner{asks: alike[0][0], wish: "Hello! "}, manner{asks: alike[0][1], wish: "Hello! "}
	for _, m := range []*manner{&kept, &gone} {
		h.situated(h.ann, m, map[string]any{"current_version": 1, "checksum": strings.Repeat("0", 64), "base_model": "base_lm_v1", "prompt_instructions": "Greet first."})
	}
	h.disliked(h.ann, gone)
	h.pass(32 * 24 * time.Hour)
	if n, err := h.steps.Prune(t.Context(), h.ann); n != 0 || err != nil {
		t.Fatalf("%d adapters are proposed to be disabled, %v", n, err)
	}
	j := h.jobs(h.ann)[0]
	if j.Kind != learning.JobDistil || j.AdapterID != kept.adapter || j.From() != gone.adapter {
		t.Fatalf("queued is %+v", j)
	}
	_, err := h.training.Cancel(t.Context(), h.ann, j.ID)
	h.must(err)
	h.isToBeDisabled(gone)
}

// disliked has v dislike the first answer that is made with the adapter of a
// situation.
func (h *house) disliked(v identity.Viewer, m manner) {
	h.Helper()
	for _, word := range subjects[30:] {
		about := h.turn(v, fmt.Sprintf(m.asks, word))
		if slices.Contains(listed(h, about, "adapters"), m.adapter) {
			h.says(v, about, learning.Feedback{Signal: "dislike"})
			return
		}
	}
	h.Fatalf("no answer to %q is made with its adapter", m.asks)
}

// learntFromBoth checks that a job was trained with what was said in both
// situations, and is no worse than either of its teachers.
func (h *house) learntFromBoth(j learning.Job, kept, gone manner) {
	h.Helper()
	of := map[string]int{}
	events, err := h.store.Events(h.Context(), h.ann, j.Events...)
	h.must(err)
	for _, e := range events {
		of[e.ClusterID]++
	}
	if of[kept.cluster] < 8 || of[gone.cluster] < 8 || len(of) != 2 {
		h.Errorf("it is trained with %v", of)
	}
	dir := filepath.Join(h.data, "users", h.ann.UserID, "adapters", j.AdapterID, "train_jobs", j.ID)
	job, err := train.ReadJob(dir)
	h.must(err)
	curve, err := h.training.Curve(h.Context(), h.ann, j.ID)
	h.must(err)
	first, last := curve[0], curve[len(curve)-1]
	if job.Loss.Kind != train.Distil || len(job.Teachers) != 2 || len(curve) != job.Steps || *last.HeldOut > 0.7**first.HeldOut {
		h.Errorf("%d teachers; after %d of %d steps it is %v apart from them, and was %v", len(job.Teachers), len(curve), job.Steps, *last.HeldOut, *first.HeldOut)
	}
	var report gate.Verdict
	h.must(json.Unmarshal(j.Report, &report))
	if k := report.Kept; k.Prompts < 4 || k.Base != 0 || k.Now < k.Prompts/2 || float64(k.New) < 0.75*float64(k.Now) || !slices.Contains(k.Kinds, "begins") {
		h.Errorf("of its answers the gate found %+v", k)
	}
	h.Logf("%.3f nats apart from its teachers, %.3f after the first step; %s", *last.HeldOut, *first.HeldOut, j.Report)
}
