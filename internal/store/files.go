package store

import (
	"context"

	"liminal/internal/files"
	"liminal/internal/identity"
)

var _ files.Store = (*Store)(nil)

const fileColumns = `path, user_id, name, mime, size, sha256, created_at`

func scanFile(scan Scan) (f files.File, err error) {
	err = scan(&f.Path, &f.UserID, &f.Name, &f.MIME, &f.Size, &f.SHA256, when{&f.CreatedAt})
	return f, err
}

// PutFile implements files.Store: a file of the same path is replaced, and
// does not count twice.
func (s *Store) PutFile(ctx context.Context, v identity.Viewer, f files.File, b files.Bounds) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("files:" + v.UserID); err != nil {
			return err
		}
		used, err := usage(tx, v, f.Path)
		if err == nil {
			err = b.Room(used, f.Size)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO file (`+fileColumns+`) VALUES (@path, @user, @name, @mime, @size, @sum, @created)
			ON CONFLICT (user_id, path) DO UPDATE SET name = excluded.name, mime = excluded.mime, size = excluded.size,
			sha256 = excluded.sha256, created_at = excluded.created_at`,
			Args{"path": f.Path, "user": v.UserID, "name": f.Name, "mime": f.MIME, "size": f.Size, "sum": f.SHA256, "created": s.orNow(f.CreatedAt)})
		return err
	})
}

// Usage implements files.Store.
func (s *Store) Usage(ctx context.Context, v identity.Viewer) (u files.Usage, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		u, err = usage(tx, v, "")
		return err
	})
	return u, err
}

// usage is what the viewer keeps beside one path.
func usage(tx Tx, v identity.Viewer, but string) (u files.Usage, err error) {
	_, err = first(tx, `SELECT CAST(coalesce(sum(size), 0) AS BIGINT), count(*) FROM file WHERE user_id = @user AND path <> @but`,
		Args{"user": v.UserID, "but": but}, &u.Bytes, &u.Files)
	return u, err
}

// File implements files.Store.
func (s *Store) File(ctx context.Context, v identity.Viewer, path string) (f files.File, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+fileColumns+` FROM file WHERE user_id = @user AND path = @path`,
			Args{"user": v.UserID, "path": path}, scanFile)
		f, err = only(list, err, "file")
		return err
	})
	return f, err
}

// ListFiles implements files.Store: the newest first.
func (s *Store) ListFiles(ctx context.Context, v identity.Viewer, cursor string, limit int) (list []files.File, next string, err error) {
	after, err := beginOf(cursor, plainText)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+fileColumns+` FROM file WHERE user_id = @user AND (created_at, path) < (@at, @path)
			ORDER BY created_at DESC, path DESC LIMIT @limit`,
			Args{"user": v.UserID, "at": after.at, "path": after.id, "limit": size + 1}, scanFile)
		return err
	})
	list, next = cut(list, size, func(f files.File) place { return place{f.CreatedAt, f.Path} })
	return list, next, err
}

// DeleteFile implements files.Store.
func (s *Store) DeleteFile(ctx context.Context, v identity.Viewer, path string) error {
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`DELETE FROM file WHERE user_id = @user AND path = @path`, Args{"user": v.UserID, "path": path})
		if err == nil && n == 0 {
			err = missing("file")
		}
		return err
	})
}
