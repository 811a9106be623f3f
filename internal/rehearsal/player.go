package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"liminal/internal/graph"
)

// player drives a graph through one recorded run. Outputs are taken in the
// order they really came in, so that branches that ran together meet as they
// did; an effect that has no output waits until nothing else can go on.
type player struct {
	tape *tape
	// then gives an effect the id it had when the run was recorded; nil: the same.
	then func(effect string) string
	// free tells whether the outputs of a node that was may serve another one
	// with the same tool; nil: those of every node.
	free func(node string) bool
	// other makes an output for an effect the record does not hold; false stops
	// the run there.
	other func(p *player, e graph.Effect) (Output, bool)
	// base is the run of the unchanged graph over the same record; nil: none. Its
	// questions and its stretched effects are what the record allows.
	base *player

	run         *graph.Run
	clock       time.Time
	open        []*pending
	used        map[string]int
	moved       map[string]string // effects to the recorded one whose outputs they take
	stretched   map[string]bool   // effects that were tried more often than was recorded
	offered     map[string][]graph.Option
	divergences []Divergence
	tally       tally
	stopped     string       // the node at whose effect the record ended; empty: none
	ended       *Ending      // the run ended for a reason outside the graph, as it did then
	cancelled   bool         // that was tried already
	blocked     graph.Effect // what stopped it
}

// pending is an effect under way.
type pending struct {
	effect  graph.Effect
	output  Output
	blocked bool
	at      time.Time // when it is done
	place   int       // in the recorded order; -1: it has none there
}

// tally is what a run called and asked.
type tally struct {
	asks   []string // effect ids, as recorded
	models int
	tools  int
	byTool map[string]int
	cost   float64

	scripted bool // a script answered for what was not recorded
}

var errEndless = fmt.Errorf("the rehearsal was stopped after %d effects", maxEffects)

// play runs the graph to its end, or to where the record ends.
func (p *player) play(ctx context.Context, g *graph.Graph) error {
	input := p.tape.rec.Input
	p.used, p.moved, p.stretched = map[string]int{}, map[string]string{}, map[string]bool{}
	p.offered, p.tally.byTool = map[string][]graph.Option{}, map[string]int{}
	run, effects := g.Start(input)
	p.run, p.clock = run, input.Now
	for n := range maxEffects {
		if n%256 == 255 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, e := range effects {
			p.begin(e)
		}
		next := p.next()
		if next == nil {
			var on bool
			if effects, on = p.settle(); !on {
				return nil
			}
			continue
		}
		effects = p.happen(next)
	}
	return errEndless
}

// begin finds out what will come of an effect.
func (p *player) begin(e graph.Effect) {
	one := &pending{effect: e, at: p.clock, place: -1}
	p.open = append(p.open, one)
	if e.Kind == graph.KindWait {
		one.at = e.Wait.Until
		return
	}
	if e.Kind == graph.KindAsk {
		p.tally.asks = append(p.tally.asks, p.recordedID(e.ID))
		p.offered[p.recordedID(e.ID)] = e.Ask.Options
	}
	out, place, ok := p.recordedOutput(e)
	recorded := ok
	if !ok {
		out, ok = p.left(e)
	}
	one.output, one.place, one.blocked = out, place, !ok
	one.at = p.clock.Add(max(out.Took, 0))
	p.count(e, out, recorded)
}

// count notes a call, whatever came of it.
func (p *player) count(e graph.Effect, out Output, recorded bool) {
	var name string
	switch {
	case e.Call != nil:
		name = e.Call.Tool
	case e.Spawn != nil:
		name = e.Spawn.Workflow
	default:
		return
	}
	p.tally.byTool[name]++
	if !asksModel(name, out) {
		p.tally.tools++
		return
	}
	p.tally.models++
	p.tally.cost += p.tape.cost(out, recorded)
}

// next takes the effect that is done first out of those under way. Of two that
// were recorded, the record says which.
func (p *player) next() *pending {
	var first, recorded *pending
	for _, one := range p.open {
		if one.blocked {
			continue
		}
		if first == nil || one.at.Before(first.at) {
			first = one
		}
		if one.place >= 0 && (recorded == nil || one.place < recorded.place) {
			recorded = one
		}
	}
	// A wait that is over just now comes first: what is tried again then has its
	// own place in the record.
	tie := first != nil && recorded != nil && !first.at.Before(recorded.at) && first.effect.Kind != graph.KindWait
	if first != nil && first.place >= 0 || tie {
		first = recorded
	}
	if first != nil {
		p.open = slices.DeleteFunc(p.open, func(one *pending) bool { return one == first })
	}
	return first
}

// happen tells the machine what came of an effect.
func (p *player) happen(one *pending) []graph.Effect {
	if one.at.After(p.clock) {
		p.clock = one.at
	}
	id := one.effect.ID
	switch {
	case one.effect.Kind == graph.KindWait:
		return p.run.Done(id, nil, p.clock)
	case one.output.Failure != nil:
		return p.run.Fail(id, *one.output.Failure, p.clock)
	}
	return p.run.Done(id, one.output.Result, p.clock)
}

// settle says how a run ends that cannot go on by itself; true: it can.
func (p *player) settle() ([]graph.Effect, bool) {
	if _, over := p.run.Outcome(); over {
		return nil, false
	}
	live := map[string]bool{}
	for _, e := range p.run.Pending() {
		live[e.ID] = true
	}
	for _, one := range p.open {
		if live[one.effect.ID] && !p.tape.underWay(p.recordedID(one.effect.ID)) {
			p.stopped, p.blocked = one.effect.Node, one.effect
			return nil, false
		}
	}
	if p.tape.rec.Outcome.Cancelled && !p.cancelled {
		p.cancelled = true
		return p.run.Cancel(p.clock), true
	}
	p.ended = &p.tape.rec.Outcome // such as a run that was lost: the graph cannot tell
	return nil, false
}

// recordedID is the id an effect had when the run was recorded.
func (p *player) recordedID(effect string) string {
	if p.then == nil {
		return effect
	}
	return p.then(effect)
}

// recordedOutput finds what was recorded for an effect: under its id, or, when a call has
// a new id, the first unused output of the same tool.
func (p *player) recordedOutput(e graph.Effect) (Output, int, bool) {
	id := p.recordedID(e.ID)
	if took, ok := p.moved[e.ID]; ok {
		id = took
	}
	attempts := p.tape.rec.Outputs[id]
	if len(attempts) > 0 && serves(attempts[0], e) {
		return p.attempt(id, e)
	}
	if e.Call == nil {
		return Output{}, -1, false
	}
	for _, id := range p.tape.effects {
		if p.used[id] > 0 || !p.isFree(id) || p.tape.rec.Outputs[id][0].Tool != e.Call.Tool {
			continue
		}
		p.moved[e.ID] = id
		p.diverge(e, "the output of %s recorded for %s was used", e.Call.Tool, id)
		return p.attempt(id, e)
	}
	return Output{}, -1, false
}

func (p *player) isFree(id string) bool { return p.free == nil || p.free(nodeOf(id)) }

// attempt gives the next attempt of a recorded effect. A last one that failed
// repeats where the unchanged graph repeats it too.
func (p *player) attempt(id string, e graph.Effect) (Output, int, bool) {
	attempts, n := p.tape.rec.Outputs[id], p.used[id]
	p.used[id]++
	if n < len(attempts) {
		if !p.stillOffered(id, e, attempts[n]) {
			return Output{}, -1, false
		}
		return attempts[n], p.tape.place(id, n), true
	}
	if p.tape.underWay(id) {
		return Output{}, -1, false
	}
	last := attempts[len(attempts)-1]
	p.stretched[id] = true
	return last, -1, p.base == nil || p.base.stretched[id]
}

// stillOffered is false when a person chose what the question no longer offers.
func (p *player) stillOffered(id string, e graph.Effect, out Output) bool {
	if e.Ask == nil || p.base == nil || len(e.Ask.Options) == 0 {
		return true
	}
	chosen, ok := out.Result["answer"].(string)
	if object, is := out.Result["answer"].(map[string]any); is {
		chosen, ok = object["id"].(string)
	}
	is := func(o graph.Option) bool { return o.ID == chosen }
	return !ok || !slices.ContainsFunc(p.base.offered[id], is) || slices.ContainsFunc(e.Ask.Options, is)
}

// serves reports whether an output is one of such an effect.
func serves(out Output, e graph.Effect) bool {
	kind := cmp.Or(out.Kind, OutputCall)
	switch e.Kind {
	case graph.KindCall:
		return kind == OutputCall && (out.Tool == "" || out.Tool == e.Call.Tool)
	case graph.KindSpawn:
		return (kind == OutputSpawn || out.Kind == "") && (out.Tool == "" || out.Tool == e.Spawn.Workflow)
	case graph.KindAsk:
		return kind == OutputAsk || out.Kind == "" && out.Tool == ""
	case graph.KindWait:
	}
	return false
}

// left makes do where there is no output: with what the steps of the record
// tell, or as was chosen.
func (p *player) left(e graph.Effect) (Output, bool) {
	id := p.recordedID(e.ID)
	if step, ok := p.tape.step(id); ok {
		took := max(step.Ended.Sub(step.Started), 0)
		switch step.Outcome {
		case graph.ResultCancelled:
			return Output{Result: map[string]any{"cancelled": true}, Took: took}, true
		case graph.ResultExpired:
			return Output{Result: map[string]any{"expired": true}, Took: took}, true
		default:
		}
	}
	if p.tape.underWay(id) {
		return Output{}, false
	}
	if e.Call != nil && p.tape.absent(id, e.Call.Tool) {
		return Output{Failure: &graph.Failure{Code: graph.CodeMissing, Message: "the tool is not there"}}, true
	}
	return p.other(p, e)
}

func (p *player) diverge(e graph.Effect, format string, args ...any) {
	p.divergences = append(p.divergences, Divergence{Effect: e.ID, Node: e.Node, Message: fmt.Sprintf(format, args...)})
}

// tape is a recorded run made ready to be played, by any number of graphs.
type tape struct {
	rec     *Record
	effects []string // that have outputs, sorted
	places  map[string][]int
	known   bool    // the cost of single calls is
	perCall float64 // mean cost of a model's call
}

func newTape(rec *Record, cost float64) *tape {
	t := &tape{rec: rec, effects: sorted(rec.Outputs), places: make(map[string][]int, len(rec.Outputs))}
	for i, id := range rec.Order {
		t.places[id] = append(t.places[id], i)
	}
	known, calls := 0.0, 0
	for _, id := range t.effects {
		for _, out := range rec.Outputs[id] {
			if out.Usage != nil && out.Usage.CostUSD != nil {
				known += *out.Usage.CostUSD
			}
			if asksModel(out.Tool, out) {
				calls++
			}
		}
	}
	if t.known = known > 0; t.known {
		cost = known
	}
	if calls > 0 {
		t.perCall = cost / float64(calls)
	}
	return t
}

func (t *tape) place(id string, attempt int) int {
	if places := t.places[id]; attempt < len(places) {
		return places[attempt]
	}
	return -1
}

// cost is what a call of a model cost: its own where that is known, else as
// much as the others of the run.
func (t *tape) cost(out Output, recorded bool) float64 {
	switch {
	case out.Usage != nil && out.Usage.CostUSD != nil:
		return *out.Usage.CostUSD
	case recorded && t.known:
		return 0
	}
	return t.perCall
}

// step finds the last step of an effect, as it really went.
func (t *tape) step(effect string) (graph.Step, bool) {
	for _, step := range slices.Backward(t.rec.Steps) {
		if step.Effect == effect {
			return step, true
		}
	}
	return graph.Step{}, false
}

// underWay reports whether an effect was asked for, or was to be tried again,
// and nothing more came of it before the run ended.
func (t *tape) underWay(effect string) bool {
	step, asked := t.step(effect)
	return asked && (step.Outcome == "" || step.Outcome == graph.ResultAbandoned || step.Outcome == graph.ResultRetried)
}

// absent reports whether a node of an optional tool found it not there.
func (t *tape) absent(effect, tool string) bool {
	for _, s := range t.rec.Steps {
		if s.Effect == "" && s.Type == graph.ToolCall && s.Outcome == graph.ResultFailed && s.Node == nodeOf(effect) &&
			strings.HasPrefix(s.Detail, "the tool "+tool+" ") && strings.HasSuffix(s.Detail, " is not there") {
			return true
		}
	}
	return false
}

// nodeOf is the node of an effect: what stands before the visit.
func nodeOf(effect string) string {
	node, _, _ := strings.Cut(effect, "#")
	return node
}

// asksModel tells a call of a language model from one of another tool.
func asksModel(tool string, out Output) bool {
	return out.Model != "" || out.Usage != nil || strings.HasPrefix(tool, "llm.")
}
