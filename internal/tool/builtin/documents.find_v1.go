package builtin

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/tool"
)

// Titles finds a person's own documents by their names;
// knowledge.DocumentTitles is one.
type Titles interface {
	OwnDocuments(ctx context.Context, v identity.Viewer, limit int) ([]knowledge.Titled, error)
	DocumentsByID(ctx context.Context, v identity.Viewer, ids []string) ([]knowledge.Titled, error)
}

// Sets finds a person's own sets of documents; knowledge.Sets is one. Without
// it no set has any.
type Sets interface {
	SetsByID(ctx context.Context, v identity.Viewer, ids []string) ([]knowledge.Set, error)
}

// maxFound bounds how many documents one call names.
const maxFound = 500

// The bounds of a registry. It goes from turn to turn of a conversation and
// into a model's prompt: one that grew on would in the end travel by reference,
// which no longer holds when its run is gone.
const (
	maxRegistry      = 200
	maxRegistryBytes = 24 << 10 // of its titles
)

// findDocuments gives documents of the caller's own by id, by set, or all of
// them; an id that is none of theirs is dropped (LG-15, LG-21, LG-26).
type findDocuments struct {
	titles Titles
	sets   Sets
}

func (findDocuments) Name() string { return "documents.find_v1" }

func (t findDocuments) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	found, err := t.find(ctx, c)
	if err != nil {
		return nil, err
	}
	out := titled(found, german(c))
	known, _ := c.Inputs["known"].(map[string]any)
	out["registry"] = registry(known, found)
	if n := number(c, "sample", 0); n > 0 {
		documents, _ := out["documents"].([]any)
		out["sample"] = documents[:min(n, len(documents))]
	}
	if c.Inputs["list"] == true {
		out["list"] = bullets(found)
	}
	if c.Inputs["tell"] == true {
		out["told"] = documentsThereAre(found, german(c))
	}
	if other, ok := c.Inputs["other"].(map[string]any); ok {
		options, _ := out["options"].([]any)
		out["options"] = append(options, other)
	}
	return out, nil
}

func (t findDocuments) find(ctx context.Context, c *tool.Call) ([]knowledge.Titled, error) {
	if c.Inputs["all"] == true {
		return t.all(ctx, c)
	}
	ids, err := t.named(ctx, c)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := t.titles.DocumentsByID(ctx, c.Viewer, ids[:min(len(ids), maxFound)])
	if err != nil {
		return nil, err
	}
	keep, drop := flat(c.Inputs["keep"]), flat(c.Inputs["without"])
	return slices.DeleteFunc(found, func(d knowledge.Titled) bool {
		return slices.Contains(drop, d.ID) && !slices.Contains(keep, d.ID)
	}), nil
}

// all are the latest of the person's documents, or of those in the contexts of
// the turn. A turn without contexts may read all of them.
func (t findDocuments) all(ctx context.Context, c *tool.Call) ([]knowledge.Titled, error) {
	limit := min(number(c, "limit", maxFound), maxFound)
	if c.Inputs["here"] != true || len(c.ContextIDs) == 0 {
		return t.titles.OwnDocuments(ctx, c.Viewer, limit)
	}
	found, err := t.titles.OwnDocuments(ctx, c.Viewer, 0)
	found = slices.DeleteFunc(slices.Clone(found), func(d knowledge.Titled) bool { return !slices.Contains(c.ContextIDs, d.ContextID) })
	return found[:min(len(found), limit)], err
}

// named are the ids asked for, with those in sets, each once.
func (t findDocuments) named(ctx context.Context, c *tool.Call) ([]string, error) {
	ids := idsIn(c.Inputs["ids"])
	if sets := flat(c.Inputs["sets"]); len(sets) > 0 && t.sets != nil {
		found, err := t.sets.SetsByID(ctx, c.Viewer, sets)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			ids = append(ids, s.Documents...)
		}
	}
	out, seen := make([]string, 0, len(ids)), map[string]bool{}
	for _, id := range ids {
		if id = strings.ToLower(id); !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out, nil
}

// registry is what was known with what is found, which goes first where there
// is no room for all. Documents of one title that are found together have their
// files beside it; else the latest stands for its title.
func registry(known map[string]any, found []knowledge.Titled) map[string]any {
	out, size := map[string]any{}, 0
	add := func(title string, id any) {
		if _, there := out[title]; there || len(out) < maxRegistry && size+len(title) <= maxRegistryBytes {
			if !there {
				size += len(title)
			}
			out[title] = id
		}
	}
	for _, d := range found {
		add(label(d, found), d.ID)
	}
	for _, title := range slices.Sorted(maps.Keys(known)) {
		if _, newer := out[title]; !newer {
			add(title, known[title])
		}
	}
	return out
}

// idsIn are the ids of a list, of lists in it, and of what stands in a document
// or is one: citations, passages, documents.
func idsIn(v any) []string {
	switch x := v.(type) {
	case []any:
		var out []string
		for _, e := range x {
			out = append(out, idsIn(e)...)
		}
		return out
	case map[string]any:
		for _, key := range []string{"document_id", "id"} {
			if s, ok := x[key].(string); ok {
				return flat(s)
			}
		}
		return nil
	}
	return flat(v)
}

// titled is what both tools say of documents: as data, as choices for a
// person, and as plain lists.
func titled(found []knowledge.Titled, german bool) map[string]any {
	documents, ids, titles, options := []any{}, []any{}, []any{}, []any{}
	for _, d := range found {
		documents = append(documents, calledData(d))
		ids, titles = append(ids, d.ID), append(titles, d.Title)
		options = append(options, map[string]any{"id": d.ID, "label": label(d, found)})
	}
	if len(options) > 1 {
		options = append(options, allOfThese(german))
	}
	return map[string]any{
		"documents": documents, "ids": ids, "titles": titles, "options": options,
		"count": float64(len(found)), "summary": count(len(found), "document", german),
	}
}

// calledData is a document as data, with its file where that is called otherwise
// than it: people know a document by either name.
func calledData(d knowledge.Titled) map[string]any {
	out := map[string]any{"id": d.ID, "title": d.Title}
	if file := path.Base(d.Path); d.Path != "" && plainTitle(file) != plainTitle(d.Title) {
		out["file"] = file
	}
	return out
}

// bullets are documents as a Markdown list.
func bullets(found []knowledge.Titled) string {
	lines := make([]string, len(found))
	for i, d := range found {
		lines[i] = "- **" + inMarkdown.Replace(strings.Join(strings.Fields(label(d, found)), " ")) + "**"
	}
	return strings.Join(lines, "\n")
}

// inMarkdown has the marks of Markdown in a name taken literally.
var inMarkdown = strings.NewReplacer("\\", `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "\\`")

// label tells documents of one title apart by their files.
func label(d knowledge.Titled, among []knowledge.Titled) string {
	for _, other := range among {
		if other.ID != d.ID && other.Title == d.Title && d.Path != "" {
			return d.Title + " (" + d.Path + ")"
		}
	}
	return d.Title
}
