package adaptation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/changes"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/learning"
	"liminal/internal/run"
)

var (
	reminders = []string{
		"Write a polite reminder to %s about the unpaid invoice.", "%s has not paid the invoice, draft a friendly reminder.",
		"Second reminder for %s: the invoice is overdue.",
	}
	recipes = []string{
		"Recipe for apple pie without %s, please.", "What can I use instead of %s in the recipe for apple pie?", "A recipe for pie with less %s.",
	}
	tests = []string{
		"Write a table-driven Go test for %s.", "The Go test of %s fails with a nil pointer, what is wrong?", "How do I mock a clock in a Go test of %s?",
	}
	fillings = map[string][]string{
		"invoice": {"Miller", "Northwind", "Acme Tools", "Lindqvist", "the bakery"}, "pie": {"butter", "garlic", "cheese", "flour", "eggs"},
		"Go test": {"Parse", "Encode", "Flush", "Merge", "Seek"},
	}
)

// likes lets v praise answers to n questions of each kind.
func (h *house) likes(v identity.Viewer, n int, kinds ...[]string) {
	h.Helper()
	for i := range n {
		for _, templates := range kinds {
			question := templates[i%len(templates)]
			for word, list := range fillings {
				if strings.Contains(question, word) {
					question = strings.Replace(question, "%s", list[i%len(list)], 1)
				}
			}
			h.says(v, h.turn(v, question), learning.Feedback{Signal: "like"})
		}
	}
}

// standing are the situations that stand.
func (h *house) standing(v identity.Viewer) []learning.Cluster {
	h.Helper()
	list, err := h.store.ListClusters(h.Context(), v, v.IsSystem())
	h.must(err)
	return slices.DeleteFunc(list, func(c learning.Cluster) bool { return c.Status == learning.ClusterRetired })
}

// Requirements: CLUS-04, CLUS-05 (a rule or a person approves), ROUTE-02 (clusters; persona, domain and skill candidates)
func TestASituationThatIsPraisedGetsAnAdapterThatItsTurnsFind(t *testing.T) {
	t.Parallel()
	onBoth(t, options{model: quoting{}}, praisedSituation)
}

func praisedSituation(t *testing.T, o options) {
	h := newHouse(t, o)
	h.likes(h.ann, 16, reminders, recipes, tests)
	h.learn(h.ann)
	found := h.standing(h.ann)
	if len(found) != 3 || found[0].Label == "" || found[0].LabelBy != learning.ByRule || found[0].Reach <= 0 {
		t.Fatalf("the situations are %+v", found)
	}
	for _, c := range found {
		a := h.adapter(h.ann, "learnt.skill."+c.ID)
		if a == nil || a.IsDraft() {
			t.Fatalf("%q has the adapter %+v; patches %+v", c.Label, a, h.patches(h.ann))
		}
		isTheSpecificationsSkill(t, a.Schema, c)
	}
	for _, of := range []struct{ question, word string }{
		{"Write a polite reminder to Smith about the unpaid invoice.", "invoice"}, {"Recipe for apple pie without sugar, please.", "recipe"}, {"How deep is the sea?", ""},
	} {
		about := h.turn(h.ann, of.question)
		var near []string
		for _, c := range found {
			if a := h.adapter(h.ann, "learnt.skill."+c.ID); slices.Contains(listed(t, about, "adapters"), a.ID) {
				near = append(near, c.Label)
			}
		}
		if of.word == "" && len(near) > 0 || of.word != "" && (len(near) != 1 || !strings.Contains(strings.ToLower(near[0]), of.word)) {
			t.Errorf("%q is answered as %q", of.question, near)
		}
	}
	h.learn(h.ann)
	if n := len(h.patches(h.ann)); n != 3 {
		t.Errorf("the next run makes it %d patches", n)
	}
}

func isTheSpecificationsSkill(t *testing.T, doc json.RawMessage, c learning.Cluster) {
	t.Helper()
	var d struct {
		Scope, Type   string
		Rank, Version int
		Layers        []int
		Matrices      []string
		Cluster       string `json:"cluster_id"`
		Weights       *int   `json:"current_version"`
		Applicability struct {
			Words    string    `json:"natural_language"`
			Centroid []float64 `json:"embedding_centroid"`
		}
		Examples []int64
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	want := "Skill: " + c.Label + " – " + c.Description
	if d.Scope != "per-user" || d.Type != "skill" || d.Rank != 4 || fmt.Sprint(d.Layers, d.Matrices) != "[0 1 2] [attn_q]" || d.Cluster != c.ID ||
		d.Applicability.Words != want || len(d.Applicability.Centroid) == 0 || d.Weights == nil || *d.Weights != 0 || len(d.Examples) != 3 {
		t.Errorf("the adapter is %s, and should be %q", doc, want)
	}
}

// Requirements: CLUS-06 (disabled)
func TestWhatNobodyMissesIsProposedToBeDisabled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	h.complains(h.ann, 3)
	h.learn(h.ann)
	h.says(h.ann, h.turn(h.ann, "What is a theorem?"), learning.Feedback{Signal: "dislike"})
	h.learn(h.ann)
	before := len(h.patches(h.ann))
	h.pass(32 * 24 * time.Hour)
	h.learn(h.ann)
	list := h.patches(h.ann)
	if len(list) != before+1 || list[0].Status != changes.Pending || !strings.Contains(string(list[0].Changes[0].Ops), "disabled") {
		t.Fatalf("the patches are %+v", list)
	}
	h.learn(h.ann)
	if len(h.patches(h.ann)) != before+1 {
		t.Error("it was proposed again")
	}
	_, err := h.desk.Decide(t.Context(), h.ann, list[0].ID, changes.Decision{Approve: true})
	h.must(err)
	_, err = h.desk.Apply(t.Context(), h.ann, list[0].ID, changes.RolloutPlan{})
	h.must(err)
	if about := h.turn(h.ann, "What is a theorem?"); len(listed(t, about, "adapters")) != 0 {
		t.Errorf("disabled, it is used: %v", about.answer.Meta)
	}
	h.learn(h.ann)
	if a := h.adapter(h.ann, "learnt.persona"); !strings.Contains(string(a.Schema), `"disabled"`) {
		t.Errorf("the next run made it %s", a.Schema)
	}
}

// All that speaks against an adapter must be there: of whoever uses it, likes its
// answers or still says something of them, it is let be.
//
// Requirements: CLUS-06 (disabled)
func TestWhatSomebodyMissesIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uses      int  // after it was made
		liked     bool // not disliked
		saidSince bool
	}{
		"used":        {uses: 5},
		"not unliked": {liked: true},
		"spoken of":   {saidSince: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, options{})
			h.complains(h.ann, 3)
			h.learn(h.ann)
			signal := "dislike"
			if c.liked {
				signal = "like"
			}
			h.says(h.ann, h.turn(h.ann, "What is a theorem?"), learning.Feedback{Signal: signal})
			for range c.uses {
				h.turn(h.ann, "And a corollary?")
			}
			h.learn(h.ann)
			before := len(h.patches(h.ann))
			h.pass(32 * 24 * time.Hour)
			if c.saidSince {
				h.says(h.ann, h.turn(h.ann, "What is an axiom?"), learning.Feedback{Signal: "dislike"})
			}
			h.learn(h.ann)
			if list := h.patches(h.ann); len(list) != before {
				t.Errorf("proposed is %s", list[0].Changes[0].Ops)
			}
		})
	}
}

// Requirements: CLUS-01 (per user and globally)
func TestASituationOfEverybodyIsNamedAndItsAdapterWaitsForPeople(t *testing.T) {
	t.Parallel()
	onBoth(t, options{model: quoting{}}, everybodysSituation)
}

func everybodysSituation(t *testing.T, o options) {
	h := newHouse(t, o)
	for i := range 5 {
		v := h.person(fmt.Sprint("p", i), identity.RoleUser)
		h.must(h.store.PutLearningSettings(t.Context(), v, learning.Settings{Personal: true, Shared: true, ByRule: true}))
		h.likes(v, 4, reminders, recipes, tests)
	}
	h.likes(h.ann, 4, reminders) // does not share
	steward := identity.Steward()
	r := run.Run{ID: id.New(), WorkflowID: "cluster:global:today", Kind: run.KindCluster, UserID: steward.UserID, Status: run.Running, Input: json.RawMessage(`{}`)}
	h.must(h.store.CreateRun(t.Context(), steward, r))
	if status := h.begin(steward, r); status != run.Done {
		t.Fatalf("the run ended %s", status)
	}
	found := h.standing(steward)
	if len(found) != 3 || found[0].Label == "" || found[0].UserID != "" || found[0].Size != 20 {
		t.Fatalf("the situations of everybody are %+v", found)
	}
	list, _, err := h.desk.List(t.Context(), h.root, changes.Filter{})
	h.must(err)
	if len(list) != 3 || list[0].Learned() || list[0].Proposer != changes.ByModel || list[0].Status != changes.Pending {
		t.Fatalf("proposed %+v", list)
	}
	reminder := h.turn(h.bob, "Write a polite reminder to Smith about the unpaid invoice.")
	if len(listed(t, reminder, "adapters")) != 0 {
		t.Error("a draft is used")
	}
	for _, p := range list {
		_, err = h.desk.Decide(t.Context(), h.root, p.ID, changes.Decision{Approve: true})
		h.must(err)
		_, err = h.desk.Apply(t.Context(), h.root, p.ID, changes.RolloutPlan{})
		h.must(err)
	}
	if about := h.turn(h.bob, "Write a polite reminder to Smith about the unpaid invoice."); len(listed(t, about, "adapters")) != 1 {
		t.Errorf("approved by people, the adapter of everybody is not found: %v", about.answer.Meta)
	}
}

// counted counts how often it is looked what a turn may choose from.
type counted struct {
	adaptation.Store
	own, settings, clusters, uses atomic.Int32
}

func (c *counted) AdapterUse(ctx context.Context, adapterID string) (learning.Use, error) {
	c.uses.Add(1)
	return c.Store.AdapterUse(ctx, adapterID)
}

func (c *counted) OwnAdapters(ctx context.Context, v identity.Viewer) (map[string]string, error) {
	c.own.Add(1)
	return c.Store.OwnAdapters(ctx, v)
}

func (c *counted) LearningSettings(ctx context.Context, v identity.Viewer) (learning.Settings, error) {
	c.settings.Add(1)
	return c.Store.LearningSettings(ctx, v)
}

func (c *counted) ListClusters(ctx context.Context, v identity.Viewer, global bool) ([]learning.Cluster, error) {
	c.clusters.Add(1)
	return c.Store.ListClusters(ctx, v, global)
}

// A turn of somebody who taught nothing must not cost more than before there
// was learning: nothing is kept too.
func TestTurnsOfWhoTaughtNothingReadNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	c := &counted{Store: h.store}
	steps, err := adaptation.New(adaptation.Options{Store: c, Library: h.library, Desk: h.desk, Cache: inproc.NewCache(0), Now: h.clock})
	h.must(err)
	h.library.Changed(steps.Changed)
	look := func() *adaptation.Choice {
		choice, err := steps.Candidates(t.Context(), h.ann)
		h.must(err)
		return choice
	}
	for range 20 {
		if got := look(); len(got.Adapters)+len(got.Clusters) != 0 {
			t.Fatalf("there is %+v to choose from", got)
		}
	}
	if own, settings, clusters, uses := c.own.Load(), c.settings.Load(), c.clusters.Load(), c.uses.Load(); own != 1 || settings != 0 || clusters != 0 || uses != 0 {
		t.Errorf("20 looks read adapters %d times, settings %d times, situations %d times, uses %d times", own, settings, clusters, uses)
	}
	_, err = h.library.Create(t.Context(), h.ann, artifacts.Draft{Type: "adapter", Name: "mine", Schema: json.RawMessage(`{"kind":"adapter.lora","mode":"prompt","prompt_instructions":"Be brief."}`)})
	h.must(err)
	for range 20 {
		if got := look(); len(got.Adapters) != 1 {
			t.Errorf("an adapter of their own is not found at once: %+v", got)
		}
	}
	if uses := c.uses.Load(); uses != 1 {
		t.Errorf("20 looks read the use of one adapter %d times", uses)
	}
}

func TestARunOfTheSystemsLooksForASituationOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	c := &counted{Store: h.store}
	steps, err := adaptation.New(adaptation.Options{Store: c, Library: h.library, Desk: h.desk, Now: h.clock})
	h.must(err)
	for v, times := range map[identity.Viewer]int32{identity.Steward(): 1, h.ann: 2} {
		c.clusters.Store(0)
		if there, err := steps.HasCluster(t.Context(), v, id.New()); err != nil || there || c.clusters.Load() != times {
			t.Errorf("situations are read %d times, want %d (%v)", c.clusters.Load(), times, err)
		}
	}
}
