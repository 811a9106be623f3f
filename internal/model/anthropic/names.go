package anthropic

import (
	"strconv"
	"strings"
)

// maxName is the longest name of a tool the API takes, in characters.
const maxName = 64

// names are the tools of a request by the names the API takes: letters,
// digits, _ and - only, while ours have dots.
type names struct {
	sent map[string]string // by our name
	ours map[string]string // by the name sent
}

func newNames() names { return names{sent: map[string]string{}, ours: map[string]string{}} }

// send gives the name a tool is sent under; the same for the same tool always.
func (n names) send(name string) string {
	if sent, ok := n.sent[name]; ok {
		return sent
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	plain = plain[:min(len(plain), maxName)]
	sent := plain
	for i := 2; sent == "" || n.ours[sent] != ""; i++ {
		suffix := "_" + strconv.Itoa(i)
		sent = plain[:min(len(plain), maxName-len(suffix))] + suffix
	}
	n.sent[name], n.ours[sent] = sent, name
	return sent
}

// receive gives the tool a model names; a name nobody sent is itself.
func (n names) receive(sent string) string {
	if name, ok := n.ours[sent]; ok {
		return name
	}
	return sent
}

// uses are the ids of tool calls. The API takes no others than letters,
// digits, _ and -, and each once; a dialogue that was begun with another
// backend has that one's.
type uses struct {
	names
	last map[string]string // what the latest call of an id was sent as
}

// begin gives the id a call is sent with.
func (u uses) begin(id string) string {
	key := id
	for u.sent[key] != "" {
		key += "_"
	}
	u.last[id] = u.send(key)
	return u.last[id]
}

// result gives the id of the call a result belongs to.
func (u uses) result(id string) string {
	if sent := u.last[id]; sent != "" {
		return sent
	}
	return u.send(id)
}
