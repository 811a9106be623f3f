package builtin

import (
	"context"
	"encoding/json"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/tool"
)

// readArtifact shows a model the document of one artifact (TOOL-02).
type readArtifact struct{ catalog Catalog }

func (readArtifact) Name() string { return "artifacts.read_v1" }

func (t readArtifact) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	a, err := t.find(ctx, c)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(a.Schema, &doc); err != nil {
		return nil, err
	}
	out := card(a)
	out["schema"] = doc
	return out, nil
}

func (t readArtifact) find(ctx context.Context, c *tool.Call) (artifacts.Artifact, error) {
	id, kind, name := words(c, "id"), words(c, "type"), words(c, "name")
	switch {
	case id != "":
		return t.catalog.Get(ctx, c.Viewer, id)
	case kind != "" && name != "":
		return t.catalog.Named(ctx, c.Viewer, kind, name)
	}
	return artifacts.Artifact{}, fault.New(fault.Invalid, "Give the artifact's id, or its type and name.")
}
