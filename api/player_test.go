package api

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/stream"
	"liminal/worker"
)

// player plays the engine over a real store and a real log. What a turn does
// follows from its message: "ask …" pauses with a question, "form" with one that
// is a form, "words" with one that is a text, "call" with calls of a program's, "confirm"
// with a yes or no, "look" calls a tool, "repeat" says what it said once more, "differ"
// something else, "fail …" fails,
// "slow …" says its first word and waits for a cancel or for proceed, and
// anything else is answered with its own words.
type player struct {
	store   *store.Store
	log     *inproc.Memory
	running sync.WaitGroup
	queues  bool // a turn that was queued is played when the one before it ends
	mute    bool // as after a crash: what happens reaches the store, not the log

	mu    sync.Mutex
	stops map[string]chan string // slow runs: "cancel" or "proceed"
	turns []chat.NewTurn
	users []string // on whose behalf each was asked

	state func(ctx context.Context, v identity.Viewer, runID string) (json.RawMessage, error) // nil: no run can be looked into
}

func (p *player) wait() {
	p.mu.Lock()
	for _, stop := range p.stops {
		close(stop)
	}
	p.stops = nil
	p.mu.Unlock()
	p.running.Wait()
}

func (p *player) Chat(ctx context.Context, v identity.Viewer, t chat.NewTurn) (chat.Accepted, error) {
	p.mu.Lock()
	p.turns, p.users = append(p.turns, t), append(p.users, v.UserID)
	p.mu.Unlock()
	a, err := p.store.Accept(ctx, v, t)
	if err != nil || a.Duplicate || a.Run.Status != run.Running {
		return a, err
	}
	ctx, stop := context.WithoutCancel(ctx), make(chan string, 1)
	p.mu.Lock()
	if p.stops == nil {
		p.stops = map[string]chan string{}
	}
	p.stops[a.Run.ID] = stop
	p.mu.Unlock()
	p.running.Go(func() { p.play(ctx, v, a.Run, t.Message, stop) })
	return a, nil
}

// Learn begins a run that does not end.
func (p *player) Learn(ctx context.Context, v identity.Viewer, at time.Time) (run.Run, error) {
	under, _, err := p.store.ListRuns(ctx, v, run.Filter{Kind: run.KindCluster, Status: run.Running, Limit: 1})
	if err != nil {
		return run.Run{}, err
	}
	if len(under) > 0 {
		return run.Run{}, fault.New(fault.Conflict, "It is under way.").With(map[string]any{"run_id": under[0].ID})
	}
	r := run.Run{ID: id.New(), UserID: v.UserID, WorkflowID: "cluster:" + v.UserID, Kind: run.KindCluster, Status: run.Running, CreatedAt: at}
	return r, p.store.CreateRun(ctx, v, r)
}

func (p *player) say(ctx context.Context, r run.Run, key string, data stream.Payload) {
	if p.mute {
		return
	}
	e, _ := stream.New("answer", data)
	e.Key = key
	_, _ = p.log.Append(ctx, r.ID, e)
}

func (p *player) play(ctx context.Context, v identity.Viewer, r run.Run, message string, stop <-chan string) {
	p.say(ctx, r, "", stream.StatusData{Node: "answer", Message: "Answering"})
	words := strings.SplitAfter(message, " ")
	switch strings.TrimSpace(words[0]) {
	case "ask":
		p.ask(ctx, v, r, words[1:])
	case "form":
		p.put(ctx, v, r, run.Interrupt{
			ID: id.Derive(r.ID, "form"), RunID: r.ID, ConversationID: r.ConversationID, Type: "text_input", Message: "Where to?", AnswerSchema: trip,
		})
	case "confirm":
		p.put(ctx, v, r, run.Interrupt{
			ID: id.Derive(r.ID, "confirm"), RunID: r.ID, ConversationID: r.ConversationID, Type: "action_choice", Message: "Do it?",
			Options: []run.Option{{ID: "yes", Label: "Yes"}, {ID: "no", Label: "No"}},
		})
	case "words":
		p.put(ctx, v, r, run.Interrupt{
			ID: id.Derive(r.ID, "words"), RunID: r.ID, ConversationID: r.ConversationID, Type: "text_input", Message: "What is it called?",
		})
	case "look":
		p.say(ctx, r, "", stream.TokenData("I look."))
		p.say(ctx, r, "", stream.ResetData{Reason: stream.ResetTools})
		p.say(ctx, r, "", stream.ToolCallData{ID: "c1", Name: "find", Arguments: map[string]any{"n": 1}})
		p.say(ctx, r, "", stream.ToolResultData{ID: "c1", Name: "find", Status: stream.ToolOK, Summary: "2 results"})
		p.say(ctx, r, "", stream.ChipData{Kind: "deadline", Action: "open", ID: "d1", Href: "/r/d1"})
		p.say(ctx, r, "", stream.TokenData("Found."))
		p.end(ctx, v, r, run.Done, "Found.")
	case "repeat", "differ":
		p.say(ctx, r, "", stream.TokenData("one "))
		p.say(ctx, r, "", stream.ResetData{Reason: stream.ResetRetry})
		text := map[string]string{"repeat": "one two", "differ": "other words"}[words[0]]
		for _, w := range strings.SplitAfter(text, " ") {
			p.say(ctx, r, "", stream.TokenData(w))
		}
		p.end(ctx, v, r, run.Done, text)
	case "call":
		p.put(ctx, v, r, run.Interrupt{
			ID: id.Derive(r.ID, "call"), RunID: r.ID, ConversationID: r.ConversationID, Type: graph.AskClientCall, Message: "Waits for the program.", AnswerSchema: twoCalls,
		})
	case "fail":
		p.fail(ctx, v, r, strings.TrimSpace(strings.Join(words[1:], "")))
	case "slow":
		p.say(ctx, r, "", stream.TokenData(words[0]))
		if <-stop == "cancel" {
			p.end(ctx, v, r, run.Cancelled, words[0])
			return
		}
		p.end(ctx, v, r, run.Done, message)
	default:
		for _, w := range words {
			p.say(ctx, r, "", stream.TokenData(w))
		}
		p.end(ctx, v, r, run.Done, message)
	}
}

func (p *player) ask(ctx context.Context, v identity.Viewer, r run.Run, questions []string) {
	var asked []run.Interrupt
	for i, q := range questions {
		asked = append(asked, run.Interrupt{
			ID: id.Derive(r.ID, q, string(rune('a'+i))), RunID: r.ID, ConversationID: r.ConversationID,
			Type: "doc_choice", Message: strings.TrimSpace(q), Options: []run.Option{{ID: "one", Label: "One"}, {ID: "two", Label: "Two"}},
		})
	}
	p.put(ctx, v, r, asked...)
}

// trip is the form that is asked for.
var trip = json.RawMessage(`{"type":"object","required":["to","nights"],"additionalProperties":false,"properties":{
	"to":{"type":"string","title":"To","minLength":1},"nights":{"type":"integer","title":"Nights","minimum":1,"maximum":30},
	"by":{"type":"array","items":{"enum":["rail","bus"]}},"who":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}`)

// twoCalls is what a graph asks a program that is to call two tools.
var twoCalls = json.RawMessage(`{"type":"object","required":["1","3"],"additionalProperties":false,"properties":{
	"1":{"type":"object","required":["content"],"properties":{"content":{"type":"string"},"is_error":{"type":"boolean"}}},"3":{"type":"object","required":["content"]}},
	"x-calls":[{"id":"1","name":"weather","arguments":{"city":"Jena"}},{"id":"3","name":"clock","arguments":{}}]}`)

func (p *player) put(ctx context.Context, v identity.Viewer, r run.Run, asked ...run.Interrupt) {
	_ = p.store.Ask(ctx, v, true, asked...)
	ids := []string{}
	for _, q := range asked {
		ids = append(ids, q.ID)
		q.CreatedAt = time.Now()
		p.say(ctx, r, q.ID, chat.Asked(q))
	}
	p.say(ctx, r, "", stream.PausedData{InterruptIDs: ids})
}

func (p *player) fail(ctx context.Context, v identity.Viewer, r run.Run, why string) {
	reason := stream.RunError{Code: "server_error", Message: "The model is away.", Node: "answer", Reason: why}
	if why == fault.Budget {
		reason.Code, reason.Message = "rate_limited", "Your budget is used up."
	}
	if why == "resting" {
		reason.Reason, reason.RetryAt = fault.Upstream, time.Now().Add(30*time.Second).UTC().Truncate(time.Second)
	}
	raw, _ := json.Marshal(reason)
	_, _ = p.store.CloseTurn(ctx, v, chat.Close{RunID: r.ID, End: run.End{Status: run.Failed, Error: raw}})
	p.say(ctx, r, "end", reason)
	_ = p.log.Finish(ctx, r.ID, time.Hour)
}

func (p *player) end(ctx context.Context, v identity.Viewer, r run.Run, s run.Status, content string) {
	usage := map[string]any{"input_tokens": 3, "output_tokens": 5}
	trace := json.RawMessage(`[{"node":"answer","type":"tool_call","visit":1,"started":"2026-09-21T14:13:20Z","outcome":"ok"}]`)
	m := &chat.Message{
		Role: "assistant", Content: content, Struct: chat.Compose(content, []chat.Citation{{N: 1, Source: model.Source{DocumentID: id.New(), Title: "T", End: 1}, Text: "q"}}, nil),
		Meta: map[string]any{"usage": usage, "adapters": []any{}, "gates": []any{}, "model": "extractive"},
	}
	closed, err := p.store.CloseTurn(ctx, v, chat.Close{RunID: r.ID, End: run.End{Status: s, Trace: trace}, Message: m})
	if err != nil {
		return
	}
	m.ID, r.Trace = closed.MessageID, trace
	if s == run.Cancelled {
		ack, _ := chat.CancelAck(r, m)
		p.say(ctx, r, "end", ack)
	} else {
		done, _ := chat.MessageDone(r, m)
		p.say(ctx, r, "end", done)
	}
	_ = p.log.Finish(ctx, r.ID, time.Hour)
	if next := closed.Next; p.queues && next != nil {
		said, _ := p.store.Message(ctx, v, turnInput(*next).MessageID)
		p.running.Go(func() { p.play(ctx, v, *next, said.Content, nil) })
	}
}

func (p *player) Answer(ctx context.Context, v identity.Viewer, interruptID string, a run.Answer) (run.Interrupt, error) {
	value, _ := json.Marshal(a.Value)
	status := run.Answered
	if a.Cancel {
		status = run.Skipped
	}
	q, err := p.store.Interrupt(ctx, v, interruptID)
	if err == nil && !a.Cancel && len(q.AnswerSchema) > 0 {
		err = worker.Check(ctx, q, a) // as the engine does
	}
	if err != nil {
		return q, err
	}
	q, err = p.store.Answer(ctx, v, interruptID, status, value)
	if err != nil {
		return q, err
	}
	r, err := p.store.Run(ctx, v, q.RunID)
	if err != nil {
		return q, err
	}
	open, err := p.store.PendingInterrupts(ctx, v, r.ConversationID)
	if err != nil || len(open) > 0 {
		return q, err
	}
	ctx = context.WithoutCancel(ctx)
	p.running.Go(func() {
		_ = p.store.Deliver(ctx, v, r.ID, q.ID)
		p.say(ctx, r, "", stream.ResumedData{InterruptID: q.ID})
		p.end(ctx, v, r, run.Done, "You chose "+string(value))
	})
	return q, nil
}

func (p *player) Cancel(ctx context.Context, v identity.Viewer, of string) (run.Run, error) {
	r, err := p.store.Run(ctx, v, of)
	if fault.CodeOf(err) == fault.NotFound {
		r, err = p.store.RunByRequest(ctx, v, of)
	}
	if err != nil {
		return r, err
	}
	p.tell(r.ID, "cancel")
	return r, nil
}

// tell lets a slow run go on.
func (p *player) tell(runID, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stop, ok := p.stops[runID]; ok {
		select {
		case stop <- what:
		default:
		}
	}
}

func (p *player) job(ctx context.Context, v identity.Viewer, kind run.Kind, workflow, requestID string, e run.End) (run.Run, error) {
	r := run.Run{ID: id.New(), Kind: kind, WorkflowID: workflow, UserID: v.UserID, RequestID: requestID, Status: run.Running, CreatedAt: time.Now()}
	if err := p.store.CreateRun(ctx, v, r); err != nil {
		return r, err
	}
	ctx = context.WithoutCancel(ctx)
	p.running.Go(func() {
		_ = p.store.EndRun(ctx, v, r.ID, e)
		p.say(ctx, r, "end", stream.MessageDoneData{RunID: r.ID})
		_ = p.log.Finish(ctx, r.ID, time.Hour)
	})
	return r, nil
}

func (p *player) Ingest(ctx context.Context, v identity.Viewer, documentID string) (run.Run, error) {
	return p.job(ctx, v, run.KindIngest, "ingest:"+documentID, id.New(), run.End{Status: run.Done})
}

func (p *player) RunTool(ctx context.Context, v identity.Viewer, tool string, input map[string]any, requestID string) (run.Run, error) {
	switch tool {
	case "test.echo_v1":
		out, _ := json.Marshal(map[string]any{"data": map[string]any{"echo": input}, "usage": nil})
		return p.job(ctx, v, run.KindTool, "tool:"+id.New(), requestID, run.End{Status: run.Done, Result: out})
	case "test.broken_v1":
		return p.job(ctx, v, run.KindTool, "tool:"+id.New(), requestID, run.End{Status: run.Failed, Error: json.RawMessage(`{"code":"validation_error","message":"It is broken."}`)})
	}
	return run.Run{}, fault.New(fault.NotFound, "There is no tool %q.", tool)
}

// compare answers a question twice and asks which answer is better.
func (p *player) compare(ctx context.Context, v identity.Viewer, input map[string]any, requestID string) (run.Run, error) {
	raw, _ := json.Marshal(map[string]any{"artifact": workflowCompare, "input": input})
	r := run.Run{ID: id.New(), Kind: run.KindGraph, WorkflowID: "graph:" + id.New(), UserID: v.UserID, RequestID: requestID, Status: run.Running, Input: raw, CreatedAt: time.Now()}
	if err := p.store.CreateRun(ctx, v, r); err != nil {
		return r, err
	}
	c := learning.Comparison{RunID: r.ID, AdapterID: input["adapter_id"].(string), Question: input["message"].(string)}
	for _, which := range []string{learning.First, learning.Second} {
		text := "Without."
		if which == c.With() {
			text = "With."
		}
		if err := p.store.PutCompared(ctx, v, c, learning.Compared{Which: which, Text: text, Model: "m"}); err != nil {
			return r, err
		}
	}
	p.put(ctx, v, r, run.Interrupt{ID: id.Derive(r.ID, "ask"), RunID: r.ID, Type: "action_choice", Message: "Which is better?"})
	return r, nil
}

func (p *player) RunWorkflow(ctx context.Context, v identity.Viewer, artifact string, input, _ map[string]any, requestID string) (run.Run, error) {
	if artifact == workflowCompare {
		return p.compare(ctx, v, input, requestID)
	}
	return p.job(ctx, v, run.KindGraph, "graph:"+id.New(), requestID, run.End{Status: run.Done})
}

func (p *player) State(ctx context.Context, v identity.Viewer, runID string) (json.RawMessage, error) {
	if p.state == nil {
		return nil, fault.New(fault.NotFound, "The run's workflow is no longer kept.")
	}
	return p.state(ctx, v, runID)
}
