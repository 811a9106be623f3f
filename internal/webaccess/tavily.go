package webaccess

import (
	"context"
	"net/http"

	"liminal/internal/fault"
)

// Tavily searches with api.tavily.com (TOOL-13).
type Tavily struct {
	endpoint
	key string
}

var _ Provider = (*Tavily)(nil)

// NewTavily needs a key.
func NewTavily(o ProviderOptions) (*Tavily, error) {
	if o.Key == "" {
		return nil, fault.New(fault.Invalid, "Tavily needs a key.")
	}
	e, err := newEndpoint("Tavily", "https://api.tavily.com", o)
	return &Tavily{e, o.Key}, err
}

// Name implements Provider.
func (*Tavily) Name() string { return "tavily" }

// Search implements Provider.
func (t *Tavily) Search(ctx context.Context, q Query) ([]Result, error) {
	var answer struct {
		Results []struct {
			Title   string  `json:"title"`
			URL     string  `json:"url"`
			Content string  `json:"content"`
			Score   float64 `json:"score"`
		} `json:"results"`
	}
	limit := clamped(q.Limit)
	body := map[string]any{"query": short(q.Text), "max_results": limit, "search_depth": "basic", "include_answer": false}
	err := t.ask(ctx, http.MethodPost, "/search", http.Header{"Authorization": {"Bearer " + t.key}}, body, &answer)
	if err != nil {
		return nil, err
	}
	found := make([]Result, 0, len(answer.Results))
	for _, r := range answer.Results {
		found = append(found, Result{Title: r.Title, URL: r.URL, Text: r.Content, Score: r.Score})
	}
	return tidied(found, limit), nil
}
