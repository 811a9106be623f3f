package adaptation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/model"
)

// The names of the adapters that are made here; a situation's id follows the
// second.
const (
	personaName = "learnt.persona"
	skillPrefix = "learnt.skill."
)

func nameOf(clusterID string) string {
	if clusterID == "" {
		return personaName
	}
	return skillPrefix + clusterID
}

// document is an adapter.lora as far as it is read and written here.
type document struct {
	Kind          string        `json:"kind"`
	Mode          string        `json:"mode,omitempty"`
	Status        string        `json:"status,omitempty"`
	Scope         string        `json:"scope,omitempty"`
	Type          string        `json:"type,omitempty"`
	UserID        string        `json:"user_id,omitempty"`
	Rank          int           `json:"rank,omitempty"`
	Layers        []int         `json:"layers,omitempty"`
	Matrices      []string      `json:"matrices,omitempty"`
	Alpha         float64       `json:"lora_alpha,omitempty"`
	BaseModel     string        `json:"base_model,omitempty"`
	Weights       *int          `json:"current_version,omitempty"` // version of the weights
	Dir           string        `json:"fs_dir,omitempty"`          // of the weights' versions
	Checksum      string        `json:"checksum,omitempty"`
	ClusterID     string        `json:"cluster_id,omitempty"`
	AnswersFor    []string      `json:"answers_for,omitempty"` // situations of adapters that were merged into it
	Backend       string        `json:"backend,omitempty"`
	Instructions  string        `json:"prompt_instructions,omitempty"`
	Lessons       []string      `json:"lessons,omitempty"`
	Examples      []int64       `json:"examples,omitempty"`
	Applicability applicability `json:"applicability,omitzero"`
}

type applicability struct {
	Words    string    `json:"natural_language,omitempty"`
	Centroid []float64 `json:"embedding_centroid,omitempty"`
}

const statusDisabled = "disabled"

// adapter is an adapter of a person's own, or none yet.
type adapter struct {
	artifacts.Artifact
	document
}

// usable reports whether runs may use it.
func (a adapter) usable() bool {
	return a.ID != "" && !a.IsDraft() && a.document.Status != statusDisabled
}

// mode is the adapter's, also where its document has the older word.
func (a adapter) mode() string {
	return model.ModeOf(a.document.Mode, a.Backend, a.Instructions != "" || len(a.Lessons) > 0)
}

func read(a artifacts.Artifact) (adapter, error) {
	out := adapter{Artifact: a}
	if err := json.Unmarshal(a.Schema, &out.document); err != nil {
		return out, fault.Wrap(fault.Internal, err, "The adapter %s cannot be read.", a.Name)
	}
	return out, nil
}

// adapterOf is the adapter that is made here for a situation of the viewer's,
// or for all answers; the zero one where there is none.
func (s *Steps) adapterOf(ctx context.Context, v identity.Viewer, clusterID string) (adapter, error) {
	a, err := s.o.Library.Named(ctx, v, artifacts.KindAdapter, nameOf(clusterID))
	if errors.Is(err, fault.NotFound) || err == nil && a.OwnerID != v.UserID {
		return adapter{}, nil
	}
	if err != nil {
		return adapter{}, err
	}
	return read(a)
}

// maxEarlier is how many earlier changes of an adapter are looked at.
const maxEarlier = 30

// takenBack are lessons that a person did not want, each with when they said so.
type takenBack map[string]time.Time

// still reports whether a lesson is not to be followed again: nothing was said
// for it since it was taken back.
func (t takenBack) still(l learning.Lesson, m Material) bool {
	at, was := t[l.ID]
	if !was {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(m.Cases, m.Held), func(c learning.Case) bool {
		return slices.Contains(l.Sources, c.ID) && c.CreatedAt.After(at)
	})
}

// undone are the lessons that changes of an adapter brought which its person
// turned down or took back.
func (s *Steps) undone(ctx context.Context, v identity.Viewer, a adapter) (takenBack, error) {
	out := takenBack{}
	if a.ID == "" {
		return out, nil
	}
	list, _, err := s.o.Desk.List(ctx, v, changes.Filter{ArtifactID: a.ID, Limit: maxEarlier})
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if !p.Learned() || p.Status != changes.Rejected && p.Status != changes.RolledBack {
			continue
		}
		view, err := s.o.Desk.Get(ctx, v, p.ID)
		if err != nil {
			return nil, err
		}
		for i, after := range view.After {
			for _, id := range added(view.Changes[i], after) {
				if at := ended(view); at.After(out[id]) {
					out[id] = at
				}
			}
		}
	}
	return out, nil
}

// added are the lessons that a change brings.
func added(c changes.Change, a changes.After) []string {
	var before, after document
	_ = json.Unmarshal(a.Before, &before) // what does not apply brings nothing
	_ = json.Unmarshal(a.After, &after)
	if c.Creates { // before it counted for nothing
		return after.Lessons
	}
	return slices.DeleteFunc(after.Lessons, func(id string) bool { return slices.Contains(before.Lessons, id) })
}

// ended is when a patch was turned down or taken back.
func ended(v changes.View) time.Time {
	for _, e := range slices.Backward(v.Events) {
		if e.What == string(v.Status) {
			return e.At
		}
	}
	return v.CreatedAt
}
