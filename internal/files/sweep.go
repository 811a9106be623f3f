package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"liminal/internal/id"
)

// sweepBatch is how many folders are listed at a time.
const sweepBatch = 500

// SweepTemporary removes what nobody has written to for olderThan from every
// person's tmp folder, and reports how many files and folders that were
// (FILE-07). An upload writes as it goes, so one that is under way is young
// however long it takes. It may run in several processes at once.
func (r *Roots) SweepTemporary(ctx context.Context, olderThan time.Duration) (removed int, err error) {
	homes, err := r.base.Open("users")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // nobody has a folder yet
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = homes.Close() }() // it was only read
	before := time.Now().Add(-olderThan)
	for {
		list, err := homes.ReadDir(sweepBatch)
		for _, home := range list {
			if ctx.Err() != nil {
				return removed, ctx.Err()
			}
			if !home.IsDir() || !id.Valid(home.Name()) {
				continue
			}
			n, err := r.sweepHome(path.Join("users", home.Name()), before)
			if removed += n; err != nil {
				return removed, err
			}
		}
		if errors.Is(err, io.EOF) {
			return removed, nil
		}
		if err != nil {
			return removed, err
		}
	}
}

// sweepHome sweeps one person's tmp folder. It is opened by itself, so that no
// link in it leads anywhere else.
func (r *Roots) sweepHome(home string, before time.Time) (removed int, err error) {
	tmp, err := r.base.OpenRoot(path.Join(home, scratch))
	if err != nil {
		return 0, absent(err)
	}
	defer func() { _ = tmp.Close() }() // it was only read
	var folders []string
	err = fs.WalkDir(tmp.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return absent(err)
		case p == ".":
			return nil
		case d.IsDir() && old(d, before):
			folders = append(folders, p)
			return nil
		case d.IsDir() || !old(d, before):
			return nil
		}
		removed++
		return absent(tmp.Remove(p))
	})
	for _, folder := range slices.Backward(folders) { // the deepest first
		if tmp.Remove(folder) == nil { // one that is not empty stays
			removed++
		}
	}
	return removed, err
}

func old(d fs.DirEntry, before time.Time) bool {
	info, err := d.Info()
	return err == nil && info.ModTime().Before(before)
}

// absent forgives that somebody else was quicker.
func absent(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
