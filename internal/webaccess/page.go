package webaccess

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"liminal/internal/fault"
)

// content fills in what a page says, by its type.
func (c *Client) content(ctx context.Context, page Page, raw []byte, declared string) (Page, error) {
	page.MIME = mimeOf(declared, raw)
	switch {
	case page.MIME == "application/pdf":
		return c.pdf(ctx, page, raw)
	case !isText(page.MIME):
		return Page{}, fault.New(fault.Invalid, "The page was not read: it is of the type %s, which has no text.", page.MIME)
	case bytes.IndexByte(raw[:min(len(raw), 4096)], 0) >= 0 && !wide(raw):
		return Page{}, fault.New(fault.Invalid, "The page was not read: it says that it is %s, and is not text.", page.MIME)
	}
	text := decoded(raw, declared)
	if page.MIME != "text/html" && page.MIME != "application/xhtml+xml" {
		page.Text = Plain(text)
		return page, nil
	}
	return c.html(ctx, page, text)
}

func (c *Client) html(ctx context.Context, page Page, text string) (Page, error) {
	if c.options.HTML == nil {
		return Page{}, fault.New(fault.Invalid, "The page was not read: it is HTML, which nothing here reads.")
	}
	title, text, err := c.options.HTML(ctx, text, page.URL)
	page.Title, page.Text = oneLine(title, maxTitle), Plain(text)
	return page, err
}

func (c *Client) pdf(ctx context.Context, page Page, raw []byte) (Page, error) {
	if c.options.PDF == nil {
		return Page{}, fault.New(fault.Invalid, "The page was not read: it is a PDF; upload it as a document instead.")
	}
	if page.Truncated {
		return Page{}, fault.New(fault.Invalid, "The page was not read: it is a PDF of more than %d MB; upload it as a document instead.", c.options.MaxBytes>>20)
	}
	text, err := c.options.PDF(ctx, raw)
	page.Text = Plain(text)
	return page, err
}

// mimeOf is the type a page says it has, or looks like when it says nothing.
func mimeOf(declared string, raw []byte) string {
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || kind == "" || kind == "application/octet-stream" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(raw))
	}
	return strings.ToLower(kind)
}

func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/xhtml+xml", "application/yaml", "application/x-ndjson", "application/javascript":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "application/") && (strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml"))
}

// wide: UTF-16 is full of NULs and text all the same.
func wide(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte{0xff, 0xfe}) || bytes.HasPrefix(raw, []byte{0xfe, 0xff})
}

// decoded is the text of bytes in the encoding that was declared, by the
// header or in the page; cut in the middle of a character, it loses that one.
func decoded(raw []byte, declared string) string {
	encoding, _, _ := charset.DetermineEncoding(raw[:min(len(raw), 1024)], declared)
	if utf8.Valid(raw) {
		return string(raw)
	}
	if text, err := encoding.NewDecoder().Bytes(raw); err == nil && !strings.HasPrefix(strings.ToLower(declared), "utf-8") {
		return string(text)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// Plain is text without what nobody sees: control characters, zero-width and
// bidirectional signs, and the tags of plane 14, in which whole sentences can
// be hidden from a reader and still reach a model (SAFE-06). Lines end in
// "\n".
func Plain(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, text))
}

// maxTitle bounds a title, in bytes.
const maxTitle = 300

// oneLine is text on one line, in so many bytes at most.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(Plain(text)), " ")
	if len(text) <= limit {
		return text
	}
	return strings.TrimSpace(strings.ToValidUTF8(text[:limit], "")) + "…"
}

func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
