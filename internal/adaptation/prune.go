package adaptation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// disables is the change that disables an adapter.
var disables = json.RawMessage(`[{"op":"test","path":"/kind","value":"adapter.lora"},{"op":"add","path":"/status","value":"disabled"}]`)

// Prune proposes that adapters are disabled that are hardly used, that people
// do not praise, and of whose situation nothing was said lately (CLUS-06): the
// viewer's own, or, for the system, everybody's. Where another one is of a
// situation like its own, that one is trained to answer for both first. People decide. It gives how
// many it proposed; what was proposed before is not proposed again.
func (s *Steps) Prune(ctx context.Context, v identity.Viewer) (int, error) {
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return 0, err
	}
	list, err := s.own(ctx, v)
	if err != nil {
		return 0, err
	}
	cases, err := s.placed(ctx, v)
	if err != nil {
		return 0, err
	}
	n := 0
	uses := map[string]learning.Use{}
	poor := func(a adapter) (is bool, err error) {
		use, known := uses[a.ID]
		if !known {
			if use, err = s.o.Store.AdapterUse(ctx, a.ID); err != nil {
				return false, err
			}
			uses[a.ID] = use
		}
		return s.poor(a, use, cases, p.Prune), nil
	}
	for _, a := range list {
		unused, err := poor(a)
		if err != nil {
			return n, err
		}
		if !unused {
			continue
		}
		merges, err := s.merges(ctx, v, a, list, poor, p.Prune)
		if err != nil {
			return n, err
		}
		if merges {
			continue
		}
		done, err := s.disable(ctx, v, a, uses[a.ID], p.Prune.Days)
		if err != nil {
			return n, err
		}
		if done {
			n++
		}
	}
	return n, nil
}

// own are the adapters made here that the viewer's runs may use; the system's
// are everybody's.
func (s *Steps) own(ctx context.Context, v identity.Viewer) ([]adapter, error) {
	var list []adapter
	if v.IsSystem() {
		var err error
		if list, err = s.global(ctx); err != nil {
			return nil, err
		}
	} else {
		ids, err := s.o.Store.OwnAdapters(ctx, v)
		if err != nil {
			return nil, err
		}
		for id := range ids {
			a, err := s.o.Library.Get(ctx, v, id)
			if errors.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			one, err := read(a)
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		}
	}
	list = slices.DeleteFunc(list, func(a adapter) bool {
		return !a.usable() || a.Name != personaName && !strings.HasPrefix(a.Name, skillPrefix)
	})
	slices.SortFunc(list, func(a, b adapter) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// poor reports whether all that speaks for keeping an adapter is missing.
func (s *Steps) poor(a adapter, use learning.Use, cases []learning.Case, n learning.PruneNumbers) bool {
	since := s.o.Now().AddDate(0, 0, -n.Days)
	if use.Count >= n.UsedBelow || use.Score >= n.ScoreBelow || a.CreatedAt.After(since) {
		return false
	}
	return !slices.ContainsFunc(cases, func(c learning.Case) bool {
		return c.CreatedAt.After(since) && (a.document.ClusterID == "" || c.ClusterID == a.document.ClusterID)
	})
}

// disable proposes that an adapter is disabled, unless that was proposed before.
func (s *Steps) disable(ctx context.Context, v identity.Viewer, a adapter, use learning.Use, days int) (bool, error) {
	list, _, err := s.o.Desk.List(ctx, v, changes.Filter{ArtifactID: a.ID, Limit: maxEarlier})
	if err != nil {
		return false, err
	}
	for _, p := range list {
		if slices.ContainsFunc(p.Changes, func(c changes.Change) bool { return c.ArtifactID == a.ID && same(c.Ops, disables) }) {
			return false, nil
		}
	}
	why := learning.Say("unused", map[string]any{"times": use.Count, "score": use.Score, "days": days},
		"It was used %s, what was said of its answers is %.2f on average, and nothing was said in %d days.", times(use.Count), use.Score, days)
	found, err := json.Marshal(Found{Why: learning.Remarks{why}})
	if err != nil {
		return false, err
	}
	propose := s.o.Desk.ProposeLearned
	if v.IsSystem() {
		propose = s.o.Desk.Propose
	}
	_, err = propose(ctx, v, changes.Proposal{ArtifactID: a.ID, Patch: disables, Justification: why.Text, Found: found})
	return err == nil, err
}

func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, err := json.Marshal(x)
	q, also := json.Marshal(y)
	return errors.Join(err, also) == nil && string(p) == string(q)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// maxGlobal is how many adapters of everybody a turn may choose from.
const maxGlobal = 64

// global are the adapters of everybody that runs may use.
func (s *Steps) global(ctx context.Context) ([]adapter, error) {
	list, _, err := s.o.Library.List(ctx, identity.System(), artifacts.Filter{Type: artifacts.KindAdapter, Visibility: artifacts.Global, Limit: maxGlobal})
	if err != nil {
		return nil, err
	}
	var out []adapter
	for _, a := range list {
		one, err := read(a)
		if err != nil {
			return nil, err
		}
		if one.usable() {
			out = append(out, one)
		}
	}
	return out, nil
}
