package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/run"
	"liminal/internal/stream"
)

const ndjson = "application/x-ndjson"

// sessionLines is how the stream of a session travels: lines of JSON and nothing
// else, with a ping every five seconds (STREAM-26, STREAM-27).
var sessionLines = carrier{kind: ndjson, keepAlive: keepAlive{ping: 5 * time.Second, write: defaultKeepAlive.write}}

// The lines of a session's stream, one struct each.
type (
	// SessionText is a piece of the answer.
	SessionText struct {
		Type  string `json:"type" enum:"text"`
		Delta string `json:"delta"`
	}
	// SessionToolUse says that a tool is called; long inputs are cut.
	SessionToolUse struct {
		Type  string         `json:"type" enum:"tool_use"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
	}
	// SessionDone ends an answer that is complete, or a question.
	SessionDone struct {
		Type      string `json:"type" enum:"session"`
		SessionID string `json:"session_id" format:"uuid"`
	}
	// SessionPing says that the stream lives.
	SessionPing struct {
		Type string `json:"type" enum:"ping"`
	}
	// SessionError ends an answer that is not complete.
	SessionError struct {
		Type    string `json:"type" enum:"error"`
		Message string `json:"message"`
	}
)

// sessionSchema documents the lines.
func (s *server) sessionSchema() *huma.Schema {
	events := map[string]any{}
	for kind, event := range map[string]any{
		"text": SessionText{}, "tool_use": SessionToolUse{}, "session": SessionDone{}, "ping": SessionPing{}, "error": SessionError{},
	} {
		events[kind] = s.huma.OpenAPI().Components.Schemas.Schema(typeOf(event), true, "")
	}
	return &huma.Schema{
		Type: "string", Description: "lines of JSON: any number of text, tool_use and ping, then exactly one session or error",
		Extensions: map[string]any{"x-events": events},
	}
}

// sessionEncoder puts the log of one run into the lines of a session.
type sessionEncoder struct {
	session, run, locale string

	// asked are the questions that wait, the one that the next message answers first.
	asked func() ([]run.Interrupt, error)

	words settled
	used  map[string]bool // calls that have been told: each attempt is a call, and one is enough
}

// encode implements encoder.
func (e *sessionEncoder) encode(event stream.Event) ([][]byte, error) {
	lines, err := e.lines(event)
	out := make([][]byte, 0, len(lines))
	for _, line := range lines {
		raw, bad := json.Marshal(line)
		if bad != nil {
			return nil, bad
		}
		out = append(out, append(raw, '\n'))
	}
	return out, err
}

func (e *sessionEncoder) lines(event stream.Event) ([]any, error) {
	switch event.Kind {
	case stream.Token:
		piece, _ := stream.Read[stream.TokenData](event.Data)
		text, err := e.words.say(string(piece))
		if err != nil {
			return e.changed()
		}
		return texted(text), nil
	case stream.Reset:
		reset, _ := stream.Read[stream.ResetData](event.Data)
		e.words.reset(reset.Reason)
	case stream.ToolCall:
		call, _ := stream.Read[stream.ToolCallData](event.Data)
		return e.tool(call), nil
	case stream.Paused:
		if e.words.pause() != nil {
			return e.changed()
		}
		open, err := e.asked()
		if err != nil {
			return nil, err
		}
		return append(texted(e.question(open)), e.done()), nil
	case stream.MessageDone:
		done, _ := stream.Read[stream.MessageDoneData](event.Data)
		if done.Suppressed {
			return []any{e.done()}, nil
		}
		rest, err := e.words.rest(done.Content)
		if err != nil {
			return e.changed()
		}
		return append(texted(rest), e.done()), nil
	case stream.CancelAck:
		return []any{SessionError{"error", errStopped().Message}}, nil
	case stream.Error:
		reason, _ := stream.Read[stream.RunError](event.Data)
		return []any{SessionError{"error", reason.Message}}, nil
	default: // status, results and traces have no words here
	}
	return nil, nil
}

func texted(text string) []any {
	if text == "" {
		return nil
	}
	return []any{SessionText{"text", text}}
}

func (e *sessionEncoder) done() SessionDone { return SessionDone{"session", e.session} }

func (e *sessionEncoder) changed() ([]any, error) {
	return []any{SessionError{"error", fmt.Sprintf("The answer was begun again and differs from what was sent. The history has it whole; it is the run %s.", e.run)}}, errOver
}

// tool tells of a call, once. What was said before it is a part of its own.
func (e *sessionEncoder) tool(call stream.ToolCallData) []any {
	e.words.part()
	if e.used[call.ID] {
		return nil
	}
	if e.used == nil {
		e.used = map[string]bool{}
	}
	e.used[call.ID] = true
	if call.Arguments == nil {
		call.Arguments = map[string]any{}
	}
	return []any{SessionToolUse{"tool_use", call.Name, call.Arguments}}
}

// question is what the run pauses with, after what it said until then.
func (e *sessionEncoder) question(open []run.Interrupt) string {
	asked := askedAll(open, e.locale)
	if e.words.sent.Len() > 0 && asked != "" && !strings.HasSuffix(e.words.sent.String(), "\n\n") {
		asked = "\n\n" + asked
	}
	e.words.part()
	return asked
}

func (e *sessionEncoder) ping() []byte { return []byte(`{"type":"ping"}` + "\n") }
