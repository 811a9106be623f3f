package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/schemas"
)

// mcpTool is a tool as clients see it, with what calls it.
type mcpTool struct {
	mcp.Tool
	call func(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error)
}

// mcpCall is one call of a tool.
type mcpCall struct {
	*mcpServer
	mcpCaller
	req  *mcp.CallToolRequest
	tool mcpTool

	steps float64 // of progress that were told
}

// anyTool is the one the SDK has. Its name is none that is listed.
const anyTool = "liminal"

type meantKey struct{}

// callMeant calls the tool that a call means. What is wrong with a call, its model
// is told, so that it may call otherwise.
func callMeant(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c, ok := ctx.Value(meantKey{}).(*mcpCall)
	if !ok {
		return nil, fault.New(fault.Internal, "No tool is meant.")
	}
	res, err := c.run(ctx)
	if err == nil {
		return res, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return refusedCall(c.fail(ctx, err).Reason.Message), nil
}

func refusedCall(message string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: message}}}
}

func (c *mcpCall) run(ctx context.Context) (*mcp.CallToolResult, error) {
	raw := c.req.Params.Arguments
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var given any
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, fault.New(fault.Invalid, "The arguments are no JSON.")
	}
	doc, err := json.Marshal(c.tool.InputSchema)
	if err != nil {
		return nil, err
	}
	schema, err := schemas.Compile(doc)
	if err != nil {
		return nil, err
	}
	if wrong, err := schema.Check(ctx, given); err != nil || len(wrong) > 0 {
		return nil, cmp.Or(err, error(fault.New(fault.Invalid, "The arguments do not fit: %s", wrong.Error())))
	}
	return c.tool.call(ctx, c)
}

// read decodes the arguments, which have been checked.
func (c *mcpCall) read(into any) error {
	if len(c.req.Params.Arguments) == 0 {
		return nil
	}
	return json.Unmarshal(c.req.Params.Arguments, into)
}

// resultOf is a result whose text is what its data says.
func resultOf(text string, data any, more ...mcp.Content) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: append([]mcp.Content{&mcp.TextContent{Text: text}}, more...), StructuredContent: data}
}

// jsonResult is a result that is data.
func jsonResult(data any) *mcp.CallToolResult { return resultOf(asJSON(data), data) }

// mcpName is a name as clients take it: of letters, digits, _ and -.
func mcpName(parts ...string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.Join(parts, "_"))
	return name[:min(len(name), 64)]
}

func (m *mcpServer) listTools(ctx context.Context, c mcpCaller) (mcp.Result, error) {
	list, err := m.tools(ctx, c.viewer)
	if err != nil {
		return nil, err
	}
	out := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, Cacheable: ownLists}
	for _, t := range list {
		out.Tools = append(out.Tools, &t.Tool)
	}
	return out, nil
}

// ownLists is how what depends on who asks may be kept: by nobody else.
var ownLists = mcp.Cacheable{CacheScope: "private"}

// toolNamed finds a tool among those of a viewer. One that they may not use is not
// there.
func (m *mcpServer) toolNamed(ctx context.Context, c mcpCaller, name string) (mcpTool, error) {
	list, err := m.tools(ctx, c.viewer)
	if err != nil {
		return mcpTool{}, err
	}
	if i := slices.IndexFunc(list, func(t mcpTool) bool { return t.Name == name }); i >= 0 {
		return list[i], nil
	}
	return mcpTool{}, fault.New(fault.NotFound, "There is no tool %q here.", name)
}

// tools are those a viewer may use: of two of one name the first counts.
func (m *mcpServer) tools(ctx context.Context, v identity.Viewer) ([]mcpTool, error) {
	var list []mcpTool
	for _, of := range []func(context.Context, identity.Viewer) ([]mcpTool, error){m.ownTools, m.assistants, m.exposed} {
		some, err := of(ctx, v)
		if err != nil {
			return nil, err
		}
		for _, t := range some {
			if t.Name != anyTool && !slices.ContainsFunc(list, func(other mcpTool) bool { return other.Name == t.Name }) {
				list = append(list, t)
			}
		}
	}
	return list, nil
}

func object(required []string, properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "required": append([]string{}, required...), "properties": properties}
}

func stringOf(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

var (
	readsOnly = &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	// saysOnly changes nothing but what its person said and was told.
	saysOnly = &mcp.ToolAnnotations{DestructiveHint: new(bool)}
)

// ownTools are those of Liminal itself that the viewer's key has the scope of.
func (m *mcpServer) ownTools(_ context.Context, v identity.Viewer) (list []mcpTool, _ error) {
	add := func(t mcpTool, scopes ...string) {
		if v.Allows(scopes...) == nil {
			list = append(list, t)
		}
	}
	add(mcpTool{mcp.Tool{
		Name: "search_documents", Title: "Search documents", Annotations: readsOnly,
		Description: "Finds the passages of this person's documents in Liminal that fit a question best, with the ids of their documents.",
		InputSchema: object([]string{"query"}, map[string]any{
			"query": map[string]any{"type": "string", "minLength": 1, "maxLength": 20000, "description": "what to look for"},
			"limit": map[string]any{"type": "integer", "minimum": 1, "maximum": 50, "description": "how many passages at most; 8 when missing"},
		}),
	}, searchDocuments}, scopeRead)
	add(mcpTool{mcp.Tool{
		Name: "read_document", Title: "Read a document", Annotations: readsOnly,
		Description: "Gives the text of a document, 64 KB at a time.",
		InputSchema: object([]string{"document_id"}, map[string]any{
			"document_id": stringOf("as search_documents and the resources give it"),
			"start":       map[string]any{"type": "integer", "minimum": 0, "description": "the byte to begin with; 0 when missing"},
		}),
	}, readDocument}, scopeRead)
	add(mcpTool{mcp.Tool{
		Name: "runs", Title: "List runs", Annotations: readsOnly,
		Description: "This person's runs, latest first: what was asked, how each stands and what it waits for.",
		InputSchema: object(nil, map[string]any{
			"status": map[string]any{"enum": []string{"queued", "running", "waiting", "done", "failed", "cancelled"}},
			"limit":  map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "description": "20 when missing"},
			"cursor": stringOf("next_cursor of the list before"),
		}),
	}, listRunsTool}, scopeRead)
	add(mcpTool{mcp.Tool{
		Name: "run", Title: "Look at a run", Annotations: readsOnly,
		Description: "How a run stands: its answer, the questions it waits with, or why it failed. Of one that is at work it waits for the end, 45 seconds at most.",
		InputSchema: object([]string{"run_id"}, map[string]any{"run_id": stringOf("as an answer gives it")}), OutputSchema: answerSchema,
	}, followRun}, scopeChat, scopeRead, scopeTools)
	add(mcpTool{mcp.Tool{
		Name: "answer", Title: "Answer a question", Annotations: saysOnly,
		Description: "Answers what a run asks its person, and gives what comes of it. Ask the person first: the answer is theirs.",
		InputSchema: object([]string{"interrupt_id"}, map[string]any{
			"interrupt_id": stringOf("the question's id"),
			"answer":       map[string]any{"type": []string{"string", "number", "boolean", "object", "array"}, "description": "an option's id or number, a text, or an object for a form"},
			"skip":         map[string]any{"type": "boolean", "description": "true: the question is skipped, and the run goes on without an answer"},
		}), OutputSchema: answerSchema,
	}, answerQuestion}, scopeChat, scopeTools)
	add(mcpTool{mcp.Tool{
		Name: "propose_change", Title: "Propose a change", Annotations: saysOnly,
		Description: "Proposes a change to a workflow, policy or tool as a JSON Patch. It is checked and rehearsed, and waits for a person who decides: nothing changes by it.",
		InputSchema: object([]string{"artifact_id", "patch", "justification"}, map[string]any{
			"artifact_id":   stringOf("an id, or with artifact_type a name"),
			"artifact_type": stringOf("workflow, policy, tool, adapter, or a kind in full; only with a name"),
			"base_version":  map[string]any{"type": "integer", "minimum": 0, "description": "the version it is made for; missing: whichever is current"},
			"justification": map[string]any{"type": "string", "minLength": 1, "maxLength": 4000, "description": "why, for who decides"},
			"patch":         map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "object"}, "description": "operations of RFC 6902"},
		}),
	}, proposeChange}, scopePropose)
	return list, nil
}

// exposed are the tools whose specs say that clients of this protocol may call
// them, within the scope of the viewer's key.
func (m *mcpServer) exposed(ctx context.Context, v identity.Viewer) (list []mcpTool, err error) {
	specs, err := m.Shapes.Specs(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, b := range specs {
		// What it stands on may have come to be guarded since it was written.
		if !b.Exposed(tool.ExposeMCP) || b.Confirm.Asks || b.Privileged || !v.Grant.MayCall(b.Name) {
			continue
		}
		no := false
		list = append(list, mcpTool{mcp.Tool{
			Name: mcpName(b.Name), Description: b.Description, InputSchema: b.InputSchema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: b.ReadOnly, IdempotentHint: b.IsIdempotent(), DestructiveHint: ifFalse(!b.ReadOnly, &no)},
		}, runExposed(b.Name)})
	}
	return list, nil
}

// ifFalse is p where a thing does not hold; nil is the protocol's own default.
func ifFalse(holds bool, p *bool) *bool {
	if holds {
		return nil
	}
	return p
}

// runExposed runs one tool by itself, as any other client would.
func runExposed(name string) func(context.Context, *mcpCall) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
		if res, again, err := c.resumed(ctx); again || err != nil {
			return res, err
		}
		var input map[string]any
		if err := c.read(&input); err != nil {
			return nil, err
		}
		r, err := c.begin(ctx, name, input)
		if err != nil {
			return nil, err
		}
		return c.follow(ctx, r, 0)
	}
}

// begin starts a run of a tool.
func (c *mcpCall) begin(ctx context.Context, name string, input map[string]any) (run.Run, error) {
	v := c.viewer
	if err := c.Limits.Spend(ctx, c.Plans.Of(v).Chat, v.UserID); err != nil {
		return run.Run{}, err
	}
	return c.Engine.RunTool(ctx, v, name, orEmpty(input), requestOf(ctx).id)
}

func listRunsTool(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
	var in struct {
		Status, Cursor string
		Limit          int
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	page, err := c.listRuns(ctx, &listRunsInput{Status: in.Status, Paged: Paged{Cursor: in.Cursor, Limit: cmp.Or(in.Limit, 20)}})
	if err != nil {
		return nil, err
	}
	type row struct {
		ID             string  `json:"run_id"`
		Kind           string  `json:"kind"`
		Status         string  `json:"status"`
		Asked          string  `json:"asked,omitempty"`
		WaitsFor       string  `json:"waits_for,omitempty"`
		ConversationID *string `json:"conversation_id,omitempty"`
		CreatedAt      string  `json:"created_at"`
	}
	out := struct {
		Runs []row   `json:"runs"`
		Next *string `json:"next_cursor,omitempty"`
	}{Runs: []row{}, Next: page.Next}
	for _, r := range page.Data {
		out.Runs = append(out.Runs, row{r.ID, r.Kind, r.Status, r.Asked, r.WaitsFor, r.ConversationID, r.CreatedAt.Format("2006-01-02T15:04:05Z")})
	}
	return jsonResult(out), nil
}

func proposeChange(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
	var in struct {
		ArtifactID    string          `json:"artifact_id"`
		ArtifactType  string          `json:"artifact_type"`
		Base          int             `json:"base_version"`
		Justification string          `json:"justification"`
		Patch         json.RawMessage `json:"patch"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	p, err := c.Proposals.Propose(ctx, c.viewer, changes.Proposal{
		ArtifactID: in.ArtifactID, ArtifactType: in.ArtifactType, Patch: in.Patch, Base: in.Base, Justification: in.Justification,
	})
	if err != nil {
		return nil, err
	}
	return jsonResult(struct {
		ID     int64  `json:"id"`
		Status string `json:"status"`
		URL    string `json:"url"`
	}{p.ID, string(p.Status), patchURL(c.base, p.ID)}), nil
}

// titled are the workflows a viewer may have conversations with: those that have a
// title, their own before others' of the same name.
func (s *server) titled(ctx context.Context, v identity.Viewer) (list []titledWorkflow, err error) {
	seen := map[string]bool{}
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := s.Artifacts.List(ctx, v, artifacts.Filter{Type: artifacts.KindWorkflow, Status: "active", Cursor: cursor, Limit: 100})
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			if m, ok := modelView(a, v.Locale); ok && !seen[a.Name] {
				seen[a.Name] = true
				list = append(list, titledWorkflow{a, m.DisplayName})
			}
		}
		cursor = next
	}
	return list, nil
}

type titledWorkflow struct {
	artifacts.Artifact
	title string
}

// noted is whether an error says that something is not there.
func noted(err error) bool { return errors.Is(err, fault.NotFound) }
