package builtin

import (
	"context"
	"path"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/redact"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

// foundPages is how many pages a call returns that does not say how many.
const foundPages = 5

// searchWeb asks a search provider (TOOL-13).
type searchWeb struct{ provider webaccess.Provider }

func (searchWeb) Name() string { return "web.search_v1" }

func (t searchWeb) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	query := wording(c)
	if query == "" {
		return nil, fault.New(fault.Invalid, "%s needs a query, or a message to make one of.", t.Name())
	}
	found, err := t.provider.Search(ctx, webaccess.Query{Text: query, Limit: number(c, "limit", foundPages), Locale: c.Locale})
	if err != nil {
		return nil, err
	}
	results := make([]any, 0, len(found))
	for _, r := range found {
		one := map[string]any{"title": r.Title, "url": r.URL, "text": r.Text}
		if r.Score > 0 {
			one["score"] = r.Score
		}
		results = append(results, one)
	}
	return map[string]any{
		"results": results, "query": query, "web_query": query, "provider": t.provider.Name(),
		"content_type": stranger, "summary": count(len(results), "page", german(c)),
	}, nil
}

// wording is what the provider is asked: the query, or one made of the message
// with what it is about and who asks. Nobody outside is told people's
// addresses and numbers, or secrets.
func wording(c *tool.Call) string {
	if query := words(c, "query"); query != "" {
		return discreet(query)
	}
	message := words(c, "message")
	if message == "" {
		return ""
	}
	parts := []string{clipped(discreet(message), webaccess.MaxQuery/2)}
	for _, title := range texts(c.Inputs["titles"]) {
		parts = mention(parts, strings.TrimSuffix(title, path.Ext(title)))
	}
	for _, name := range []string{"industry", "location"} {
		parts = mention(parts, words(c, name))
	}
	return strings.Join(parts, " ")
}

// mention adds what the query does not say yet, as long as it fits.
func mention(parts []string, what string) []string {
	what = discreet(what)
	said := strings.ToLower(strings.Join(parts, " "))
	if what == "" || strings.Contains(said, strings.ToLower(what)) || len(said)+len(what) >= webaccess.MaxQuery {
		return parts
	}
	return append(parts, what)
}

// discreet is a text without personal data and secrets, on one line.
func discreet(text string) string {
	fields := strings.Fields(strings.ReplaceAll(redact.Text(text), "@", ""))
	return strings.Join(slices.DeleteFunc(fields, func(word string) bool {
		return placeholder[strings.Trim(word, ".,;:!?()")]
	}), " ")
}

// placeholder is what redaction leaves behind.
var placeholder = map[string]bool{
	"[email]": true, "[phone]": true, "[card]": true, "[iban]": true, "[token]": true, "[key]": true, "[password]": true, "[signature]": true,
}
