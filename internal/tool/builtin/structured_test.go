package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/tool"
)

// The attack took 18 GB: a schema of 9.6 KB that asks for 10^28 checks, with
// defaults that fit it. The model is not even asked.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestASchemaThatMultipliesIsNotAskedFor(t *testing.T) {
	t.Parallel()
	definitions := map[string]any{"d29": map[string]any{"type": "string"}}
	for i := range 29 {
		refs := make([]any, 10)
		for j := range refs {
			refs[j] = map[string]any{"$ref": fmt.Sprintf("#/definitions/d%d", i+1)}
		}
		definitions[fmt.Sprintf("d%d", i)] = map[string]any{"allOf": refs}
	}
	for want, schema := range map[string]map[string]any{
		"written out":   {"definitions": definitions, "$ref": "#/definitions/d0"},
		"leads outside": {"$ref": "file:///etc/passwd"},
	} {
		_, err := decide{}.Run(t.Context(), &tool.Call{Inputs: map[string]any{"message": "x", "schema": schema, "defaults": map[string]any{"message": "x"}}})
		if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A schema may be small and what the model says may make it dear.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestAnAnswerThatIsTooMuchWorkToCheckIsNotValid(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"allOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}`)
	text := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	if _, valid := structured(t.Context(), text, schema, nil); valid {
		t.Error("it is valid")
	}
}

// Requirements: LORA-27
func TestAnAnswerThatIsNotAsAskedForBecomesTheDefaults(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","required":["action"],"additionalProperties":false,
		"properties":{"action":{"enum":["audit","compare"]},"confidence":{"type":"number","maximum":1}}}`)
	for text, want := range map[string]string{
		`{"action":"audit","confidence":0.9}`:                           `{"action":"audit","confidence":0.9} true`,
		`{"action":"audit"}`:                                            `{"action":"audit","confidence":0} true`,
		"Here it is:\n```json\n{\"action\": \"compare\"}\n```\nDone.":   `{"action":"compare","confidence":0} true`,
		`I think {this} is it: {"action":"audit"} {"action":"compare"}`: `{"action":"audit","confidence":0} true`,
		`{"result":{"action":"audit"}}`:                                 `{"action":"audit","confidence":0} true`,
		`{"action":"summarize"}`:                                        `{"action":"none","confidence":0} false`,
		`{"action":"audit","confidence":7}`:                             `{"action":"none","confidence":0} false`,
		`{"action":"audit"`:                                             `{"action":"none","confidence":0} false`,
		`["audit"]`:                                                     `{"action":"none","confidence":0} false`,
		``:                                                              `{"action":"none","confidence":0} false`,
		strings.Repeat("{", 1000):                                       `{"action":"none","confidence":0} false`,
		`{"action":"audit","confidence":1e999}`:                         `{"action":"none","confidence":0} false`,
		`{"action":"audit","why":"because it says so in the paragraph"}`: `{"action":"none","confidence":0} false`,
	} {
		value, valid := structured(t.Context(), text, schema, map[string]any{"action": "none", "confidence": 0.0})
		doc, err := json.Marshal(value)
		if got := fmt.Sprintf("%s %v", doc, valid); err != nil || got != want {
			t.Errorf("%.60s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// Requirements: LORA-27
func TestAnAnswerWithoutAUsableSchema(t *testing.T) {
	t.Parallel()
	if value, valid := structured(t.Context(), `{"a":1}`, nil, nil); !valid || value["a"] != 1.0 {
		t.Error(value, valid)
	}
	defaults := map[string]any{"a": "none"}
	if value, valid := structured(t.Context(), `{"a":1}`, json.RawMessage(`{"type":7}`), defaults); valid || value["a"] != "none" {
		t.Error(value, valid)
	}
	if value, _ := structured(t.Context(), `{"a":1}`, nil, defaults); value["a"] != 1.0 || defaults["a"] != "none" {
		t.Error("the defaults are the caller's")
	}
}

// An object within an answer is not the answer: of one that is cut off, or
// that is not as asked for, no part is taken for the whole.
//
// Requirements: LORA-27
func TestAPartOfAnAnswerIsNotTakenForIt(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"action":{"enum":["audit"]},"filter":{"type":"object"}}}`)
	for _, text := range []string{
		`{"action":"delete","filter":{}}`,
		`{"action":"delete","filter":{"action":"audit"}}`,
		`{"filter":{"action":"audit"},"act`,
		"```json\n{\"filter\":{\"a\":{}}, \"action\":\"aud",
	} {
		if value, valid := structured(t.Context(), text, schema, map[string]any{"action": "none"}); valid || value["action"] != "none" {
			t.Errorf("%s: %v, %v", text, value, valid)
		}
	}
	if value, valid := structured(t.Context(), `{"action":"delete"} or rather {"action":"audit"}`, schema, nil); !valid || value["action"] != "audit" {
		t.Error(value, valid)
	}
}
