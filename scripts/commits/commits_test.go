package main

import (
	"strings"
	"testing"
)

func TestASubjectIsShortAndImperative(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"graph: bound visits per node (GRAPH-20)":             "",
		"api, web: say request instead of exchange":           "",
		"knowledge/extract: read file formats apart":          "",
		"Revert \"graph: bound visits per node\"":             "",
		"cell: process jobs side by side":                     "",
		"embed: embed and feed the index":                     "",
		"e2e: `make test` passes":                             "",
		strings.Repeat("a", longest):                          "",
		strings.Repeat("ä", longest):                          "",
		strings.Repeat("a", longest+1):                        "73 characters",
		"graph: bounded visits per node":                      "bounded",
		"graph: bounding visits per node":                     "bounding",
		"Bounds visits per node":                              "Bounds",
		"graph: ":                                             "nothing",
		"graph: bounds " + strings.Repeat("visits ", longest): "characters",
	} {
		got := strings.Join(wrong(subject), "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", subject, got, want)
		}
	}
}
