package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// Dir is the folder of a user's root that holds their files; scratch is where
// they grow until they are complete.
const (
	Dir     = "files"
	scratch = "tmp"
)

// Roots is every user's own folder below one data folder.
type Roots struct {
	base  *os.Root
	dir   string // of base, for FSPath
	store Store
	key   []byte // signs links
	more  func(ctx context.Context, v identity.Viewer) ([]string, error)
}

// OpenRoots opens dir, creating it when it is missing. The key signs links;
// it comes from the store's secrets.
func OpenRoots(dir string, store Store, key []byte) (*Roots, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("files: cannot make the folder %s: %w", dir, err)
	}
	base, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("files: cannot open the folder %s: %w", dir, err)
	}
	return &Roots{base: base, dir: dir, store: store, key: key}, nil
}

// Close lets go of the data folder.
func (r *Roots) Close() error { return r.base.Close() }

// FSPath is a file's place below the data folder, as the API shows it: it
// tells an operator where to look and works nowhere as an input.
func (r *Roots) FSPath(f File) string { return "/" + path.Join("users", f.UserID, f.Path) }

// root opens the viewer's own folder. Nothing that is opened through it can
// lie outside: os.Root refuses "..", absolute paths and links that leave.
func (r *Roots) root(v identity.Viewer) (*os.Root, error) {
	if !id.Valid(v.UserID) {
		return nil, fault.New(fault.Forbidden, "Only a signed-in person has files.")
	}
	home := path.Join("users", v.UserID)
	for _, dir := range []string{Dir, scratch} {
		if err := r.base.MkdirAll(path.Join(home, dir), 0o750); err != nil {
			return nil, err
		}
	}
	return r.base.OpenRoot(home)
}

// Open reads a file of the viewer. The caller closes it.
func (r *Roots) Open(ctx context.Context, v identity.Viewer, p string) (*os.File, error) {
	p, err := CleanPath(p)
	if err != nil {
		return nil, err
	}
	root, err := r.root(v)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := requireOrdinary(root, p); err != nil {
		return nil, err
	}
	return openPlain(root, p)
}

// openTries bounds how often a file is opened again that was replaced while it
// was being opened.
const openTries = 8

// openPlain opens p and looks again at what was opened, and then at its name:
// what has the name may have changed since anybody looked at it.
func openPlain(root *os.Root, p string) (*os.File, error) {
	for range openTries {
		f, err := root.OpenFile(p, os.O_RDONLY|atOnce, 0)
		if err != nil {
			return nil, notFound(err)
		}
		if settled(root, p, f) {
			return f, nil
		}
		_ = f.Close() // nobody has it
		if err := requireOrdinary(root, p); err != nil {
			return nil, err
		}
	}
	return nil, notFound(fs.ErrNotExist)
}

// looks is how often in a row p must be found to name what was opened. One look
// is not enough: while the system puts another file in a name's place, the old
// one is still found there and has one name less already, as if it had but the
// one that is looked at. Who would deceive has to hit that moment in each look,
// and a new one every time.
const looks = 4

func settled(root *os.Root, p string, f *os.File) bool {
	for range looks {
		opened, err := f.Stat()
		if err != nil || !quiet(root, path.Dir(p)) || !still(root, p, opened) {
			return false
		}
	}
	return true
}

// quiet waits until what is being renamed in a folder has its new name: a
// folder is not read while it is changed.
func quiet(root *os.Root, dir string) bool {
	f, err := root.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	_, err = f.Readdirnames(1)
	return err == nil
}

// still says that p names what was opened, and that nothing else does. A look
// at what was opened alone would not do: another person's file that a hard link
// led to has one name again as soon as that link is gone.
func still(root *os.Root, p string, opened fs.FileInfo) bool {
	named, err := root.Lstat(p)
	return err == nil && ordinary(opened) && ordinary(named) && os.SameFile(opened, named)
}

// Read returns a whole file of at most limit bytes; a larger one is Invalid.
func (r *Roots) Read(ctx context.Context, v identity.Viewer, p string, limit int64) ([]byte, error) {
	f, err := r.Open(ctx, v, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fault.New(fault.Invalid, "%s is larger than %d bytes.", p, limit)
	}
	return data, err
}

// File returns a file's row.
func (r *Roots) File(ctx context.Context, v identity.Viewer, p string) (File, error) {
	p, err := CleanPath(p)
	if err != nil {
		return File{}, err
	}
	return r.store.File(ctx, v, p)
}

// List pages through the viewer's files, newest first.
func (r *Roots) List(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]File, string, error) {
	return r.store.ListFiles(ctx, v, cursor, limit)
}

// Usage is how much the viewer keeps.
func (r *Roots) Usage(ctx context.Context, v identity.Viewer) (Usage, error) {
	return r.store.Usage(ctx, v)
}

// Delete removes a file: its row first, so that a crash between leaves bytes
// nobody can name rather than a name without bytes.
func (r *Roots) Delete(ctx context.Context, v identity.Viewer, p string) error {
	if _, err := r.File(ctx, v, p); err != nil {
		return err
	}
	root, err := r.root(v)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := r.store.DeleteFile(ctx, v, p); err != nil {
		return err
	}
	if err := root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// requireOrdinary refuses what is not an ordinary file with one name: symbolic links,
// devices, folders, and hard links, which could be another person's (ISO-05).
func requireOrdinary(root *os.Root, p string) error {
	info, err := root.Lstat(p)
	if err != nil {
		return notFound(err)
	}
	if !ordinary(info) {
		return notFound(fs.ErrNotExist)
	}
	return nil
}

func ordinary(info fs.FileInfo) bool { return info.Mode().IsRegular() && names(info) == 1 }

// notFound tells a person no more than that they have no such file.
func notFound(err error) error {
	return fault.Wrap(fault.NotFound, err, "There is no such file.")
}
