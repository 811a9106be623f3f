package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Found is a file as it lies in a folder, whether or not it has a row.
type Found struct {
	Path    string // as File.Path
	Size    int64
	Changed time.Time
}

// Walk lists the file of a path, or the files of the folder it names and, when
// recursive, of those below, that are ordinary files of an allowed type. What
// is none, a link or of another type is passed over; a path that is not there
// holds nothing (RAG-07).
func (r *Roots) Walk(ctx context.Context, v identity.Viewer, p string, recursive bool) (list []Found, err error) {
	if p != Dir {
		if p, err = CleanPath(p); err != nil {
			return nil, err
		}
	}
	accepted, err := r.Extensions(ctx, v)
	if err != nil {
		return nil, err
	}
	root, err := r.root(v)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(p); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // nothing is there, or a link is, or leads there
	}
	err = fs.WalkDir(root.FS(), p, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && at != p && (!recursive || at == Trash):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if !slices.Contains(accepted, strings.ToLower(path.Ext(at))) || requireOrdinary(root, at) != nil {
			return nil //nolint:nilerr // passed over, as said
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it has just gone
		}
		list = append(list, Found{Path: at, Size: info.Size(), Changed: info.ModTime()})
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = fault.Wrap(fault.Internal, err, "The folder %s cannot be looked through.", p)
	}
	return list, err
}

// Adopt gives a file that came into the viewer's folder by another way its
// row, so that it is listed and counted; one that has a row keeps it.
func (r *Roots) Adopt(ctx context.Context, v identity.Viewer, p string, b Bounds) (File, error) {
	if have, err := r.File(ctx, v, p); !errors.Is(err, fault.NotFound) {
		return have, err
	}
	mime, err := r.typeOf(ctx, v, path.Base(p))
	if err != nil {
		return File{}, err
	}
	f, err := r.Open(ctx, v, p)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return File{}, err
	}
	file := File{
		Path: p, UserID: v.UserID, Name: path.Base(p), MIME: mime, Size: size,
		SHA256: hex.EncodeToString(sum.Sum(nil)), CreatedAt: time.Now(),
	}
	return file, r.store.PutFile(ctx, v, file, b)
}
