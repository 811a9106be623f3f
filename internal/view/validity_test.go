package view

import (
	"strings"
	"testing"
)

func TestWhatIsNoValidRequestIsTold(t *testing.T) {
	t.Parallel()
	result := func(id, says string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":"` + says + `"}`
	}
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"Read","input":{}}` }
	body := func(parts ...string) string {
		var list []string
		for i, p := range parts {
			list = append(list, `{"role":"`+[]string{"user", "assistant"}[i%2]+`","content":[`+p+`]}`)
		}
		return `{"system":"s","messages":[` + strings.Join(list, ",") + `],"thinking":{"type":"adaptive"},"max_tokens":1}`
	}
	text, thought := `{"type":"text","text":"t"}`, `{"type":"thinking","thinking":"t","signature":"s"}`
	good := body(text, thought+","+use("a"), result("a", "long"), text, text, use("b"), result("b", "open"))
	a := Allowed{Results: map[string]bool{"a": true, "b": true}, Dropped: true}
	for name, is := range map[string]string{
		"a part is gone":    body(text, use("a"), result("a", "long"), text, text, use("b"), result("b", "open")),
		"a message is gone": body(text, thought+","+use("a"), result("a", "long"), text, text),
		"the open round":    strings.Replace(good, "open", "o", 1),
		"the system prompt": strings.Replace(good, `"system":"s"`, `"system":"t"`, 1),
		"the limit":         strings.Replace(good, `"max_tokens":1`, `"max_tokens":2`, 1),
		"another id":        strings.Replace(good, `"tool_use_id":"a"`, `"tool_use_id":"c"`, 1),
		"an error":          strings.Replace(good, `"content":"long"`, `"content":"l","is_error":true`, 1),
		"a breakpoint":      strings.Replace(good, `"content":"long"`, `"content":"l","cache_control":{"type":"ephemeral"}`, 1),
		"what it says":      strings.Replace(good, `"text":"t"`, `"text":"u"`, 1),
		"how it thinks":     strings.Replace(good, `"adaptive"`, `"disabled"`, 1),
	} {
		was, err := ReadBody([]byte(good))
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadBody([]byte(is))
		if err != nil {
			t.Fatal(err)
		}
		if Valid(was, b, a) == nil {
			t.Errorf("%s: it is valid", name)
		}
	}
	was, _ := ReadBody([]byte(good))
	shorter, _ := ReadBody([]byte(strings.Replace(good, "long", "l", 1)))
	if Valid(was, shorter, Allowed{Results: a.Results}) == nil {
		t.Error("nobody is asked to drop bound thinking, and it is valid")
	}
	unpaired, _ := ReadBody([]byte(body(text, use("a"), text)))
	if Valid(unpaired, unpaired, Allowed{}) == nil {
		t.Error("a call without its result is valid")
	}
}
