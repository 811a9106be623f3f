package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// maxOperations bounds one patch.
const maxOperations = 1000

// Change is a JSON Patch (RFC 6902) to an artifact's document.
type Change struct {
	Patch json.RawMessage
	Base  int    // the version the patch was made for; 0: whichever is current
	Note  string // why
	By    string // user (default) or llm
}

// Patch applies a change to the current version, checks the result as Create
// does and stores it as the next version (ART-03). Whatever goes wrong, nothing
// has changed. Errors: Invalid for a patch that does not apply or whose result
// is at fault, Conflict when Base is no longer current or a test operation
// fails (ART-09), Forbidden for a global artifact and no administrator.
func (l *Library) Patch(ctx context.Context, v identity.Viewer, id string, c Change) (Artifact, error) {
	a, err := l.mine(ctx, v, id)
	if err != nil {
		return Artifact{}, err
	}
	if c.Base != 0 && c.Base != a.Version {
		return Artifact{}, moved(a, c.Base)
	}
	doc, err := apply(a.Schema, c.Patch)
	if err != nil {
		return Artifact{}, err
	}
	return l.append(ctx, v, a, doc, c)
}

// Rollback stores an earlier version's document as the next version (ART-07).
func (l *Library) Rollback(ctx context.Context, v identity.Viewer, id string, version int, note string) (Artifact, error) {
	a, err := l.mine(ctx, v, id)
	if err != nil {
		return Artifact{}, err
	}
	old, err := l.At(ctx, v, id, version)
	if err != nil {
		return Artifact{}, err
	}
	if note == "" {
		note = fmt.Sprintf(NoteBack, version)
	}
	return l.append(ctx, v, a, old.Schema, Change{Note: note})
}

// mine finds an artifact the viewer may change.
func (l *Library) mine(ctx context.Context, v identity.Viewer, id string) (Artifact, error) {
	a, err := l.store.Artifact(ctx, v, id)
	if err != nil {
		return Artifact{}, err
	}
	if !a.Opened && (a.OwnerID != v.UserID && !v.IsAdmin() || a.OwnerID == "" && !v.IsAdmin()) {
		return Artifact{}, fault.New(fault.Forbidden, "The artifact %s is not yours to change; create one of your own with its document.", a.Name)
	}
	return a, nil
}

func moved(a Artifact, base int) error {
	return fault.New(fault.Conflict, "The artifact %s is at version %d now; your change was made for version %d. Look at the new version and make it again.",
		a.Name, a.Version, base).With(map[string]any{"current_version": a.Version, "base_version": base})
}

func (l *Library) append(ctx context.Context, v identity.Viewer, a Artifact, doc json.RawMessage, c Change) (Artifact, error) {
	if err := l.check(ctx, v, a.Type, a.Name, doc); err != nil {
		return Artifact{}, err
	}
	next, err := l.store.AppendVersion(ctx, v, a.ID, a.Version, doc, author(v, c.By), c.Note)
	if err != nil {
		return Artifact{}, err
	}
	l.mirror(ctx, next)
	return next, nil
}

// apply applies a patch strictly: no negative indexes, no made-up parents.
func apply(doc, patch json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		// The library was found to panic on patches no test of its own has.
		if p := recover(); p != nil {
			out, err = nil, fault.New(fault.Invalid, "The patch is not one that RFC 6902 allows.")
		}
	}()
	operations, err := operationsOf(patch)
	if err != nil {
		return nil, err
	}
	strict := &jsonpatch.ApplyOptions{AccumulatedCopySizeLimit: MaxSize}
	out, err = operations.ApplyWithOptions(doc, strict)
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return nil, fault.Wrap(fault.Conflict, err, "A test operation of the patch fails: the document is not what the patch was made for.")
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "The patch does not apply to the current version: %s.", err)
	}
	return out, nil
}
