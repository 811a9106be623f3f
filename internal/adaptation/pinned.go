package adaptation

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/model"
)

// Pinned is an adapter at a version, which never changes, with the ids of what
// is read when a model is asked with it.
type Pinned struct {
	model.Adapter
	Lessons  []string
	Examples []int64
}

// ReadPinned reads what a provider is told of an adapter.
func ReadPinned(a artifacts.Artifact) (Pinned, error) {
	var d struct {
		Type          string   `json:"type"`
		Mode          string   `json:"mode"`
		Backend       string   `json:"backend"`
		RemoteModelID string   `json:"remote_model_id"`
		RemoteID      string   `json:"remote_adapter_id"`
		Dir           string   `json:"fs_dir"`
		Version       int      `json:"current_version"`
		Checksum      string   `json:"checksum"`
		Instructions  string   `json:"prompt_instructions"`
		Lessons       []string `json:"lessons"`
		Examples      []int64  `json:"examples"`
	}
	if err := json.Unmarshal(a.Schema, &d); err != nil {
		return Pinned{}, fault.Wrap(fault.Internal, err, "The adapter %s cannot be read.", a.Name)
	}
	return Pinned{
		Adapter: model.Adapter{
			ID: a.ID, Mode: model.ModeOf(d.Mode, d.Backend, d.Instructions != ""),
			RemoteModelID: d.RemoteModelID, RemoteID: d.RemoteID, Dir: cmp.Or(weightsOf(a.OwnerID, d.Dir), a.FSPath), Instructions: d.Instructions,
			Version: d.Version, Checksum: strings.TrimPrefix(d.Checksum, "sha256:"),
			Persona: d.Type == personaType,
		},
		Lessons: d.Lessons, Examples: d.Examples,
	}, nil
}

// personaType is what the document of a person's manner says it is.
const personaType = "persona"

// weightsOf is the folder of an adapter's weights, below the shared root. What a
// person writes into their document opens what is theirs and what is everybody's,
// never what another person's adapter learnt; empty otherwise.
func weightsOf(owner, dir string) string {
	dir = path.Clean("/" + dir)[1:]
	if owner == "" || strings.HasPrefix(dir, "shared/") || strings.HasPrefix(dir, "users/"+owner+"/") {
		return dir
	}
	return ""
}

// With is the adapter with the words of what it lists.
func (p Pinned) With(told Manner) model.Adapter {
	out := p.Adapter
	if out.Instructions != "" && told.Instructions != "" {
		out.Instructions += "\n\n"
	}
	out.Instructions += told.Instructions
	out.Directives = told.Directives
	return out
}
