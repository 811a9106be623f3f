package api

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/quota"
)

// told is an error as a protocol says it.
type toldError struct{ kind, message string }

// dialectOf is how a protocol is asked for a turn, and how it says that there is none.
type dialectOf struct {
	scopes []string // of a key that may ask
	asks   func(p *person, model, message string) *http.Request
	shape  func(t *testing.T, body []byte) toldError
}

func dialectsOf() map[string]dialectOf {
	openai := func(t *testing.T, body []byte) toldError {
		var got struct{ Error OpenAIReason }
		unjson(t, body, &got)
		return toldError{got.Error.Type + " " + value(got.Error.Code), got.Error.Message}
	}
	chat := []string{"chat", "read", "write"}
	return map[string]dialectOf{
		"OpenAI chat": {chat, func(p *person, model, message string) *http.Request {
			return p.request("POST", completionsPath, map[string]any{"model": model, "messages": dialogue(message)})
		}, openai},
		"Responses": {chat, func(p *person, model, message string) *http.Request {
			return p.request("POST", responsesPath, map[string]any{"model": model, "input": message})
		}, func(t *testing.T, body []byte) toldError {
			var got struct {
				Object string
				Error  struct{ Code, Message string }
			}
			if unjson(t, body, &got); got.Object == "response" {
				return toldError{"response " + got.Error.Code, got.Error.Message}
			}
			return openai(t, body)
		}},
		"Anthropic": {chat, func(p *person, model, message string) *http.Request {
			return p.request("POST", messagesPath, map[string]any{"model": model, "max_tokens": 9, "messages": dialogue(message)})
		}, func(t *testing.T, body []byte) toldError {
			var got AnthropicFailure
			if unjson(t, body, &got); got.Type != "error" || !id.Valid(got.RequestID) {
				t.Errorf("%s", body)
			}
			return toldError{got.Error.Type, got.Error.Message}
		}},
		"Agent Protocol": {chat, func(p *person, model, message string) *http.Request {
			return p.request("POST", langgraphPath+"/runs/wait", lgRun(message, "assistant_id", model))
		}, func(t *testing.T, body []byte) toldError {
			var got struct {
				LangGraphFailure
				Error *LangGraphError `json:"__error__"`
			}
			if unjson(t, body, &got); got.Error != nil {
				return toldError{got.Error.Error, got.Error.Message}
			}
			return toldError{got.Code, got.Detail}
		}},
		"AG-UI": {chat, func(p *person, model, message string) *http.Request {
			return p.request("POST", aguiPath+"/"+model, map[string]any{"threadId": id.New(), "runId": id.New(), "messages": []any{map[string]any{"id": "1", "role": "user", "content": message}}})
		}, func(t *testing.T, body []byte) toldError {
			last := body
			for line := range strings.Lines(string(body)) {
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					last = []byte(data)
				}
			}
			var got AGUIFailure
			if unjson(t, last, &got); got.Type != "RUN_ERROR" {
				t.Errorf("%s", body)
			}
			return toldError{got.Code, got.Message}
		}},
		"MCP": {[]string{"mcp", "chat"}, func(p *person, model, message string) *http.Request {
			tool := mcpName("ask", model)
			return p.stateless("tools/call", tool, map[string]any{"name": tool, "arguments": map[string]any{"message": message}})
		}, func(t *testing.T, body []byte) toldError {
			raw := body
			if _, data, ok := strings.Cut(string(body), "data: "); ok {
				raw = []byte(data)
			}
			var got struct {
				Error  *MCPReason
				Result *struct {
					IsError bool `json:"isError"`
					Content []struct{ Text string }
				}
			}
			switch unjson(t, raw, &got); {
			case got.Error != nil:
				return toldError{strconv.FormatInt(got.Error.Code, 10), got.Error.Message}
			case got.Result != nil && got.Result.IsError:
				return toldError{"isError", got.Result.Content[0].Text}
			}
			t.Errorf("no error: %s", body)
			return toldError{}
		}},
	}
}

// What is refused and what fails has in every protocol the status and the words that
// its clients know: they wait, sign in, or give up by these.
//
// Requirements: API-03, API-17
func TestWhatIsRefusedIsToldInEveryProtocolsOwnShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada, eve := w.signUp("ada@example.org"), w.signUp("eve@example.org")
	for _, p := range []*person{ada, eve} {
		p.workflow("titled", `{"kind":"workflow.chat","title":"Titled","entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`)
	}
	w.server.Limits = quota.NewLimits(empty{w.memory, "chat:" + eve.id, 700 * time.Millisecond})
	stranger, other := &person{world: w, token: "lim_nobody"}, ada.by("other", "artifacts")
	raw := func(r *http.Request, body string) *http.Request {
		changed := ada.request(r.Method, r.URL.Path, body)
		for name := range r.Header {
			changed.Header.Set(name, r.Header.Get(name))
		}
		return changed
	}
	for protocol, d := range dialectsOf() {
		t.Run(protocol, func(t *testing.T) {
			as, slow := ada.by(protocol, d.scopes...), eve.by(protocol, d.scopes...)
			got := map[string]*http.Request{
				"a stranger": d.asks(stranger, "titled", "Hi"), "another scope": d.asks(other, "titled", "Hi"), "no such model": d.asks(as, "gpt-9", "Hi"),
				"no JSON": raw(d.asks(as, "titled", "Hi"), `{"model":`), "too large": raw(d.asks(as, "titled", "Hi"), `{"model":"`+strings.Repeat("x", maxJSON)+`"}`),
				"too often": d.asks(slow, "titled", "Hi"), "a budget": d.asks(as, "titled", "fail budget"), "a failure": d.asks(as, "titled", "fail"),
				"resting": d.asks(as, "titled", "fail resting"), "no provider": d.asks(as, "titled", "fail not_configured"),
			}
			for what, want := range refusals[protocol] {
				answer := ada.send(got[what])
				told := d.shape(t, answer.body)
				if answer.status != want.status || told.kind != want.kind || told.message == "" {
					t.Errorf("%s: %d %q %s, want %d %q", what, answer.status, told.kind, answer.body, want.status, want.kind)
				}
				if again := answer.header.Get("Retry-After"); (again != "") != want.again {
					t.Errorf("%s: Retry-After is %q", what, again)
				}
				delete(got, what)
			}
			for what := range got {
				t.Errorf("nothing says what %s is told", what)
			}
		})
	}
}

// toldSo is what a client is told of it.
type toldSo struct {
	status int
	kind   string
	again  bool // and when to ask again
}

var refusals = map[string]map[string]toldSo{
	"OpenAI chat": {
		"a stranger": {401, "invalid_request_error invalid_api_key", false}, "another scope": {403, "invalid_request_error key_scope", false}, "no such model": {404, "invalid_request_error model_not_found", false},
		"no JSON": {400, "invalid_request_error validation_error", false}, "too large": {400, "invalid_request_error validation_error", false}, "too often": {429, "requests rate_limit_exceeded", true},
		"a budget": {429, "insufficient_quota insufficient_quota", false}, "a failure": {500, "server_error server_error", false}, "resting": {502, "server_error upstream", true}, "no provider": {503, "server_error not_configured", false},
	},
	"Responses": {
		"a stranger": {401, "invalid_request_error invalid_api_key", false}, "another scope": {403, "invalid_request_error key_scope", false}, "no such model": {404, "invalid_request_error model_not_found", false},
		"no JSON": {400, "invalid_request_error validation_error", false}, "too large": {400, "invalid_request_error validation_error", false}, "too often": {429, "requests rate_limit_exceeded", true},
		"a budget": {429, "insufficient_quota insufficient_quota", false}, "a failure": {500, "server_error server_error", false}, "resting": {502, "server_error upstream", true}, "no provider": {503, "server_error not_configured", false},
	},
	"Anthropic": {
		"a stranger": {401, "authentication_error", false}, "another scope": {403, "permission_error", false}, "no such model": {404, "not_found_error", false},
		"no JSON": {400, "invalid_request_error", false}, "too large": {400, "invalid_request_error", false}, "too often": {429, "rate_limit_error", true},
		"a budget": {429, "rate_limit_error", false}, "a failure": {500, "api_error", false}, "resting": {529, "overloaded_error", true}, "no provider": {503, "api_error", false},
	},
	// Of a run that was begun both tell in the words for its end.
	"Agent Protocol": {
		"a stranger": {401, "unauthorized", false}, "another scope": {403, "forbidden", false}, "no such model": {404, "not_found", false},
		"no JSON": {400, "validation_error", false}, "too large": {400, "validation_error", false}, "too often": {429, "rate_limited", true},
		"a budget": {200, "rate_limited", false}, "a failure": {200, "server_error", false}, "resting": {200, "server_error", false}, "no provider": {200, "server_error", false},
	},
	"AG-UI": {
		"a stranger": {401, "unauthorized", false}, "another scope": {403, "forbidden", false}, "no such model": {404, "not_found", false},
		"no JSON": {400, "validation_error", false}, "too large": {400, "validation_error", false}, "too often": {429, "rate_limited", true},
		"a budget": {200, "rate_limited", false}, "a failure": {200, "server_error", false}, "resting": {200, "server_error", false}, "no provider": {200, "server_error", false},
	},
	// A tool that there is answers for itself, whatever is wrong.
	"MCP": {
		"a stranger": {401, "-32600", false}, "another scope": {403, "-32600", false}, "no such model": {400, "-32602", false},
		"no JSON": {400, "-32700", false}, "too large": {400, "-32600", false}, "too often": {200, "isError", false},
		"a budget": {200, "isError", false}, "a failure": {200, "isError", false}, "resting": {200, "isError", false}, "no provider": {200, "isError", false},
	},
}
