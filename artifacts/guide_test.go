package artifacts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/tool/builtin"
)

// What docs/workflows.md shows is what its files say, which e2e runs, and a
// reader who types it off gets neither a fault nor a warning.
func TestTheExamplesOfTheGuideAreItsFilesAndAreAccepted(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	library := artifacts.NewLibrary(artifactstest.NewStore(), specs)
	if err := library.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../docs/examples/*.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page, "```json\n"+string(doc)+"```\n") {
			t.Errorf("the page does not show %s as it is", file)
		}
		if err := library.Check(t.Context(), ann, artifacts.KindWorkflow, doc); err != nil {
			t.Errorf("%s: %v: %v", file, err, artifacts.Problems(err))
		}
		if warnings, err := library.Warnings(t.Context(), ann, artifacts.KindWorkflow, doc); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, warnings %v", file, err, warnings)
		}
	}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if !json.Valid([]byte(block[1])) {
			t.Errorf("the page shows what is not JSON:\n%s", block[1])
		}
	}
}
