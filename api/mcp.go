package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

// The Model Context Protocol over HTTP: assistants, documents, runs and the tools
// that say so, for programs that have a model of their own. Clients of the revision
// without sessions are asked back in the result of a call and call again; those that
// initialize have a session, through which they are asked while the call waits.
//
// The SDK knows one server of no tools: what there is depends on who asks, on their
// key and on the artifacts of the moment, so each list and each call is answered
// anew, for the viewer of its own HTTP request.
func (s *server) mcpRoutes() {
	m := s.newMCP()
	s.mcp = m
	for _, op := range []struct{ method, name, summary string }{
		{http.MethodPost, "mcp", "A message of the Model Context Protocol, as JSON-RPC; Authorization: Bearer only"},
		{http.MethodGet, "mcpStream", "What a session of the Model Context Protocol is told outside of its calls"},
		{http.MethodDelete, "mcpEnd", "End a session of the Model Context Protocol"},
	} {
		o := route(op.method+" "+mcpPath, op.name, op.summary, scopeMCP)
		o.Tags, o.Metadata[audienceKey] = []string{"mcp"}, identity.AudienceMCP
		s.handleFrom(o, func(r *http.Request) string { return bearer(r.Header.Get("Authorization")) }, m.ServeHTTP)
		m.describe(o)
	}
}

const (
	mcpPath = "/mcp"
	// mcpSessionIdle is how long a session stands that nobody uses.
	mcpSessionIdle = 30 * time.Minute
	// mcpSessions is how many sessions a person has at a time; of more, the oldest end.
	mcpSessions = 20
	// mcpWorks is how long a call waits for a run: clients give up after a minute.
	mcpWorks = 45 * time.Second
	// mcpWaits is how long a call waits for a person whom its client asks.
	mcpWaits = 5 * time.Minute
	// mcpLooks is how often it is looked whether a question was answered elsewhere.
	mcpLooks = time.Second
	// statelessSince is the first revision of the protocol without sessions.
	statelessSince = "2026-07-28"
	// titledSince is the first revision that names the options of a choice with oneOf.
	titledSince = "2025-11-25"
)

// mcpServer serves the protocol.
type mcpServer struct {
	*server
	sdk                 *mcp.Server
	stateless, sessions http.Handler
	state               *vault.Vault // of what clients hold between two calls
	works, waits, looks time.Duration

	mu     sync.Mutex
	owners map[*mcp.ServerSession]string // who has each open session
}

func (s *server) newMCP() *mcpServer {
	m := &mcpServer{server: s, works: mcpWorks, waits: mcpWaits, looks: mcpLooks, owners: map[*mcp.ServerSession]string{}, state: s.Sealed}
	if m.state == nil {
		key := make([]byte, vault.MinKey)
		_, _ = rand.Read(key)                      // never fails
		m.state, _ = vault.New(key, "liminal mcp") // the key is long enough
	}
	m.sdk = mcp.NewServer(&mcp.Implementation{Name: "liminal", Title: "Liminal", Version: s.Version}, &mcp.ServerOptions{
		Instructions: mcpInstructions, Logger: s.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	// What a result means to its client is settled where the SDK calls a tool, reads a
	// resource and gets a prompt: each is of these, and what is meant is in its context.
	m.sdk.AddTool(&mcp.Tool{Name: anyTool, InputSchema: json.RawMessage(`{"type":"object"}`)}, callMeant)
	m.sdk.AddPrompt(&mcp.Prompt{Name: anyTool}, promptMeant)
	m.sdk.AddResourceTemplate(documentTemplate, m.readResource)
	m.sdk.AddReceivingMiddleware(m.receive)
	served := func(*http.Request) *mcp.Server { return m.sdk }
	known := auth.RequireBearerToken(m.verified, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	// The name a request was sent by is checked for all of the API (addressed).
	o := mcp.StreamableHTTPOptions{
		Logger: s.Logger, MaxRequestBodyBytes: maxJSON, DisableLocalhostProtection: true,
		Stateless: true, PropagateRequestCancellation: true,
	}
	m.stateless = known(mcp.NewStreamableHTTPHandler(served, &o))
	o.Stateless, o.PropagateRequestCancellation, o.SessionTimeout = false, false, mcpSessionIdle
	m.sessions = known(mcp.NewStreamableHTTPHandler(served, &o))
	return m
}

const mcpInstructions = "Liminal runs durable workflows. Tools named ask_… talk to its assistants: pass the conversation_id of an answer to go on with it. " +
	"An assistant may ask back; the question is answered where this client shows it, with the tool answer, or in Liminal's page, days later too. " +
	"What takes longer goes on by itself: ask the tool run for it."

// ServeHTTP hands a request to the handler of its revision.
func (m *mcpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// What a session says can change something, whatever the method.
	changing := *r
	changing.Method = http.MethodPost
	if err := m.Pages.Check(&changing); err != nil {
		m.server.refuse(w, r, err)
		return
	}
	r.Body = m.deadlines.body(w, r.Body)
	if r.Method == http.MethodPost {
		if err := unreadable(r); err != nil {
			m.server.refuse(w, r, err)
			return
		}
	}
	if r.Header.Get("Mcp-Protocol-Version") >= statelessSince {
		m.stateless.ServeHTTP(w, r)
		return
	}
	m.sessions.ServeHTTP(w, r)
}

// reasonNoJSON says that nothing of a message can be read.
const reasonNoJSON = "no_json"

// unreadable says what keeps a request's body from being a message, which the SDK would
// say in a text of its own. The body can be read again.
func unreadable(r *http.Request) error {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxJSON+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(raw), r.Body), r.Body}
	switch {
	case err != nil:
		return nil // it is told where the body is read again
	case len(raw) > maxJSON:
		return &http.MaxBytesError{Limit: maxJSON}
	case !json.Valid(raw):
		return fault.New(fault.Invalid, "The message is no JSON.").With(map[string]any{"reason": reasonNoJSON})
	}
	return nil
}

// describe declares what the operations answer, which is the protocol's own.
func (m *mcpServer) describe(op huma.Operation) {
	message := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "JSON-RPC 2.0, as the protocol says"}
	m.failsAs(op, m.schemaOf(MCPFailure{}))
	if op.Method == http.MethodDelete {
		m.operation(op).Responses["204"] = &huma.Response{Description: "It has ended"}
		return
	}
	m.answers(op, http.StatusOK, "text/event-stream", "Messages: what is told on the way, at last the result", &huma.Schema{Type: huma.TypeString})
	if op.Method == http.MethodPost {
		m.operation(op).RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: message}}}
		m.answers(op, http.StatusOK, "application/json", "Messages: what is told on the way, at last the result", message)
		m.operation(op).Responses["202"] = &huma.Response{Description: "Taken; there is nothing to say"}
	}
}

// MCPFailure is an error of the Model Context Protocol.
type MCPFailure struct {
	Version string    `json:"jsonrpc" enum:"2.0"`
	ID      any       `json:"id" doc:"of the message it answers; null: of none"`
	Error   MCPReason `json:"error"`
}

// asMCP is a failure as the protocol has it.
func (f *Failure) asMCP() any {
	code := int64(jsonrpc.CodeInvalidRequest)
	if details, _ := f.Reason.Details.(map[string]any); details["reason"] == reasonNoJSON {
		code = jsonrpc.CodeParseError
	}
	if f.code >= http.StatusInternalServerError {
		code = jsonrpc.CodeInternalError
	}
	return MCPFailure{Version: "2.0", Error: MCPReason{Code: code, Message: f.Reason.Message, Data: f.Reason.Details}}
}

// MCPReason says what is wrong.
type MCPReason struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// mcpCaller is who sends a message, and by which name they reach us.
type mcpCaller struct {
	viewer  identity.Viewer
	base    string
	address string
}

const callerKey = "caller"

// verified tells the SDK who a request is of, which the door has found out: one
// with another key takes nobody's session over.
func (m *mcpServer) verified(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	req := requestOf(ctx)
	v := req.viewer
	return &auth.TokenInfo{
		UserID: v.UserID + " " + v.KeyID(), Extra: map[string]any{callerKey: mcpCaller{viewer: v, base: m.baseOf(ctx), address: req.address}},
	}, nil
}

func callerOf(req mcp.Request) (mcpCaller, bool) {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return mcpCaller{}, false
	}
	c, ok := extra.TokenInfo.Extra[callerKey].(mcpCaller)
	return c, ok
}

// receive answers what depends on who asks.
func (m *mcpServer) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		c, ok := callerOf(req)
		if !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "This message is nobody's."}
		}
		// The context of a session is that of its first request: each message has a
		// request of its own.
		ctx = context.WithValue(ctx, requestKey{}, &request{id: id.New(), header: http.Header{}, viewer: c.viewer, address: c.address})
		res, err := m.answerTo(ctx, method, req, c, next)
		if err != nil {
			return nil, m.rpcError(ctx, err)
		}
		return res, nil
	}
}

func (m *mcpServer) answerTo(ctx context.Context, method string, req mcp.Request, c mcpCaller, next mcp.MethodHandler) (mcp.Result, error) {
	switch r := req.(type) {
	case *mcp.ListToolsRequest:
		return m.listTools(ctx, c)
	case *mcp.CallToolRequest:
		if err := checkJSON(r.Params.Arguments); err != nil {
			return nil, fault.New(fault.Invalid, "%v", err)
		}
		meant, err := m.toolNamed(ctx, c, r.Params.Name)
		if err != nil {
			return nil, err
		}
		params := *r.Params
		params.Name = anyTool
		call := &mcpCall{mcpServer: m, mcpCaller: c, req: r, tool: meant}
		return next(context.WithValue(ctx, meantKey{}, call), method, &mcp.CallToolRequest{Session: r.Session, Params: &params, Extra: r.Extra})
	case *mcp.ListPromptsRequest:
		return m.listPrompts(ctx, c)
	case *mcp.GetPromptRequest:
		meant, err := m.prompt(ctx, c, r.Params.Name)
		if err != nil {
			return nil, err
		}
		params := *r.Params
		params.Name = anyTool
		return next(context.WithValue(ctx, meantKey{}, meant), method, &mcp.GetPromptRequest{Session: r.Session, Params: &params, Extra: r.Extra})
	case *mcp.ListResourcesRequest:
		return m.listResources(ctx, c, r.Params)
	case *mcp.ListResourceTemplatesRequest:
		return m.listTemplates(c), nil
	}
	if ss, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" {
		m.begin(ss, c.viewer.UserID)
	}
	return next(ctx, method, req)
}

// begin notes whose a session is, and ends that person's oldest where there are
// too many: a client that goes away without a word leaves one behind.
func (m *mcpServer) begin(ss *mcp.ServerSession, userID string) {
	m.mu.Lock()
	m.owners[ss] = userID
	open, theirs := map[*mcp.ServerSession]string{}, []*mcp.ServerSession{}
	for one := range m.sdk.Sessions() { // in the order they began
		if of, known := m.owners[one]; known {
			open[one] = of
			if of == userID {
				theirs = append(theirs, one)
			}
		}
	}
	m.owners = open
	m.mu.Unlock()
	for len(theirs) > mcpSessions {
		oldest := theirs[0]
		theirs = theirs[1:]
		go oldest.Close() //nolint:errcheck // it waits for what the session is doing
	}
}

// rpcError is an error as the protocol tells it. What is our fault is logged with
// its cause, which nobody is told.
func (m *mcpServer) rpcError(ctx context.Context, err error) error {
	if own := (*jsonrpc.Error)(nil); errors.As(err, &own) {
		return err
	}
	code := int64(jsonrpc.CodeInvalidParams)
	f := m.fail(ctx, err)
	if f.code >= http.StatusInternalServerError {
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: f.Reason.Message}
}
