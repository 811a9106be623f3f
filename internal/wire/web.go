package wire

import (
	"bytes"
	"context"
	"fmt"

	"liminal/internal/config"
	"liminal/internal/knowledge/extract"
	"liminal/internal/webaccess"
)

// theWeb reads pages of the hosts that are allowed; nil when none are
// (SAFE-05).
func theWeb(c config.Web, parsers *extract.Parsers) (*webaccess.Client, error) {
	if len(c.Allow) == 0 {
		return nil, nil //nolint:nilnil // none is an answer
	}
	client, err := webaccess.New(webaccess.Options{
		Allow: c.Allow, Deny: c.Deny,
		HTML: func(_ context.Context, text, address string) (title, markdown string, err error) {
			x, err := extract.Page(text, address)
			return x.Title, x.Text, err
		},
		PDF: func(ctx context.Context, raw []byte) (string, error) {
			x, err := parsers.Parse(ctx, "page.pdf", "application/pdf", bytes.NewReader(raw), int64(len(raw)))
			return x.Text, err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("LIMINAL_WEB_ALLOW and LIMINAL_WEB_DENY: %w", err)
	}
	return client, nil
}

// theSearch is who searches the web: the first provider that is set up; nil
// when none is (TOOL-13).
func theSearch(c config.Web) (webaccess.Provider, error) {
	switch {
	case c.TavilyKey != "":
		return webaccess.NewTavily(webaccess.ProviderOptions{Key: c.TavilyKey})
	case c.BraveKey != "":
		return webaccess.NewBrave(webaccess.ProviderOptions{Key: c.BraveKey})
	case c.SearXNG != "":
		return webaccess.NewSearXNG(webaccess.ProviderOptions{BaseURL: c.SearXNG})
	}
	return nil, nil //nolint:nilnil // none is an answer
}

// searches reports whether theSearch has somebody to ask.
func searches(c config.Web) bool { return c.TavilyKey != "" || c.BraveKey != "" || c.SearXNG != "" }
