package api

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// The Agent Protocol as the SDK of LangGraph speaks it, over the same turns and the
// same log. An assistant is a workflow, a thread is a conversation, and a run is a
// turn. A question is an interrupt of its run, and command.resume its answer: the
// same run goes on. Answers and errors have the protocol's own shape, without the
// envelope. What writes a thread's state by hand is not done here (501): what was
// said is what was said.

// langgraphPath is what the SDK is given as its url, after the host.
const langgraphPath = "/langgraph"

func (s *server) langgraphRoutes() {
	s.langgraphSite()
	s.langgraphAssistantRoutes()
	s.langgraphThreadRoutes()
	s.langgraphStateRoutes()
	s.langgraphRunRoutes()
	s.langgraphStoreRoutes()
}

// langgraphRoute begins an operation of the protocol.
func langgraphRoute(pattern, name, summary string, scopes ...string) huma.Operation {
	method, path, _ := strings.Cut(pattern, " ")
	op := route(method+" "+langgraphPath+path, "langgraph"+name, summary, scopes...)
	op.Tags = []string{"langgraph"}
	return op
}

// addLanggraph registers an operation that answers with what body is like.
func addLanggraph[I any](s *server, op huma.Operation, body any, handle func(context.Context, *I) (func(http.ResponseWriter, *http.Request), error)) {
	addStream(s, op, handle)
	if body == nil {
		o := s.operation(op)
		delete(o.Responses, strconv.Itoa(http.StatusOK))
		o.Responses[strconv.Itoa(http.StatusNoContent)] = &huma.Response{Description: "Done"}
	} else {
		s.answers(op, http.StatusOK, "application/json", op.Summary, s.schemaOf(body))
	}
	s.failsAsLanggraph(op)
}

// failsAsLanggraph declares the shape of an operation's errors, and 501, of what the
// protocol has and is not done here.
func (s *server) failsAsLanggraph(op huma.Operation) {
	s.operation(op).Responses[strconv.Itoa(http.StatusNotImplemented)] = &huma.Response{Description: "It is not done here"}
	s.failsAs(op, s.schemaOf(LangGraphFailure{}))
}

// LangGraphFailure is an unsuccessful answer of the protocol.
type LangGraphFailure struct {
	Detail    string `json:"detail" doc:"a sentence for a person"`
	Code      string `json:"code"`
	Details   any    `json:"details" doc:"an object, a list or null"`
	RequestID string `json:"request_id" format:"uuid"`
}

func (f *Failure) asLangGraph() any {
	return LangGraphFailure{Detail: f.Reason.Message, Code: f.Reason.Code, Details: f.Reason.Details, RequestID: f.RequestID}
}

// LangGraphOK says that the program lives.
type LangGraphOK struct {
	OK bool `json:"ok"`
}

// LangGraphInfo says who answers, and what it does.
type LangGraphInfo struct {
	Version string          `json:"version"`
	Flags   map[string]bool `json:"flags"`
	Server  string          `json:"server"`
}

func (s *server) langgraphSite() {
	addLanggraph(s, public(langgraphRoute("GET /ok", "OK", "Whether the Agent Protocol is spoken here")), LangGraphOK{},
		func(context.Context, *struct{}) (func(http.ResponseWriter, *http.Request), error) {
			return unwrapped(LangGraphOK{true}), nil
		})
	addLanggraph(s, public(langgraphRoute("GET /info", "Info", "Who answers, and which parts of the Agent Protocol there are")), LangGraphInfo{},
		func(context.Context, *struct{}) (func(http.ResponseWriter, *http.Request), error) {
			return unwrapped(LangGraphInfo{
				Version: s.Version, Server: "liminal",
				Flags: map[string]bool{"assistants": true, "threads": true, "runs": true, "store": true, "crons": false, "langsmith": false},
			}), nil
		})
}

func (s *server) langgraphAssistantRoutes() {
	addLanggraph(s, langgraphRoute("POST /assistants/search", "SearchAssistants", "The workflows I may use, as assistants", scopeChat, scopeRead), []LangGraphAssistant{}, s.searchAssistants)
	addLanggraph(s, langgraphRoute("POST /assistants/count", "CountAssistants", "How many workflows I may use", scopeChat, scopeRead), 0, s.countAssistants)
	addLanggraph(s, langgraphRoute("GET /assistants/{assistant_id}", "Assistant", "A workflow as an assistant, by its id or its name", scopeChat, scopeRead), LangGraphAssistant{}, s.oneAssistant)
	addLanggraph(s, langgraphRoute("GET /assistants/{assistant_id}/schemas", "AssistantSchemas", "What an assistant is told, and what it gives", scopeChat, scopeRead), LangGraphSchemas{}, s.assistantSchemas)
	addLanggraph(s, langgraphRoute("GET /assistants/{assistant_id}/graph", "AssistantGraph", "The nodes of an assistant and what follows what", scopeChat, scopeRead), LangGraphDrawing{}, s.assistantGraph)
}

// LangGraphAssistant is a workflow as the protocol has it.
type LangGraphAssistant struct {
	ID          string         `json:"assistant_id" format:"uuid"`
	GraphID     string         `json:"graph_id" doc:"its name, which is taken wherever an assistant_id is"`
	Name        string         `json:"name" doc:"its title"`
	Description *string        `json:"description" nullable:"true"`
	Config      map[string]any `json:"config"`
	Context     map[string]any `json:"context"`
	Metadata    map[string]any `json:"metadata"`
	Version     int            `json:"version"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
}

// automaticAssistant is the id of the assistant that is no workflow by name.
var automaticAssistant = id.Derive("assistant", automatic)

// assistantView is a workflow as an assistant; false: it has no title, and so is a
// part of others and not offered to people.
func assistantView(a artifacts.Artifact, locale string) (LangGraphAssistant, bool) {
	if a.ID == "" {
		return assistantOf(automaticModel(), automaticAssistant, a), true
	}
	m, ok := modelView(a, locale)
	return assistantOf(m, a.ID, a), ok
}

func assistantOf(m ModelView, assistantID string, a artifacts.Artifact) LangGraphAssistant {
	out := LangGraphAssistant{
		ID: assistantID, GraphID: m.ID, Name: m.DisplayName, Config: map[string]any{}, Context: map[string]any{},
		Metadata: map[string]any{"created_by": "system"}, Version: max(1, a.Version), CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
	}
	if m.Description != "" {
		out.Description = &m.Description
	}
	if a.OwnerID != "" {
		out.Metadata["created_by"] = "user"
	}
	return out
}

// assistantNamed is the workflow of an id or a name; a zero one is the automatic one.
func (s *server) assistantNamed(ctx context.Context, name string) (artifacts.Artifact, error) {
	if id.Canonical(name) == automaticAssistant {
		name = automatic
	}
	a, err := s.modelNamed(ctx, name)
	if err == nil && a.ID != "" {
		err = s.mayRun(ctx, viewerOf(ctx), a.ID)
	}
	return a, err
}

// assistants are all that the viewer may use.
func (s *server) assistants(ctx context.Context, v identity.Viewer) ([]LangGraphAssistant, error) {
	first, _ := assistantView(artifacts.Artifact{}, v.Locale)
	list, seen := []LangGraphAssistant{first}, map[string]bool{automatic: true}
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := s.Artifacts.List(ctx, v, artifacts.Filter{Type: artifacts.KindWorkflow, Status: "active", Cursor: cursor, Limit: maxPage})
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			one, ok := assistantView(a, v.Locale)
			if ok && !seen[one.GraphID] && v.Grant.MayAsk(a.ID, a.Name) {
				seen[one.GraphID] = true
				list = append(list, one)
			}
		}
		cursor = next
	}
	return list, nil
}

// LangGraphAssistantSearch narrows assistants; other members are let be.
type LangGraphAssistantSearch struct {
	_         struct{}        `additionalProperties:"true"`
	GraphID   *string         `json:"graph_id,omitempty" nullable:"true"`
	Name      *string         `json:"name,omitempty" nullable:"true" doc:"a part of the title"`
	Metadata  *map[string]any `json:"metadata,omitempty" nullable:"true"`
	Limit     int             `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10"`
	Offset    int             `json:"offset,omitempty" minimum:"0"`
	SortBy    *string         `json:"sort_by,omitempty" nullable:"true" enum:"assistant_id,graph_id,name,created_at,updated_at"`
	SortOrder *string         `json:"sort_order,omitempty" nullable:"true" enum:"asc,desc"`
}

func (q LangGraphAssistantSearch) fits(a LangGraphAssistant) bool {
	return (value(q.GraphID) == "" || value(q.GraphID) == a.GraphID) &&
		strings.Contains(strings.ToLower(a.Name), strings.ToLower(value(q.Name))) && holds(a.Metadata, value(q.Metadata))
}

func (q LangGraphAssistantSearch) compare(a, b LangGraphAssistant) (order int) {
	switch value(q.SortBy) {
	case "assistant_id":
		order = cmp.Compare(a.ID, b.ID)
	case "graph_id":
		order = cmp.Compare(a.GraphID, b.GraphID)
	case "name":
		order = cmp.Compare(a.Name, b.Name)
	case "created_at":
		order = a.CreatedAt.Compare(b.CreatedAt)
	case "updated_at":
		order = a.UpdatedAt.Compare(b.UpdatedAt)
	}
	if value(q.SortOrder) == "desc" {
		return -order
	}
	return order
}

type searchAssistantsInput struct{ Body LangGraphAssistantSearch }

func (s *server) assistantsFound(ctx context.Context, q LangGraphAssistantSearch) ([]LangGraphAssistant, error) {
	list, err := s.assistants(ctx, viewerOf(ctx))
	list = slices.DeleteFunc(list, func(a LangGraphAssistant) bool { return !q.fits(a) })
	slices.SortStableFunc(list, q.compare)
	return list, err
}

func (s *server) searchAssistants(ctx context.Context, in *searchAssistantsInput) (func(http.ResponseWriter, *http.Request), error) {
	list, err := s.assistantsFound(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	return unwrapped(windowed(ctx, list, in.Body.Offset, in.Body.Limit)), nil
}

// windowed is a part of a list, with the header that says where the next begins.
func windowed[T any](ctx context.Context, list []T, offset, limit int) []T {
	from := min(offset, len(list))
	to := min(from+limit, len(list))
	if to < len(list) {
		requestOf(ctx).header.Set("X-Pagination-Next", strconv.Itoa(to))
	}
	requestOf(ctx).header.Set("X-Pagination-Total", strconv.Itoa(len(list)))
	return list[from:to]
}

func (s *server) countAssistants(ctx context.Context, in *searchAssistantsInput) (func(http.ResponseWriter, *http.Request), error) {
	list, err := s.assistantsFound(ctx, in.Body)
	return unwrapped(len(list)), err
}

type assistantInput struct {
	ID string `path:"assistant_id" maxLength:"200"`
}

func (s *server) oneAssistant(ctx context.Context, in *assistantInput) (func(http.ResponseWriter, *http.Request), error) {
	a, err := s.assistantNamed(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out, _ := assistantView(a, viewerOf(ctx).Locale)
	return unwrapped(out), nil
}

// LangGraphSchemas is what an assistant is told, and what it gives, as JSON Schemas.
type LangGraphSchemas struct {
	GraphID string         `json:"graph_id"`
	Input   map[string]any `json:"input_schema"`
	Output  map[string]any `json:"output_schema"`
	State   map[string]any `json:"state_schema"`
	Config  map[string]any `json:"config_schema"`
	Context map[string]any `json:"context_schema"`
}

func (s *server) assistantSchemas(ctx context.Context, in *assistantInput) (func(http.ResponseWriter, *http.Request), error) {
	a, err := s.assistantNamed(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	messages := map[string]any{"type": "array", "items": map[string]any{"type": "object"}}
	of, _ := assistantView(a, viewerOf(ctx).Locale)
	out := LangGraphSchemas{
		GraphID: of.GraphID, Input: object(map[string]any{"messages": messages}), Output: object(map[string]any{"messages": messages}),
		State: object(map[string]any{"messages": messages}), Config: object(map[string]any{}), Context: object(map[string]any{}),
	}
	out.Input["required"], out.Input["additionalProperties"] = []string{"messages"}, true
	return unwrapped(out), nil
}

// LangGraphDrawing is a graph as the protocol draws it.
type LangGraphDrawing struct {
	Nodes []LangGraphNode `json:"nodes"`
	Edges []LangGraphEdge `json:"edges"`
}

// LangGraphNode is a node of a graph.
type LangGraphNode struct {
	ID   string         `json:"id"`
	Type string         `json:"type"`
	Data map[string]any `json:"data"`
}

// LangGraphEdge is what may follow a node.
type LangGraphEdge struct {
	Source      string `json:"source"`
	Target      string `json:"target"`
	Conditional bool   `json:"conditional"`
}

func (s *server) assistantGraph(ctx context.Context, in *assistantInput) (func(http.ResponseWriter, *http.Request), error) {
	a, err := s.assistantNamed(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Entrypoint string
		Nodes      []map[string]any
	}
	if len(a.Schema) > 0 {
		if err := json.Unmarshal(a.Schema, &doc); err != nil {
			return nil, err
		}
	}
	out := LangGraphDrawing{Nodes: []LangGraphNode{{ID: "__start__", Type: "schema", Data: map[string]any{"name": "__start__"}}}, Edges: []LangGraphEdge{}}
	if doc.Entrypoint != "" {
		out.Edges = append(out.Edges, LangGraphEdge{Source: "__start__", Target: doc.Entrypoint})
	}
	known := map[string]bool{}
	for _, n := range doc.Nodes {
		name, _ := n["id"].(string)
		known[name] = true
		out.Nodes = append(out.Nodes, LangGraphNode{ID: name, Type: "runnable", Data: map[string]any{"name": name, "type": n["type"]}})
	}
	for _, n := range doc.Nodes {
		name, _ := n["id"].(string)
		targets := nextOf(n)
		for _, to := range targets {
			if known[to] {
				out.Edges = append(out.Edges, LangGraphEdge{Source: name, Target: to, Conditional: len(targets) > 1})
			}
		}
	}
	return unwrapped(out), nil
}

// nextOf are the nodes that a node names, wherever in it, as those that follow.
func nextOf(node any) (names []string) {
	switch n := node.(type) {
	case []any:
		for _, one := range n {
			names = append(names, nextOf(one)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			to, is := n[key].(string)
			switch {
			case is && slices.Contains([]string{"next", "on_error", "on_cancel", "body"}, key):
				names = append(names, to)
			case key == "branches":
				names = append(names, nextOf(n[key])...)
			}
		}
	}
	return slices.Compact(names)
}
