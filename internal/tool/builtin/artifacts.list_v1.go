package builtin

import (
	"context"

	"liminal/artifacts"
	"liminal/internal/tool"
)

// listArtifacts shows a model which tools and workflows there are (TOOL-02).
type listArtifacts struct {
	catalog Catalog
	absent  map[string]bool // tools this program cannot run
}

func (listArtifacts) Name() string { return "artifacts.list_v1" }

func (t listArtifacts) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	kind := artifacts.Kind(words(c, "type"))
	page, next, err := t.catalog.List(ctx, c.Viewer, artifacts.Filter{Type: kind, Cursor: words(c, "cursor"), Limit: 50})
	if err != nil {
		return nil, err
	}
	found := make([]any, 0, len(page))
	for _, a := range page {
		aside := a.Type == artifacts.KindSummary && kind != artifacts.KindSummary // there is one a conversation: they would fill the list
		if !aside && (a.Type != artifacts.KindTool || !t.absent[a.Name]) {
			found = append(found, card(a))
		}
	}
	out := map[string]any{"artifacts": found}
	if next != "" {
		out["next_cursor"] = next
	}
	return out, nil
}

// card is what a model is told of an artifact.
func card(a artifacts.Artifact) map[string]any {
	return map[string]any{
		"id": a.ID, "type": artifacts.Alias(a.Type), "name": a.Name, "description": a.Description,
		"version": float64(a.Version), "visibility": a.Visibility,
	}
}
