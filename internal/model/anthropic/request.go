package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"liminal/internal/model"
)

// redacted marks the signature of a thinking block whose text the provider
// keeps to itself: what follows is its data, which is sent back as it came.
const redacted = "redacted_thinking:"

// citing keeps a model from writing references of its own beside those the API
// makes: nobody could tell whose numbers they are.
const citing = "The documents are cited by your citations alone: write no reference numbers, footnotes or source lists of your own for them."

// question is a request as it is sent, and what reading its answer needs.
type question struct {
	params    sdk.MessageNewParams
	names     *model.ToolNames
	uses      *uses
	documents []model.Block // the passages in the order they are sent
	forced    bool          // the answer is the input of the tool answerTool
	cited     bool          // the documents may be cited
	size      int           // of what is sent, in characters
	applied   model.Applied
}

// question says a request in the API's words.
func (p *provider) question(req model.Request) *question {
	adapters := model.Apply(p.Backend, req.Adapters)
	q := &question{names: &model.ToolNames{}, uses: newUses(), cited: req.Schema == nil, applied: adapters}
	name := cmp.Or(adapters.Model, req.Model, p.Model)
	q.params = sdk.MessageNewParams{Model: name, MaxTokens: int64(cmp.Or(req.MaxTokens, maxTokens))}
	q.tools(req.Tools)
	q.system(req.System, adapters.System)
	for _, m := range req.Messages {
		q.message(m)
	}
	if q.cited && len(q.documents) > 0 {
		q.system(citing)
	}
	if req.User != "" {
		q.params.Metadata.UserID = param.NewOpt(req.User)
	}
	v := versionOf(name)
	q.sampling(req, v)
	q.format(req.Schema, v)
	q.cache(req)
	return q
}

func (q *question) tools(tools []model.Tool) {
	for _, t := range tools {
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		q.tool(q.names.Send(t.Name), t.Description, schema)
	}
}

func (q *question) tool(name, description string, schema json.RawMessage) {
	q.size += len(name) + len(description) + len(schema)
	t := &sdk.ToolParam{Name: name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
	if description != "" {
		t.Description = param.NewOpt(description)
	}
	q.params.Tools = append(q.params.Tools, sdk.ToolUnionParam{OfTool: t})
}

// system is what every turn of a conversation begins with. What adapters ask
// for comes behind it, so that what they share is the same text.
func (q *question) system(texts ...string) {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			q.size += utf8.RuneCountInString(text)
			q.params.System = append(q.params.System, sdk.TextBlockParam{Text: text})
		}
	}
}

func (q *question) message(m model.Message) {
	var results, rest []sdk.ContentBlockParamUnion // the API wants results of tools first
	for _, b := range m.Content {
		q.size += utf8.RuneCountInString(b.Text) + len(b.Input)
		switch block, ok := q.block(b); {
		case !ok:
		case b.Type == model.ToolResult:
			results = append(results, block)
		default:
			rest = append(rest, block)
		}
	}
	if content := slices.Concat(results, rest); len(content) > 0 {
		q.params.Messages = append(q.params.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: content})
	}
}

// block says a block; false for one the API would refuse: an empty text, or
// thoughts that are not this provider's own.
func (q *question) block(b model.Block) (sdk.ContentBlockParamUnion, bool) {
	switch b.Type {
	case model.Text:
		return sdk.NewTextBlock(b.Text), strings.TrimSpace(b.Text) != ""
	case model.Thinking:
		if data, hidden := strings.CutPrefix(b.Signature, redacted); hidden {
			return sdk.NewRedactedThinkingBlock(data), true
		}
		return sdk.NewThinkingBlock(b.Signature, b.Text), b.Signature != ""
	case model.ToolUse:
		input := b.Input
		if len(input) == 0 {
			input = json.RawMessage(`{}`)
		}
		return sdk.NewToolUseBlock(q.uses.begin(b.ID), input, q.names.Send(b.Name)), true
	case model.ToolResult:
		return q.result(b), true
	case model.Passage:
		return q.passage(b)
	}
	return sdk.ContentBlockParamUnion{}, false
}

func (q *question) result(b model.Block) sdk.ContentBlockParamUnion {
	out := &sdk.ToolResultBlockParam{ToolUseID: q.uses.result(b.ID)}
	if strings.TrimSpace(b.Text) != "" {
		out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: b.Text}}}
	}
	if b.IsError {
		out.IsError = param.NewOpt(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: out}
}

// passage is a document the answer may cite. Where it may not, its number
// stands in its title for the model to name.
func (q *question) passage(b model.Block) (sdk.ContentBlockParamUnion, bool) {
	if strings.TrimSpace(b.Text) == "" {
		return sdk.ContentBlockParamUnion{}, false
	}
	q.documents = append(q.documents, b)
	d := &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{OfText: &sdk.PlainTextSourceParam{Data: b.Text}}}
	title := titleOf(b.Source)
	if q.cited {
		d.Citations.Enabled = param.NewOpt(true)
	} else {
		title = strings.TrimSpace(fmt.Sprintf("[%d] %s", len(q.documents), title))
	}
	if title != "" {
		d.Title = param.NewOpt(title)
	}
	if b.Source != nil && b.Source.Columns != "" {
		d.Context = param.NewOpt("It begins in the midst of a table with these columns: " + b.Source.Columns)
	}
	return sdk.ContentBlockParamUnion{OfDocument: d}, true
}

// maxTitle bounds the title of a document, in characters.
const maxTitle = 200

func titleOf(s *model.Source) string {
	if s == nil {
		return ""
	}
	title := cmp.Or(s.Title, s.Path)
	if s.Heading != "" {
		title += ", " + s.Heading
	}
	if s.Page > 0 {
		title += fmt.Sprintf(", page %d", s.Page)
	}
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	return title
}

// sampling says how freely words are chosen, to models that let it be said.
// Of temperature and top-p the API takes one.
func (q *question) sampling(req model.Request, v version) {
	switch {
	case !v.sampled():
	case req.Temperature != nil:
		q.params.Temperature = param.NewOpt(min(max(*req.Temperature, 0), 1)) // ours goes to 2
	case req.TopP != nil:
		q.params.TopP = param.NewOpt(*req.TopP)
	}
}
