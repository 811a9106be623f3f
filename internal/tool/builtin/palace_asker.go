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
)

// longestClassifying leaves a call the time to say that its model is late.
const longestClassifying = 55 * time.Second

// palaceAsker asks the model of a call about a history that the capture proxy kept, as
// the history's policy says.
type palaceAsker struct {
	completer
	palace Palace
}

// notAllowed is the fault of a question that the policy, or what is set up, does not allow:
// nothing that a later answer mends.
func notAllowed(r palace.Reply) error {
	if r.Outcome == palace.NotLocal || r.Outcome == palace.NoModel {
		return fault.New(fault.Invalid, "%s", r.Why)
	}
	return nil
}

// reply is what comes of asking; asked is nil where nobody was.
func (t palaceAsker) reply(ctx context.Context, c *tool.Call, q palace.Question, req model.Request) (r palace.Reply, asked *completion, err error) {
	m := t.on(c).model
	req.Model = words(c, "model") // of the backend, which is chosen already
	r.Model = cmp.Or(req.Model, m.Name())
	switch {
	case !m.Generative():
		r.Outcome, r.Why = palace.NoModel, "classifier.by of policy.palace is model, and there is no language model here: set one up and name it in classifier.model, or write by: rules."
		return r, nil, nil
	case !q.Classifier.Remote && !model.OnLoopback(m):
		r.Outcome, r.Why = palace.NotLocal, "The model "+r.Model+" is not on the loopback address of this machine, or is reached through the capture proxy, and what agents say does not leave the machine: name one that is in classifier.model of policy.palace, or write remote: true there."
		return r, nil, nil
	}
	quiet := *c
	quiet.Final, quiet.Adapters = false, nil
	limit, cancel := context.WithTimeout(ctx, min(time.Duration(q.Classifier.DeadlineMS)*time.Millisecond, longestClassifying))
	defer cancel()
	began := time.Now()
	req.Task = q.Classifier.Role
	asked, err = t.speak(limit, &quiet, req)
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
