package openai

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// lacks is what each model of a server has refused to be asked. It is safe for
// concurrent use.
type lacks struct {
	mu      sync.Mutex
	byModel map[string]map[string]bool
}

func newLacks() *lacks { return &lacks{byModel: map[string]map[string]bool{}} }

// of gives a copy of what is known of a model.
func (l *lacks) of(model string) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := maps.Clone(l.byModel[model])
	if known == nil {
		known = map[string]bool{}
	}
	return known
}

// maxModels bounds how many models are remembered: names come from artifacts.
const maxModels = 256

// learn remembers a refusal, except that of a schema: the next may be one the
// server understands.
func (l *lacks) learn(model, what string) {
	if what == "response_format" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byModel) >= maxModels {
		clear(l.byModel)
	}
	if l.byModel[model] == nil {
		l.byModel[model] = map[string]bool{}
	}
	l.byModel[model][what] = true
}

// refused finds which part of the question a server does not want, and takes
// it out; empty when the question must stay as it is. Each part is taken out
// once, so asking again comes to an end.
func (q *question) refused(r refusal) string {
	if r.status != 400 && r.status != 422 || r.tooLong() || r.filtered() {
		return ""
	}
	text := strings.ToLower(r.text())
	for _, part := range []string{newerLimit, olderLimit, "stream_options", "temperature", "top_p", "user"} {
		if q.has(part) && mentions(text, part) && unknown(text) {
			q.lacks[part] = true
			return part
		}
	}
	if q.req.Schema != nil && !q.plainJSON {
		q.plainJSON = true
		return "response_format"
	}
	return ""
}

// has reports whether the last body said this.
func (q *question) has(part string) bool {
	switch part {
	case newerLimit, olderLimit:
		return q.req.MaxTokens > 0 && q.limit() == part && !q.lacks[part]
	case "temperature":
		return q.req.Temperature != nil && !q.lacks[part]
	case "top_p":
		return q.req.TopP != nil && !q.lacks[part]
	case "user":
		return q.req.User != "" && !q.lacks[part]
	}
	return !q.lacks[part]
}

// mentions reports whether the text has the part as a word of its own: "user"
// is more often a role than a parameter, so it must be quoted.
func mentions(text, part string) bool {
	if part == "user" {
		return strings.Contains(text, "'user'") || strings.Contains(text, `"user"`) || strings.Contains(text, "`user`")
	}
	return strings.Contains(text, part)
}

// unknown reports whether a server says that it does not know a parameter,
// and not that its value is out of range.
func unknown(text string) bool {
	return slices.ContainsFunc([]string{
		"not support", "unsupported", "unknown", "unrecognized", "unrecognised", "not permitted", "extra inputs", "unexpected", "not allowed", "not available",
	}, func(word string) bool { return strings.Contains(text, word) })
}
