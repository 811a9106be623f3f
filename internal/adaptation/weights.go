package adaptation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// Trained is a version of weights as it is handed in.
type Trained struct {
	AdapterID string
	Version   int
	Checksum  string // of its params.json
	Base      string // name of the model they are for
	Dir       string // of all versions, below the shared folder
	Rank      int
	Alpha     float64
	Layers    []int
	Matrices  []string
	Replaces  string           // another adapter of theirs that these weights answer for as well; empty: none
	Outcome   string           // of the gate: rule or person
	Why       learning.Remarks // what it was trained with, and what the gate found
}

// ProposeWeights hands in that an adapter of the viewer's own has new weights,
// and moves that on as far as a rule may (TRAIN-07). It may be called again:
// what was handed in is found. runID is the run it is done in, which must be the
// house's own.
func (s *Steps) ProposeWeights(ctx context.Context, v identity.Viewer, runID string, t Trained) (Proposed, error) {
	if err := s.houses(ctx, v, runID); err != nil {
		return none, err
	}
	a, err := s.ownAdapter(ctx, v, t.AdapterID)
	if err != nil {
		return none, err
	}
	if a.document.Status == statusDisabled {
		return none, nil // its person, or a rule, does without it
	}
	want := a.document
	if a.IsDraft() {
		want.Status = ""
	}
	want.Weights, want.Checksum, want.BaseModel, want.Dir = &t.Version, t.Checksum, t.Base, t.Dir
	want.Rank, want.Alpha, want.Layers, want.Matrices = t.Rank, t.Alpha, t.Layers, t.Matrices
	if want.Mode != "local" {
		want.Mode = "hybrid"
	}
	var also []changes.ProposedChange
	if t.Replaces != "" {
		other, err := s.replaced(ctx, v, t.Replaces)
		if err != nil || other.ID == "" {
			return none, err
		}
		want.AnswersFor = slices.Concat(want.AnswersFor, []string{other.document.ClusterID}, other.AnswersFor)
		also = append(also, changes.ProposedChange{ArtifactID: other.ID, Patch: disables})
	}
	p, err := s.handIn(ctx, v, a.Name, a, want, Found{Why: t.Why}, also...)
	if err != nil || p.ID == 0 {
		return none, err
	}
	return s.moveOn(ctx, v, p, t.Outcome, t.Why, tried(a, want))
}

func (s *Steps) ownAdapter(ctx context.Context, v identity.Viewer, id string) (adapter, error) {
	a, err := s.o.Library.Get(ctx, v, id)
	if err == nil && (a.OwnerID != v.UserID || a.Type != artifacts.KindAdapter) {
		err = fault.New(fault.NotFound, "There is no adapter %s of yours.", id)
	}
	if err != nil {
		return adapter{}, err
	}
	return read(a)
}

func (a adapter) trainable() learning.Trainable {
	t := learning.Trainable{
		ID: a.ID, ClusterID: a.document.ClusterID, Checksum: a.document.Checksum,
		Rank: a.document.Rank, Alpha: a.document.Alpha, Layers: a.document.Layers, Matrices: a.document.Matrices,
	}
	if a.document.Weights != nil {
		t.Weights = *a.document.Weights
	}
	return t
}

// Trainable is one of the viewer's own adapters, as training reads it; NotFound
// for one that is not theirs, and for one that is disabled.
func (s *Steps) Trainable(ctx context.Context, v identity.Viewer, id string) (learning.Trainable, error) {
	a, err := s.ownAdapter(ctx, v, id)
	if err == nil && a.document.Status == statusDisabled {
		err = fault.New(fault.NotFound, "The adapter %s is disabled.", a.Name)
	}
	return a.trainable(), err
}

// Trainables are the viewer's adapters that were made here and are in use, the
// one of all answers first: it is proposed here where there is none (TRAIN-17).
// runID is the run it is done in.
func (s *Steps) Trainables(ctx context.Context, v identity.Viewer, runID string) ([]learning.Trainable, error) {
	list, err := s.own(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []learning.Trainable
	for _, a := range list {
		if t := a.trainable(); t.ClusterID != "" {
			out = append(out, t)
		}
	}
	persona, err := s.persona(ctx, v, runID)
	if err != nil || persona.ID == "" {
		return out, err
	}
	return append([]learning.Trainable{persona.trainable()}, out...), nil
}

// persona is the adapter of all answers of the viewer's. Where there is none, one
// is proposed that changes nothing by itself. The zero one where its person does
// without.
func (s *Steps) persona(ctx context.Context, v identity.Viewer, runID string) (adapter, error) {
	a, err := s.adapterOf(ctx, v, "")
	if err != nil || a.document.Status == statusDisabled {
		return adapter{}, err
	}
	if a.ID != "" && (!a.IsDraft() || s.waits(ctx, v, a)) {
		return a, nil
	}
	if a.ID != "" { // its person turned it down
		return adapter{}, nil
	}
	if err := s.houses(ctx, v, runID); err != nil {
		return adapter{}, err
	}
	why := learning.Remarks{learning.Say("first_adapter", nil, "What you liked and corrected is enough to train an adapter with. By itself this one changes nothing: what is trained is handed in when it was tried.")}
	want := document{Kind: artifacts.KindAdapter, Mode: "hybrid", Scope: "per-user", Type: "persona", UserID: v.UserID}
	p, err := s.handIn(ctx, v, personaName, a, want, Found{Why: why})
	if err != nil {
		return adapter{}, err
	}
	if _, err := s.moveOn(ctx, v, p, "", why, false); err != nil {
		return adapter{}, err
	}
	return s.ownAdapter(ctx, v, p.Changes[0].ArtifactID)
}

// applied notes which weights an adapter names now.
func (s *Steps) applied(ctx context.Context, a artifacts.Artifact) {
	weights, ok := s.o.Store.(learning.WeightsStore)
	if !ok || a.Type != artifacts.KindAdapter || a.OwnerID == "" || a.IsDraft() {
		return
	}
	var d document
	if json.Unmarshal(a.Schema, &d) != nil {
		return
	}
	version := 0
	if d.Weights != nil && d.Checksum != "" && d.Status != statusDisabled {
		version = *d.Weights
	}
	if err := weights.ApplyWeights(ctx, identity.System(), a.ID, version); err != nil {
		s.o.Logger.WarnContext(ctx, "which weights an adapter names is not noted; it is with its next version", "adapter", a.ID, "error", err)
	}
}

// changesWeights reports whether a change is about weights.
func changesWeights(a changes.After) bool {
	var before, after document
	return errors.Join(json.Unmarshal(a.Before, &before), json.Unmarshal(a.After, &after)) == nil && before.Checksum != after.Checksum
}
