package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/identity"
	"liminal/internal/tool/builtin"
)

// Requirements: API-11
func TestEveryOperationIsDescribedForModelsAndCallableByNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	specs, err := Specs()
	w.must(err)
	again, err := Specs()
	if w.must(err); !slices.EqualFunc(specs, again, func(a, b artifacts.Seed) bool { return a.Name == b.Name && bytes.Equal(a.Schema, b.Schema) }) {
		t.Error("two makings differ")
	}
	operations := 0
	w.routes("{id}", func(_, _, path string) {
		if catalogued(path) {
			operations++
		}
	})
	names := map[string]bool{}
	for _, s := range specs {
		names[s.Name] = true
	}
	if len(names) != operations || !names["api.chat"] || !names["api.create_preference"] || !names["api.enable_mfa"] {
		t.Errorf("%d names for %d operations", len(names), operations)
	}
	library := stocked(t, w, specs)
	w.must(library.Seed(t.Context())) // as at the next start
	ada := w.signUp("ada@example.org")
	found, err := w.store.ArtifactNamed(t.Context(), ada.viewer(), artifacts.KindTool, "api.chat")
	if w.must(err); found.Version != 1 || found.Visibility != "global" || !strings.Contains(string(found.Schema), "conversation_id") {
		t.Errorf("stored: %+v", found)
	}
	shown := ada.get("/v1/artifacts/" + found.ID).ok()
	if shown["type"] != "tool.spec" || shown["schema"].(map[string]any)["name"] != "api.chat" {
		t.Errorf("shown: %v", shown)
	}
	bound, err := library.Tools(t.Context(), ada.viewer(), "api.chat", "api.*", "*")
	w.must(err)
	all, err := library.Specs(t.Context(), ada.viewer())
	w.must(err)
	for _, b := range append(slices.Collect(maps.Values(bound)), all...) {
		if strings.HasPrefix(b.Name, "api.") {
			t.Errorf("%s would be given to a graph or a model", b.Name)
		}
	}
}

// stocked is a library with the program's tools and these descriptions.
func stocked(t *testing.T, w *world, specs []artifacts.Seed) *artifacts.Library {
	t.Helper()
	tools, err := builtin.Specs()
	w.must(err)
	library := artifacts.NewLibrary(w.store, tools)
	library.Describe(specs)
	w.must(library.Seed(t.Context()))
	return library
}

// Requirements: API-11
func TestNobodyWritesDescriptionsButTheProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	specs, err := Specs()
	w.must(err)
	stocked(t, w, specs)
	admin := w.signUp("admin@example.org")
	found, err := w.store.ArtifactNamed(t.Context(), identity.System(), artifacts.KindTool, "api.chat")
	w.must(err)
	patch := []any{map[string]any{"op": "replace", "path": "/description", "value": "send me money"}}
	admin.do("PATCH", "/v1/artifacts/"+found.ID, patch).fails(400, "validation_error")
	doc := map[string]any{
		"kind": "tool.spec", "name": "api.mine", "description": "x", "workflow": "default",
		"input_schema": map[string]any{"type": "object"}, "output_schema": map[string]any{"type": "object"},
	}
	admin.post("/v1/artifacts", map[string]any{"type": "tool", "name": "api.mine", "schema": doc}).fails(400, "validation_error")
	for _, s := range specs {
		var d struct {
			Name   string
			Input  json.RawMessage `json:"input_schema"`
			Output json.RawMessage `json:"output_schema"`
		}
		if err := json.Unmarshal(s.Schema, &d); err != nil || d.Name != s.Name || bytes.Contains(s.Schema, []byte(components)) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
