package builtin

import (
	"context"
	"strings"

	"liminal/internal/tool"
)

// maxQuery bounds a query in characters; search engines cut longer ones.
const maxQuery = 200

// query makes a search engine's query of a message, the names it is about, and
// what is known of who asks.
type query struct{}

func (query) Name() string { return "text.query_v1" }

func (query) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	text := strings.Join(strings.Fields(strings.ReplaceAll(words(c, "text"), "@", "")), " ")
	most := number(c, "most", maxQuery)
	parts := []string{trimTo(text, most)}
	left := most - len([]rune(parts[0]))
	for _, name := range append(flat(c.Inputs["names"]), flat(c.Inputs["asker"])...) {
		if at, _ := find(text, name); at >= 0 {
			continue
		}
		if left -= len([]rune(name)) + 1; left < 0 {
			break
		}
		parts = append(parts, name)
	}
	return map[string]any{"query": strings.TrimSpace(strings.Join(parts, " "))}, nil
}

// trimTo keeps at most n characters, up to the end of a word.
func trimTo(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	cut := string(runes[:n])
	if at := strings.LastIndexByte(cut, ' '); at > 0 {
		cut = cut[:at]
	}
	return cut
}
