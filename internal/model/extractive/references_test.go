package extractive_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/extractive"
)

type wantedDocuments struct {
	Q                   string
	Action              string
	Titles              []string // of those there are; empty: all
	Registry, Explicit  []string
	History             []string
	Resolved, Suggested []string
	Unresolved          []string
	Confidence          string
	Implicit            bool
}

type gotDocuments struct {
	Resolved   []string `json:"resolved_uuids"`
	Unresolved []string `json:"unresolved_names"`
	Suggested  []string `json:"suggested_uuids"`
	Confidence string   `json:"inference_confidence"`
	Implicit   bool     `json:"has_implicit_refs"`
}

func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func (g gotDocuments) misses(w wantedDocuments) string {
	switch {
	case !same(g.Resolved, w.Resolved):
		return "resolved"
	case !same(g.Unresolved, w.Unresolved):
		return "unresolved"
	case !same(g.Suggested, w.Suggested):
		return "suggested"
	case g.Confidence != w.Confidence:
		return "confidence"
	case g.Implicit != w.Implicit:
		return "implicit"
	}
	return ""
}

// data is what the assistant tells the role, of titles by id.
func (w wantedDocuments) data(t testing.TB, titles, paths map[string]string) string {
	t.Helper()
	registry, all := map[string]string{}, []map[string]string{}
	for _, id := range w.Registry {
		registry[titles[id]] = id
	}
	for id, title := range titles {
		if len(w.Titles) == 0 || slices.Contains(w.Titles, id) {
			one := map[string]string{"id": id, "title": title}
			if paths[id] != "" {
				one["file"] = paths[id]
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b map[string]string) int { return strings.Compare(a["title"], b["title"]) })
	raw, err := json.Marshal(map[string]any{"registry": registry, "titles": all, "explicit": w.Explicit, "action": w.Action})
	must(t, err)
	return string(raw)
}

// Requirements: LG-14, LG-15, LG-29
func TestDocumentsOfRealMessages(t *testing.T) {
	t.Parallel()
	askDocuments(t, "testdata/documents", nil)
}

// Requirements: LG-14, LG-15
func TestDocumentsAreKnownByTheirFilesToo(t *testing.T) {
	t.Parallel()
	askDocuments(t, "testdata/documents-by-file", read(t, "testdata/documents-by-file/files.json"))
}

func read(t *testing.T, path string) (out map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(raw, &out))
	return out
}

// askDocuments asks which documents the messages of a folder mean.
func askDocuments(t *testing.T, dir string, paths map[string]string) {
	t.Helper()
	schema := schemaOf(t, "references")
	titles := read(t, dir+"/titles.json")
	files, err := filepath.Glob(dir + "/*.jsonl")
	must(t, err)
	for _, path := range files {
		right, all := 0, lines[wantedDocuments](t, path)
		for _, w := range all {
			req := user(model.Frame("data", w.data(t, titles, paths)) + "\n\n" + w.Q)
			req.Task, req.Schema, req.Messages = extractive.TaskDocuments, schema, append(said(w.History), req.Messages...)
			got := structured[gotDocuments](t, req)
			if miss := got.misses(w); miss != "" {
				t.Logf("%s: %q: %s: %+v", filepath.Base(path), w.Q, miss, got)
				continue
			}
			right++
		}
		t.Logf("%s: %d of %d", filepath.Base(path), right, len(all))
		if float64(right) < least(path)*float64(len(all)) {
			t.Errorf("%s: only %d of %d are right", path, right, len(all))
		}
	}
}
