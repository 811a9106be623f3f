package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Trash is the folder of a person's files that holds what tools have written over,
// each under the time it was written over and its name. It counts as theirs, and
// nothing in it is read in as a document of a watched folder.
const Trash = Dir + "/.trash"

// How long what was written over is kept, and how many of one name are.
const (
	TrashFor  = 30 * 24 * time.Hour
	trashEach = 20
)

// stamp begins the name of a file in Trash.
const stamp = "20060102-150405.000 "

// Put writes a whole file of the viewer's as Replace does, and keeps what it
// writes over in Trash. What has lain there for TrashFor goes, and of one name the
// oldest where there are more than trashEach. created: there was no such file.
// Errors are those of Replace; where there is no room for both, nothing was
// written.
func (r *Roots) Put(ctx context.Context, v identity.Viewer, p string, body []byte, b Bounds) (f File, created bool, err error) {
	before, err := r.Open(ctx, v, p)
	switch {
	case errors.Is(err, fault.NotFound):
		created = true
	case err != nil:
		return File{}, false, err
	default:
		defer func() { _ = before.Close() }() // it was only read
		if err := r.sweepTrash(ctx, v, path.Base(p)); err != nil {
			return File{}, false, err
		}
		if err := r.setAside(ctx, v, path.Base(p), before, b); err != nil {
			return File{}, false, err
		}
	}
	f, err = r.Replace(ctx, v, p, bytes.NewReader(body), b)
	return f, created, err
}

// setAside gives what a file says now a name in Trash.
func (r *Roots) setAside(ctx context.Context, v identity.Viewer, name string, body io.Reader, b Bounds) error {
	s, err := r.Stage(ctx, v, name, body, b)
	if err != nil {
		return err
	}
	defer s.Discard()
	if err := s.root.MkdirAll(Trash, 0o750); err != nil {
		return err
	}
	at := time.Now().UTC()
	for range maxCopies {
		_, taken, err := s.keepAs(ctx, path.Join(Trash, at.Format(stamp)+s.file.Name))
		if err != nil || !taken {
			return err
		}
		at = at.Add(time.Millisecond)
	}
	return fault.New(fault.Conflict, "%s cannot be set aside.", name)
}

// sweepTrash lets go what is too old, and of one name what is too many.
func (r *Roots) sweepTrash(ctx context.Context, v identity.Viewer, name string) error {
	root, err := r.root(v)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	list, err := fs.ReadDir(root.FS(), Trash) // by name, which is by time
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	left := 0
	before := time.Now().UTC().Add(-TrashFor)
	for i := len(list) - 1; i >= 0; i-- {
		at, err := time.Parse(stamp, list[i].Name()[:min(len(stamp), len(list[i].Name()))])
		if err != nil {
			continue // a person put it there
		}
		if list[i].Name()[len(stamp):] == name {
			left++
		}
		if at.After(before) && (list[i].Name()[len(stamp):] != name || left < trashEach) {
			continue
		}
		if err := r.Delete(ctx, v, path.Join(Trash, list[i].Name())); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}
