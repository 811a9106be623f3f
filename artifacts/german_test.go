package artifacts_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// Whoever ships a document says in German what it is for, and what its steps are at.
//
// Requirements: GRND-37 (replies in the user's language)
func TestWhatShipsIsDescribedInGerman(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../web/src/i18n/sentences.de.json")
	if err != nil {
		t.Fatal(err)
	}
	var german map[string]string
	if err := json.Unmarshal(raw, &german); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range []string{"defaults", "packs"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var doc struct {
				Description string `json:"description"`
				Nodes       any    `json:"nodes"`
			}
			if json.Unmarshal(raw, &doc) != nil {
				return nil // a table of data
			}
			for _, text := range append(described(doc.Nodes), doc.Description) {
				n := 0
				text = reference.ReplaceAllStringFunc(text, func(string) string { n++; return "{" + strconv.Itoa(n) + "}" })
				if found++; text != "" && german[text] == "" {
					t.Errorf("web/src/i18n/sentences.de.json does not say %q (%s)", text, path)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 80 {
		t.Errorf("found are only %d", found)
	}
}

// described are what the nodes of a graph say they are at.
func described(of any) (texts []string) {
	switch of := of.(type) {
	case map[string]any:
		text, _ := of["description"].(string)
		if _, node := of["type"].(string); node && of["id"] != nil && text != "" {
			texts = append(texts, text)
		}
		for _, inner := range of {
			texts = append(texts, described(inner)...)
		}
	case []any:
		for _, inner := range of {
			texts = append(texts, described(inner)...)
		}
	}
	return texts
}
