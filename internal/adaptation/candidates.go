package adaptation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/artifacts"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/routing"
)

// Candidate is an adapter that a turn may use without being told, at its
// version, with what conditions read of it in usage_stats: as of the reading,
// so that it is read no more often than the rest.
type Candidate struct {
	routing.Adapter
	Version int            `json:"version"`
	Use     map[string]any `json:"use,omitempty"`
	// Rollout says that only a share of conversations takes this version, and
	// the others Before; nil with it: no adapter.
	Rollout *artifacts.Rollout `json:"rollout,omitempty"`
	Before  *Candidate         `json:"before,omitempty"`
}

// For is the candidate as the turns of a key take it; false where they take
// none.
func (c Candidate) For(key string) (Candidate, bool) {
	switch {
	case artifacts.Artifact{Version: c.Version, Rollout: c.Rollout}.Takes(key):
		return c, true
	case c.Before == nil:
		return Candidate{}, false
	}
	return *c.Before, true
}

// Choice is what a turn of a person's may choose from.
type Choice struct {
	Adapters []Candidate       `json:"adapters"`
	Clusters []routing.Cluster `json:"clusters"`
}

// choiceTime is how long a choice is kept: what changes is forgotten at once,
// but for what changes behind the program's back.
const choiceTime = 10 * time.Minute

// maxOwn is how many adapters of one's own a turn may choose from.
const maxOwn = 64

// maxClusters bounds the situations that are looked at for a turn.
const maxClusters = 256

// Candidates are the viewer's own adapters, those of everybody, and the
// situations they may be in (ROUTE-02). What was read is kept, nothing included:
// a turn of somebody who taught nothing costs one look into the cache.
func (s *Steps) Candidates(ctx context.Context, v identity.Viewer) (*Choice, error) {
	if s.o.Off || v.IsSystem() {
		return &Choice{}, nil
	}
	everybody, err := s.everybody(ctx)
	if err != nil {
		return nil, err
	}
	own, err := s.kept(ctx, v.UserID, func() (Choice, error) { return s.owns(ctx, v) })
	if err != nil {
		return nil, err
	}
	switch {
	case len(everybody.Adapters)+len(everybody.Clusters) == 0:
		return own, nil
	case len(own.Adapters)+len(own.Clusters) == 0:
		return everybody, nil
	}
	return &Choice{slices.Concat(own.Adapters, everybody.Adapters), slices.Concat(own.Clusters, everybody.Clusters)}, nil
}

// everybody is what is everybody's, read once in a while for all turns of this
// process: a turn asks the cache for its person's alone.
func (s *Steps) everybody(ctx context.Context) (*Choice, error) {
	now := s.o.Now()
	s.memo.mu.Lock()
	c, until := s.memo.everybody, s.memo.until
	s.memo.mu.Unlock()
	if c != nil && now.Before(until) {
		return c, nil
	}
	c, err := s.kept(ctx, "", func() (Choice, error) { return s.everybodys(ctx) })
	if err == nil && s.o.Cache != nil {
		s.memo.mu.Lock()
		s.memo.everybody, s.memo.until = c, now.Add(everybodyTime)
		s.memo.mu.Unlock()
	}
	return c, err
}

// everybodyTime is how much later another process hears of a change to what is
// everybody's.
const everybodyTime = 5 * time.Second

func keyOf(userID string) string {
	if userID == "" {
		return "learned:global"
	}
	return "learned:" + userID
}

// Forget makes the next turn of a person read again what it may choose from; ""
// stands for what is everybody's.
func (s *Steps) Forget(ctx context.Context, userID string) {
	if s.o.Cache == nil {
		return
	}
	if userID == "" {
		s.memo.mu.Lock()
		s.memo.everybody = nil
		s.memo.mu.Unlock()
	}
	if err := s.o.Cache.Delete(ctx, keyOf(userID)); err != nil {
		s.o.Logger.WarnContext(ctx, "a person's turns may choose from what is no longer there for a while", "error", err)
	}
}

// Changed forgets whose choice an artifact that was written is part of.
func (s *Steps) Changed(ctx context.Context, a artifacts.Artifact) {
	if a.Type == artifacts.KindAdapter {
		s.Forget(ctx, a.OwnerID)
		s.applied(ctx, a)
	}
}

// memo is what a process has read already.
type memo struct {
	mu      sync.Mutex
	scale   *embed.Scale
	choices map[string]decoded

	everybody *Choice // until then
	until     time.Time
}

// decoded is a choice with the bytes it was read from.
type decoded struct {
	raw    []byte
	choice *Choice
}

// maxDecoded bounds how many choices a process keeps.
const maxDecoded = 256

// kept is a choice from the cache, or read anew. A cache that is away costs the
// reading.
func (s *Steps) kept(ctx context.Context, userID string, look func() (Choice, error)) (*Choice, error) {
	key := keyOf(userID)
	if s.o.Cache != nil {
		raw, ok, err := s.o.Cache.Get(ctx, key)
		if err != nil {
			s.o.Logger.WarnContext(ctx, "what a turn may choose from is read anew: the cache does not answer", "error", err)
		}
		if ok {
			if c := s.decode(key, raw); c != nil {
				return c, nil
			}
		}
	}
	c, err := look()
	if err != nil || s.o.Cache == nil {
		return &c, err
	}
	raw, err := json.Marshal(c)
	if err == nil {
		err = s.o.Cache.Set(ctx, key, raw, choiceTime)
	}
	if err != nil {
		s.o.Logger.WarnContext(ctx, "what a turn may choose from is not kept", "error", err)
	}
	return &c, nil
}

// decode reads a choice, once for the same bytes; nil for one of another form.
func (s *Steps) decode(key string, raw []byte) *Choice {
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if known, ok := s.memo.choices[key]; ok && bytes.Equal(known.raw, raw) {
		return known.choice
	}
	var c Choice
	if json.Unmarshal(raw, &c) != nil {
		return nil
	}
	if s.memo.choices == nil || len(s.memo.choices) >= maxDecoded {
		s.memo.choices = map[string]decoded{}
	}
	s.memo.choices[key] = decoded{raw, &c}
	return &c
}

// owns is what a person's turns alone may choose from. Situations are looked at
// only where there is an adapter: they tell which is near.
func (s *Steps) owns(ctx context.Context, v identity.Viewer) (Choice, error) {
	ids, err := s.o.Store.OwnAdapters(ctx, v)
	if err != nil || len(ids) == 0 {
		return Choice{}, err
	}
	settings, err := s.o.Store.LearningSettings(ctx, v)
	if err != nil || !settings.Personal {
		return Choice{}, err
	}
	var list []adapter
	some := slices.Sorted(maps.Keys(ids))
	for _, id := range some[:min(len(some), maxOwn)] {
		a, err := s.o.Library.Get(ctx, v, id)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return Choice{}, err
		}
		one, err := read(a)
		if err != nil {
			return Choice{}, err
		}
		list = append(list, one)
	}
	return s.choice(ctx, v, list, false)
}

func (s *Steps) everybodys(ctx context.Context) (Choice, error) {
	list, err := s.global(ctx)
	if err != nil || len(list) == 0 {
		return Choice{}, err
	}
	return s.choice(ctx, identity.System(), list, true)
}

func (s *Steps) choice(ctx context.Context, v identity.Viewer, list []adapter, global bool) (Choice, error) {
	clusters, err := s.o.Store.ListClusters(ctx, keeper(v), global)
	if err != nil {
		return Choice{}, err
	}
	reach := map[string]float64{}
	merged := answeredElsewhere(list)
	var out Choice
	for _, c := range clusters {
		if c.Status == learning.ClusterRetired || merged[c.ID] || len(out.Clusters) == maxClusters {
			continue
		}
		reach[c.ID] = c.Reach
		out.Clusters = append(out.Clusters, routing.Cluster{ID: c.ID, Label: c.Label, Centroid: widened(c.Centroid)})
	}
	for _, a := range list {
		if !a.usable() {
			continue
		}
		use, err := s.o.Store.AdapterUse(ctx, a.ID)
		if err != nil {
			return Choice{}, err
		}
		c := candidate(a, s.stats(use), reach)
		if c.Rollout = a.Rollout; c.Rollout != nil {
			if c.Before, err = s.before(ctx, v, a, c.Use, reach); err != nil {
				return Choice{}, err
			}
		}
		out.Adapters = append(out.Adapters, c)
	}
	slices.SortFunc(out.Adapters, func(a, b Candidate) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// answeredElsewhere are the situations whose adapter was merged into another one:
// no turn is in one of them, but in the one that is answered for them.
func answeredElsewhere(list []adapter) map[string]bool {
	out := map[string]bool{}
	for _, a := range list {
		for _, id := range a.AnswersFor {
			out[id] = out[id] || a.usable()
		}
	}
	for _, a := range list {
		if a.usable() {
			delete(out, a.document.ClusterID)
		}
	}
	return out
}

func candidate(a adapter, use map[string]any, reach map[string]float64) Candidate {
	return Candidate{Version: a.Artifact.Version, Use: use, Adapter: routing.Adapter{
		ID: a.ID, Name: a.Name, Type: a.document.Type, Mode: a.mode(), ClusterID: a.document.ClusterID,
		Centroid: a.Applicability.Centroid, Reach: reach[a.document.ClusterID],
	}}
}

// before is the version that turns take which do not try a new one; nil: none.
func (s *Steps) before(ctx context.Context, v identity.Viewer, a adapter, use map[string]any, reach map[string]float64) (*Candidate, error) {
	old, err := s.o.Library.At(ctx, v, a.ID, a.Rollout.From)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	was, err := read(old)
	if err != nil || !was.usable() {
		return nil, err
	}
	c := candidate(was, use, reach)
	return &c, nil
}

// stats is an adapter's use as conditions read it (ROUTE-02): numbers as JSON
// has them, since the cache does. Hours are whole ones, so that a choice of
// adapters made a moment ago is still one for the same.
func (s *Steps) stats(u learning.Use) map[string]any {
	out := map[string]any{"usage_count": float64(u.Count), "success_score": u.Score}
	if !u.Last.IsZero() {
		out["last_used_hours"] = math.Floor(max(0, s.o.Now().Sub(u.Last).Hours()))
	}
	return out
}

// HasCluster implements artifacts.References.
func (s *Steps) HasCluster(ctx context.Context, v identity.Viewer, id string) (bool, error) {
	scopes := []bool{false, true}
	if v.IsSystem() { // whose are everybody's
		scopes = scopes[1:]
	}
	for _, global := range scopes {
		list, err := s.o.Store.ListClusters(ctx, keeper(v), global)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(list, func(c learning.Cluster) bool { return c.ID == id }) {
			return true, nil
		}
	}
	return false, nil
}

// MissingLessons implements artifacts.References.
func (s *Steps) MissingLessons(ctx context.Context, v identity.Viewer, ids []string) ([]string, error) {
	list, err := s.o.Store.ListLessons(ctx, v)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(list, func(l learning.Lesson) bool { return l.ID == id })
	}), nil
}

var _ artifacts.References = (*Steps)(nil)
