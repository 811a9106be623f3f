package palace

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/capture"
	"liminal/internal/redact"
	"liminal/internal/view"
)

// part is a block as a body has it.
type part struct {
	typ   Type
	role  string
	tool  string // of a use; of a result it is found by ident
	ident string // what the protocol itself calls it; "": nothing
	hash  string
	sum   string // of what a result says
	label string
	// secret tells that something in it opens doors.
	secret bool
	span   capture.Span // of its JSON, or its events
	chunk  string       // in which it is kept, from start
	start  int
	mark   time.Duration // how long the cache is to keep what ends here; 0: it is not asked to
}

// asked is what a request says.
type asked struct {
	model    string
	system   []part
	tools    []part
	messages []part
	session  string   // of metadata
	list     []string // types of tools
	forced   bool     // a tool is named that must be called
	schema   bool     // the answer is to be JSON of a schema
	limit    int      // tokens of the answer; 0: none named
	stream   bool
	// continued tells that the backend holds the history that this goes on.
	continued bool

	offered  []view.PromptPart // tools as the cache sees them
	counts   []int             // parts of each message
	auto     time.Duration     // how long the cache is to keep all of it; 0: it is not asked to
	settings map[string]string // other members, by hash
}

// setting takes over a member of a request that is none of the conversation.
func (a *asked) setting(name string, raw []byte) {
	switch name {
	case "model":
		_ = json.Unmarshal(raw, &a.model) // then without one
	case "max_tokens":
		_ = json.Unmarshal(raw, &a.limit) // as above
	case "stream":
		_ = json.Unmarshal(raw, &a.stream) // then none
	case "metadata":
		a.session = capture.SessionOf(raw)
	case "tool_choice":
		var choice struct{ Type string }
		_ = json.Unmarshal(raw, &choice) // then none
		a.forced = choice.Type == "tool" || choice.Type == "any"
	case "output_config":
		var o struct{ Format struct{ Type string } }
		_ = json.Unmarshal(raw, &o) // then none
		a.schema = o.Format.Type == "json_schema"
	}
}

// message are the parts of one message.
func message(body []byte, at capture.Span) []part {
	role, content := "", capture.Span{}
	for name, v := range capture.Members(body, at.From) {
		switch name {
		case "role":
			_ = json.Unmarshal(body[v.From:v.To], &role) // then nobody's
		case "content":
			content = v
		}
	}
	return parts(body, content, role)
}

// parts are the blocks of a content, which may be a text.
func parts(body []byte, at capture.Span, role string) (out []part) {
	if at.To <= at.From {
		return nil
	}
	if body[at.From] == '"' {
		var text string
		if json.Unmarshal(body[at.From:at.To], &text) != nil {
			return nil
		}
		return append(out, partOf(map[string]any{"type": "text", "text": text}, role, at))
	}
	for e := range capture.Elements(body, at.From) {
		v, ok := decoded(body[e.From:e.To]).(map[string]any)
		if !ok {
			continue
		}
		out = append(out, partOf(v, role, e))
	}
	return out
}

// partOf is a block of content, which is not used afterwards.
func partOf(v map[string]any, role string, at capture.Span) part {
	text := func(name string) string { s, _ := v[name].(string); return s }
	p := part{role: role, span: at, mark: markOf(v["cache_control"])}
	p.hash = hashOfBlock(role, v)
	switch kind := text("type"); kind {
	case "text":
		p.typ, p.label = User, text("text")
		switch role {
		case "assistant":
			p.typ = Assistant
		case "system":
			p.typ = System
		}
	case "thinking", "redacted_thinking":
		p.typ, p.label = Thinking, text("thinking")
		if sign := text("signature") + text("data"); sign != "" {
			p.ident = "thinking:" + hashOf([]byte(sign))
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		p.typ, p.tool, p.ident = ToolUse, text("name"), "use:"+text("id")
		input, _ := json.Marshal(v["input"]) // of what was JSON
		p.label = p.tool + " " + string(input)
	case "tool_result":
		p.typ, p.ident, p.label = ToolResult, "result:"+text("tool_use_id"), firstText(v["content"])
		p.sum = view.HashResult(role, v)
	case "image", "document":
		p.typ, p.label = Media, kind
	default:
		if strings.HasSuffix(kind, "_tool_result") {
			p.typ, p.ident, p.label = ToolResult, "result:"+text("tool_use_id"), kind
			break
		}
		p.typ, p.label = Unknown, kind
	}
	if _, p.secret = maskSecrets(v); p.secret {
		p.label, _ = redact.Secrets(p.label)
	}
	p.label = shortened(p.label)
	return p
}

func firstText(content any) string {
	switch v := content.(type) {
	case string:
		return v
	case []any:
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && m["type"] == "text" {
				s, _ := m["text"].(string)
				return s
			}
		}
	}
	return ""
}

// longestLabel bounds what is shown of a block in a list, in characters.
const longestLabel = 120

// shortened is the beginning of a text on one line, as every store can hold it.
func shortened(s string) string {
	cut := s[:min(len(s), 4*longestLabel)]
	line := []rune(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(cut, ""), func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }), " "))
	if len(line) > longestLabel {
		line = append(line[:longestLabel-1], '…')
	} else if len(cut) < len(s) {
		line = append(line, '…')
	}
	return string(line)
}

// kindOf is what a request is for.
func kindOf(r capture.Request, a asked, body []byte) Kind {
	path := strings.TrimSuffix(r.Path, "/")
	switch {
	case ownQuestion(a):
		return Other
	case protocolOf(r.Path) != anthropic:
		return openAIKind(r, a)
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return Count
	case !strings.HasSuffix(path, "/messages") || r.Method != http.MethodPost || len(a.messages) == 0:
		return Other
	case a.schema && len(a.list) == 0:
		return Title
	case a.forced && len(a.list) == 1 && strings.HasPrefix(a.list[0], "web_search"):
		return Search
	case summary(a, body):
		return Compact
	case a.limit == 1: // whether the key is good
		return Other
	case r.Header.Get(capture.AgentHeader) != "":
		return Subagent
	}
	return Main
}

// ownLabels are what the palace's own questions to models begin with: a provider may add
// how the answer is to look.
var ownLabels = []string{shortened(view.Asking), shortened(view.Noting)}

// ownQuestion reports whether a request is one by which the palace itself asks a model.
// Where that is reached through the proxy, as by the settings that agents are given, the
// question would be an agent's, and be asked about, without an end.
func ownQuestion(a asked) bool {
	return slices.ContainsFunc(a.system, func(p part) bool { return slices.Contains(ownLabels, p.label) })
}

// summary reports whether the last message asks for one.
func summary(a asked, body []byte) bool {
	last := a.messages[len(a.messages)-1]
	return last.typ == User && strings.Contains(string(body[last.span.From:last.span.To]), capture.SummaryOrder)
}

// who is who asks.
type who struct {
	key     string
	parent  string // the key of the agent above; "": there is none
	named   bool   // the client says which session or agent it is
	project string
}

func whoOf(r capture.Request, a asked) who {
	c := capture.ClientOf(r, a.session)
	if protocolOf(r.Path) != anthropic {
		c = openAIClient(r, c)
	}
	return who{key: c.Key, parent: c.Parent, named: c.Named, project: c.Project}
}
