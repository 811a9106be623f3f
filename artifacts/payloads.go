package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"liminal/internal/id"
)

// Folder is Payloads in a folder: {artifact_id}/vNNNN.json (DATA-15). A reader
// sees a whole file or none.
type Folder struct{ root *os.Root }

// NewFolder writes below root; the caller keeps root open meanwhile.
func NewFolder(root *os.Root) Folder { return Folder{root} }

// PutPayload writes one version; writing it again changes nothing.
func (f Folder) PutPayload(_ context.Context, artifactID string, version int, doc json.RawMessage) error {
	if err := f.root.MkdirAll(artifactID, 0o755); err != nil {
		return err
	}
	name := payloadName(artifactID, version)
	part := name + "." + id.New() + ".part" // of its own: two processes may write one version
	if err := f.root.WriteFile(part, doc, 0o644); err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	return f.root.Rename(part, name)
}

func payloadName(artifactID string, version int) string {
	return path.Join(artifactID, fmt.Sprintf("v%04d.json", version))
}

// DropPayload removes one version.
func (f Folder) DropPayload(_ context.Context, artifactID string, version int) error {
	err := f.root.Remove(payloadName(artifactID, version))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// DropPayloads removes the artifact's folder.
func (f Folder) DropPayloads(_ context.Context, artifactID string) error {
	return f.root.RemoveAll(artifactID)
}

// Held are the folders that are called like an artifact.
func (f Folder) Held(context.Context) ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() && id.Valid(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, err
}

var _ Payloads = Folder{}
