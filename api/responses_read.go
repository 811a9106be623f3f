package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// part is what a response is: a run up to its first question, or from an answer up to
// the next.
type part struct {
	run      run.Run
	id       string         // of the run, or of the question whose answer began it
	after    int64          // what follows this event of the run is the part
	notes    responseNotes  // of the request that began the run
	began    *run.Interrupt // the question; nil: the run itself
	ended    *run.Interrupt // the question the part ended with that waits no more; nil: none yet
	previous string         // the id of the response before it; empty: none
}

const responsePrefix, approvalPrefix = "resp_", "mcpr_"

// errNoResponse is that there is none of that id, for this viewer.
func errNoResponse(of string) error {
	return fault.New(fault.NotFound, "There is no response %q.", clippedName(of)).With(map[string]any{"reason": "not_found"})
}

// partOf finds a response of the viewer's by its id.
func (s *server) partOf(ctx context.Context, of string) (part, error) {
	v := viewerOf(ctx)
	p := part{id: strings.TrimPrefix(of, responsePrefix)}
	if !id.Valid(p.id) || !strings.HasPrefix(of, responsePrefix) {
		return p, errNoResponse(of)
	}
	p.id = id.Canonical(p.id)
	r, err := s.Runs.Run(ctx, v, p.id)
	if errors.Is(err, fault.NotFound) {
		q, asked := s.Interrupts.Interrupt(ctx, v, p.id)
		if asked == nil && q.Status == run.Answered {
			p.began = &q
			r, err = s.Runs.Run(ctx, v, q.RunID)
		}
	}
	if errors.Is(err, fault.NotFound) || err == nil && r.Kind != run.KindChat {
		return p, errNoResponse(of)
	}
	if err != nil {
		return p, err
	}
	p.run, p.notes = r, notesOf(r)
	return p, s.bounds(ctx, v, &p)
}

// bounds finds where a part begins and ends.
func (s *server) bounds(ctx context.Context, v identity.Viewer, p *part) error {
	asked, err := s.Interrupts.RunInterrupts(ctx, v, p.run.ID)
	if err != nil {
		return err
	}
	p.previous = p.notes.Previous
	next := 0
	if p.began != nil {
		at := slices.IndexFunc(asked, func(q run.Interrupt) bool { return q.ID == p.began.ID })
		p.previous = responsePrefix + p.run.ID
		if next = at + 1; at > 0 {
			p.previous = responsePrefix + asked[at-1].ID
		}
		p.after = s.resumedAt(ctx, v, *p.began)
	}
	if next < len(asked) && asked[next].Status != run.Pending {
		p.ended = &asked[next]
	}
	return nil
}

// notesOf is what is kept of the request that began a run.
func notesOf(r run.Run) (n responseNotes) {
	var in struct {
		Fields struct {
			Notes responseNotes `json:"caller_request"`
		} `json:"fields"`
	}
	_ = json.Unmarshal(r.Input, &in) // a run that was begun otherwise has none
	n = in.Fields.Notes
	if n.Model == "" && len(r.Pins) > 0 {
		n.Model = r.Pins[0].Name
	}
	return n
}

// responseWords puts a part into the protocol's words.
func (s *server) responseWords(ctx context.Context, p part) *responseEncoder {
	v := viewerOf(ctx)
	e := &responseEncoder{part: p.id, locale: v.Locale, base: s.baseOf(ctx), last: p.after*eventsEach - 1, seen: -1}
	e.about = Response{
		ID: responsePrefix + p.id, Object: "response", CreatedAt: p.run.CreatedAt.Unix(), Status: statusInProgress, Model: p.notes.Model,
		Background: p.notes.Background, Metadata: p.notes.Metadata, Output: []ResponseItem{}, ToolChoice: "auto", Tools: []Object{}, ParallelToolCalls: true,
		Store: !id.Unkept(p.run.ID), Liminal: CompletionOf{ConversationID: p.run.ConversationID, RunID: p.run.ID},
	}
	if e.about.Metadata == nil {
		e.about.Metadata = ResponseNotes{}
	}
	if p.previous != "" {
		e.about.Previous = &p.previous
	}
	e.asked = func() ([]run.Interrupt, error) {
		if p.ended != nil {
			return []run.Interrupt{*p.ended}, nil
		}
		return s.Interrupts.PendingInterrupts(ctx, v, p.run.ConversationID)
	}
	e.ended = func(string) {}
	return e
}

type getResponseInput struct {
	ID     string `path:"id"`
	Stream bool   `query:"stream"`
	After  int64  `query:"starting_after" minimum:"-1" default:"-1" doc:"with stream: the sequence_number of the last event that was read"`
}

func (s *server) getResponse(ctx context.Context, in *getResponseInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	p, err := s.partOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	words := s.responseWords(ctx, p)
	if in.Stream {
		words.seen = in.After
		return s.partEvents(ctx, v, p, words)
	}
	whole, err := s.partNow(ctx, v, p, words)
	return unwrapped(whole), err
}

// partEvents streams a part, from its beginning: what was read already is left out.
func (s *server) partEvents(ctx context.Context, v identity.Viewer, p part, words *responseEncoder) (func(http.ResponseWriter, *http.Request), error) {
	if p.ended == nil {
		return s.streaming(ctx, v, p.run, p.after, words)
	}
	return s.streaming(ctx, v, p.run, p.after, &endedPart{words})
}

// endedPart tells a part that ended with a question which waits no more: the run is
// beyond it, and its log may tell what came later.
type endedPart struct{ *responseEncoder }

func (e *endedPart) encode(stream.Event) ([][]byte, error) {
	paused, err := stream.New("", stream.PausedData{})
	if err != nil {
		return nil, err
	}
	return e.responseEncoder.encode(paused)
}

// partNow is a part as it stands.
func (s *server) partNow(ctx context.Context, v identity.Viewer, p part, words *responseEncoder) (Response, error) {
	if p.ended != nil {
		paused, err := stream.New("", stream.PausedData{})
		if err != nil {
			return Response{}, err
		}
		return words.response(paused)
	}
	if !p.run.Status.Ended() && p.run.Status != run.Waiting {
		return words.now(p.run.Status), nil
	}
	for e, err := range s.tail.events(ctx, v, p.run, p.after) {
		if err != nil {
			return Response{}, err
		}
		if e.Kind.Ends() {
			return words.response(e)
		}
	}
	return Response{}, ctx.Err()
}

type responseIDInput struct {
	ID string `path:"id"`
}

// responseStops is how long a request to stop a response waits for its end: a client
// that is told of one under way asks again.
const responseStops = 10 * time.Second

func (s *server) cancelResponse(ctx context.Context, in *responseIDInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	p, err := s.partOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if p.ended == nil && !p.run.Status.Ended() {
		limited, done := context.WithTimeout(ctx, responseStops)
		defer done()
		if err := s.stopped(limited, v, p.run); err != nil && limited.Err() == nil {
			return nil, err
		}
		if p, err = s.partOf(ctx, in.ID); err != nil {
			return nil, err
		}
	}
	whole, err := s.partNow(ctx, v, p, s.responseWords(ctx, p))
	return unwrapped(whole), err
}

// ResponseItems is what a response was asked.
type ResponseItems struct {
	Object  string         `json:"object" enum:"list"`
	Data    []ResponseItem `json:"data"`
	First   *string        `json:"first_id" nullable:"true"`
	Last    *string        `json:"last_id" nullable:"true"`
	HasMore bool           `json:"has_more"`
}

func (s *server) responseInput(ctx context.Context, in *responseIDInput) (func(http.ResponseWriter, *http.Request), error) {
	p, err := s.partOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := ResponseItems{Object: "list", Data: answeredItems(p.began)}
	if p.began == nil {
		m, err := s.Messages.Message(ctx, viewerOf(ctx), turnOf(p.run).MessageID)
		if err != nil {
			return nil, err
		}
		out.Data = []ResponseItem{askedItem(m.ID, m.Content)}
	}
	if n := len(out.Data); n > 0 {
		out.First, out.Last = &out.Data[0].ID, &out.Data[n-1].ID
	}
	return unwrapped(out), nil
}

func turnOf(r run.Run) (in chat.TurnInput) {
	_ = json.Unmarshal(r.Input, &in) // of a turn: it is one
	return in
}

func askedItem(itemID, text string) ResponseItem {
	return ResponseItem{ID: "msg_" + itemID, Type: "message", Role: "user", Status: statusCompleted, Content: []ResponsePart{{Type: "input_text", Text: text}}}
}

// answeredItems is the answer to a question, as its client said it.
func answeredItems(q *run.Interrupt) []ResponseItem {
	if q == nil {
		return nil
	}
	calls := clientCalls(*q)
	if len(calls) == 0 {
		text := string(q.Answer)
		if said := ""; json.Unmarshal(q.Answer, &said) == nil {
			text = said
		}
		return []ResponseItem{askedItem(q.ID, text)}
	}
	var given map[string]struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(q.Answer, &given) // checked when it was given
	items := make([]ResponseItem, 0, len(calls))
	for _, c := range calls {
		text := given[c.Place].Content
		items = append(items, ResponseItem{ID: "fco_" + strings.TrimPrefix(c.ID, "call_"), Type: "function_call_output", CallID: c.ID, Output: &text, Status: statusCompleted})
	}
	return items
}

// ResponseDeleted says that a response is gone.
type ResponseDeleted struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"response"`
	Deleted bool   `json:"deleted"`
}

// deleteResponse deletes the conversation that a client's response is part of: what was
// said before and after it stands nowhere else. One that was not begun by a client is
// the person's own.
func (s *server) deleteResponse(ctx context.Context, in *responseIDInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	p, err := s.partOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	list, _, err := s.Messages.ListMessages(ctx, v, p.run.ConversationID, "", 1)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 && !id.Unkept(p.run.ConversationID) {
		first, err := s.Runs.Run(ctx, v, list[0].RunID)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return nil, err
		}
		if list[0].RunID != "" && (err != nil || turnOf(first).History == "") {
			return nil, fault.New(fault.Conflict, "This response is part of a conversation of its person's, which is deleted in the page.").With(map[string]any{"reason": "conversation"})
		}
	}
	if err := s.Conversations.DeleteConversation(ctx, v, p.run.ConversationID); err != nil {
		return nil, err
	}
	return unwrapped(ResponseDeleted{ID: in.ID, Object: "response", Deleted: true}), nil
}

// confirms reports whether a question is a yes or no about a call.
func confirms(q run.Interrupt) bool {
	if q.Type == graph.AskClientCall {
		return false
	}
	_, yes := answerIn(q, yesWords[0])
	_, no := answerIn(q, noWords[0])
	_, other := answerIn(q, "\x00")
	return yes && no && !other
}

// confirmedCall is the call that a confirmation is about.
func confirmedCall(q run.Interrupt) (name, arguments string) {
	var asked struct {
		Call struct {
			Tool string `json:"tool"`
		} `json:"x-call"`
	}
	_ = json.Unmarshal(q.AnswerSchema, &asked) // a question about no call has none
	if asked.Call.Tool == "" {
		return "confirm", "{}"
	}
	drafted, _ := formOf(q).defaults()
	delete(drafted, formOf(q).choice())
	return asked.Call.Tool, asJSON(drafted)
}
