package artifacts_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/fault"
)

var update = flag.Bool("update", false, "write what is found as what is expected")

// Every file under testdata/<kind>/good is accepted; every one under bad is
// refused with the faults of the .faults file beside it. A good one may have
// such a file too, in which it says what it proves, and no fault.
//
// Requirements: ART-02, testdata/*/good, testdata/*/bad
func TestDocuments(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	files, err := filepath.Glob("testdata/*/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		dir, verdict := filepath.Split(filepath.Dir(file))
		t.Run(strings.TrimPrefix(strings.TrimSuffix(file, ".json"), "testdata/"), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			faults := strings.TrimSuffix(file, ".json") + ".faults"
			err = library.Check(t.Context(), ann, filepath.Base(dir), doc)
			if verdict == "good" {
				if err != nil {
					t.Fatalf("refused: %v\n%v", err, artifacts.Problems(err))
				}
				if _, err := os.Stat(faults); err == nil {
					artifactstest.Golden(t, faults, "", *update)
				}
				return
			}
			if !errors.Is(err, fault.Invalid) {
				t.Fatalf("not refused: %v", err)
			}
			artifactstest.Golden(t, faults, artifactstest.Problems(err), *update)
		})
	}
}

// What is expected of a document that is gone is expected of nothing.
func TestNoFaultsAreLeftOfADocumentThatIsGone(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*/*.faults")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if _, err := os.Stat(strings.TrimSuffix(file, ".faults") + ".json"); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
