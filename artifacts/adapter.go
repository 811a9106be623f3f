package artifacts

import (
	"bytes"
	"context"
	"encoding/json"

	"liminal/internal/check"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// References knows what documents name that is no artifact.
type References interface {
	// HasCluster reports whether there is a semantic cluster of the viewer's, or
	// of everybody's.
	HasCluster(ctx context.Context, v identity.Viewer, id string) (bool, error)
	// MissingLessons are those of ids that are no lessons of the viewer's.
	MissingLessons(ctx context.Context, v identity.Viewer, ids []string) ([]string, error)
}

// Refer has the library check what documents name (CFG-08, CLUS-08); without it
// it takes their word. Call it before the library is used.
func (l *Library) Refer(r References) { l.references = r }

// adapter checks what an adapter.lora is tied to.
func (c *checking) adapter() {
	var d struct {
		ClusterID string   `json:"cluster_id"`
		Lessons   []string `json:"lessons"`
	}
	if c.library.references == nil || json.Unmarshal(c.doc, &d) != nil {
		return // the schema has said so
	}
	c.cluster("/cluster_id", d.ClusterID)
	if len(d.Lessons) == 0 {
		return
	}
	missing, err := c.library.references.MissingLessons(c.ctx, c.v, d.Lessons)
	if err != nil {
		c.err = err
		return
	}
	for _, id := range missing {
		c.add(check.References, "/lessons", "write ids of the owner's own lessons; one whose last source is removed is gone", "there is no lesson %q", id)
	}
}

// cluster checks a reference to a semantic cluster; an empty one is none.
func (c *checking) cluster(path, id string) {
	if id == "" || c.library.references == nil {
		return
	}
	there, err := c.library.references.HasCluster(c.ctx, c.v, id)
	switch {
	case err != nil:
		c.err = err
	case !there:
		c.add(check.References, path, "write the id of a situation of yours, or of everybody's", "there is no cluster %q", id)
	}
}

// AdapterMode sets the mode of new adapters whose document names none
// (LORA-05). One that has the older word backend gets the mode that means
// (LORA-06). Call it before the library is used; without it documents stay as
// they are written.
func (l *Library) AdapterMode(mode string) { l.adapterMode = mode }

// settled is the document of a new artifact with what it leaves to the
// configuration. One that is not an object is left for the check to refuse.
func (l *Library) settled(kind string, doc json.RawMessage) json.RawMessage {
	if kind != KindAdapter || l.adapterMode == "" {
		return doc
	}
	var d struct {
		Kind         string          `json:"kind"`
		Mode         json.RawMessage `json:"mode"`
		Backend      string          `json:"backend"`
		Instructions string          `json:"prompt_instructions"`
	}
	if json.Unmarshal(doc, &d) != nil || d.Mode != nil || d.Kind == "" {
		return doc
	}
	mode := l.adapterMode
	if d.Backend != "" {
		mode = model.ModeOf("", d.Backend, d.Instructions != "")
	}
	// Written into the text, so that the rest keeps the order it has.
	rest := bytes.TrimPrefix(bytes.TrimSpace(doc), []byte("{"))
	return append([]byte(`{"mode":"`+mode+`",`), rest...)
}
