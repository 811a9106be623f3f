package webaccess

import (
	"context"
	"net/http"
	"net/url"

	"liminal/internal/fault"
)

// SearXNG searches with an instance of one's own (TOOL-13).
type SearXNG struct{ endpoint }

var _ Provider = (*SearXNG)(nil)

// NewSearXNG needs the address of an instance.
func NewSearXNG(o ProviderOptions) (*SearXNG, error) {
	if o.BaseURL == "" {
		return nil, fault.New(fault.Invalid, "SearXNG needs the address of an instance.")
	}
	e, err := newEndpoint("SearXNG", "", o)
	return &SearXNG{e}, err
}

// Name implements Provider.
func (*SearXNG) Name() string { return "searxng" }

// Search implements Provider.
func (s *SearXNG) Search(ctx context.Context, q Query) ([]Result, error) {
	var answer struct {
		Results []struct {
			Title   string  `json:"title"`
			URL     string  `json:"url"`
			Content string  `json:"content"`
			Score   float64 `json:"score"`
		} `json:"results"`
	}
	query := url.Values{"q": {short(q.Text)}, "format": {"json"}}
	if q.Locale != "" {
		query.Set("language", q.Locale)
	}
	err := s.ask(ctx, http.MethodGet, "/search?"+query.Encode(), nil, nil, &answer)
	if fault.Reason(err) == fault.NotConfigured {
		// An instance has no keys: this is how it refuses a format.
		return nil, fault.New(fault.Internal, "The web was not searched: SearXNG does not answer in JSON. Whoever runs it has to add json to search.formats in its settings.yml.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	if err != nil {
		return nil, err
	}
	found := make([]Result, 0, len(answer.Results))
	for _, r := range answer.Results {
		found = append(found, Result{Title: r.Title, URL: r.URL, Text: r.Content, Score: r.Score})
	}
	return tidied(found, clamped(q.Limit)), nil
}
