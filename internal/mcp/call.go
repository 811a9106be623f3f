package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/fault"
	"liminal/internal/webaccess"
)

// Call is one call of a tool.
type Call struct {
	Server     Server
	Tool       string // as the server calls it
	SHA256     string // of the tool as it was approved
	Idempotent bool   // it may be made again from its beginning
	Structured bool   // the approved result is what the server structured
	Mirrored   bool   // the tool's inputs stand in headers too, which the library must know of
	Inputs     map[string]any
	Resume     any // what the call wanted back, with a person's answer
}

// ChangedError says that a server tells another tool than was approved.
type ChangedError struct {
	Fault *fault.Error
	Now   *Tool // nil: it has none of the name any more
}

func (e *ChangedError) Error() string { return e.Fault.Error() }

// Unwrap gives the fault.
func (e *ChangedError) Unwrap() error { return e.Fault }

// Call calls a tool, once it is sure that the server tells the one that was approved.
// The result is the tool's, or asks a person, or puts the call off. Errors:
//
//   - *ChangedError: nothing was called
//   - a fault of the reason webaccess.Unsent or NotConfigured: nothing was called
//   - a fault of the reason Refused: the server says that it did not do it
//   - any other: nobody knows what the server did
func (c *Client) Call(ctx context.Context, in Call) (map[string]any, error) {
	w, err := resumed(in.Resume)
	if err != nil {
		return nil, unsent(err)
	}
	if w.open() != nil { // a server may ask several things at once; people are asked one
		out, err := w.ask(in.Server.Title)
		return out, err
	}
	once := &asking{waiting: w, again: in.Idempotent}
	calling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	once.stop = stop
	once.done = make(chan struct{})
	t, err := c.open(ctx, in.Server, once.elicited)
	if err != nil {
		return nil, err
	}
	defer t.close()
	defer close(once.done)
	if err := c.approved(ctx, in, t); err != nil {
		return nil, err
	}
	params := &sdk.CallToolParams{Name: in.Tool, Arguments: in.Inputs}
	if w.Ended {
		params.RequestState, params.InputResponses = w.State, sdk.InputResponseMap{}
		for _, q := range w.Questions {
			params.InputResponses[q.ID] = q.Answer.result()
		}
	}
	res, err := t.session.CallTool(calling, params)
	if asked := once.asked(); asked != nil && in.Idempotent {
		w.Questions = append(w.Questions, question{Params: *asked})
		return w.ask(in.Server.Title)
	} else if asked != nil {
		return nil, fault.New(fault.Invalid, "%s asks back in the middle of a call, and its version of the protocol (%s) cannot wait for a person. It was told to break off. A tool that may safely be called twice can be asked about: an administrator sets idempotent in its tool.spec.",
			in.Server.Title, t.session.InitializeResult().ProtocolVersion).With(map[string]any{"reason": AsksWithin})
	}
	if err != nil {
		return c.refusedCall(ctx, in, t, w, err)
	}
	return in.result(t, w, res)
}

// approved is nil while the server tells the tool that was approved.
func (c *Client) approved(ctx context.Context, in Call, t *talk) error {
	tools, known := c.known(in.Server)
	now, there := find(tools, in.Tool)
	if !known || !there || now.SHA256() != in.SHA256 || in.Mirrored { // what is remembered refuses nobody
		var err error
		if tools, err = c.list(ctx, in.Server, t); err != nil {
			return err
		}
		now, there = find(tools, in.Tool)
	}
	details := map[string]any{"reason": Changed}
	switch {
	case !there:
		return &ChangedError{Fault: fault.New(fault.Conflict, "%s has no tool %q any more.", in.Server.Title, in.Tool).With(details)}
	case now.SHA256() != in.SHA256:
		return &ChangedError{Now: &now, Fault: fault.New(fault.Conflict, "%s says another thing of its tool %q than what was approved, so it is not called until an administrator has read it.", in.Server.Title, in.Tool).With(details)}
	}
	return nil
}

// refusedCall is what a call without a result means. A server of an earlier version
// that wants a page opened says so by an error, before it does anything.
func (c *Client) refusedCall(ctx context.Context, in Call, t *talk, w waiting, err error) (map[string]any, error) {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || said.Code != sdk.CodeURLElicitationRequired {
		return nil, t.failed(ctx, err)
	}
	var data struct {
		Elicitations []sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(said.Data, &data) != nil || len(data.Elicitations) == 0 {
		return nil, t.failed(ctx, err)
	}
	declined := slices.ContainsFunc(w.Questions, func(q question) bool { return q.Answer.Action != "accept" })
	if declined {
		return nil, fault.New(fault.Invalid, "%s does this only after a page was opened, which was declined.", in.Server.Title).With(map[string]any{"reason": Refused})
	}
	for _, p := range data.Elicitations {
		p.Mode = "url"
		w.Questions = append(w.Questions, question{Params: p})
	}
	return w.ask(in.Server.Title)
}

// asking answers what a server asks within a call: with what a person said, or by
// breaking the call off, to be made again with their answer.
type asking struct {
	waiting waiting
	again   bool
	stop    context.CancelCauseFunc
	done    chan struct{} // the call is over

	mu   sync.Mutex
	used int
	open *sdk.ElicitParams
}

var errAsked = errors.New("the server asks a person")

func (a *asking) elicited(_ context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	a.mu.Lock()
	if a.open == nil && a.used < len(a.waiting.Questions) {
		if q := &a.waiting.Questions[a.used]; q.Answer != nil && q.same(p) {
			a.used++
			a.mu.Unlock()
			return q.Answer.result(), nil
		}
	}
	if a.open == nil {
		a.open = p
	}
	a.mu.Unlock()
	if !a.again {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	a.stop(errAsked)
	<-a.done // an answer, even that there is none, would let the server go on
	return nil, errAsked
}

func (a *asking) asked() *sdk.ElicitParams {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open
}

// result is what a server answered, as the tool's.
func (in Call) result(t *talk, w waiting, res *sdk.CallToolResult) (map[string]any, error) {
	title := in.Server.Title
	if res.NeedsInput() {
		w = waiting{State: res.RequestState, Ended: true, Busy: w.Busy}
		if len(res.InputRequests) == 0 {
			return w.later(title)
		}
		ids := make([]string, 0, len(res.InputRequests))
		for id := range res.InputRequests {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			p, ok := res.InputRequests[id].(*sdk.ElicitParams)
			if !ok {
				return nil, fault.New(fault.Invalid, "%s asks for a language model, or for folders, of this program: that is refused.", title).With(map[string]any{"reason": Refused})
			}
			w.Questions = append(w.Questions, question{ID: id, Params: *p})
		}
		return w.ask(title)
	}
	text := textOf(res.Content)
	if res.IsError {
		return nil, fault.New(fault.Invalid, "%s says that it failed: %s", title, clipped(text, 1000)).With(map[string]any{"reason": Refused})
	}
	out := map[string]any{"text": text}
	if structured, ok := res.StructuredContent.(map[string]any); ok && in.Structured {
		_, asks := structured["interrupt"]
		if _, later := structured["later"]; asks || later {
			return nil, fault.New(fault.Invalid, "%s answered with what would be taken for a question of this program's own.", title)
		}
		out = withoutUnseen(structured).(map[string]any)
	} else if in.Structured {
		return nil, fault.New(fault.Invalid, "%s answered without the structure it said its results have.", title)
	}
	if raw, err := json.Marshal(out); err != nil || len(raw) > MaxResult {
		return nil, fault.New(fault.Invalid, "%s answered with more than %d KiB.", title, MaxResult>>10)
	}
	return out, nil
}

// withoutUnseen is a value whose texts hold nothing that nobody sees.
func withoutUnseen(v any) any {
	switch v := v.(type) {
	case string:
		return webaccess.Plain(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[k] = withoutUnseen(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = withoutUnseen(inner)
		}
		return out
	}
	return v
}

// textOf is what a server answered, as text. What is none is named.
func textOf(content []sdk.Content) string {
	var parts []string
	for _, c := range content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[a picture, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[a recording, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[%s: %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			switch r := c.Resource; {
			case r == nil:
			case r.Text != "":
				parts = append(parts, r.Text)
			default:
				parts = append(parts, fmt.Sprintf("[%s, %s, %d bytes]", r.URI, r.MIMEType, len(r.Blob)))
			}
		}
	}
	return webaccess.Plain(strings.Join(parts, "\n\n"))
}
