package adaptation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/run"
)

// Gated is what a gate found; the zero one: there was none.
type Gated struct {
	Outcome string  `json:"outcome"` // rule, person or none; empty: there was no trial
	Better  int     `json:"better"`
	Worse   int     `json:"worse"`
	Alike   int     `json:"alike"`
	P       float64 `json:"p"` // probability that answers are better
	Held    int     `json:"held"`
}

// Judge is what a gate makes of the scores of held-out events.
func (s *Steps) Judge(ctx context.Context, v identity.Viewer, scores []lesson.Scored, seed uint64) (Gated, error) {
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return Gated{}, err
	}
	if len(scores) < p.Gate.Least {
		return Gated{Held: len(scores)}, nil
	}
	verdict := lesson.JudgeScores(scores, seed)
	t := Gated{
		Outcome: string(verdict.Outcome), Better: verdict.Better, Worse: verdict.Worse, Alike: verdict.Alike, P: verdict.P, Held: len(scores),
	}
	if verdict.Outcome != lesson.OutcomeNone { // how sure is sure, the policy says
		t.Outcome = string(lesson.OutcomePerson)
		if verdict.P >= p.Gate.Sure {
			t.Outcome = string(lesson.OutcomeRule)
		}
	}
	return t, nil
}

// Reject marks the lessons of ids that the adapter does not follow yet as ones
// answers got worse with.
func (s *Steps) Reject(ctx context.Context, v identity.Viewer, clusterID string, ids []string) (int, error) {
	a, err := s.adapterOf(ctx, v, clusterID)
	if err != nil {
		return 0, err
	}
	list, err := s.o.Store.ReadLessons(ctx, v, ids...)
	if err != nil {
		return 0, err
	}
	var rejected []learning.Lesson
	for _, l := range list {
		followed := a.usable() && slices.Contains(a.Lessons, l.ID)
		if !followed && l.MadeBy != learning.ByPerson {
			l.State = learning.LessonRejected
			rejected = append(rejected, l)
		}
	}
	if len(rejected) == 0 {
		return 0, nil
	}
	stored, err := s.o.Store.PutLessons(ctx, v, rejected)
	return len(stored), err
}

// Proposed is where a proposal stands.
type Proposed struct {
	Patch  int64  `json:"patch"`  // 0: nothing is to be changed
	Status string `json:"status"` // of the patch; "none" without one
	Wait   bool   `json:"-"`      // a rule moves it on, and its workflow is on its way: come again
}

// none is a proposal of nothing.
var none = Proposed{Status: "none"}

// Propose hands in that the adapter of a situation, or of all answers, follows
// lessons, and moves that on as far as a rule may. It may be called again: what
// was handed in is found and not handed in twice. runID is the run it is done
// in, which must be the house's own.
func (s *Steps) Propose(ctx context.Context, v identity.Viewer, runID, clusterID string, ids []string, t Gated) (Proposed, error) {
	if err := s.houses(ctx, v, runID); err != nil {
		return none, err
	}
	a, err := s.adapterOf(ctx, v, clusterID)
	if err != nil {
		return none, err
	}
	list, err := s.o.Store.ReadLessons(ctx, v, ids...)
	if err != nil {
		return none, err
	}
	if !a.usable() && len(list) == 0 && clusterID == "" || a.document.Status == statusDisabled {
		return none, nil // its person, or a rule, does without it
	}
	want, err := s.documentOf(ctx, v, clusterID, a, list)
	if err != nil {
		return none, err
	}
	p, err := s.handIn(ctx, v, nameOf(clusterID), a, want, Found{Gate: s.gate(t), Why: s.because(list, a, t)})
	if err != nil || p.ID == 0 {
		return none, err
	}
	if err := s.belong(ctx, v, p.Changes[0].ArtifactID, list); err != nil {
		return none, err
	}
	return s.moveOn(ctx, v, p, t.Outcome, learning.Remarks{s.found(t)}, tried(a, want))
}

// tried reports whether a version of an adapter is one to try on some of the
// conversations first: it tells models what they were not told before, or has
// other weights. What only takes away counts for all at once.
func tried(was adapter, want document) bool {
	if !was.usable() {
		return false
	}
	more := slices.ContainsFunc(want.Lessons, func(id string) bool { return !slices.Contains(was.Lessons, id) })
	return more || !reflect.DeepEqual(was.Weights, want.Weights)
}

// plan is how a version begins that a rule applies.
func plan(n learning.TrialNumbers) changes.RolloutPlan {
	if n.Share <= 0 || n.Share >= 100 {
		return changes.RolloutPlan{}
	}
	return changes.RolloutPlan{Share: n.Share, Hours: n.Hours, RollBack: true, Rules: []artifacts.Rule{{
		When: fmt.Sprintf("thumbs_down_share.after > thumbs_down_share.before + %v and runs.after >= %d", n.Worse, n.Runs),
		Say:  "answers are liked less often",
	}}}
}

// houses refuses what is called by hand, or by a graph of the person's: what a
// gate found could be made up.
func (s *Steps) houses(ctx context.Context, v identity.Viewer, runID string) error {
	if s.o.Runs == nil {
		return nil
	}
	r, err := s.o.Runs.Run(ctx, v, runID)
	if err != nil {
		return err
	}
	if r.Kind != run.KindCluster && r.Kind != run.KindTrain {
		return fault.New(fault.Forbidden, "Only the run that learns proposes what was learnt. Start one at POST /v1/learning/run.")
	}
	return nil
}

// documentOf is the adapter as it is to be.
func (s *Steps) documentOf(ctx context.Context, v identity.Viewer, clusterID string, a adapter, list []learning.Lesson) (document, error) {
	want := document{Kind: artifacts.KindAdapter, Mode: "hybrid", Scope: "per-user", Type: "persona", UserID: v.UserID}
	if a.ID != "" {
		want = a.document
		want.Status = ""
	}
	if clusterID != "" && a.ID == "" {
		c, err := s.clusterOf(ctx, v, clusterID)
		if err != nil {
			return want, err
		}
		p, _, err := s.Policy(ctx, v)
		if err != nil {
			return want, err
		}
		want = skillOf(v, c, p.Skills)
	}
	want.Lessons = nil
	for _, l := range list {
		want.Lessons = append(want.Lessons, l.ID)
	}
	if clusterID == "" {
		return want, nil
	}
	return want, s.exemplify(ctx, v, clusterID, &want)
}

// handIn proposes what makes the adapter what it is to be; the zero Patch where
// it is that already. One that waits for the same is taken for it, and one that
// waits for something else is withdrawn. also are changes that come with it to an
// adapter there is.
func (s *Steps) handIn(ctx context.Context, v identity.Viewer, name string, a adapter, want document, f Found, also ...changes.ProposedChange) (changes.Patch, error) {
	found, err := json.Marshal(f)
	if err != nil {
		return changes.Patch{}, err
	}
	proposal := changes.Proposal{Justification: f.Why.String(), Found: found}
	if a.ID == "" || a.IsDraft() {
		doc, err := json.Marshal(want)
		if err != nil {
			return changes.Patch{}, err
		}
		proposal.Changes = []changes.ProposedChange{{Create: &artifacts.Draft{
			Type: artifacts.KindAdapter, Name: name, Description: line(want.described(), 400), Schema: doc, By: "llm", Note: f.Why.String(),
		}}}
	} else {
		ops, err := operations(a.document, want)
		if err != nil || ops == nil {
			return changes.Patch{}, err
		}
		proposal.Changes = append([]changes.ProposedChange{{ArtifactID: a.ID, Patch: ops}}, also...)
	}
	if a.ID != "" {
		open, err := s.open(ctx, v, a, want)
		if err != nil || open.ID != 0 {
			return open, err
		}
	}
	return s.o.Desk.ProposeLearned(ctx, v, proposal)
}

// open is the patch of an adapter that waits for the same; others that wait are
// withdrawn.
func (s *Steps) open(ctx context.Context, v identity.Viewer, a adapter, want document) (changes.Patch, error) {
	list, _, err := s.o.Desk.List(ctx, v, changes.Filter{ArtifactID: a.ID, Limit: maxEarlier})
	if err != nil {
		return changes.Patch{}, err
	}
	for _, p := range list {
		if !p.Learned() || p.Status != changes.Pending && p.Status != changes.Approved {
			continue
		}
		view, err := s.o.Desk.Get(ctx, v, p.ID)
		if err != nil {
			return changes.Patch{}, err
		}
		var after document
		if view.Changes[0].Base == a.Artifact.Version && json.Unmarshal(view.After[0].After, &after) == nil && alike(after, want) {
			return view.Patch, nil
		}
		if !a.IsDraft() && changesWeights(view.After[0]) != (a.Checksum != want.Checksum) {
			continue // of lessons and of weights each is decided by itself
		}
		if _, err := s.o.Desk.Withdraw(ctx, v, p.ID, "What was said since asks for something else."); err != nil {
			return changes.Patch{}, err
		}
	}
	return changes.Patch{}, nil
}

func alike(a, b document) bool {
	ops, err := operations(a, b)
	return err == nil && ops == nil
}

// operations are a JSON Patch that makes one document the other, of what is
// changed here; nil where they are alike.
func operations(was, want document) (json.RawMessage, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	ops := []operation{{"test", "/kind", artifacts.KindAdapter}}
	member := func(path string, was, want any) error {
		x, err := json.Marshal(was)
		if err != nil {
			return err
		}
		y, err := json.Marshal(want)
		if err == nil && string(x) != string(y) {
			ops = append(ops, operation{"add", path, want})
		}
		return err
	}
	err := errors.Join(
		member("/lessons", append([]string{}, was.Lessons...), append([]string{}, want.Lessons...)),
		member("/examples", append([]int64{}, was.Examples...), append([]int64{}, want.Examples...)),
		member("/mode", was.Mode, want.Mode),
		member("/current_version", was.Weights, want.Weights),
		member("/checksum", was.Checksum, want.Checksum),
		member("/answers_for", append([]string{}, was.AnswersFor...), append([]string{}, want.AnswersFor...)),
		member("/base_model", was.BaseModel, want.BaseModel),
		member("/fs_dir", was.Dir, want.Dir),
		member("/rank", was.Rank, want.Rank),
		member("/lora_alpha", was.Alpha, want.Alpha),
		member("/layers", append([]int{}, was.Layers...), append([]int{}, want.Layers...)),
		member("/matrices", append([]string{}, was.Matrices...), append([]string{}, want.Matrices...)),
	)
	if err != nil || len(ops) == 1 {
		return nil, err
	}
	return json.Marshal(ops)
}

// belong ties lessons to the adapter that lists them.
func (s *Steps) belong(ctx context.Context, v identity.Viewer, adapterID string, list []learning.Lesson) error {
	var tied []learning.Lesson
	for _, l := range list {
		if l.AdapterID != adapterID {
			l.AdapterID = adapterID
			tied = append(tied, l)
		}
	}
	if len(tied) == 0 {
		return nil
	}
	_, err := s.o.Store.PutLessons(ctx, v, tied)
	return err
}

// moveOn applies a patch by rule, where its person allows that and the gate was
// passed, or there was none to ask.
func (s *Steps) moveOn(ctx context.Context, v identity.Viewer, p changes.Patch, outcome string, why learning.Remarks, onTrial bool) (Proposed, error) {
	settings, err := s.o.Store.LearningSettings(ctx, v)
	if err != nil {
		return none, err
	}
	if !settings.ByRule || !settings.Personal || outcome != "" && outcome != string(lesson.OutcomeRule) {
		return Proposed{Patch: p.ID, Status: string(p.Status)}, nil
	}
	policy, version, err := s.Policy(ctx, v)
	if err != nil {
		return none, err
	}
	var begins changes.RolloutPlan
	if onTrial {
		begins = plan(policy.Trial)
	}
	found, err := json.Marshal(map[string]any{"why": why})
	if err != nil {
		return none, err
	}
	p, err = s.o.Desk.ByRule(ctx, p.ID, changes.Ruling{Rule: fmt.Sprintf("gate of policy.learning v%d", version), Reason: why.String(), Found: found}, begins)
	if errors.Is(err, fault.RateLimited) { // the next run goes on with it
		return Proposed{Patch: p.ID, Status: string(p.Status)}, nil
	}
	if err != nil {
		return none, err
	}
	if p.Status == changes.Applied {
		s.Forget(ctx, v.UserID)
	}
	return Proposed{Patch: p.ID, Status: string(p.Status), Wait: s.underWay(ctx, v, p)}, nil
}

// underWay reports whether a patch's workflow is about to ask for the rule's
// next word. One that waits for the end of another's trial is left to the sweep
// of patches.
func (s *Steps) underWay(ctx context.Context, v identity.Viewer, p changes.Patch) bool {
	if p.Status == changes.Pending {
		return true
	}
	if p.Status != changes.Approved {
		return false
	}
	a, err := s.o.Library.Get(ctx, v, p.Changes[0].ArtifactID)
	return err == nil && a.Rollout == nil
}

// Found is what the first event of a patch keeps of what was found before it
// was proposed, and the justification sentence by sentence.
type Found struct {
	Gate Gate             `json:"gate"`
	Why  learning.Remarks `json:"why"`
}

// Gate is how a change was tried on questions that were kept aside.
type Gate struct {
	State  string  `json:"state"` // tried, no_model, too_little
	Better int     `json:"better"`
	Worse  int     `json:"worse"`
	Alike  int     `json:"alike"`
	Held   int     `json:"held"`
	P      float64 `json:"p"` // probability that answers are better
}

// The states of a gate.
const (
	GateTried     = "tried"
	GateNoModel   = "no_model"   // nobody could answer
	GateTooLittle = "too_little" // was said to keep something aside
)

// gate is what a gate found, for who shows it.
func (s *Steps) gate(t Gated) Gate {
	switch {
	case t.Outcome != "":
		return Gate{State: GateTried, Better: t.Better, Worse: t.Worse, Alike: t.Alike, Held: t.Held, P: t.P}
	case !s.o.Generative:
		return Gate{State: GateNoModel}
	}
	return Gate{State: GateTooLittle, Held: t.Held}
}

// found is what a gate found, in a sentence.
func (s *Steps) found(t Gated) learning.Remark {
	switch {
	case t.Outcome != "":
		return learning.Say("tried", map[string]any{"held": t.Held, "better": t.Better, "worse": t.Worse, "alike": t.Alike, "p": t.P}, "Of %d questions that were kept aside, answers were better with it for %d, worse for %d and alike for %d (P %.2f).", t.Held, t.Better, t.Worse, t.Alike, t.P)
	case !s.o.Generative:
		return learning.Say("untried_no_model", nil, "Handed in without a trial: no language model is configured.")
	}
	return learning.Say("untried_too_little", nil, "Handed in without a trial: too little was said to keep something aside for one.")
}

// because is why an adapter is to change, without a word of anybody's.
func (s *Steps) because(list []learning.Lesson, a adapter, t Gated) learning.Remarks {
	events := map[int64]bool{}
	fresh := 0
	for _, l := range list {
		for _, id := range l.Sources {
			events[id] = true
		}
		if !a.usable() || !slices.Contains(a.Lessons, l.ID) {
			fresh++
		}
	}
	figures := map[string]any{"lessons": len(list), "events": len(events)}
	text := fmt.Sprintf("What you said of answers: %s from %s", counted(len(list), "lesson"), counted(len(events), "event"))
	if a.usable() {
		gone := len(a.Lessons) - (len(list) - fresh)
		figures["new"], figures["gone"] = fresh, gone
		text += fmt.Sprintf(", %d new", fresh)
		if gone > 0 {
			text += fmt.Sprintf(" and %d no longer followed", gone)
		}
	}
	return learning.Remarks{learning.Say("lessons", figures, "%s.", text), s.found(t)}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
