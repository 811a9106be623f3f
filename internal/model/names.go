package model

import (
	"strconv"
	"strings"
)

// maxToolName is the longest name of a tool that every provider takes, in
// characters.
const maxToolName = 64

// ToolNames are the tools of a request by the names providers take: letters,
// digits, _ and - only, while ours have dots. The zero ToolNames is ready; it
// is for one request and not safe for concurrent use.
type ToolNames struct {
	sent map[string]string // by our name
	ours map[string]string // by the name sent
}

// Send gives the name a tool is sent under; the same for the same tool always.
func (n *ToolNames) Send(name string) string {
	if sent, ok := n.sent[name]; ok {
		return sent
	}
	if n.sent == nil {
		n.sent, n.ours = map[string]string{}, map[string]string{}
	}
	plain := strings.Map(plainRune, name)
	plain = plain[:min(len(plain), maxToolName)]
	sent := plain
	for i := 2; sent == "" || n.ours[sent] != ""; i++ {
		suffix := "_" + strconv.Itoa(i)
		sent = plain[:min(len(plain), maxToolName-len(suffix))] + suffix
	}
	n.sent[name], n.ours[sent] = sent, name
	return sent
}

// Receive gives the tool a model names; a name nobody sent is itself.
func (n *ToolNames) Receive(sent string) string {
	if name, ok := n.ours[sent]; ok {
		return name
	}
	return sent
}

func plainRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}
