package architect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
)

// fixed are members of a document that only people change: what it is, and the
// rule by which its changes are judged.
var fixed = []string{"kind", "rehearsal"}

// guard refuses what the architect may not propose, whatever the checks say of
// it: to change the rule a workflow is judged by, and to call what reaches
// further than the workflow does now.
func (a *Architect) guard(ctx context.Context, before, after json.RawMessage) error {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return refusal("The document would be no object any more.")
	}
	for _, member := range fixed {
		if !same(was[member], is[member]) {
			return refusal("Only people change a workflow's %q.", member)
		}
	}
	if !slices.Equal(unasking(before), unasking(after)) {
		return refusal("Only people say which tools an agent calls unasked, and what else such an agent may call.")
	}
	had, err := a.o.Library.ToolsOf(ctx, identity.System(), before)
	if err != nil {
		return err
	}
	has, err := a.o.Library.ToolsOf(ctx, identity.System(), after)
	if err != nil {
		return err
	}
	for name, b := range has {
		if _, known := had[name]; !known && (b.Privileged || b.IsJob() || b.Confirm.Asks) {
			return refusal("Only people give a workflow the tool %s: it is privileged, works in the background, or asks before it acts.", name)
		}
	}
	return a.guardChildren(ctx, before, after)
}

// guardChildren refuses a workflow node that would run the architect or carry a
// patch.
func (a *Architect) guardChildren(ctx context.Context, before, after json.RawMessage) error {
	known := childrenOf(before)
	for _, name := range childrenOf(after) {
		if slices.Contains(known, name) {
			continue
		}
		child, err := a.o.Library.Workflow(ctx, identity.System(), name)
		if err != nil {
			return err
		}
		if slices.Contains(untouchable, child.Name) {
			return refusal("No workflow runs %s.", child.Name)
		}
	}
	return nil
}

// unasking are the agents of a document that call tools unasked, with all their
// tools.
func unasking(doc json.RawMessage) []string {
	var d struct {
		Nodes []struct {
			ID      string   `json:"id"`
			Tools   []string `json:"tools"`
			Unasked []string `json:"unasked"`
		} `json:"nodes"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return nil
	}
	var agents []string
	for _, n := range d.Nodes {
		if n.Unasked != nil {
			agents = append(agents, fmt.Sprintf("%q %q %q", n.ID, n.Tools, n.Unasked))
		}
	}
	return agents
}

func childrenOf(doc json.RawMessage) []string {
	var d struct {
		Nodes []struct {
			Type     string `json:"type"`
			Workflow string `json:"workflow"`
		} `json:"nodes"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return nil
	}
	var names []string
	for _, n := range d.Nodes {
		if n.Type == string(graph.Workflow) {
			names = append(names, n.Workflow)
		}
	}
	return names
}

// same reports whether two values mean the same.
func same(a, b json.RawMessage) bool {
	var x, y any
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	one, errOne := json.Marshal(x)
	other, errOther := json.Marshal(y)
	return errOne == nil && errOther == nil && bytes.Equal(one, other)
}

// again refuses a proposal that waits already, or was turned down lately.
func (a *Architect) again(ctx context.Context, p Proposal, ops json.RawMessage) error {
	wanted := fingerprint(ops)
	recent := a.o.Now().Add(-quiet)
	cursor := ""
	for range 10 {
		page, next, err := a.o.Desk.List(ctx, identity.Steward(), changes.Filter{ArtifactID: p.Artifact, Cursor: cursor, Limit: 100})
		if err != nil {
			return err
		}
		for _, old := range page {
			if old.Proposer != changes.ByModel || len(old.Changes) == 0 || fingerprint(old.Changes[0].Ops) != wanted {
				continue
			}
			switch settled := latest(old); {
			case old.Status == changes.Pending || old.Status == changes.Approved:
				return fault.New(fault.Conflict, "The same proposal waits already: patch %d.", old.ID)
			case old.Status != changes.Applied && old.Status != changes.Superseded && settled.After(recent):
				return fault.New(fault.Conflict, "The same proposal was made before, and is %s since %s: patch %d.", old.Status, settled.Format("2 January 2006"), old.ID)
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	return nil
}

// fingerprint tells patches apart by what they do. Nodes are called by their
// ids where the patch tests them, so that a version that only counts them
// differently makes no other patch of it.
func fingerprint(ops json.RawMessage) string {
	var list []Operation
	if json.Unmarshal(ops, &list) != nil {
		return string(ops)
	}
	ids := map[string]string{}
	for _, o := range list {
		var id string
		if place, ok := strings.CutSuffix(o.Path, "/id"); ok && o.Op == "test" && json.Unmarshal(o.Value, &id) == nil {
			ids[place] = id
		}
	}
	h := fnv.New128a()
	for _, o := range list {
		var value any
		if len(o.Value) > 0 && json.Unmarshal(o.Value, &value) != nil {
			value = string(o.Value)
		}
		fmt.Fprintf(h, "%q %q %q %v\n", o.Op, byID(o.Path, ids), byID(o.From, ids), value)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// byID is a pointer with a node's id in its number's place.
func byID(path string, ids map[string]string) string {
	parts := strings.SplitN(path, "/", 4) // "", nodes, 3, the rest
	if len(parts) < 3 || parts[1] != "nodes" {
		return path
	}
	id, ok := ids[strings.Join(parts[:3], "/")]
	if !ok {
		return path
	}
	parts[2] = "id:" + id
	return strings.Join(parts, "/")
}

// Shown is what a model is shown of a workflow.
type Shown struct {
	Artifact string          `json:"artifact"`
	Name     string          `json:"name"`
	Version  int             `json:"version"`
	Document json.RawMessage `json:"document"`
}

// maxShown bounds the documents a model is shown, in bytes together.
const maxShown = 64 << 10

// show gives the documents that fit, in the order of the figures; those being
// rolled out are nobody's to change.
func show(documents []*Document) []Shown {
	list, size := []Shown{}, 0
	for _, d := range documents {
		var compact bytes.Buffer
		if d.Artifact.Rollout != nil || json.Compact(&compact, d.Artifact.Schema) != nil || size+compact.Len() > maxShown {
			continue
		}
		size += compact.Len()
		list = append(list, Shown{d.Artifact.ID, d.Artifact.Name, d.Artifact.Version, compact.Bytes()})
	}
	return list
}
