package architect

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// The bounds of what is read and told.
const (
	maxHeads     = 20_000   // recordings whose heads are counted
	maxBodies    = 500      // of one workflow, whose steps are counted
	maxWorkflows = 8        // told of
	maxFigures   = 16 << 10 // bytes of the figures as JSON
	chunk        = 50       // bodies read at once
	defaultPast  = 7 * 24 * time.Hour
)

// Figures is what happened since a time, by workflow: counts, and no word of
// what anybody wrote. As JSON it has at most 16 KB.
type Figures struct {
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Runs      int       `json:"runs"` // that ended, of the workflows that are everybody's, at their current versions
	Workflows []Flow    `json:"workflows"`
	LeftOut   int       `json:"left_out,omitempty"` // workflows with fewer runs
}

// Flow is what happened in one workflow at its current version.
type Flow struct {
	Artifact   string     `json:"artifact"`
	Name       string     `json:"name"`
	Version    int        `json:"version"`
	RollingOut bool       `json:"on_trial,omitempty"` // the version takes only a share of the runs
	Runs       int        `json:"runs"`
	Failed     int        `json:"failed"`
	Cancelled  int        `json:"cancelled"`
	Asked      int        `json:"asked"`   // questions put to people
	Skipped    int        `json:"skipped"` // that nobody answered
	Up         int        `json:"thumbs_up"`
	Down       int        `json:"thumbs_down"`
	CostUSD    float64    `json:"cost_usd"`
	MedianMS   int64      `json:"median_ms"`
	Read       int        `json:"read"` // runs whose steps were counted, the latest: nodes, switches and questions are of them
	Failures   []Failure  `json:"failures"`
	Nodes      []Trouble  `json:"nodes"`    // that failed or were tried again
	Switches   []Crossing `json:"switches"` // with a branch that no run took
	Questions  []Question `json:"questions"`
	Ways       []Way      `json:"ways"` // the most frequent
}

// Failure is where and why runs ended that failed.
type Failure struct {
	Node string `json:"node"`
	Code string `json:"code"`
	Runs int    `json:"runs"`
}

// Trouble is how the calls of a node ended, not counting attempts that were
// repeated.
type Trouble struct {
	Node     string `json:"node"`
	Calls    int    `json:"calls"`
	Failed   int    `json:"failed"`
	Timeouts int    `json:"timeouts"` // of the failed: those that used up the node's own time
	Retried  int    `json:"retried"`  // attempts that were repeated
	Mended   int    `json:"mended"`   // calls that went well after a repetition
}

// Crossing is a switch and its branches that no run took.
type Crossing struct {
	Node     string    `json:"node"`
	Runs     int       `json:"runs"` // that came to it
	Branches int       `json:"branches"`
	Untaken  []Untaken `json:"untaken"`
}

// Untaken is a branch by its place, from 0.
type Untaken struct {
	Branch int    `json:"branch"`
	When   string `json:"when"` // cut to 80 characters
	Next   string `json:"next"`
}

// Question is what became of a question.
type Question struct {
	Node      string `json:"node"`
	Type      string `json:"type"`
	Asked     int    `json:"asked"`
	Answered  int    `json:"answered"`
	Cancelled int    `json:"cancelled"`
	Expired   int    `json:"expired"`
	Same      int    `json:"same"` // of the answers: the most frequent one
	// Option is it, where the document lists the options; what else people
	// answer is told to nobody.
	Option string `json:"option,omitempty"`
}

// Way is a way through the graph: runs that took the same nodes.
type Way struct {
	Nodes   []string `json:"nodes"` // the first 12 of them; empty: not known
	Runs    int      `json:"runs"`
	Failed  int      `json:"failed"`
	CostUSD float64  `json:"cost_usd"`
	Up      int      `json:"thumbs_up"`
	Down    int      `json:"thumbs_down"`
}

// Figures counts what ended since a time; the zero one is a week ago.
func (a *Architect) Figures(ctx context.Context, since time.Time) (Figures, error) {
	f, _, err := a.figures(ctx, since)
	return f, err
}

func (a *Architect) figures(ctx context.Context, since time.Time) (Figures, []*Document, error) {
	now := a.o.Now().UTC()
	if since.IsZero() || since.After(now) {
		since = now.Add(-defaultPast)
	}
	f := Figures{Since: since.UTC(), Until: now, Workflows: []Flow{}}
	heads, err := a.o.Recordings.Recordings(ctx, identity.System(), run.RecordingFilter{Since: since, Limit: maxHeads})
	if err != nil {
		return f, nil, err
	}
	rated := map[string]int{}
	if a.o.Ratings != nil {
		if rated, err = a.o.Ratings(ctx, since); err != nil {
			return f, nil, err
		}
	}
	groups, err := a.grouped(ctx, heads)
	if err != nil {
		return f, nil, err
	}
	for _, g := range groups {
		f.Runs += len(g.heads)
	}
	f.LeftOut = max(0, len(groups)-maxWorkflows)
	var documents []*Document
	for _, g := range groups[:min(len(groups), maxWorkflows)] {
		flow, err := a.flow(ctx, g, rated)
		if err != nil {
			return f, nil, err
		}
		f.Workflows, documents = append(f.Workflows, flow), append(documents, g.document)
	}
	f.fit()
	return f, documents[:len(f.Workflows)], nil
}

// group is the recordings of a workflow's current version, newest first.
type group struct {
	document *Document
	heads    []run.Recording
}

// grouped sorts recordings to the workflows that may be read, the one with the
// most runs first. Workflows that are gone, or cannot be read any more, are
// left out.
func (a *Architect) grouped(ctx context.Context, heads []run.Recording) ([]group, error) {
	byID := map[string][]run.Recording{}
	for _, h := range heads {
		byID[h.Graph.ArtifactID] = append(byID[h.Graph.ArtifactID], h)
	}
	var groups []group
	for id, heads := range byID {
		d, err := a.document(ctx, id)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		heads = slices.DeleteFunc(heads, func(h run.Recording) bool { return h.Graph.Version != d.Artifact.Version })
		if len(heads) > 0 {
			groups = append(groups, group{d, heads})
		}
	}
	slices.SortFunc(groups, func(x, y group) int {
		return cmp.Or(cmp.Compare(len(y.heads), len(x.heads)), cmp.Compare(x.document.Artifact.Name, y.document.Artifact.Name))
	})
	return groups, nil
}

// document gives a workflow that may be read, nil for any other.
func (a *Architect) document(ctx context.Context, id string) (*Document, error) {
	if id == "" {
		return nil, nil
	}
	artifact, err := a.o.Library.Get(ctx, identity.System(), id)
	if notThere(err) || err == nil && !readable(artifact) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := Read(ctx, a.o.Library, artifact)
	if err != nil {
		a.o.Logger.WarnContext(ctx, "a workflow cannot be read and is left out", "artifact", id, "error", err)
		return nil, nil
	}
	return d, nil
}

// flow counts one workflow.
func (a *Architect) flow(ctx context.Context, g group, rated map[string]int) (Flow, error) {
	artifact := g.document.Artifact
	f := Flow{
		Artifact: artifact.ID, Name: artifact.Name, Version: artifact.Version, RollingOut: artifact.Rollout != nil,
		Runs: len(g.heads), MedianMS: median(g.heads), Failures: failures(g.heads),
	}
	for _, h := range g.heads {
		switch h.Status {
		case run.Failed:
			f.Failed++
		case run.Cancelled:
			f.Cancelled++
		default:
		}
		f.Up, f.Down = thumbs(f.Up, f.Down, rated[h.RunID])
		f.Asked, f.Skipped, f.CostUSD = f.Asked+h.Asked, f.Skipped+h.Skipped, f.CostUSD+h.CostUSD
	}
	t := newTally(g.document)
	if err := a.walk(ctx, g.heads[:min(len(g.heads), maxBodies)], t.add); err != nil {
		return f, err
	}
	f.Read = t.runs
	f.Nodes, f.Switches, f.Questions = t.troubles(), t.crossings(), t.questions()
	f.Ways = ways(g.heads, rated, t.paths)
	return f, nil
}

// walk reads the bodies there are, some at a time. One that cannot be read is
// left out.
func (a *Architect) walk(ctx context.Context, heads []run.Recording, visit func(run.Recording, rehearsal.Record)) error {
	for some := range slices.Chunk(heads, chunk) {
		ids := make([]string, len(some))
		for i, h := range some {
			ids[i] = h.RunID
		}
		bodies, err := a.o.Recordings.RecordingBodies(ctx, identity.System(), ids...)
		if err != nil {
			return err
		}
		for _, h := range some {
			if rec, err := rehearsal.Unpack(bodies[h.RunID]); err == nil {
				visit(h, rec)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func median(heads []run.Recording) int64 {
	times := make([]int64, len(heads))
	for i, h := range heads {
		times[i] = h.MS
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// failures are the places where runs failed, the most frequent first; at most
// eight.
func failures(heads []run.Recording) []Failure {
	count := map[[2]string]int{}
	for _, h := range heads {
		if h.Status == run.Failed {
			count[[2]string{h.Node, h.Code}]++
		}
	}
	list := []Failure{}
	for at, n := range count {
		list = append(list, Failure{at[0], at[1], n})
	}
	slices.SortFunc(list, func(x, y Failure) int {
		return cmp.Or(cmp.Compare(y.Runs, x.Runs), cmp.Compare(x.Node, y.Node), cmp.Compare(x.Code, y.Code))
	})
	return list[:min(len(list), 8)]
}

// ways are the six most frequent ways.
func ways(heads []run.Recording, rated map[string]int, paths map[string][]string) []Way {
	byBranch := map[string]*Way{}
	var order []string
	for _, h := range heads {
		w := byBranch[h.Branch]
		if w == nil {
			w = &Way{Nodes: paths[h.Branch]}
			byBranch[h.Branch], order = w, append(order, h.Branch)
		}
		w.Runs++
		w.CostUSD += h.CostUSD
		if h.Status == run.Failed {
			w.Failed++
		}
		w.Up, w.Down = thumbs(w.Up, w.Down, rated[h.RunID])
	}
	slices.SortStableFunc(order, func(x, y string) int {
		return cmp.Or(cmp.Compare(byBranch[y].Runs, byBranch[x].Runs), cmp.Compare(x, y))
	})
	list := []Way{}
	for _, b := range order[:min(len(order), 6)] {
		list = append(list, *byBranch[b])
	}
	return list
}

// thumbs counts a run's score to those there are.
func thumbs(up, down, score int) (int, int) {
	switch {
	case score > 0:
		up++
	case score < 0:
		down++
	}
	return up, down
}

// fit leaves out what the figures can do without until they are small enough:
// first the ways of the workflows with the fewest runs, then the workflows.
func (f *Figures) fit() {
	for i := len(f.Workflows) - 1; i >= 0 && f.size() > maxFigures; i-- {
		f.Workflows[i].Ways = []Way{}
	}
	for len(f.Workflows) > 1 && f.size() > maxFigures {
		f.Workflows = f.Workflows[:len(f.Workflows)-1]
		f.LeftOut++
	}
	if len(f.Workflows) == 1 && f.size() > maxFigures {
		f.Workflows[0].Switches = []Crossing{}
	}
}

func (f *Figures) size() int {
	doc, err := json.Marshal(f)
	if err != nil {
		return maxFigures + 1
	}
	return len(doc)
}
