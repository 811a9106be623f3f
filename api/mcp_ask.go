package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// MCPAnswer is what came of a call that a run answers.
type MCPAnswer struct {
	Answer         string        `json:"answer,omitempty"`
	Status         string        `json:"status"` // as of a run
	ConversationID string        `json:"conversation_id,omitempty"`
	RunID          string        `json:"run_id"`
	Questions      []MCPQuestion `json:"questions,omitempty"`
	Output         any           `json:"output,omitempty"` // of a tool
}

// MCPQuestion is what a run waits for.
type MCPQuestion struct {
	ID      string          `json:"interrupt_id"`
	Message string          `json:"message"`
	Options []run.Option    `json:"options,omitempty"`
	Form    json.RawMessage `json:"answer_schema,omitempty"`
}

var answerSchema = map[string]any{
	"type": "object", "required": []string{"status", "run_id"},
	"properties": map[string]any{
		"answer":          stringOf("the words of the answer"),
		"status":          map[string]any{"type": "string", "description": "done; waiting: for the answer to a question; running: it goes on by itself, ask the tool run"},
		"conversation_id": stringOf("pass it to go on with this conversation"),
		"run_id":          stringOf("for the tool run"),
		"questions":       map[string]any{"type": "array", "items": map[string]any{"type": "object"}, "description": "what it waits for: answer with the tool answer"},
		"output":          map[string]any{"description": "what a tool gave"},
	},
}

// assistants are the workflows with a title, as tools, for a key that may ask.
func (m *mcpServer) assistants(ctx context.Context, v identity.Viewer) (list []mcpTool, err error) {
	if v.Allows(scopeChat) != nil {
		return nil, nil
	}
	workflows, err := m.titled(ctx, v)
	for _, w := range workflows {
		if !v.Grant.MayAsk(w.ID, w.Name) {
			continue
		}
		list = append(list, mcpTool{mcp.Tool{
			Name: mcpName("ask", w.Name), Title: w.title, Annotations: saysOnly, OutputSchema: answerSchema,
			Description: strings.TrimSpace(w.title + ". " + w.Description),
			InputSchema: object([]string{"message"}, map[string]any{
				"message":         map[string]any{"type": "string", "minLength": 1, "maxLength": maxMessage, "description": "what to say, in the person's language"},
				"conversation_id": stringOf("to go on with a conversation; missing: a new one"),
			}),
		}, ask(w.ID)})
	}
	return list, err
}

// ask says something to a workflow and gives what comes of it.
func ask(workflowID string) func(context.Context, *mcpCall) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
		if res, again, err := c.resumed(ctx); again || err != nil {
			return res, err
		}
		var in struct {
			Message        MessageText `json:"message"`
			ConversationID string      `json:"conversation_id"`
		}
		if err := c.read(&in); err != nil {
			return nil, err
		}
		t, _, err := (&chatInput{Body: ChatRequest{Message: in.Message, WorkflowID: &workflowID}}).turn(ctx)
		if err != nil {
			return nil, err
		}
		begun, err := c.sayWhere(ctx, t, in.ConversationID)
		if err != nil {
			return nil, err
		}
		r, err := c.runOf(ctx, c.viewer, begun)
		if err != nil {
			return nil, err
		}
		return c.follow(ctx, r, begun.After)
	}
}

// sayWhere says something in a conversation, or begins one.
func (c *mcpCall) sayWhere(ctx context.Context, t chat.NewTurn, conversationID string) (begunSession, error) {
	if conversationID == "" {
		a, err := c.say(ctx, c.viewer, t, false)
		return begunBy(a), err
	}
	if err := uuids("conversation_id", []string{conversationID}); err != nil {
		return begunSession{}, err
	}
	in, err := c.Conversations.Conversation(ctx, c.viewer, id.Canonical(conversationID))
	if err != nil {
		return begunSession{}, err
	}
	return c.sayNext(ctx, c.viewer, t, in, false)
}

// follow waits for what comes of a run after an event of it: its end, or what it
// asks, which the client may be asked while the call waits.
func (c *mcpCall) follow(ctx context.Context, r run.Run, after int64) (*mcp.CallToolResult, error) {
	for {
		e, err := c.next(ctx, r, after)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
			return c.working(r), nil
		case e.Kind == stream.Error:
			return nil, c.overdrawn(ctx, c.viewer, c.runFault(r, e.Data))
		case e.Kind != stream.Paused:
			return c.ended(ctx, r, *e)
		}
		open, err := (&following{tail: c.server.tail, viewer: c.viewer, run: r}).open(ctx)
		if err != nil {
			return nil, err
		}
		if len(open) == 0 { // answered since
			continue
		}
		forms, all := c.forms(open)
		switch {
		case !all || !c.canAsk():
			return c.waiting(r, open), nil
		case c.req.ProtocolVersion() >= statelessSince:
			return c.inputRequired(r, forms), nil
		}
		after = c.lastSeq(ctx, r.ID)
		left, err := c.elicit(ctx, open, forms)
		if err != nil {
			return nil, err
		}
		if left {
			return c.waiting(r, open), nil
		}
	}
}

// next is the event that ends what a run has to say for now; nil: it is still at
// work. A call that its client takes back stops the run.
func (c *mcpCall) next(ctx context.Context, r run.Run, after int64) (*stream.Event, error) {
	limited, cancel := context.WithTimeout(ctx, c.works)
	defer cancel()
	for e, err := range c.server.tail.events(limited, c.viewer, r, after) {
		if err != nil && limited.Err() == nil {
			return nil, err
		}
		if err != nil {
			break
		}
		if e.Kind.Ends() {
			return &e, nil
		}
		switch e.Kind {
		case stream.Status:
			if said, _ := stream.Read[stream.StatusData](e.Data); !said.Done {
				c.progress(ctx, said.Message)
			}
		case stream.ToolCall:
			called, _ := stream.Read[stream.ToolCallData](e.Data)
			c.progress(ctx, called.Name)
		default: // words and what else there is have none of the protocol's
		}
	}
	if ctx.Err() != nil {
		c.closing(ctx, c.viewer, r, nil)
		return nil, ctx.Err()
	}
	return nil, nil
}

// progress tells what a run does, to who asked to be told.
func (c *mcpCall) progress(ctx context.Context, doing string) {
	token := c.req.Params.GetProgressToken()
	if token == nil || doing == "" {
		return
	}
	c.steps++
	// Who is gone is noticed by the run's events.
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: c.steps, Message: doing})
}

func (c *mcpCall) answerOf(r run.Run, status run.Status) MCPAnswer {
	return MCPAnswer{RunID: r.ID, ConversationID: r.ConversationID, Status: string(status)}
}

// ended is the result of a run that is over.
func (c *mcpCall) ended(ctx context.Context, r run.Run, e stream.Event) (*mcp.CallToolResult, error) {
	if e.Kind == stream.CancelAck {
		return nil, errStopped()
	}
	if r.Kind != run.KindChat {
		out, err := c.outcome(ctx, c.viewer, r.ID)
		if err != nil {
			return nil, err
		}
		a := c.answerOf(r, run.Done)
		a.Output = out.Output
		return resultOf(asJSON(out.Output), a), nil
	}
	words := &completionEncoder{locale: c.viewer.Locale}
	f, err := words.end(e)
	if err != nil {
		return nil, err
	}
	a := c.answerOf(r, run.Done)
	a.Answer = f.rest
	said := f.rest
	if said == "" { // a question was skipped, so nobody is told the answer to it
		said = "It ended without an answer."
		if german(c.viewer.Locale) {
			said = "Es endete ohne eine Antwort."
		}
	}
	return resultOf(said, a, append(c.links(f.cited), c.goesOn(a)...)...), nil
}

// goesOn tells a model by which id it goes on: not every client shows it the data.
func (c *mcpCall) goesOn(a MCPAnswer) []mcp.Content {
	if a.ConversationID == "" || id.Unkept(a.RunID) {
		return nil
	}
	return []mcp.Content{&mcp.TextContent{Text: "conversation_id: " + a.ConversationID}}
}

// links are what an answer quotes: documents of the person's, and records.
func (c *mcpCall) links(cited []chat.Citation) (list []mcp.Content) {
	var seen []string
	for _, q := range cited {
		link := &mcp.ResourceLink{URI: documentURI(q.DocumentID), Name: q.Title, Title: q.Title}
		if q.Record != nil {
			link.URI, link.Name, link.Title = c.base+q.Record.Href, q.Record.Title, q.Record.Title
			if strings.Contains(q.Record.Href, "://") {
				link.URI = q.Record.Href
			}
		}
		if link.Name == "" || slices.Contains(seen, link.URI) {
			continue
		}
		seen = append(seen, link.URI)
		list = append(list, link)
	}
	return list
}

// working is the result of a call whose run takes longer.
func (c *mcpCall) working(r run.Run) *mcp.CallToolResult {
	said := "It is still working, and goes on by itself. Ask the tool run for it, with run_id " + r.ID + "."
	if german(c.viewer.Locale) {
		said = "Es läuft noch und geht von selbst weiter. Frage mit dem Werkzeug run danach, mit run_id " + r.ID + "."
	}
	return resultOf(said, c.answerOf(r, run.Running))
}

// waiting is a question as a text, for a client that has no other way to ask.
func (c *mcpCall) waiting(r run.Run, open []run.Interrupt) *mcp.CallToolResult {
	a := c.answerOf(r, run.Waiting)
	var b strings.Builder
	b.WriteString(askedAll(open, c.viewer.Locale))
	for _, q := range open {
		a.Questions = append(a.Questions, MCPQuestion{q.ID, q.Message, q.Options, q.AnswerSchema})
	}
	how := "\n\nAsk the person, and answer with the tool answer, interrupt_id "
	if german(c.viewer.Locale) {
		how = "\n\nFrage die Person und antworte mit dem Werkzeug answer, interrupt_id "
	}
	b.WriteString(how + open[0].ID)
	if c.base != "" && r.ConversationID != "" {
		b.WriteString(", " + c.base + "/c/" + r.ConversationID)
	}
	return resultOf(b.String(), a, c.goesOn(a)...)
}

func german(locale string) bool { return strings.HasPrefix(locale, "de") }

// followRun is how a run stands, and what comes of it within the time of a call.
func followRun(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
	if res, again, err := c.resumed(ctx); again || err != nil {
		return res, err
	}
	var in struct {
		RunID string `json:"run_id"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if err := uuids("run_id", []string{in.RunID}); err != nil {
		return nil, err
	}
	r, err := c.Runs.Run(ctx, c.viewer, id.Canonical(in.RunID))
	if err != nil {
		return nil, err
	}
	return c.follow(ctx, r, 0)
}

// answerQuestion answers a question by its id.
func answerQuestion(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
	if res, again, err := c.resumed(ctx); again || err != nil {
		return res, err
	}
	var in struct {
		ID     string `json:"interrupt_id"`
		Answer any    `json:"answer"`
		Skip   bool   `json:"skip"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if err := uuids("interrupt_id", []string{in.ID}); err != nil {
		return nil, err
	}
	q, err := c.Interrupts.Interrupt(ctx, c.viewer, id.Canonical(in.ID))
	if err != nil {
		return nil, err
	}
	a := run.Answer{Value: in.Answer, Cancel: in.Skip}
	if said, ok := in.Answer.(string); ok && !in.Skip {
		if a, ok = answerIn(q, said); !ok {
			return nil, fault.New(fault.Invalid, "This is no answer to the question: %s", askedText(q, c.viewer.Locale))
		}
	}
	if in.Answer == nil && !in.Skip {
		return nil, fault.New(fault.Invalid, "Give an answer, or skip the question with skip: true.")
	}
	after := c.lastSeq(ctx, q.RunID)
	if _, err = c.Engine.Answer(ctx, c.viewer, q.ID, a); err != nil {
		return nil, err
	}
	r, err := c.Runs.Run(ctx, c.viewer, q.RunID)
	if err != nil {
		return nil, err
	}
	return c.follow(ctx, r, after)
}
