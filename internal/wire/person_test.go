package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/config"
	"liminal/internal/identity"
)

// Requirements: GRND-37 (replies in the user's language)
func TestTheAssistantOfThePackRepliesInTheLanguageOfItsPerson(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../artifacts/packs/matters/workflow.chat/paliadin.json")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), `The user's display language is ${user.language}; reply\nin ${user.language}`) {
		t.Error("the model is not told to reply in the language of its person")
	}
	told := (&Platform{}).person(config.Config{})
	for locale, language := range map[string]string{"de": "German", "de-AT": "German", "en": "English", "": "English"} {
		words, err := told(t.Context(), identity.Viewer{}, locale)
		if err != nil || words["language"] != language {
			t.Errorf("in %q it is %q, %v", locale, words["language"], err)
		}
	}
}

// Requirements: GRND-43
func TestTheHouseIsCalledAsTheSettingsSayAndByNothingElse(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": "HLC", "Kanzlei Adler": "Kanzlei Adler"} {
		c, err := config.Load([]string{"FIRM_NAME=" + set}, nil)
		if err != nil {
			t.Fatal(err)
		}
		words, err := (&Platform{}).person(c)(t.Context(), identity.Viewer{}, "en")
		if err != nil || words["firm"] != want || words["office"] != want {
			t.Errorf("with FIRM_NAME=%q it is %v, %v", set, words, err)
		}
	}
	graphs, err := filepath.Glob("../../artifacts/packs/*/workflow.chat/*.json")
	if err != nil || len(graphs) == 0 {
		t.Fatal(err)
	}
	for _, path := range graphs {
		if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "HLC") {
			t.Errorf("%s names the house, or cannot be read: %v", path, err)
		}
	}
}
