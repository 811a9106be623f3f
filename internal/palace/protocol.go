package palace

import (
	"strings"

	"liminal/internal/capture"
)

// protocol is what an exchange is spoken in.
type protocol int

const (
	anthropic   protocol = iota // Messages
	chat                        // OpenAI's chat completions
	responses                   // OpenAI's responses
	otherOpenAI                 // what else lies below openAIPath
)

// openAIPath is where a proxy takes OpenAI's protocol.
const openAIPath = "/openai/"

// openAIKeys begins the keys of histories in OpenAI's protocol: one client may speak
// both.
const openAIKeys = "openai:"

// protocolOf is told by the path of a request.
func protocolOf(path string) protocol {
	rest, ok := strings.CutPrefix(path, openAIPath)
	if !ok {
		return anthropic
	}
	switch rest = strings.TrimSuffix(rest, "/"); {
	case strings.HasSuffix(rest, "chat/completions"):
		return chat
	case strings.HasSuffix(rest, "responses"), strings.HasSuffix(rest, "responses/input_tokens"), strings.HasSuffix(rest, "responses/compact"):
		return responses
	}
	return otherOpenAI
}

// readRequest reads the body of a request in the protocol of its path.
func (r *reader) readRequest(path string, body []byte, spans []hashedSpan) asked {
	switch protocolOf(path) {
	case chat:
		return readChat(body)
	case responses:
		return readResponses(body)
	case otherOpenAI:
		return asked{}
	}
	return r.readAsked(body, spans)
}

// readResponse reads a response likewise.
func readResponse(path, kind string, body []byte) answered {
	switch protocolOf(path) {
	case chat:
		return readChatAnswer(kind, body)
	case responses:
		return readResponsesAnswer(kind, body)
	case otherOpenAI:
		return answered{form: FormJSON}
	}
	return readAnswered(kind, body)
}

// openAIKind is what a request in OpenAI's protocol is for.
func openAIKind(r capture.Request, a asked) Kind {
	path := strings.TrimSuffix(r.Path, "/")
	switch {
	case strings.HasSuffix(path, "/input_tokens"):
		return Count
	case strings.HasSuffix(path, "/compact"), r.Header.Get(codexSubagent) == "compact":
		return Compact
	// The history of one that goes on from what the backend holds is not in it.
	case len(a.messages) == 0, a.continued, r.Method != "POST":
		return Other
	case r.Header.Get(codexParent) != "":
		return Subagent
	}
	return Main
}

// Headers by which Codex says who asks.
const (
	codexSession  = "Session-Id"
	codexThread   = "Thread-Id"
	codexParent   = "X-Codex-Parent-Thread-Id"
	codexSubagent = "X-Openai-Subagent"
)

// openAIClient is who asks in OpenAI's protocol: Codex, by its headers, or what is told
// in any.
func openAIClient(r capture.Request, c capture.Client) capture.Client {
	thread := r.Header.Get(codexThread)
	if thread == "" {
		thread = r.Header.Get(codexSession)
	}
	if !c.Named && thread != "" {
		c.Key, c.Named = "session:"+thread, true
		if above := r.Header.Get(codexParent); above != "" {
			c.Parent = openAIKeys + "session:" + above
		}
	}
	c.Key = openAIKeys + c.Key
	return c
}
