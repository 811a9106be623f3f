package builtin

import (
	"cmp"
	"context"
	"errors"
	"time"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/palace"
	"liminal/internal/tool"
	"liminal/internal/view"
)

const (
	// mostClassifying bounds an answer, in tokens: of lists of numbers, and what a model
	// may think before.
	mostClassifying = 4000
	// longestClassifying leaves a call the time to say that its model is late.
	longestClassifying = 55 * time.Second
)

// classifyHistory asks a model what an agent should go on to see (PAL-07, PAL-08).
type classifyHistory struct {
	completer
	palace Palace
}

func (classifyHistory) Name() string { return "palace.classify_v1" }

func (t classifyHistory) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	q, err := t.palace.Question(ctx, c.Viewer, words(c, "lineage"))
	if err != nil {
		return nil, err
	}
	round := number(c, "round", 0) + 1
	out := map[string]any{"round": round, "shown": len(q.Window.Blocks), "outcome": "empty", "more": false}
	if len(q.Window.Blocks) == 0 {
		return out, nil
	}
	reply, asked, err := t.reply(ctx, c, q)
	if err != nil {
		return nil, err
	}
	heard, more, err := t.palace.Heard(ctx, c.Viewer, q, reply)
	if err != nil {
		return nil, err
	}
	out["outcome"], out["ms"], out["more"] = string(heard.Outcome), reply.Took.Milliseconds(), more && round < mostRounds
	if asked != nil {
		spent(out, asked.asked, asked.usage)
	}
	if heard.Outcome == palace.NotLocal || heard.Outcome == palace.NoModel { // nothing that a later answer mends
		return nil, fault.New(fault.Invalid, "%s", heard.Refused)
	}
	return out, nil
}

// mostRounds bounds the questions of one run; the next run goes on.
const mostRounds = 50

// reply is what comes of asking; asked is nil where nobody was.
func (t classifyHistory) reply(ctx context.Context, c *tool.Call, q palace.Question) (r palace.Reply, asked *completion, err error) {
	m := t.on(c).model
	r.Model = cmp.Or(c.Backend, m.Name())
	switch {
	case !m.Generative():
		r.Outcome, r.Why = palace.NoModel, "classifier.by of policy.palace is model, and there is no language model here: set one up and name it in classifier.model, or write by: rules."
		return r, nil, nil
	case !q.Classifier.Remote && !model.OnLoopback(m):
		r.Outcome, r.Why = palace.NotLocal, "The model "+r.Model+" is not on the loopback address of this machine, and what agents say does not leave it: name one that is in classifier.model of policy.palace, or write remote: true there."
		return r, nil, nil
	}
	quiet := *c
	quiet.Final, quiet.Adapters = false, nil
	limit, cancel := context.WithTimeout(ctx, min(time.Duration(q.Classifier.DeadlineMS)*time.Millisecond, longestClassifying))
	defer cancel()
	began := time.Now()
	asked, err = t.speak(limit, &quiet, model.Request{
		Task: q.Classifier.Role, System: view.Asking, MaxTokens: mostClassifying,
		Messages: []model.Message{says(model.User, model.Frame("data", q.Window.Text(q.Agent)))},
	})
	r.Took = time.Since(began)
	if ctx.Err() != nil { // the run is stopped, or its worker
		return r, nil, ctx.Err()
	}
	late := errors.Is(limit.Err(), context.DeadlineExceeded) || fault.Reason(err) == graph.CodeTimeout
	switch {
	case late:
		r.Outcome, r.Why = palace.Late, "The model did not answer within deadline_ms."
	case err != nil:
		r.Outcome, r.Why = palace.Failed, fault.From(err).Message
	case asked.truncated:
		r.Outcome, r.Why, r.Text = palace.Unreadable, "The answer was cut off: it is longer than one may be.", asked.text.String()
	default:
		r.Text = asked.text.String()
	}
	if asked != nil {
		r.Model = cmp.Or(asked.asked, r.Model)
	}
	return r, asked, nil
}
