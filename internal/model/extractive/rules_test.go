package extractive

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestEveryRuleIsOneThatSomethingAsksFor(t *testing.T) {
	t.Parallel()
	for _, r := range rules.list {
		if !r.asked {
			t.Errorf("rules.txt: nothing asks for %q", r.name)
		}
		if r.value == "" {
			t.Errorf("rules.txt: %q says nothing", r.name)
		}
	}
	if len(rules.list) < 60 || len(cues) < 10 || len(kinds) < 100 {
		t.Errorf("%d rules, %d cues, %d words of kinds", len(rules.list), len(cues), len(kinds))
	}
}

func TestAFaultOfTheRulesSaysWhereItStands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# one\n\nthing\n":         `rules.txt:3: "thing" is no line`,
		" a word\n":                `rules.txt:1: " a word" is no line`,
		"a = b\na = c\n":           "rules.txt:2: a stands here twice",
		"a = {thing}\nthing = b\n": "rules.txt:1: {thing} stands for no line above",
	} {
		if _, err := readRules(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
	s, err := readRules("thing = (?:a|ä)\nx = {thing}{1,3}\nwords = a b\n  c\n")
	if err != nil || s.name("x") != "(?:a|ä){1,3}" || s.name("words") != "a b c" {
		t.Errorf("%v, %v", s, err)
	}
	if s, err = readRules("cue sing plainly = la\n"); err == nil {
		if _, err = s.cues(); err == nil {
			t.Error("a cue of no action was taken")
		}
	}
}

// The names of actions and intents are those of the documents that ask for
// them, which may add to them without a change of Go.
//
// Requirements: PLAT-05 (no enum in tools and models)
func TestTheActionsAndIntentsAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	for file, names := range map[string][]string{
		"../../../artifacts/packs/documents/workflow.chat/assistant.json": {doAnswer, doCondense, doCompare, doCheck},
		"../../tool/builtin/llm.intent_classifier_v1.json":                {intentQuestion, intentJudgement, intentFiles, intentCourtesy, intentNone},
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		listed := enums(doc)
		if !slices.ContainsFunc(listed, func(list []any) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, any(name)) })
		}) {
			t.Errorf("%s lists %v, not %v", file, listed, names)
		}
	}
}

// enums are the lists of values anywhere in a document.
func enums(of any) (out [][]any) {
	switch v := of.(type) {
	case map[string]any:
		if list, ok := v["enum"].([]any); ok {
			out = append(out, list)
		}
		for _, one := range v {
			out = append(out, enums(one)...)
		}
	case []any:
		for _, one := range v {
			out = append(out, enums(one)...)
		}
	}
	return out
}
