package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// side is how a run went, or would go, in one version.
type side struct {
	way     []mark
	tally   tally
	ms      float64
	failed  bool   // it ended with an error
	cut     bool   // and that was a bound of the run: steps, visits, work, time
	code    string // of the error
	at      string // the node it is about
	stopped string // the node at whose effect the record has nothing more; empty: it was followed to its end
	lacks   string // what the record has nothing of there, for people

	gates map[string]float64 // of a routing: by adapter's name
	fired []string           // of a routing: rules

	branches []string // of the document that were taken
}

// sideOf is what a player has seen.
func sideOf(p *player, v version) side {
	outcome, _ := p.run.Outcome()
	if p.ended != nil {
		outcome.Err = p.ended.Err
	}
	trace := p.run.Trace()
	s := side{
		way: marks(trace, v.lanes, v.base), branches: branches(trace, v.nodes), tally: p.tally,
		ms: float64(p.run.Spent()) / float64(time.Millisecond), stopped: p.stopped,
	}
	if p.stopped != "" {
		s.lacks = lacking(p.blocked)
		return s
	}
	if err := outcome.Err; err != nil {
		s.failed, s.code, s.at = true, err.Code, err.Node
		s.cut = err.Code == graph.CodeLimit || err.Code == graph.CodeTimeout && p.run.Spent() >= v.graph.Timeout()
	}
	return s
}

// sideRecorded is how a run really went, as far as its record tells.
func sideRecorded(t *tape, v version) side {
	s := side{way: marks(t.rec.Steps, v.lanes, v.base), tally: tally{byTool: map[string]int{}}}
	for _, id := range t.effects {
		for _, out := range t.rec.Outputs[id] {
			s.ms += float64(out.Took) / float64(time.Millisecond)
			switch {
			case out.Kind == OutputAsk || out.Kind == "" && out.Tool == "":
				s.ms -= float64(out.Took) / float64(time.Millisecond)
				s.tally.asks = append(s.tally.asks, id)
				continue
			case asksModel(out.Tool, out):
				s.tally.models++
				s.tally.cost += t.cost(out, true)
			default:
				s.tally.tools++
			}
			s.tally.byTool[out.Tool]++
		}
	}
	if err := t.rec.Outcome.Err; err != nil {
		s.failed, s.code, s.at = true, err.Code, err.Node
		s.cut = err.Code == graph.CodeLimit
	}
	return s
}

func lacking(e graph.Effect) string {
	switch {
	case e.Ask != nil:
		return "what a person would answer"
	case e.Spawn != nil:
		return "what the workflow " + e.Spawn.Workflow + " would give"
	case e.Call != nil:
		return "what the tool " + e.Call.Tool + " would give"
	}
	return "what would happen"
}

// version is one document ready to be played.
type version struct {
	graph *graph.Graph
	lanes map[string]string
	nodes map[string]graph.Shape
	base  func(node string) string // the node's name in the base document
}

// compared is one recorded run on both sides.
type compared struct {
	head       run.Recording // without its body
	unreadable string        // why it could not be rehearsed; empty: it was
	old, new   side
	moved      bool
	part       int // the first place that differs; -1: none does
}

// whole reports whether both sides could be followed to their end: only such
// runs count in the figures before and after.
func (c compared) whole() bool {
	return c.unreadable == "" && c.old.stopped == "" && c.new.stopped == ""
}

// asked gives the questions only the new and only the old side puts.
func (c compared) asked() (fresh, gone int) {
	count := map[string]int{}
	for _, id := range c.new.tally.asks {
		count[id]++
	}
	for _, id := range c.old.tally.asks {
		if count[id] > 0 {
			count[id]--
		} else {
			gone++
		}
	}
	return len(c.new.tally.asks) - (len(c.old.tally.asks) - gone), gone
}

// Prepared is one change made ready to be rehearsed on any number of recorded
// runs. It is safe for concurrent use.
type Prepared struct {
	artifact artifacts.Artifact
	old, new version
	renamed  map[string]string // new names of nodes to the old ones
	kept     map[string]bool   // old names of nodes the new document still has
	regiven  []string          // nodes that give what they call or ask something else
	tools    map[string]artifacts.Bound
	policy   *policies // of a routing policy instead
	broken   bool      // the base cannot run any more: the record stands for it
	guard    artifacts.Guard
}

// other says what becomes of effects that are not recorded.
func (r *Prepared) other(ctx context.Context, userID string, plan Plan) func(*player, graph.Effect) (Output, bool) {
	return func(p *player, e graph.Effect) (Output, bool) {
		switch {
		case plan.Unknowns == artifacts.Scripted:
			out, ok := scripted(plan.Script, e)
			p.tally.scripted = p.tally.scripted || ok
			return out, ok
		case plan.Unknowns == artifacts.Live && plan.Live != nil && e.Call != nil && callable(r.tools[e.Call.Tool]):
			out, err := plan.Live(ctx, userID, e.Call.Tool, e.Call.Inputs)
			switch {
			case errors.Is(err, fault.Forbidden):
				return Output{}, false
			case err != nil:
				return Output{Tool: e.Call.Tool, Failure: &graph.Failure{Code: graph.CodeServer, Message: err.Error()}}, ctx.Err() == nil
			}
			p.diverge(e, "the tool %s was called", e.Call.Tool)
			return Output{Tool: e.Call.Tool, Result: out}, true
		}
		return Output{}, false
	}
}

// callable reports whether a rehearsal may call a tool: one that changes nothing
// and asks no model, which would cost money two hundred times over.
func callable(b artifacts.Bound) bool { return b.ReadOnly && b.On() != tool.QueueModels }

// scripted finds an output in a script: by the effect's id, else by the tool or
// workflow. For a question it is the answer.
func scripted(script Script, e graph.Effect) (Output, bool) {
	names := []string{e.ID, e.Node}
	switch {
	case e.Call != nil:
		names = []string{e.ID, e.Call.Tool}
	case e.Spawn != nil:
		names = []string{e.ID, e.Spawn.Workflow}
	}
	for _, name := range names {
		raw, ok := script[name]
		if !ok {
			continue
		}
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return Output{}, false
		}
		object, ok := v.(map[string]any)
		if e.Ask != nil && (!ok || !answers(object)) {
			return Output{Kind: OutputAsk, Result: map[string]any{"answer": v}}, true
		}
		return Output{Result: object}, ok
	}
	return Output{}, false
}

// answers reports whether an object is what comes of a question, not only the
// answer in it.
func answers(object map[string]any) bool {
	for _, key := range []string{"answer", "cancelled", "expired"} {
		if _, ok := object[key]; ok {
			return true
		}
	}
	return false
}

// compare plays one recorded run on both sides. Whatever is wrong with the
// record is told and does not end the rehearsal.
func (r *Prepared) compare(ctx context.Context, rec run.Recording, plan Plan) (c compared) {
	body := rec.Body
	rec.Body = nil
	c = compared{head: rec, part: -1}
	defer func() {
		if p := recover(); p != nil {
			c.unreadable = "the program failed at it"
		}
	}()
	recorded, err := Unpack(body)
	if err != nil {
		c.unreadable = "its record cannot be read"
		return c
	}
	if r.policy != nil {
		r.policy.compare(&c, &recorded)
		return c
	}
	if recorded.Partial && len(recorded.Input.Input) == 0 {
		c.unreadable = "its record was cut"
		return c
	}
	if _, err := r.both(ctx, &c, newTape(&recorded, rec.CostUSD), plan); err != nil {
		c.unreadable = "it does not end"
	}
	return c
}

// both plays a tape in the base document and in the new one. The base is played
// too, and not read off the record: so a change that changes nothing shows no
// difference, whatever the program itself does differently today. It gives the
// player of the new document.
func (r *Prepared) both(ctx context.Context, c *compared, t *tape, plan Plan) (*player, error) {
	var was *player
	if r.broken {
		c.old = sideRecorded(t, r.old)
	} else {
		stop := func(*player, graph.Effect) (Output, bool) { return Output{}, false }
		was = &player{tape: t, other: stop, free: func(string) bool { return false }}
		if err := was.play(ctx, r.old.graph); err != nil {
			return nil, err
		}
		c.old = sideOf(was, r.old)
	}
	will := &player{tape: t, base: was, then: r.then, free: r.free, other: r.other(ctx, c.head.UserID, plan)}
	if err := will.play(ctx, r.new.graph); err != nil {
		return nil, err
	}
	c.new = sideOf(will, r.new)
	if c.moved = !sameWay(c.old.way, c.new.way, c.old.stopped != "", c.new.stopped != ""); c.moved {
		c.part = part(c.old.way, c.new.way)
	}
	return will, nil
}

// then is the id an effect of the new document had in the old one.
func (r *Prepared) then(effect string) string {
	node := nodeOf(effect)
	if was, ok := r.renamed[node]; ok {
		return was + effect[len(node):]
	}
	return effect
}

// free tells whether the new document does without a node that was.
func (r *Prepared) free(node string) bool { return !r.kept[node] }

// ComparedRun is one recorded run on both sides, for a person who opens it.
type ComparedRun struct {
	Old         []string     `json:"old"`
	New         []string     `json:"new"`
	Part        int          `json:"part"` // the first place that differs; -1: none does
	Failed      bool         `json:"failed"`
	Code        string       `json:"code,omitempty"`
	Stopped     string       `json:"stopped,omitempty"` // the node at whose effect the record has nothing more
	Message     string       `json:"message"`
	Divergences []Divergence `json:"divergences"`
	Trace       []graph.Step `json:"steps"`
}

// Play rehearses one run of a workflow (GRAPH-30). The error says that the
// record is not one that can be played.
func (r *Prepared) Play(ctx context.Context, rec Record, plan Plan) (out ComparedRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the recorded run cannot be rehearsed: %v", p)
		}
	}()
	if r.policy != nil {
		return out, errors.New("a routing policy is rehearsed on what turns were routed by, not on their steps")
	}
	c := compared{part: -1}
	will, err := r.both(ctx, &c, newTape(&rec, 0), plan)
	if err != nil {
		return out, err
	}
	return ComparedRun{
		Old: shown(c.old.way), New: shown(c.new.way), Part: c.part, Failed: c.new.failed, Code: c.new.code,
		Stopped: c.new.stopped, Message: c.says(), Divergences: slices.Clip(will.divergences), Trace: will.run.Trace(),
	}, nil
}
