package webaccess

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"liminal/internal/fault"
)

// maxWords is how many words Brave takes.
const maxWords = 50

// Brave searches with api.search.brave.com (TOOL-13).
type Brave struct {
	endpoint
	key string
}

var _ Provider = (*Brave)(nil)

// NewBrave needs a subscription token.
func NewBrave(o ProviderOptions) (*Brave, error) {
	if o.Key == "" {
		return nil, fault.New(fault.Invalid, "Brave needs a key.")
	}
	e, err := newEndpoint("Brave", "https://api.search.brave.com", o)
	return &Brave{e, o.Key}, err
}

// Name implements Provider.
func (*Brave) Name() string { return "brave" }

// Search implements Provider.
func (b *Brave) Search(ctx context.Context, q Query) ([]Result, error) {
	var answer struct {
		Web struct {
			Results []struct {
				Title       string   `json:"title"`
				URL         string   `json:"url"`
				Description string   `json:"description"`
				Extra       []string `json:"extra_snippets"`
			} `json:"results"`
		} `json:"web"`
	}
	limit := clamped(q.Limit)
	words := strings.Fields(short(q.Text))
	query := url.Values{
		"q": {strings.Join(words[:min(len(words), maxWords)], " ")}, "count": {strconv.Itoa(limit)},
		"result_filter": {"web"}, "text_decorations": {"false"},
	}
	if q.Locale != "" {
		query.Set("search_lang", q.Locale)
	}
	err := b.ask(ctx, http.MethodGet, "/res/v1/web/search?"+query.Encode(), http.Header{"X-Subscription-Token": {b.key}}, nil, &answer)
	if err != nil {
		return nil, err
	}
	found := make([]Result, 0, len(answer.Web.Results))
	for _, r := range answer.Web.Results {
		text := strings.Join(append([]string{r.Description}, r.Extra...), " … ")
		found = append(found, Result{Title: r.Title, URL: r.URL, Text: text})
	}
	return tidied(found, limit), nil
}
