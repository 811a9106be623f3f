package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// LearnedAdapter is an adapter of a person's own, made of what they said.
type LearnedAdapter struct {
	ID        string                 `json:"id" format:"uuid"`
	Name      string                 `json:"name"`
	Type      string                 `json:"type" doc:"persona: of all answers; skill: of one situation"`
	ClusterID string                 `json:"cluster_id" doc:"the situation it is of; empty: all answers"`
	Status    string                 `json:"status" enum:"draft,active,disabled" doc:"draft: it waits for its first change to be decided"`
	Version   int                    `json:"version"`
	Lessons   []string               `json:"lessons" doc:"ids of the lessons it lists"`
	Patch     Nullable[LearnedPatch] `json:"patch" doc:"the change that waits, or was applied last; null: none is kept"`
}

// LearnedPatch is a change to an adapter of one's own.
type LearnedPatch struct {
	ID            int64  `json:"id"`
	Status        string `json:"status" enum:"pending,approved,applied,rejected,invalid,expired,withdrawn,superseded,rolled_back"`
	Justification string `json:"justification"`
	ByRule        bool   `json:"by_rule" doc:"a rule approved it"`
	MayDecide     bool   `json:"may_decide" doc:"it waits for me"`
	MayRollBack   bool   `json:"may_roll_back"`
	// Gate and Trial are what is known of whether answers get better with it.
	Gate  Nullable[LearnedGate]  `json:"gate" doc:"what came of trying it on questions that were kept aside, before it was proposed; null: it was not learnt"`
	Trial Nullable[AdapterTrial] `json:"trial" doc:"it takes a share of my conversations for now; null: it does not"`
}

// LearnedGate is how a change was tried on questions that were kept aside.
type LearnedGate struct {
	State  string  `json:"state" enum:"tried,no_model,too_little" doc:"no_model: nobody could answer; too_little: not enough was said to keep something aside"`
	Held   int     `json:"held" doc:"questions"`
	Better int     `json:"better"`
	Worse  int     `json:"worse"`
	Alike  int     `json:"alike"`
	P      float64 `json:"p" doc:"probability that answers are better"`
}

// AdapterTrial is a version that a share of conversations takes, beside the one
// before.
type AdapterTrial struct {
	Share    int           `json:"share" doc:"percent of my conversations"`
	Since    time.Time     `json:"since"`
	Until    time.Time     `json:"until" doc:"all conversations take it then, unless it went back"`
	Runs     changes.TwoOf `json:"runs" doc:"answers that were made with the version before, and with it"`
	Disliked TwoShares     `json:"disliked" doc:"of their thumbs, those that were down"`
	Rules    []string      `json:"rules" doc:"when it goes back by itself: any of these holds"`
}

// TwoShares is a share with the version before and with the new one.
type TwoShares struct {
	Before changes.Estimate `json:"before"`
	After  changes.Estimate `json:"after"`
}

// adapterDoc is what is shown of an adapter's document.
type adapterDoc struct {
	Scope     string   `json:"scope"`
	Type      string   `json:"type"`
	Status    string   `json:"status"`
	ClusterID string   `json:"cluster_id"`
	Lessons   []string `json:"lessons"`
}

// learnedAdapters are those of the viewer's own that are made of what they
// said, the latest changed first.
func (s *server) learnedAdapters(ctx context.Context, v identity.Viewer) ([]LearnedAdapter, error) {
	out := []LearnedAdapter{}
	for cursor := ""; ; {
		list, next, err := s.Artifacts.List(ctx, v, artifacts.Filter{Type: artifacts.KindAdapter, Visibility: artifacts.Private, Cursor: cursor, Limit: maxPage})
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			var d adapterDoc
			if json.Unmarshal(a.Schema, &d) != nil || d.Scope != "per-user" || a.OwnerID != v.UserID {
				continue
			}
			one := LearnedAdapter{ID: a.ID, Name: a.Name, Type: d.Type, ClusterID: d.ClusterID, Status: "active", Version: a.Version, Lessons: orList(d.Lessons)}
			switch {
			case a.IsDraft():
				one.Status = "draft"
			case d.Status == "disabled":
				one.Status = d.Status
			}
			if one.Patch, err = s.learnedPatch(ctx, v, a.ID); err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		if cursor = next; cursor == "" {
			return out, nil
		}
	}
}

// patchesLooked is how many of an adapter's changes are looked through for the
// one that counts.
const patchesLooked = 5

func (s *server) learnedPatch(ctx context.Context, v identity.Viewer, adapterID string) (n Nullable[LearnedPatch], err error) {
	list, _, err := s.Proposals.List(ctx, v, changes.Filter{ArtifactID: adapterID, Limit: patchesLooked})
	if err != nil || len(list) == 0 {
		return n, err
	}
	at := max(0, slices.IndexFunc(list, func(p changes.Patch) bool {
		return p.Status == changes.Pending || p.Status == changes.Approved || p.Status == changes.Applied
	}))
	p, err := s.Proposals.Get(ctx, v, list[at].ID)
	if err != nil {
		return n, err
	}
	n.V = &LearnedPatch{
		ID: p.ID, Status: string(p.Status), Justification: p.Justification, MayDecide: p.May.Approve.OK, MayRollBack: p.May.RollBack.OK,
		ByRule: p.ByRule() != "",
	}
	var found adaptation.Found
	if json.Unmarshal(p.Found, &found) == nil && found.Gate.State != "" {
		n.V.Gate.V = &LearnedGate{
			State: found.Gate.State, Held: found.Gate.Held, Better: found.Gate.Better, Worse: found.Gate.Worse, Alike: found.Gate.Alike, P: found.Gate.P,
		}
	}
	n.V.Trial, err = s.adapterTrial(ctx, v, p.Patch)
	return n, err
}

// adapterTrial is how a patch on trial goes; null for one that is not.
func (s *server) adapterTrial(ctx context.Context, v identity.Viewer, p changes.Patch) (n Nullable[AdapterTrial], err error) {
	if p.Stage != changes.Watching || !p.RolloutPlan.Partial() {
		return n, nil
	}
	w, err := s.Proposals.Watch(ctx, v, p.ID)
	if err != nil || w.Over {
		return n, err
	}
	n.V = &AdapterTrial{
		Share: w.RolloutPlan.Share, Since: w.Since.UTC(), Until: w.Since.Add(time.Duration(w.RolloutPlan.Hours) * time.Hour).UTC(),
		Runs: w.Runs, Rules: []string{},
	}
	for _, r := range w.Rows {
		if r.Name == "thumbs_down_share" {
			n.V.Disliked = TwoShares{r.Before, r.After}
		}
	}
	if w.RolloutPlan.RollBack {
		n.V.Rules = each(w.Rules, func(r changes.Ruled) string { return r.When })
	}
	return n, nil
}

// Followed is an adapter that an answer was made with.
type Followed struct {
	AdapterID string           `json:"adapter_id"`
	Name      string           `json:"name"`
	Lessons   []FollowedLesson `json:"lessons" doc:"of mine that it told the model, as they read now"`
}

// FollowedLesson is a lesson that an answer followed and that is still active.
type FollowedLesson struct {
	ID   string `json:"id" format:"uuid"`
	Text string `json:"text"`
}

// followed adds to answers what they were made with. Texts are read now: what
// was forgotten or switched off since is not told, nor an adapter that is gone.
func (s *server) followed(ctx context.Context, list []Message) error {
	var wanted []string
	for _, m := range list {
		wanted = append(wanted, idsIn(m.Meta, "lessons")...)
	}
	texts := map[string]learning.Lesson{}
	if len(wanted) > 0 {
		slices.Sort(wanted)
		lessons, err := s.Lessons.ReadLessons(ctx, viewerOf(ctx), slices.Compact(wanted)...)
		if err != nil {
			return err
		}
		for _, l := range lessons {
			texts[l.ID] = l
		}
	}
	names := map[string]string{}
	for i, m := range list {
		var err error
		if list[i].Followed, err = s.followedBy(ctx, m, texts, names); err != nil {
			return err
		}
	}
	return nil
}

// followedBy is what one message followed; names are those of adapters that
// have been asked for, "" of those that are gone.
func (s *server) followedBy(ctx context.Context, m Message, texts map[string]learning.Lesson, names map[string]string) (out []Followed, err error) {
	for _, id := range idsIn(m.Meta, "adapters") {
		name, known := names[id]
		if !known {
			a, err := s.Artifacts.Get(ctx, viewerOf(ctx), id)
			if err != nil && !errors.Is(err, fault.NotFound) {
				return nil, err
			}
			name, names[id] = a.Name, a.Name
		}
		if name == "" {
			continue
		}
		f := Followed{AdapterID: id, Name: name, Lessons: []FollowedLesson{}}
		for _, lesson := range idsIn(m.Meta, "lessons") {
			if l, there := texts[lesson]; there && l.AdapterID == id {
				f.Lessons = append(f.Lessons, FollowedLesson{l.ID, l.Text})
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// idsIn are the ids a message's meta has under a name.
func idsIn(meta map[string]any, name string) (ids []string) {
	list, _ := meta[name].([]any)
	for _, one := range list {
		if id, ok := one.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}
