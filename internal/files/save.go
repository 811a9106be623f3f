package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// maxCopies bounds the search for a free name.
const maxCopies = 1000

// Save stores what r holds under a cleaned form of name and returns its row.
// The same name with the same content is the same file; with other content it
// becomes "name (2).ext". A file that is too large, or of an extension that is
// not allowed, is Invalid; one there is no room for is a Conflict. A file
// exists whole or not at all.
func (r *Roots) Save(ctx context.Context, v identity.Viewer, name string, body io.Reader, b Bounds) (File, error) {
	s, err := r.Stage(ctx, v, name, body, b)
	if err != nil {
		return File{}, err
	}
	defer s.Discard()
	return s.Keep(ctx)
}

// Staged is a complete file that has no name yet: it becomes a file by Keep
// and nothing by Discard.
type Staged struct {
	roots  *Roots
	root   *os.Root
	viewer identity.Viewer
	bounds Bounds
	temp   string
	file   File // Path is set by Keep
}

// Stage receives a file. The caller discards it in any case; after Keep that
// does nothing. Who has no room at all is refused before anything is read.
func (r *Roots) Stage(ctx context.Context, v identity.Viewer, name string, body io.Reader, b Bounds) (*Staged, error) {
	name = CleanName(name)
	mime, err := r.typeOf(ctx, v, name)
	if err != nil {
		return nil, err
	}
	used, err := r.store.Usage(ctx, v)
	if err == nil {
		err = b.Room(used, 1)
	}
	if err != nil {
		return nil, err
	}
	root, err := r.root(v)
	if err != nil {
		return nil, err
	}
	s := &Staged{
		roots: r, root: root, viewer: v, bounds: b, temp: path.Join(scratch, id.New()+".part"),
		file: File{UserID: v.UserID, Name: name, MIME: mime},
	}
	if err := s.receive(body, b.File); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// receive writes the body to the temporary file, hashing it on the way.
func (s *Staged) receive(body io.Reader, limit int64) error {
	f, err := s.root.OpenFile(s.temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // again, when it went well
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(body, limit+1))
	if err != nil {
		return err
	}
	if n > limit {
		return fault.New(fault.Invalid, "The file is larger than %d MB, the most one file may have.", limit/mib).
			With(map[string]any{"field": "file", "max_bytes": limit})
	}
	s.file.Size, s.file.SHA256 = n, hex.EncodeToString(sum.Sum(nil))
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// File is what was received; its Path is empty until Keep.
func (s *Staged) File() File { return s.file }

// Keep gives the file its place and its row.
func (s *Staged) Keep(ctx context.Context) (File, error) {
	stem, ext := splitName(s.file.Name)
	for n := 1; n <= maxCopies; n++ {
		name := s.file.Name
		if n > 1 {
			name = fmt.Sprintf("%s (%d)%s", stem, n, ext)
		}
		f, taken, err := s.keepAs(ctx, path.Join(Dir, name))
		if err != nil || !taken {
			return f, err
		}
	}
	return File{}, fault.New(fault.Conflict, "There are %d files named %s already. Rename it and upload it again.", maxCopies, s.file.Name)
}

// keepAs tries one path: taken means that another content lives there.
func (s *Staged) keepAs(ctx context.Context, p string) (f File, taken bool, err error) {
	old, err := s.roots.store.File(ctx, s.viewer, p)
	switch {
	case err == nil && old.SHA256 == s.file.SHA256 && requireOrdinary(s.root, p) == nil:
		return old, false, nil
	case err == nil:
		return File{}, true, nil
	case !errors.Is(err, fault.NotFound):
		return File{}, false, err
	}
	if err := s.place(p); errors.Is(err, fs.ErrExist) {
		return File{}, true, nil
	} else if err != nil {
		return File{}, false, err
	}
	s.file.Path, s.file.Name, s.file.CreatedAt = p, path.Base(p), time.Now()
	if there, err := s.put(ctx); err != nil {
		if !there {
			err = errors.Join(err, s.root.Remove(p))
		}
		return File{}, false, err
	}
	return s.file, false, nil
}

// lookLimit bounds the look at a row that may or may not have been stored.
const lookLimit = 5 * time.Second

// put stores the file's row. When that fails, whether the row is there can be
// unknown: the connection broke with the commit. Then it is looked at, also for
// a caller that has gone; there says that it may be there for all we know, and
// its file must stay.
func (s *Staged) put(ctx context.Context) (there bool, err error) {
	err = s.roots.store.PutFile(ctx, s.viewer, s.file, s.bounds)
	if err == nil || errors.Is(err, fault.Conflict) {
		return err == nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	row, look := s.roots.store.File(ctx, s.viewer, s.file.Path)
	switch {
	case look == nil && row.SHA256 == s.file.SHA256:
		return true, nil
	case look == nil, errors.Is(look, fault.NotFound):
		return false, err
	}
	return true, err
}

// place moves the temporary file to p, unless something is there: the name is
// reserved first, so two uploads cannot both win it, and no link is made.
func (s *Staged) place(p string) error {
	reserve, err := s.root.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	if err := reserve.Close(); err != nil {
		return err
	}
	if err := s.root.Rename(s.temp, p); err != nil {
		return errors.Join(err, s.root.Remove(p))
	}
	return syncDir(s.root, path.Dir(p))
}

// Discard forgets what was not kept.
func (s *Staged) Discard() {
	if s.root == nil {
		return
	}
	_ = s.root.Remove(s.temp) // gone already when it was kept
	_ = s.root.Close()
	s.root = nil
}

// Replace writes a whole file at a path of the viewer's, over what is there.
// It is how tools edit files; the bounds of Save hold. Its row changes first:
// what there is no room for must not have replaced anything.
func (r *Roots) Replace(ctx context.Context, v identity.Viewer, p string, body io.Reader, b Bounds) (File, error) {
	p, err := CleanPath(p)
	if err != nil {
		return File{}, fault.New(fault.Invalid, "A file's path begins with %q and has no %q.", Dir+"/", "..")
	}
	if path.Base(p) != CleanName(path.Base(p)) {
		return File{}, fault.New(fault.Invalid, "%q is not a usable file name; %q would be.", path.Base(p), CleanName(path.Base(p)))
	}
	s, err := r.Stage(ctx, v, path.Base(p), body, b)
	if err != nil {
		return File{}, err
	}
	defer s.Discard()
	before, err := r.store.File(ctx, v, p)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return File{}, err
	}
	s.file.Path, s.file.CreatedAt = p, time.Now()
	if _, err := s.put(ctx); err != nil {
		return File{}, err
	}
	if err := s.replace(p); err != nil {
		return File{}, errors.Join(err, s.restore(ctx, before))
	}
	return s.file, nil
}

// restore puts the row back that was there before.
func (s *Staged) restore(ctx context.Context, before File) error {
	if before.Path == "" {
		return s.roots.store.DeleteFile(ctx, s.viewer, s.file.Path)
	}
	return s.roots.store.PutFile(ctx, s.viewer, before, Bounds{})
}

func (s *Staged) replace(p string) error {
	if err := s.root.MkdirAll(path.Dir(p), 0o750); err != nil {
		return err
	}
	if info, err := s.root.Lstat(p); err == nil && !info.Mode().IsRegular() {
		return fault.New(fault.Conflict, "%s is there already and is not a file.", p)
	}
	if err := s.root.Rename(s.temp, p); err != nil {
		return err
	}
	return syncDir(s.root, path.Dir(p))
}

// syncDir makes a rename outlive a power cut.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
