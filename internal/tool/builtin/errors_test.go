package builtin_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// Each line is of a tool there is, and names a code that on_error can read.
func TestTheErrorsOfToolsAreOfToolsThereAreAndHaveKnownCodes(t *testing.T) {
	t.Parallel()
	codes := []string{graph.CodeTimeout, fault.NotConfigured, fault.Upstream, fault.Budget}
	for _, c := range fault.Codes() {
		codes = append(codes, string(c))
	}
	said := 0
	for _, s := range specs(t) {
		remarks, err := builtin.Remarks(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range remarks {
			if r.Code != "" && !slices.Contains(codes, r.Code) {
				t.Errorf("%s: %q is no code of an error", s.Name, r.Code)
			}
		}
		said += len(remarks)
	}
	raw, err := os.ReadFile("errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		of, _, _ := strings.Cut(line, " ")
		if strings.TrimSpace(line) == "" || of == "#" || of == "#\n" {
			continue
		}
		prefix, several := strings.CutSuffix(of, "*")
		if !slices.ContainsFunc(specs(t), func(s tool.Spec) bool { return s.Name == of || several && strings.HasPrefix(s.Name, prefix) }) {
			t.Errorf("errors.txt: there is no tool %s", of)
		}
	}
	if said < 20 {
		t.Errorf("only %d errors are said", said)
	}
}
