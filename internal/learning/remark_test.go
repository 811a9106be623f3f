package learning_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"liminal/internal/learning"
	"liminal/internal/learning/gate"
)

// coded finds where a remark is made.
var coded = regexp.MustCompile(`\bSay\("([a-z_]+)"`)

// Whoever adds a sentence says it in German and names it for other clients.
func TestEveryRemarkIsSaidInGermanAndNamed(t *testing.T) {
	t.Parallel()
	codes := map[string]bool{"rule_met": true}                                                        // of changes, which know nothing of learning
	for _, r := range []gate.Reason{gate.Few, gate.Chance, gate.Elsewhere, gate.Unsafe, gate.Leaks} { // a verdict's, said as they are
		codes[string(r)] = true
	}
	for _, dir := range []string{".", "../training", "../adaptation"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, m := range coded.FindAllStringSubmatch(text(t, name), -1) {
				codes[m[1]] = true
			}
		}
	}
	if len(codes) < 20 {
		t.Fatalf("found are only %v", codes)
	}
	german, doc := text(t, "../../web/src/learning/remarks.ts"), text(t, "../../docs/learning.md")
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !regexp.MustCompile(`(?m)^  ` + code + `: \(`).MatchString(german) {
			t.Errorf("web/src/learning/remarks.ts does not say %s", code)
		}
		if !strings.Contains(doc, "`"+code+"`") {
			t.Errorf("docs/learning.md does not name %s", code)
		}
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAJobSaysWhyInPartsAsLongAsThatIsWhy(t *testing.T) {
	t.Parallel()
	var j learning.Job
	meta := map[string]any{"rows": 3.0}
	j.Meta = meta
	j.Because(learning.Remarks{learning.Say("too_little", map[string]any{"usable": 3}, "There is too little: %d.", 3), learning.Say("cancelled", nil, "It is over.")})
	if j.Reason != "There is too little: 3. It is over." || len(j.Why()) != 2 || j.Why()[0].Code != "too_little" || j.Why()[0].Data["usable"] != 3.0 {
		t.Errorf("%q: %+v", j.Reason, j.Why())
	}
	if len(meta) != 1 || j.Meta["rows"] != 3.0 {
		t.Errorf("meta is %v, and was %v", j.Meta, meta)
	}
	was := j
	was.Reason = "Something else." // by a program from before there were remarks
	if why := was.Why(); why != nil {
		t.Errorf("another reason is said as %+v", why)
	}
	if j.Because(nil); j.Reason != "" || j.Why() != nil || len(j.Meta) != 1 {
		t.Errorf("%q: %+v, %v", j.Reason, j.Why(), j.Meta)
	}
}
