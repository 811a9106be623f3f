package tool_test

import (
	"context"
	"fmt"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// shout is a whole tool: its name, which is its spec's, and what it does. The
// inputs were checked against the spec before Run sees them.
type shout struct{}

func (shout) Name() string { return "text.shout_v1" }

func (shout) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	text, _ := c.Inputs["text"].(string)
	return map[string]any{"text": strings.ToUpper(text) + "!"}, nil
}

// shoutSpec is what the tool says of itself, to people, to models and to graphs.
// In the tree it is a file: internal/tool/builtin/text.shout_v1.json.
const shoutSpec = `{
	"kind": "tool.spec",
	"name": "text.shout_v1",
	"description": "Says a text loudly.",
	"runs": "inline",
	"read_only": true,
	"input_schema":  {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string"}}},
	"output_schema": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string"}}},
	"examples": [{"inputs": {"text": "hello"}}]
}`

// To write a tool is to write these two: a type with a Name and a Run, and a
// tool.spec. The Box calls the one within the bounds of the other. In the tree
// they are internal/tool/builtin/NAME.go and NAME.json, with one line in that
// package's list.
func Example_writeATool() {
	spec, err := tool.Decode([]byte(shoutSpec))
	if err != nil {
		fmt.Println(err)
		return
	}
	box, err := tool.NewBox([]tool.Tool{shout{}}, tool.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := identity.Viewer{UserID: "ann", Role: identity.RoleUser}
	out, err := box.Call(context.Background(), spec, &tool.Call{Viewer: ann, Inputs: map[string]any{"text": "hello"}})
	fmt.Println(out["text"], err)
	// Output:
	// HELLO! <nil>
}

// What does not fit the spec never reaches the tool, and what the tool may not
// be called for is refused: both are faults with a code of the API's.
func ExampleBox_Call() {
	box, err := tool.NewBox([]tool.Tool{shout{}}, tool.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, err := tool.Decode([]byte(shoutSpec))
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := identity.Viewer{UserID: "ann", Role: identity.RoleUser}
	_, err = box.Call(context.Background(), spec, &tool.Call{Viewer: ann, Inputs: map[string]any{"text": 3}})
	fmt.Println(fault.CodeOf(err))
	spec.Privileged = true
	_, err = box.Call(context.Background(), spec, &tool.Call{Viewer: ann, Inputs: map[string]any{"text": "hello"}})
	fmt.Println(fault.CodeOf(err))
	fmt.Println(err)
	// Output:
	// validation_error
	// forbidden
	// The tool text.shout_v1 is privileged: only administrators may run it.
}

// A tool that needs a person's word returns a question in place of a result; the
// run waits, and calls the tool again with the answer in Call.Resume.
func ExampleAsks() {
	out := map[string]any{"interrupt": map[string]any{"interrupt_type": "text_input", "message": "How loudly?"}}
	fmt.Println(tool.Asks(out), tool.Asks(map[string]any{"text": "HELLO!"}))
	// Output:
	// true false
}
