package palace

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever a backend says of what it changed, the tokens beside it are read, and an entry
// that nobody knows is kept as one.
//
// proxy.md: E7
func TestWhatABackendChangedIsRead(t *testing.T) {
	t.Parallel()
	const one = `{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"}`
	for name, c := range map[string]struct{ start, end, is string }{
		"nothing is said":     {"", "", "[] false"},
		"nothing was changed": {`[]`, "", "[] true"},
		"one":                 {`[` + one + `]`, "", "[{thinking_dropped messages.1.content.0 prefix_binding_mismatch}] true"},
		"at the end nothing":  {`[` + one + `]`, `null`, "[{thinking_dropped messages.1.content.0 prefix_binding_mismatch}] true"},
		"at the end none":     {`[` + one + `]`, `[]`, "[] true"},
		"at the end another":  {`[]`, `[` + one + `]`, "[{thinking_dropped messages.1.content.0 prefix_binding_mismatch}] true"},
		"of next year":        {`[{"type":"image_scaled","by":2},7,"text",{"path":["a"]}]`, "", "[{image_scaled  } {unknown  } {unknown  } {unknown  }] true"},
		"another form":        {`{"thinking_dropped":3}`, "", "[] false"},
	} {
		member := func(v string) string {
			if v == "" {
				return ""
			}
			return `,"input_transformations":` + v
		}
		stream := `data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":10}` + member(c.start) + `}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}` + member(c.end) + `}` + "\n\n"
		a := readAnswered("text/event-stream", []byte(stream))
		if got := fmt.Sprint(a.transformed, a.transformed != nil); got != c.is || a.usage.Input != 10 || a.usage.Output != 5 || a.stop != "end_turn" {
			t.Errorf("%s: %s, %+v", name, got, a.usage)
		}
		if c.end == "" {
			a := readAnswered("application/json", []byte(`{"type":"message","model":"m","stop_reason":"end_turn","content":[],"usage":{"input_tokens":10}`+member(c.start)+`}`))
			if got := fmt.Sprint(a.transformed, a.transformed != nil); got != c.is || a.usage.Input != 10 {
				t.Errorf("%s, at once: %s", name, got)
			}
		}
	}
	many := "[" + strings.TrimSuffix(strings.Repeat(one+",", mostTransformed+1), ",") + "]"
	if list, _ := transformationsOf([]byte(many)); len(list) != mostTransformed {
		t.Errorf("%d are kept", len(list))
	}
}
