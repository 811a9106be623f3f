package activities

import (
	"context"
	"encoding/json"

	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/model"
	"liminal/internal/rehearsal"
	"liminal/internal/routing"
	"liminal/internal/run"
)

const (
	// maxBody bounds the body of a recording, in bytes compressed.
	maxBody = 256 << 10
	// maxRaw bounds what is tried to be packed of it, in bytes: what compresses
	// to less than a sixteenth is rare, and Close has other things to do.
	maxRaw = 16 * maxBody
)

// recording is what the run leaves for rehearsals (CFG-11); nil where none is
// kept, as of a conversation of which nothing is. A run is not worth less for a recording that cannot be made: that is
// logged.
func (c *closing) recording(ctx context.Context) *run.Recording {
	if !c.set.Record || id.Unkept(c.Run.RunID) || !recorded(c.Run.Kind) || c.Outcomes == nil || len(c.Opened.Pins) == 0 {
		return nil
	}
	body, err := c.body(ctx)
	if err != nil {
		c.set.logger().WarnContext(ctx, "a run is not recorded", "run", c.Run.RunID, "error", err)
		return nil
	}
	r := &run.Recording{
		RunID: c.Run.RunID, UserID: c.Run.Viewer.UserID, Kind: c.Run.Kind,
		Graph: c.Opened.Pins[0], Policy: policyOf(c.Opened.Routing),
		Status: c.status, Branch: rehearsal.BranchOf(c.Steps), Asked: len(c.Tally.Notices),
		ModelCalls: c.Tally.ModelCalls, ToolCalls: c.Tally.ToolCalls,
		MS: c.Outcomes.Took.Milliseconds(), At: c.set.now(), Body: body,
	}
	if f := c.Outcome.Err; f != nil {
		r.Node, r.Code = f.Node, f.Code
	}
	for _, n := range c.Tally.Notices {
		if n.Cancelled || n.Expired {
			r.Skipped++
		}
	}
	if usd := c.Tally.Usage.CostUSD; usd != nil {
		r.CostUSD = *usd
	}
	return r
}

// recorded are the kinds of run that are rehearsed: people's own.
func recorded(k run.Kind) bool {
	return k == run.KindChat || k == run.KindGraph || k == run.KindIngest
}

// body packs the run. One that is too large is cut, its last effects first,
// until it fits.
func (c *closing) body(ctx context.Context) ([]byte, error) {
	rec := rehearsal.Record{
		Input: graph.Input{
			Input: c.Opened.Input, Persisted: c.Opened.Persisted, Conversation: c.Opened.Conversation,
			User: c.Opened.User, Now: c.Outcomes.Began, Remembers: c.Opened.Remembers,
		},
		Pins: c.Opened.Pins, Steps: c.Steps, Outcome: ended(c.Outcome),
		Router: c.router(ctx), Gates: gates(c.Opened.Adapters), Partial: c.Outcomes.Cut,
	}
	all := light(c.Outcomes.All)
	rec.Partial = rec.Partial || len(all) < len(c.Outcomes.All)
	for {
		rec.Outputs, rec.Order = outputs(all)
		packed, err := rehearsal.Pack(rec)
		switch {
		case err == nil && len(packed) <= maxBody:
			return packed, nil
		case len(all) > 0:
			all = all[:len(all)/2]
		case rec.Steps != nil:
			rec.Steps = nil
		case rec.Input.Input != nil:
			rec.Input, rec.Router = graph.Input{Now: rec.Input.Now}, nil
		default:
			return packed, err
		}
		rec.Partial = true
	}
}

// light are the first outcomes, as many as are not too large together.
func light(all []Outcome) []Outcome {
	sum := 0
	for i, one := range all {
		if sum += bulk(one.Result); sum > maxRaw {
			return all[:i]
		}
	}
	return all
}

// bulk is about how many bytes a value has as JSON. It runs in workflows too; no
// order comes of the range.
//
//workflowcheck:ignore
func bulk(value any) int {
	sum := 8
	switch x := value.(type) {
	case string:
		sum += len(x)
	case []any:
		for _, item := range x {
			sum += bulk(item)
		}
	case map[string]any:
		for key, item := range x {
			sum += len(key) + bulk(item)
		}
	}
	return sum
}

func outputs(all []Outcome) (by map[string][]rehearsal.Output, order []string) {
	by = make(map[string][]rehearsal.Output, len(all))
	for _, one := range all {
		out := rehearsal.Output{
			Tool: one.Tool, Kind: string(one.Kind), Result: one.Result, Failure: one.Failure, Took: one.Took, Model: one.Model,
		}
		if one.Usage != (model.Usage{}) {
			out.Usage = &one.Usage
		}
		by[one.Effect], order = append(by[one.Effect], out), append(order, one.Effect)
	}
	return by, order
}

func ended(o graph.Outcome) rehearsal.Ending {
	return rehearsal.Ending{
		Response: cutText(o.Response, rehearsal.MaxResponse-len("…")), Err: o.Err, Cancelled: o.Cancelled, Suppressed: o.Suppressed,
	}
}

func gates(adapters []AdapterPin) map[string]float64 {
	if len(adapters) == 0 {
		return nil
	}
	out := make(map[string]float64, len(adapters))
	for _, a := range adapters {
		out[a.ArtifactID] = a.Weight
	}
	return out
}

// policyOf is the policy a turn was routed by, as its router tells it.
func policyOf(trace json.RawMessage) run.Pin {
	var r struct{ Policy PolicyRef }
	_ = json.Unmarshal(trace, &r) // a router that names none followed none
	return run.Pin{ArtifactID: r.Policy.ID, Name: r.Policy.Name, Version: r.Policy.Version}
}

// router is what the turn was routed by; nil when it was not, or when that is
// gone.
func (c *closing) router(ctx context.Context) *routing.Input {
	var object map[string]any
	raw := c.Opened.Router
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &object) == nil {
		if ref, large := reference(object); large {
			var err error
			if raw, err = c.set.Blobs.Blob(ctx, c.Run.Viewer, ref); err != nil {
				c.set.logger().WarnContext(ctx, "what a turn was routed by is not recorded", "run", c.Run.RunID, "error", err)
				return nil
			}
		}
	}
	in := &routing.Input{}
	if json.Unmarshal(raw, in) != nil {
		return nil
	}
	return in
}
