package builtin

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

// stranger is the content type of what nobody here wrote: clients sanitise it
// before they show it, models get it as data (TOOL-08, STREAM-30, SAFE-06).
const stranger = "html_untrusted"

// shownChars is how much of a page a call returns that does not say how much.
const shownChars = 20_000

// fetch reads a page of the web.
type fetch struct{ web Web }

func (fetch) Name() string { return "web.fetch_v1" }

func (t fetch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	address := words(c, "url")
	if address == "" {
		return nil, fault.New(fault.Invalid, "%s needs the address of a page.", t.Name())
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	page, err := t.web.Fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	total := utf8.RuneCountInString(page.Text)
	text := window(page.Text, number(c, "offset", 0), number(c, "max_chars", shownChars))
	out := map[string]any{
		"url": page.URL, "title": page.Title, "text": text, "mime": page.MIME, "content_type": stranger,
		"fetched_at": page.Fetched.Format(time.RFC3339), "chars": float64(total),
		"truncated": page.Truncated || utf8.RuneCountInString(text) < total,
	}
	of := " of "
	if german(c) {
		of = " aus "
	}
	out["summary"] = count(total, "character", german(c)) + of + named(page)
	return out, nil
}

func named(p webaccess.Page) string {
	if p.Title != "" {
		return p.Title
	}
	return p.URL
}

// window is n characters of a text from the one at offset on.
func window(text string, offset, n int) string {
	runes := []rune(text)
	from := min(max(offset, 0), len(runes))
	return string(runes[from:min(from+max(n, 0), len(runes))])
}
