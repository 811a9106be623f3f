package api

import (
	"net/http"
	"strings"
)

// dialectWalls are the walls of routes of other protocols with many of them.
var dialectWalls = map[string]wall{
	"GET /langgraph/ok":   ownOnly(http.StatusOK),
	"GET /langgraph/info": ownOnly(http.StatusOK),

	"POST /langgraph/assistants/search":                        ownOnly(http.StatusOK, map[string]any{}),
	"POST /langgraph/assistants/count":                         ownOnly(http.StatusOK, map[string]any{}),
	"GET /langgraph/assistants/{assistant_id}":                 ofLangGraph(nil),
	"GET /langgraph/assistants/{assistant_id}/schemas":         ofLangGraph(nil),
	"GET /langgraph/assistants/{assistant_id}/graph":           ofLangGraph(nil),
	"POST /langgraph/threads/search":                           ownOnly(http.StatusOK, map[string]any{}),
	"POST /langgraph/threads/count":                            ownOnly(http.StatusOK, map[string]any{}),
	"GET /langgraph/threads/{thread_id}":                       ofLangGraph(nil),
	"PATCH /langgraph/threads/{thread_id}":                     ofLangGraph(map[string]any{"metadata": map[string]any{"title": "stolen"}}),
	"DELETE /langgraph/threads/{thread_id}":                    ofLangGraph(nil),
	"POST /langgraph/threads/{thread_id}/copy":                 ofLangGraph(nil),
	"GET /langgraph/threads/{thread_id}/state":                 ofLangGraph(nil),
	"POST /langgraph/threads/{thread_id}/state":                ofLangGraph(map[string]any{"values": map[string]any{}}),
	"PATCH /langgraph/threads/{thread_id}/state":               ofLangGraph(map[string]any{"metadata": map[string]any{}}),
	"POST /langgraph/threads/{thread_id}/history":              ofLangGraph(map[string]any{"limit": 3}),
	"GET /langgraph/threads/{thread_id}/runs":                  ofLangGraph(nil),
	"GET /langgraph/threads/{thread_id}/runs/{run_id}":         ofLangGraph(nil),
	"POST /langgraph/threads/{thread_id}/runs":                 ofLangGraph(theirRun, theirAnswer),
	"POST /langgraph/threads/{thread_id}/runs/wait":            ofLangGraph(theirRun, theirAnswer),
	"POST /langgraph/threads/{thread_id}/runs/stream":          ofLangGraph(theirRun, theirAnswer),
	"GET /langgraph/runs/{run_id}/stream":                      ofLangGraph(nil),
	"POST /langgraph/store/namespaces":                         ownOnly(http.StatusOK, map[string]any{}),
	"POST /langgraph/store/items/search":                       ownOnly(http.StatusOK, map[string]any{"namespace_prefix": []string{}}),
	"GET /langgraph/threads/{thread_id}/state/{checkpoint_id}": ofLangGraph(nil),
	"POST /langgraph/threads/{thread_id}/state/checkpoint":     ofLangGraph(map[string]any{"checkpoint": map[string]any{}}),
	"GET /langgraph/threads/{thread_id}/runs/{run_id}/join":    ofLangGraph(nil),
	"GET /langgraph/threads/{thread_id}/runs/{run_id}/stream":  ofLangGraph(nil),
	"POST /langgraph/threads/{thread_id}/runs/{run_id}/cancel": ofLangGraph(nil),

	// An id that is nobody's makes a thread.
	"POST /langgraph/threads": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", "/langgraph/threads", map[string]any{"thread_id": of.conversation, "if_exists": "do_nothing"}), want: 404, alone: true}}
	},
	"POST /langgraph/runs":        theirAssistant,
	"POST /langgraph/runs/wait":   theirAssistant,
	"POST /langgraph/runs/stream": theirAssistant,

	"PUT /langgraph/store/items":    ownOnly(http.StatusNoContent, map[string]any{"namespace": []string{"a"}, "key": "b", "value": map[string]any{}}),
	"DELETE /langgraph/store/items": ownOnly(http.StatusNoContent, map[string]any{"namespace": []string{"a"}, "key": "b"}),
	"GET /langgraph/store/items": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("GET", "/langgraph/store/items?namespace="+mark+"&key="+mark, nil), want: 404}}
	},

	"POST /agui/{assistant}": func(p *person, of belongings) []attack {
		body := func(thread string) map[string]any {
			return map[string]any{"threadId": thread, "runId": "r", "messages": []any{map[string]any{"id": "1", "role": "user", "content": "hi"}}}
		}
		return []attack{
			{request: p.request("POST", "/agui/"+of.artifact, body("t")), want: 404},
			{request: p.request("POST", "/agui/liminal", body(of.conversation)), want: 404, alone: true},
		}
	},
}

var (
	theirRun    = map[string]any{"assistant_id": automatic, "input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": "hi"}}}}
	theirAnswer = map[string]any{"assistant_id": automatic, "command": map[string]any{"resume": "one"}}
)

// ofLangGraph is the wall of a route of the protocol with another's ids in its path.
func ofLangGraph(bodies ...map[string]any) wall {
	return func(p *person, of belongings) (list []attack) {
		for _, body := range bodies {
			list = append(list, attack{request: p.langgraph(of, p.method+" "+p.path, body), want: 404})
		}
		return list
	}
}

// langgraph is a request of the protocol that names things of somebody.
func (p *person) langgraph(of belongings, operation string, body map[string]any) *http.Request {
	p.Helper()
	method, _, _ := strings.Cut(operation, " ")
	var sent any
	if body != nil {
		sent = body
	}
	return p.request(method, pathOfTheirs(p.path, of), sent)
}

// pathOfTheirs is a path of the protocol with the ids of somebody's things. Of a run
// the walk has made {id}, as of all ids.
func pathOfTheirs(path string, of belongings) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "{id}" {
			parts[i] = map[string]string{"assistants": of.artifact, "threads": of.conversation, "runs": of.run, "state": of.message}[parts[i-1]]
		}
	}
	return strings.Join(parts, "/")
}

// theirAssistant is asked for by its id.
func theirAssistant(p *person, of belongings) []attack {
	body := map[string]any{"assistant_id": of.artifact, "input": theirRun["input"]}
	return []attack{{request: p.request("POST", p.path, body), want: 404}}
}
