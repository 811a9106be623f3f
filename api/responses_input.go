package api

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
)

// ResponseInput is a text, or a list of items: messages, what came of the caller's
// functions, and approvals. Others, such as those of earlier responses, are let be.
type ResponseInput struct{ Items []ResponseInputItem }

// ResponseInputItem is one of them.
type ResponseInputItem struct {
	Type    string            `json:"type"`
	Role    string            `json:"role"`
	Content CompletionContent `json:"content"`
	CallID  string            `json:"call_id"`
	Output  CompletionContent `json:"output"`
	Request string            `json:"approval_request_id"`
	Approve bool              `json:"approve"`
}

// maxInputItems bounds a list.
const maxInputItems = 2000

// UnmarshalJSON reads both forms.
func (i *ResponseInput) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		i.Items = []ResponseInputItem{{Type: "message", Role: "user", Content: CompletionContent{Text: text}}}
		return nil
	}
	return json.Unmarshal(b, &i.Items)
}

// Schema describes both forms.
func (ResponseInput) Schema(huma.Registry) *huma.Schema {
	item := &huma.Schema{Type: "object", AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"type": {Type: "string", Description: "message, function_call_output or mcp_approval_response; others are let be"},
		"role": {Type: "string"}, "call_id": {Type: "string"}, "approval_request_id": {Type: "string"}, "approve": {Type: "boolean"},
	}}
	item.PrecomputeMessages()
	most, least := maxInputItems, 1
	list := &huma.Schema{Type: "array", Items: item, MaxItems: &most, MinItems: &least}
	list.PrecomputeMessages()
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: "string"}, list}}
}

// read takes the items apart: what was said before, and what is said now.
func (i ResponseInput) read() (k kept, err error) {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{"input", "is not possible here"}})
	}
	var system []string
	last := -1 // the message of the user's that is said now
	for n, item := range i.Items {
		if item.Type == "" || item.Type == "message" {
			last = n
		}
	}
	for n, item := range i.Items {
		text := strings.TrimSpace(item.Content.Text)
		switch item.Type {
		case "", "message":
			switch {
			case item.Content.Other != "":
				return k, refuse("Item %d has a part of type %s; only text is read. Put files into a context.", n+1, item.Content.Other)
			case item.Role == "system" || item.Role == "developer":
				if text != "" {
					system = append(system, text)
				}
			case item.Role != "user" && item.Role != "assistant":
				return k, refuse("Item %d is of %q; a message is of the user, the assistant, the developer or the system.", n+1, clippedName(item.Role))
			case text != "" && n != last:
				k.before = append(k.before, chat.Said{Role: item.Role, Content: text})
			}
		case "function_call_output":
			if n > last {
				k.results = append(k.results, callResult{ID: item.CallID, Content: item.Output.Text})
			}
		case "mcp_approval_response":
			question := strings.TrimPrefix(item.Request, approvalPrefix)
			if !id.Valid(question) {
				return k, refuse("There is no approval request %q.", clippedName(item.Request))
			}
			k.approval = &approval{id.Canonical(question), item.Approve}
		}
	}
	k.system = strings.Join(system, "\n\n")
	switch {
	case len(k.results) > 0:
		k.results = latestCalls(k.results)
		if last >= 0 && i.Items[last].Role != "system" && i.Items[last].Role != "developer" {
			k.before = append(k.before, chat.Said{Role: i.Items[last].Role, Content: strings.TrimSpace(i.Items[last].Content.Text)})
		}
		return k, nil
	case k.approval != nil:
		return k, nil
	case last < 0 || i.Items[last].Role != "user":
		return k, refuse("The last item is no message of the user's; a turn begins with one.")
	}
	k.last = i.Items[last].Content.Text
	return k, nil
}

// latestCalls are the results of the calls that were asked for together last: a client
// that keeps everything sends those of earlier rounds too.
func latestCalls(results []callResult) (list []callResult) {
	of, _, _ := callOf(results[len(results)-1].ID)
	for _, r := range results {
		if question, _, _ := callOf(r.ID); question == of {
			list = append(list, r)
		}
	}
	return list
}
