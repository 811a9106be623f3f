package model

import (
	"fmt"
	"strings"
)

// Written is a request as one text, for a program that takes no more than that: its
// tools are left out, for it calls its own.
func Written(req Request) string {
	var b strings.Builder
	part := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "# %s\n\n%s\n\n", title, text)
		}
	}
	part("Instructions", req.System)
	for _, m := range req.Messages {
		var said []string
		for _, c := range m.Content {
			switch c.Type {
			case Text:
				said = append(said, c.Text)
			case Passage:
				said = append(said, "> "+strings.ReplaceAll(c.Text, "\n", "\n> "))
			case ToolResult:
				said = append(said, "A tool returned: "+c.Text)
			case ToolUse, Thinking:
			}
		}
		part(map[Role]string{User: "The person", Assistant: "You"}[m.Role], strings.Join(said, "\n\n"))
	}
	if req.Schema != nil {
		part("The form of the answer", "JSON, valid under this schema:\n\n"+string(req.Schema))
	}
	return strings.TrimSpace(b.String())
}
