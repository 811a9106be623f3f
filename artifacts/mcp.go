package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// MCPServer finds an mcp.server by name, as the viewer may use it.
func (l *Library) MCPServer(ctx context.Context, v identity.Viewer, name string) (tool.MCPServer, error) {
	a, err := l.usable(ctx, v, KindMCPServer, name)
	if err != nil {
		return tool.MCPServer{}, err
	}
	s, err := tool.DecodeMCPServer(a.Schema)
	if err != nil {
		return s, fault.Wrap(fault.Internal, err, "The mcp.server %s is not readable.", name)
	}
	return s, nil
}

// mcpServer checks an mcp.server.
func (c *checking) mcpServer() {
	if !c.v.IsAdmin() {
		c.add(check.Limits, "", "ask an administrator", "only administrators write an mcp.server: it says what programs are started and who is asked")
	}
	if c.name != "" && !tool.IsMCPName(c.name) {
		c.add(check.Schema, "", "write lower-case letters, digits and _, at most 24 of them", "its tools are called mcp.%s.…, so it cannot be called %q", c.name, c.name)
	}
	s, err := tool.DecodeMCPServer(c.doc)
	if err != nil {
		return // the schema has said so
	}
	switch {
	case s.Stdio != nil && s.Auth != (tool.MCPAuth{}):
		c.add(check.Limits, "/auth", "leave it out; what the program needs stands in its entry of LIMINAL_MCP_FILE", "auth is for servers over HTTP")
	case s.HTTP != nil && s.Auth != (tool.MCPAuth{}) && !safeForSecrets(s.HTTP.URL):
		c.add(check.Limits, "/http/url", "write https://…", "what goes along would go over plain http")
	case s.HTTP != nil && s.Auth.Connection != "":
		c.connected("/auth/connection", "/http/url", s.Auth.Connection, s.HTTP.URL)
	}
}

// safeForSecrets reports whether a token may be sent to an address: over https, or
// to an address that is written out, which the dialler judges.
func safeForSecrets(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || strings.Contains(host, ":") || strings.Trim(host, "0123456789.") == ""
}

// mcpTool checks a tool of an MCP server.
func (c *checking) mcpTool(spec tool.Spec) {
	m := spec.Via.MCP
	if prefix := "mcp." + m.Server + "."; !strings.HasPrefix(spec.Name, prefix) {
		c.add(check.Limits, "/name", "begin it with "+prefix, "a tool of a server is called after it, so that it hides no other")
	}
	_, err := c.library.MCPServer(c.ctx, c.v, m.Server)
	switch {
	case errors.Is(err, fault.NotFound):
		c.add(check.References, "/via/mcp/server", "write the name of an mcp.server", "there is no MCP server %q", m.Server)
	case err != nil:
		c.err = err
	}
}

// What in the words of a tool may be meant for a model and not for whoever
// approves the tool.
var (
	ordering = regexp.MustCompile(`(?i)\b(ignore|disregard|forget)\b.{0,30}\b(instruction|previous|above|rule|prompt)|` +
		`\b(you must|you have to|always|never|do not|don't)\b.{0,40}\b(call|use|send|tell|mention|ask|include|pass|reveal|show)\b|` +
		`\b(before|after|instead of)\b.{0,30}\b(using|calling|any other|every|each)\b|\bsystem prompt\b|<\s*/?\s*(important|system|instructions?)\b|` +
		`\b(ignoriere|vergiss|verrate|erwähne)\b|\b(du musst|immer|niemals)\b.{0,40}\b(aufrufen|senden|sagen|nutzen|verwenden)\b`)
	craving = regexp.MustCompile(`(?i)\b(password|passwort|kennwort|passphrase|secrets?|api[ _-]?keys?|access[ _-]?tokens?|auth[ _-]?tokens?|bearer|credentials?|` +
		`private[ _-]?keys?|ssh[ _-]?keys?|session[ _-]?cookies?|seed[ _-]?phrase|zugangsdaten)\b|\bid_rsa\b|\.env\b|\.ssh\b`)
	elsewhere = regexp.MustCompile(`(?i)\bhttps?://[^\s)>"']+`)
)

// steering is what in the words of a tool of an MCP server, which a model reads, may
// be meant to steer it: orders, wishes for secrets, the names of other tools,
// addresses. None of these is refused: a person reads them.
func (l *Library) steering(ctx context.Context, v identity.Viewer, doc json.RawMessage) ([]Problem, error) {
	spec, err := tool.Decode(doc)
	if err != nil || spec.Via == nil || spec.Via.MCP == nil {
		return nil, nil //nolint:nilerr // the schema has said so
	}
	all, err := l.Specs(ctx, v)
	if err != nil {
		return nil, err
	}
	others := make([]string, 0, len(all))
	for _, b := range all {
		if b.Name != spec.Name {
			others = append(others, b.Name)
		}
	}
	var found []Problem
	for _, at := range spoken(spec) {
		for _, said := range Steering(at.text, others) {
			found = append(found, Problem{Path: at.path, Message: said, Hint: "a model reads this: write it in words of your own, or leave the tool out"})
		}
	}
	return found, nil
}

// Steering tells in sentences what of a text that a model reads may be meant to
// steer it. The others are the names of tools that it is none of.
func Steering(text string, others []string) []string {
	var said []string
	told := func(what, quoted string) {
		if runes := []rune(quoted); len(runes) > 80 {
			quoted = string(runes[:80]) + "…"
		}
		said = append(said, what+": \""+quoted+"\"")
	}
	if m := ordering.FindString(text); m != "" {
		told("it gives orders to whoever reads it", m)
	}
	if m := craving.FindString(text); m != "" {
		told("it asks for, or speaks of, what is secret", m)
	}
	if m := elsewhere.FindString(text); m != "" {
		told("it names an address", m)
	}
	for _, name := range others {
		if namesTool(text, name) {
			told("it names another tool", name)
			break
		}
	}
	return said
}

// namesTool reports whether a text holds the name of a tool as a word. A name of a
// single word without a sign may be any word.
func namesTool(text, name string) bool {
	if !strings.ContainsAny(name, "._") {
		return false
	}
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		before := i > 0 && (wordy(rest[i-1]) || rest[i-1] == '.')
		after := rest[end:]
		if !before && (after == "" || !wordy(after[0]) && (after[0] != '.' || len(after) == 1 || !wordy(after[1]))) {
			return true
		}
		rest = rest[end:]
	}
}

func wordy(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// spokenText is a text that a model reads, and where in the document it stands.
type spokenText struct{ path, text string }

// spoken is what of a spec a model reads: its description, and the texts of its
// input schema.
func spoken(spec tool.Spec) []spokenText {
	texts := []spokenText{{"/description", spec.Description}}
	var schema any
	if json.Unmarshal(spec.InputSchema, &schema) == nil {
		texts = append(texts, textsOf("/input_schema", schema)...)
	}
	return texts
}

func textsOf(path string, v any) (texts []spokenText) {
	switch v := v.(type) {
	case string:
		texts = append(texts, spokenText{path, v})
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if key == "$schema" || key == "$ref" || key == "$id" {
				continue
			}
			at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			if strings.ContainsAny(key, " \t\n") { // a name is read as well
				texts = append(texts, spokenText{at, key})
			}
			texts = append(texts, textsOf(at, v[key])...)
		}
	case []any:
		for i, inner := range v {
			texts = append(texts, textsOf(pointer(path, i), inner)...)
		}
	}
	return texts
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
