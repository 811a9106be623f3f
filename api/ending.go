package api

import (
	"strings"

	"liminal/internal/chat"
	"liminal/internal/run"
)

// endAsked is how an answer ends that is a question, and that question: what the next
// message answers.
func endAsked(open []run.Interrupt, locale string) (f finish, asked *Interrupt) {
	f.rest, f.reason = askedAll(open, locale), "stop"
	if len(open) == 0 {
		return f, nil
	}
	if f.calls = clientCalls(open[0]); len(f.calls) > 0 {
		f.rest, f.reason = "", "tool_calls"
	}
	view := interruptView(open[0])
	return f, &view
}

// citedAt is where a citation can be read, under base, and what that is called.
func citedAt(base string, c chat.Citation) (href, title string) {
	if c.Record == nil {
		return base + "/v1/documents/" + c.DocumentID, c.Title
	}
	if strings.Contains(c.Record.Href, "://") {
		return c.Record.Href, c.Record.Title
	}
	return base + c.Record.Href, c.Record.Title
}
