package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/stream"
)

const (
	documentScheme = "liminal://documents/"
	// maxResource is the longest text of a document that is read as a resource, in
	// bytes. The tool read_document reads all of it.
	maxResource = 512 << 10
	// mcpSearched is how many contexts a search looks into.
	mcpSearched = 100
)

func documentURI(documentID string) string { return documentScheme + documentID }

// patchURL is the page of a proposed change.
func patchURL(base string, id int64) string {
	return base + "/operate/patches/" + strconv.FormatInt(id, 10)
}

var documentTemplate = &mcp.ResourceTemplate{
	URITemplate: documentScheme + "{id}", Name: "document", Title: "Document", Description: "A document of the person's by its id",
}

func (m *mcpServer) listTemplates(c mcpCaller) *mcp.ListResourceTemplatesResult {
	out := &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{}, Cacheable: ownLists}
	if c.viewer.Allows(scopeRead) == nil {
		out.ResourceTemplates = append(out.ResourceTemplates, documentTemplate)
	}
	return out
}

// listResources are the viewer's documents that have been read, newest first.
func (m *mcpServer) listResources(ctx context.Context, c mcpCaller, in *mcp.ListResourcesParams) (mcp.Result, error) {
	out := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: ownLists}
	if c.viewer.Allows(scopeRead) != nil {
		return out, nil
	}
	cursor := ""
	if in != nil {
		cursor = in.Cursor
	}
	list, next, err := m.Titles.FindDocuments(ctx, c.viewer, "", cursor, 100)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if d.Status == knowledge.Ready {
			out.Resources = append(out.Resources, &mcp.Resource{URI: documentURI(d.ID), Name: cmp.Or(d.Title, d.Path, d.ID), Title: d.Title, MIMEType: "text/plain"})
		}
	}
	out.NextCursor = next
	return out, nil
}

// readResource is a document's text. What is not there, and what is another's, is
// told alike.
func (m *mcpServer) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	v, uri := viewerOf(ctx), req.Params.URI
	documentID, ok := strings.CutPrefix(uri, documentScheme)
	if !ok || !id.Valid(documentID) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err := v.Allows(scopeRead); err != nil {
		return nil, err
	}
	t, err := m.Documents.Text(ctx, v, id.Canonical(documentID))
	if noted(err) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	whole := t.Text
	if len(whole) > maxResource {
		whole = cutText(whole, maxResource) + fmt.Sprintf("\n\n[%d of %d bytes; the tool read_document reads the rest]", maxResource, len(t.Text))
	}
	return &mcp.ReadResourceResult{Cacheable: ownLists, Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: whole}}}, nil
}

// cutText is a text up to a byte, and not into a character.
func cutText(s string, most int) string {
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func readDocument(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
	var in struct {
		ID    string `json:"document_id"`
		Start int    `json:"start"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if err := uuids("document_id", []string{in.ID}); err != nil {
		return nil, err
	}
	documentID := id.Canonical(in.ID)
	d, err := c.Documents.Document(ctx, c.viewer, documentID)
	if err != nil {
		return nil, err
	}
	t, err := c.Documents.Text(ctx, c.viewer, documentID)
	if err != nil {
		return nil, err
	}
	if in.Start > len(t.Text) {
		return nil, fault.New(fault.Invalid, "The text has %d bytes; it has none at %d.", len(t.Text), in.Start)
	}
	for in.Start < len(t.Text) && !utf8.RuneStart(t.Text[in.Start]) {
		in.Start++
	}
	part := t.Text[in.Start:]
	if len(part) > maxPassage {
		part = cutText(part, maxPassage)
	}
	out := struct {
		ID     string `json:"document_id"`
		Title  string `json:"title"`
		Text   string `json:"text"`
		Start  int    `json:"start"`
		Length int    `json:"length"`
		Next   *int   `json:"next,omitempty"` // where the rest begins
	}{d.ID, d.Title, part, in.Start, len(t.Text), nil}
	if end := in.Start + len(part); end < len(t.Text) {
		out.Next = &end
	}
	return jsonResult(out), nil
}

// searchTool is the tool that finds passages.
const searchTool = "rag.search_v1"

// searchDocuments finds passages in all contexts the viewer may use, as a run of
// the tool that turns search with.
func searchDocuments(ctx context.Context, c *mcpCall) (*mcp.CallToolResult, error) {
	var in struct {
		Query string
		Limit int
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	contexts, err := c.searchable(ctx, c.viewer)
	if err != nil {
		return nil, err
	}
	r, err := c.begin(ctx, searchTool, map[string]any{"question": in.Query, "contexts": contexts, "k": cmp.Or(in.Limit, 8)})
	if err != nil {
		return nil, err
	}
	e, err := c.next(ctx, r, 0)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return c.working(r), nil
	case e.Kind == stream.Error:
		return nil, c.runFault(r, e.Data)
	}
	out, err := c.outcome(ctx, c.viewer, r.ID)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(out.Output)
	if err != nil {
		return nil, err
	}
	var found struct {
		Passages []struct {
			DocumentID string  `json:"document_id"`
			Title      string  `json:"title"`
			Heading    string  `json:"heading,omitempty"`
			Page       int     `json:"page,omitempty"`
			Start      int     `json:"start"`
			Text       string  `json:"text"`
			Score      float64 `json:"score"`
		} `json:"passages"`
		Confidence string `json:"confidence"`
		Summary    string `json:"summary,omitempty"`
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, err
	}
	return jsonResult(found), nil
}

// searchable are the contexts a viewer may search.
func (m *mcpServer) searchable(ctx context.Context, v identity.Viewer) ([]string, error) {
	ids := []string{}
	for cursor, more := "", true; more && len(ids) < mcpSearched; more = cursor != "" {
		list, next, err := m.Contexts.ListContexts(ctx, v, "", cursor, 100)
		if err != nil {
			return nil, err
		}
		for _, k := range list {
			ids = append(ids, k.ID)
		}
		cursor = next
	}
	return ids[:min(len(ids), mcpSearched)], nil
}

// starters are what conversations may begin with, as prompts, for a key that may
// ask.
func (m *mcpServer) starters(ctx context.Context, v identity.Viewer) (list []starter, err error) {
	if v.Allows(scopeChat) != nil {
		return nil, nil
	}
	workflows, err := m.titled(ctx, v)
	for _, w := range workflows {
		if !v.Grant.MayAsk(w.ID, w.Name) {
			continue
		}
		var doc struct {
			Surface struct{ Starters []map[string]string }
		}
		if json.Unmarshal(w.Schema, &doc) != nil {
			continue
		}
		for i, said := range doc.Surface.Starters {
			words := cmp.Or(said[v.Locale], said["en"], said["de"])
			if words != "" {
				list = append(list, starter{mcpName(w.Name, strconv.Itoa(i+1)), mcpName("ask", w.Name), w.title, words})
			}
		}
	}
	return list, err
}

type starter struct{ name, tool, title, words string }

func (m *mcpServer) listPrompts(ctx context.Context, c mcpCaller) (mcp.Result, error) {
	list, err := m.starters(ctx, c.viewer)
	if err != nil {
		return nil, err
	}
	out := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: ownLists}
	for _, s := range list {
		out.Prompts = append(out.Prompts, &mcp.Prompt{Name: s.name, Title: s.words, Description: s.title})
	}
	return out, nil
}

// promptMeant is the prompt that is asked for.
func promptMeant(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	meant, ok := ctx.Value(meantKey{}).(*mcp.GetPromptResult)
	if !ok {
		return nil, fault.New(fault.Internal, "No prompt is meant.")
	}
	return meant, nil
}

func (m *mcpServer) prompt(ctx context.Context, c mcpCaller, name string) (*mcp.GetPromptResult, error) {
	list, err := m.starters(ctx, c.viewer)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.name != name {
			continue
		}
		how := fmt.Sprintf("Ask %s with the tool %s: %s", s.title, s.tool, s.words)
		if german(c.viewer.Locale) {
			how = fmt.Sprintf("Frage %s mit dem Werkzeug %s: %s", s.title, s.tool, s.words)
		}
		return &mcp.GetPromptResult{Description: s.title, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: how}}}}, nil
	}
	return nil, fault.New(fault.NotFound, "There is no prompt %q here.", name)
}
