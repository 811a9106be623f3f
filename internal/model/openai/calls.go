package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/model"
)

// calls puts tool calls together from their pieces. Servers agree on little:
//
//   - OpenAI numbers calls by index and gives id and name with the first piece;
//   - Ollama gave whole calls without an index, then with index 0 for each;
//   - vLLM gave another id with each piece, but the name only once;
//   - some give no id at all, some the name with each piece, some the
//     arguments as an object.
//
// So a piece begins another call when it names a tool and is not the call it
// would go on with: by its id, or, without one, because that call's arguments
// are complete.
type calls struct {
	list []*call
	size int
}

type call struct {
	index     int // as the server counts; -1 when it does not
	id, name  string
	arguments []byte
}

// maxArguments bounds the arguments of all calls of one answer, in bytes.
const maxArguments = 2 << 20

// add takes pieces of one chunk in.
func (c *calls) add(pieces []piece) error {
	for at, p := range pieces {
		index := -1
		switch {
		case p.Index != nil:
			index = *p.Index
		case len(pieces) > 1:
			index = at
		}
		f := p.Function
		if f == nil {
			f = &function{}
		}
		if err := c.piece(index, p.ID, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *calls) piece(index int, id string, f *function) error {
	text := argumentsOf(f.Arguments)
	if c.size += len(text); c.size > maxArguments {
		return fmt.Errorf("its tool calls have more than %d MiB of arguments", maxArguments>>20)
	}
	open := c.at(index, id)
	if open == nil || f.Name != "" && open.other(id, f.Name) {
		open = &call{index: index, id: id, name: f.Name}
		c.list = append(c.list, open)
	}
	if open.id == "" {
		open.id = id
	}
	if open.name == "" {
		open.name = f.Name
	}
	open.arguments = append(open.arguments, text...)
	return nil
}

// at is the call a piece may go on with: the latest of its index, or of its
// id, or just the latest.
func (c *calls) at(index int, id string) *call {
	for _, open := range slices.Backward(c.list) {
		if index >= 0 && open.index == index || index < 0 && id != "" && open.id == id {
			return open
		}
	}
	if index >= 0 || len(c.list) == 0 {
		return nil
	}
	return c.list[len(c.list)-1]
}

// other reports whether a piece that names a tool is of another call.
func (c *call) other(id, name string) bool {
	switch {
	case c.name == "":
		return false
	case id != "" && c.id != "":
		return id != c.id
	case name != c.name:
		return true
	}
	return json.Valid(c.arguments)
}

// argumentsOf is the text of arguments, whichever way they are sent.
func argumentsOf(raw json.RawMessage) []byte {
	if empty(raw) {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	return raw
}

// tornCall is a call of a tool of that name with half of its arguments, though
// nothing cut the answer off.
type tornCall string

func (t tornCall) Error() string {
	return fmt.Sprintf("it called %s with arguments that are no JSON", string(t))
}

// events gives the calls as they are asked for. Of an answer that was cut off
// those that are not complete are left out.
func (c *calls) events(names *model.ToolNames, cut bool) ([]model.Event, error) {
	var out []model.Event
	seen := map[string]bool{}
	for _, one := range c.list {
		input, ok := input(one.arguments)
		if cut && (!ok || one.name == "") {
			continue
		}
		if one.name == "" {
			return nil, fmt.Errorf("it called a tool without a name")
		}
		if !ok {
			return nil, tornCall(names.Receive(one.name))
		}
		if one.id == "" || seen[one.id] {
			one.id = "call_" + rand.Text()
		}
		seen[one.id] = true
		out = append(out, model.Event{Type: model.ToolCall, ID: one.id, Name: names.Receive(one.name), Input: input})
	}
	return out, nil
}

// input reads arguments: nothing at all is an empty object, and a string of
// JSON in a string is what it holds.
func input(arguments []byte) (json.RawMessage, bool) {
	trimmed := bytes.TrimSpace(arguments)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return json.RawMessage(`{}`), true
	}
	var inner string
	if json.Unmarshal(trimmed, &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner)) {
		return json.RawMessage(inner), true
	}
	return bytes.Clone(trimmed), json.Valid(trimmed)
}
