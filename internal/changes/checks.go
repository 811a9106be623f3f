package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// order is the checks of documents; the rehearsal comes after them.
var order = [...]string{CheckSchema, CheckReferences, CheckExpressions, CheckLimits}

// waiting is the checks before any was made.
func waiting() []Check {
	checks := make([]Check, 0, len(order)+1)
	for _, name := range order {
		checks = append(checks, Check{Name: name, State: CheckWaiting, Problems: []artifacts.Problem{}})
	}
	return append(checks, Check{Name: CheckRehearsal, State: CheckWaiting, Problems: []artifacts.Problem{}})
}

// judged is documents that were checked.
type judged struct {
	ok        bool
	checks    []Check
	problems  int // of the check that failed
	prospects []artifacts.Prospect
	ahead     *artifacts.Library // with all changes made
}

// judge makes the checks of documents, one after another; the first that fails
// tells everything it has to say and ends it (CFG-07, CFG-08, CFG-09).
func (d *Desk) judge(ctx context.Context, list []artifacts.Prospect) (judged, error) {
	j := judged{ok: true, checks: waiting()}
	var err error
	if j.prospects, j.ahead, err = d.o.Library.Preview(ctx, list); err != nil {
		return j, err
	}
	for i, name := range order {
		c := &j.checks[i]
		c.State, c.At = CheckOK, d.o.Now()
		for _, p := range j.prospects {
			c.Problems = append(c.Problems, named(p, p.Problems, len(list) > 1)[name]...)
		}
		if len(c.Problems) > 0 {
			c.State, j.ok, j.problems = CheckFailed, false, len(c.Problems)
			return j, nil
		}
		for _, p := range j.prospects {
			c.Problems = append(c.Problems, named(p, p.Warnings, len(list) > 1)[name]...)
		}
		if name == CheckReferences {
			stranded, err := d.stranded(ctx, j.prospects)
			if err != nil {
				return j, err
			}
			c.Problems = append(c.Problems, stranded...)
		}
		if len(c.Problems) > 0 {
			c.State = CheckWarning
		}
	}
	return j, nil
}

// named are what was found of a document; among several it is told of which.
func named(p artifacts.Prospect, found map[string][]artifacts.Problem, several bool) map[string][]artifacts.Problem {
	if !several {
		return found
	}
	told := make(map[string][]artifacts.Problem, len(found))
	for check, problems := range found {
		for _, one := range problems {
			one.Message = artifacts.Alias(p.Artifact.Type) + " " + p.Artifact.Name + ": " + one.Message
			told[check] = append(told[check], one)
		}
	}
	return told
}

// stranded warns of nodes that go while paused runs stand at them. The runs
// finish on the version they pinned, so it is no failure (PLAT-08).
func (d *Desk) stranded(ctx context.Context, list []artifacts.Prospect) ([]artifacts.Problem, error) {
	warnings := []artifacts.Problem{}
	for _, p := range list {
		if p.Artifact.Type != artifacts.KindWorkflow || p.Artifact.Version == 0 {
			continue
		}
		left := nodes(p.After)
		gone := nodes(p.Artifact.Schema)
		gone = slices.DeleteFunc(gone, func(n string) bool { return slices.Contains(left, n) })
		if len(gone) == 0 {
			continue
		}
		standing, err := d.o.Store.Standing(ctx, p.Artifact.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range standing {
			if slices.Contains(gone, s.Node) && s.Runs > 0 {
				warnings = append(warnings, artifacts.Problem{
					Path: "/nodes", Message: stands(s), Hint: "nothing needs to be done: runs keep the version they began with",
				})
			}
		}
	}
	return warnings, nil
}

func stands(s Standing) string {
	if s.Runs == 1 {
		return fmt.Sprintf("1 paused run stands at node %q of version %d; it finishes on that version", s.Node, s.Version)
	}
	return fmt.Sprintf("%d paused runs stand at node %q of version %d; they finish on that version", s.Runs, s.Node, s.Version)
}

// nodes are the ids of a workflow's nodes.
func nodes(doc json.RawMessage) []string {
	var w struct {
		Nodes []struct {
			ID string `json:"id"`
		} `json:"nodes"`
	}
	if json.Unmarshal(doc, &w) != nil {
		return nil // the checks have said so
	}
	ids := make([]string, len(w.Nodes))
	for i, n := range w.Nodes {
		ids[i] = n.ID
	}
	return ids
}

// prospect is an artifact with what is to become of it.
func (d *Desk) prospect(ctx context.Context, a artifacts.Artifact, ops json.RawMessage) artifacts.Prospect {
	return artifacts.Prospect{Artifact: a, Ops: ops, As: d.owner(ctx, a)}
}

// owner is on whose behalf a document is checked. A global one is nobody's: it
// may refer to what everybody sees, and to what only administrators may use.
func (d *Desk) owner(ctx context.Context, a artifacts.Artifact) identity.Viewer {
	if a.OwnerID == "" {
		return identity.Viewer{UserID: identity.SystemAccount, Role: identity.RoleAdmin}
	}
	if d.o.Who != nil {
		if u, err := d.o.Who(ctx, a.OwnerID); err == nil {
			return u.Viewer("")
		}
	}
	return identity.Viewer{UserID: a.OwnerID, Role: identity.RoleUser}
}

// reader is who sees every artifact of a patch: the global ones, and those of
// who proposed it.
func (p Patch) reader() identity.Viewer {
	if p.UserID == "" {
		return identity.Steward()
	}
	return identity.Viewer{UserID: p.UserID, Role: identity.RoleUser}
}

// prospects are a stored patch's, each at its base version.
func (d *Desk) prospects(ctx context.Context, p Patch) ([]artifacts.Prospect, error) {
	list := make([]artifacts.Prospect, len(p.Changes))
	for i, c := range p.Changes {
		a, err := d.o.Library.At(ctx, p.reader(), c.ArtifactID, c.Base)
		if err != nil {
			return nil, err
		}
		list[i] = d.prospect(ctx, a, c.Ops)
	}
	return list, nil
}

// judgePatch is judge of a stored patch. An artifact that is no longer there is
// a reference that fails.
func (d *Desk) judgePatch(ctx context.Context, p Patch) (judged, error) {
	list, err := d.prospects(ctx, p)
	if errors.Is(err, fault.NotFound) {
		j := judged{checks: waiting(), problems: 1}
		c := &j.checks[slices.Index(order[:], CheckReferences)]
		c.State, c.At = CheckFailed, d.o.Now()
		c.Problems = []artifacts.Problem{{Message: "an artifact of the patch is no longer there"}}
		return j, nil
	}
	if err != nil {
		return judged{}, err
	}
	return d.judge(ctx, list)
}

// first is the first problem of the check that failed, as a sentence.
func (j judged) first() string {
	for _, c := range j.checks {
		if c.State == CheckFailed && len(c.Problems) > 0 {
			p := c.Problems[0]
			if p.Path == "" {
				return fmt.Sprintf("%s: %s.", c.Name, p.Message)
			}
			return fmt.Sprintf("%s: %s: %s.", c.Name, p.Path, p.Message)
		}
	}
	return ""
}

// title is what people call a document; empty for most.
func title(doc json.RawMessage) string {
	var d struct {
		Title string `json:"title"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return ""
	}
	return d.Title
}
