package artifacts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
)

// Who reads German is asked in German by the graphs that everybody meets: a
// question that stands in them is there in both languages, and so are its choices.
//
// Requirements: GRAPH-22
func TestTheShippedGraphsAskInBothLanguages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{artifacts.DocumentsWorkflow, artifacts.AssistantWorkflow} {
		var doc struct {
			Nodes []struct {
				ID, Type string
				Message  any
				Options  any
			}
		}
		if err := json.Unmarshal(artifactstest.Shipped(t, name), &doc); err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, n := range doc.Nodes {
			if n.Type != "interrupt" {
				continue
			}
			asked++
			if !bothLanguages(n.Message) {
				t.Errorf("%s: node %s asks in English alone: %v", name, n.ID, n.Message)
			}
			options, _ := n.Options.([]any)
			for _, o := range options {
				if label := o.(map[string]any)["label"]; !bothLanguages(label) {
					t.Errorf("%s: node %s offers in English alone: %v", name, n.ID, label)
				}
			}
		}
		if asked < 2 {
			t.Errorf("%s asks %d questions", name, asked)
		}
	}
}

// bothLanguages reports whether a text is by language, or made of what a tool says.
func bothLanguages(text any) bool {
	if by, ok := text.(map[string]any); ok {
		return by["en"] != nil && by["de"] != nil
	}
	s, _ := text.(string)
	return strings.HasPrefix(s, "${vars.") && strings.HasSuffix(s, "}")
}
