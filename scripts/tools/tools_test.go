package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/tool/builtin"
)

func TestThePageIsWhatTheSpecsSay(t *testing.T) {
	t.Parallel()
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(pagePath)))
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not what the specs say (%v); run: make tools", pagePath, err)
	}
}

func TestEveryToolHasItsInputsAndOutputsAndNoOperationStandsAmongThem(t *testing.T) {
	t.Parallel()
	page, err := render()
	if err != nil {
		t.Fatal(err)
	}
	tools, operations, ok := strings.Cut(string(page), "\n## api.*\n")
	if !ok || strings.Contains(tools, "\n### api.") || strings.Count(operations, "\n### api.") < 100 {
		t.Errorf("the operations of the API do not stand apart")
	}
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		_, section, ok := strings.Cut(tools, "\n### "+s.Name+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		if !ok || !strings.Contains(section, "\n| output |") && !strings.Contains(section, "\nOutputs: ") {
			t.Errorf("%s is not on the page, or without its outputs", s.Name)
		}
		for _, name := range append(s.Inputs(), s.Outputs()...) {
			if !strings.Contains(section, "| `"+name+"` |") {
				t.Errorf("%s: %s is not in its tables", s.Name, name)
			}
		}
	}
}
