package extractive

import (
	"encoding/json"
	"strings"
	"testing"
)

// The least lists of a schema multiply: twelve in twelve, eight levels deep,
// are 400 million values from 400 bytes.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestWhatASchemaAsksForAtLeastIsBounded(t *testing.T) {
	t.Parallel()
	const list, levels = `{"type":"array","minItems":12,"items":`, 8
	schema := `{"type":"object","required":["a"],"properties":{"a":` + strings.Repeat(list, levels) + `{"type":"string"}` + strings.Repeat("}", levels) + `}}`
	doc, err := json.Marshal(filled(json.RawMessage(schema), nil))
	if err != nil || len(doc) > 200_000 {
		t.Errorf("%d bytes for a schema of %d, %v", len(doc), len(schema), err)
	}
}

func TestAnEnumOfListsChoosesNothingThatIsKnown(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"enum":[["x"],{"y":1}]},"b":{"enum":["z"]}}}`)
	got := filled(schema, map[string]any{"a": []any{"x"}, "b": "z"})
	if _, ok := got["a"]; ok || got["b"] != "z" {
		t.Errorf("%v", got)
	}
}
