package tokens_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"liminal/internal/tokens"
)

// with is a tokenizer of testdata with further special tokens.
func with(t *testing.T, name string, special []string) *tokens.Tokenizer {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	added, _ := file["added_tokens"].([]any)
	vocab := file["model"].(map[string]any)["vocab"].(map[string]any)
	known := map[string]bool{}
	next := len(vocab)
	for _, one := range added {
		token := one.(map[string]any)
		known[token["content"].(string)] = true
		next = max(next, int(token["id"].(float64))+1)
	}
	for _, s := range special {
		if known[s] {
			continue
		}
		added = append(added, map[string]any{"id": next, "content": s, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false})
		next++
	}
	file["added_tokens"] = added
	if raw, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	k, err := tokens.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// testdata/templates.json is what transformers makes of dialogues with the chat
// templates that families are published with (scripts/lora-parity/templates.py).
func TestDialoguesAreWrittenAsTransformersWritesThem(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "templates.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Family, Program, Tokenizer, Text string
		Special                          []string
		Turns                            [][2]string
		IDs                              []int
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	families := map[string]bool{}
	for _, row := range rows {
		families[row.Family] = true
		template, err := tokens.TemplateOf(row.Program)
		if err != nil || template.Name != row.Family {
			t.Errorf("the template of %s is taken for %s, %v", row.Family, template.Name, err)
			continue
		}
		k := with(t, row.Tokenizer, row.Special)
		var turns []tokens.Turn
		for _, turn := range row.Turns {
			turns = append(turns, tokens.Turn{Role: turn[0], Text: turn[1]})
		}
		ids := template.Prompt(k, turns)
		if !slices.Equal(ids, row.IDs) {
			t.Errorf("%s with %s is written\n%q, transformers writes\n%q: that is\n%v and\n%v", row.Family, row.Tokenizer, shown(k, ids), row.Text, ids, row.IDs)
		}
	}
	if len(families) != 6 {
		t.Errorf("there are %d families", len(families))
	}
}
