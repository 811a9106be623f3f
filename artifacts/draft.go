package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// draftStatus is what the member status of a document that is a draft says.
const draftStatus = "draft"

// activeStatus is the status of every other.
const activeStatus = "active"

// IsDraft reports whether the artifact only waits for the patch that makes it
// (C-58): it may be read, and nothing runs by it.
func (a Artifact) IsDraft() bool { return isDraft(a.Schema) }

func isDraft(doc json.RawMessage) bool {
	if !bytes.Contains(doc, []byte(`"`+draftStatus+`"`)) {
		return false // nearly every document, without reading it
	}
	var d struct {
		Status json.RawMessage `json:"status"`
	}
	return json.Unmarshal(doc, &d) == nil && string(d.Status) == `"`+draftStatus+`"`
}

// Drafted makes a draft of an artifact to be, which the store has yet to keep.
// Its document is checked when the patch that removes its status is. Errors:
// Invalid for what no artifact can be called or hold.
func (l *Library) Drafted(v identity.Viewer, d Draft) (Artifact, error) {
	d.Type = Kind(d.Type)
	if d.Visibility == "" {
		d.Visibility = Private
	}
	if _, known := l.kinds.Source(d.Type); !known {
		return Artifact{}, fault.New(fault.Invalid, "%q is not a kind of artifact.", d.Type)
	}
	if err := errors.Join(checkName(d.Name, d.Description), reserved(d.Type, d.Name), checkVisibility(d.Visibility), checkPath(d.FSPath, d.Visibility)); err != nil {
		return Artifact{}, err
	}
	doc, err := draftOf(l.settled(d.Type, d.Schema))
	if err != nil {
		return Artifact{}, err
	}
	a := Artifact{
		ID: id.New(), OwnerID: v.UserID, Type: d.Type, Name: d.Name, Description: d.Description, Visibility: d.Visibility,
		Schema: doc, FSPath: d.FSPath, CreatedBy: author(v, d.By), Meta: map[string]any{"status": draftStatus},
	}
	if d.Visibility == Global {
		a.OwnerID = ""
	}
	return a, nil
}

// draftOf marks a document.
func draftOf(doc json.RawMessage) (json.RawMessage, error) {
	if len(doc) > MaxSize {
		return nil, fault.New(fault.Invalid, "The document has %d bytes; %d are allowed.", len(doc), MaxSize)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(doc, &members) != nil || members == nil {
		return nil, fault.New(fault.Invalid, "The document of a new artifact is a JSON object.")
	}
	members["status"] = json.RawMessage(`"` + draftStatus + `"`)
	return json.Marshal(members)
}

// usable finds an artifact by kind and name that is no draft: the viewer's own
// before a global one.
func (l *Library) usable(ctx context.Context, v identity.Viewer, kind, name string) (Artifact, error) {
	a, err := l.store.ArtifactNamed(ctx, v, kind, name)
	if err != nil || !a.IsDraft() {
		return a, err
	}
	if a.OwnerID != "" {
		if a, err = l.store.ArtifactNamed(ctx, identity.System(), kind, name); err == nil && !a.IsDraft() {
			return a, nil
		}
	}
	return Artifact{}, fault.New(fault.NotFound, "The %s %q is a draft: it can be used when the patch that makes it is applied.", kind, name)
}

// usableAll is usable for several names, in one look at the store. What is not
// there, or only as a draft, is left out.
func (l *Library) usableAll(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]Artifact, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := l.store.ArtifactsNamed(ctx, v, kind, names)
	if err != nil {
		return nil, err
	}
	for name, a := range found {
		if !a.IsDraft() {
			continue
		}
		delete(found, name)
		if a, err = l.usable(ctx, v, kind, name); err == nil {
			found[name] = a
		} else if !errors.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	return found, nil
}
