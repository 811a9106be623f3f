package proxy

import (
	"net/url"
	"strings"
)

// OpenAIPath is below what OpenAI's protocol is spoken: such a request goes to a
// backend of its own, without this beginning of its path.
const OpenAIPath = "/openai"

// backend is where a request goes, and what it asks for there. A path that spells the
// beginning in another way is none of OpenAI's.
func (p *Proxy) backend(asked *url.URL) (upstream, there *url.URL) {
	if p.openAI == nil || !speaksOpenAI(asked.Path) {
		return p.upstream, asked
	}
	rest := *asked
	rest.Path = strings.TrimPrefix(asked.Path, OpenAIPath)
	if asked.RawPath != "" {
		var ok bool
		if rest.RawPath, ok = strings.CutPrefix(asked.RawPath, OpenAIPath); !ok {
			return p.upstream, asked
		}
	}
	return p.openAI, &rest
}

// speaksOpenAI reports whether a path, with a token or without, is one of OpenAI's
// protocol.
func speaksOpenAI(path string) bool {
	if rest, ok := strings.CutPrefix(path, tokenPath); ok {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	return strings.HasPrefix(path, OpenAIPath+"/")
}

// of makes a refusal one that the clients of a path understand.
func (r *refusal) of(path string) *refusal {
	r.openAI = speaksOpenAI(path)
	return r
}

// body is what is said of it.
func (r *refusal) body() map[string]any {
	if r.openAI {
		return map[string]any{"error": map[string]any{"message": r.message, "type": r.kind, "param": nil, "code": nil}}
	}
	return map[string]any{"type": "error", "error": map[string]string{"type": r.kind, "message": r.message}}
}
