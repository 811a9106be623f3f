package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Entry is what a folder holds, as Dir gives it.
type Entry struct {
	Name   string
	Folder bool
	Size   int64 // bytes; 0 of a folder
}

// Dir lists one folder of the viewer's by name, at most limit entries; more says
// that there are others. Names that begin with a dot, links and whatever else is
// neither a folder nor an ordinary file are left out. Errors: NotFound for what is
// no folder there.
func (r *Roots) Dir(ctx context.Context, v identity.Viewer, p string, limit int) (list []Entry, more bool, err error) {
	if p != Dir {
		if p, err = CleanPath(p); err != nil {
			return nil, false, noFolder(err)
		}
	}
	root, err := r.root(v)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(p); err != nil || !info.IsDir() {
		return nil, false, noFolder(err)
	}
	folder, err := root.Open(p)
	if err != nil {
		return nil, false, noFolder(err)
	}
	defer func() { _ = folder.Close() }() // it was only read
	for err == nil && ctx.Err() == nil {
		var page []fs.DirEntry
		page, err = folder.ReadDir(sweepBatch)
		for _, d := range page {
			if one, ok := entryOf(d); ok {
				list = append(list, one)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, false, errors.Join(err, ctx.Err())
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

func entryOf(d fs.DirEntry) (Entry, bool) {
	info, err := d.Info()
	if err != nil || strings.HasPrefix(d.Name(), ".") || !d.IsDir() && !ordinary(info) {
		return Entry{}, false
	}
	e := Entry{Name: d.Name(), Folder: d.IsDir()}
	if !e.Folder {
		e.Size = info.Size()
	}
	return e, true
}

func noFolder(err error) error {
	return fault.Wrap(fault.NotFound, err, "There is no such folder.")
}
