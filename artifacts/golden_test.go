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
// refused with the faults of the .faults file beside it.
//
// Requirements: ART-01, ART-02, GRAPH-19, LORA-01, PLAT-07, TOOL-01, TOOL-17
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
			err = library.Check(t.Context(), ann, filepath.Base(dir), doc)
			if verdict == "good" {
				if err != nil {
					t.Fatalf("refused: %v\n%v", err, artifacts.Problems(err))
				}
				return
			}
			if !errors.Is(err, fault.Invalid) {
				t.Fatalf("not refused: %v", err)
			}
			artifactstest.Golden(t, strings.TrimSuffix(file, ".json")+".faults", artifactstest.Problems(err), *update)
		})
	}
}
