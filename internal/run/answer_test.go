package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/run"
)

// Requirements: INT-29
func TestAnAnswerToAFormIsTold(t *testing.T) {
	t.Parallel()
	schema := `{"x-order":["to"],"required":["nights","to"],"properties":{
		"to":{"title":"Where to"},"nights":{"title":"Nights"},"dog":{"title":"With a dog"},"note":{},
		"by":{"title":"By","items":{"oneOf":[{"const":"rail","title":"Rail"},{"const":"bus"}]}},
		"who":{"title":"Who","required":["name"],"properties":{"name":{"title":"Name"}}}}}`
	answer := `{"nights":2,"to":"Graz","who":{"age":7,"name":"Ada"},"dog":false,"by":["rail","bus"],"note":"","none":null,"more":[1,{"a":true}]}`
	for _, c := range []struct{ schema, answer, want string }{
		{schema, answer, "Where to: Graz; Nights: 2; By: Rail, bus; With a dog: ✗; more: 1, (a: ✓); Who: (Name: Ada, age: 7)"},
		{`{"title":7,"properties":{"to":true},"items":[]}`, `{"to":"Graz"}`, "to: Graz"},
		{``, `{"b":1,"a":"x"}`, "a: x; b: 1"},
		{schema, `"Graz"`, ""},
		{schema, `null`, ""},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.answer), &v); err != nil {
			t.Fatal(err)
		}
		for range 5 { // the same words always
			if got := run.FormWords(json.RawMessage(c.schema), v); got != c.want {
				t.Errorf("%s is told as %q, want %q", c.answer, got, c.want)
			}
		}
	}
	if got := run.FormWords(nil, map[string]any{"a": strings.Repeat("ä", 100_000)}); len(got) > 5000 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long answer is told in %d bytes", len(got))
	}
}
