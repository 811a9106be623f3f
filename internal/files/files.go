// Package files is each user's own folder: one os.Root a user, limits, and
// signed links.
//
// It may import fault, id and identity. Every path is relative to
// users/{user_id} and nothing reaches outside it (ISO-03, ISO-05).
package files

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// File is a stored file. Path is relative to the user's root and begins with
// "files/".
type File struct {
	Path      string
	UserID    string
	Name      string // as the person uploaded it, cleaned
	MIME      string
	Size      int64
	SHA256    string
	CreatedAt time.Time
}

// Bounds is how much a person may keep; zero of Total or Count bounds nothing.
type Bounds struct {
	File  int64 // bytes of one file
	Total int64 // bytes of all files together
	Count int   // how many files
}

// Usage is how much a person keeps.
type Usage struct {
	Bytes int64
	Files int
}

// Room returns Conflict when one more file of size bytes would pass the
// bounds, with a sentence that says what to do.
func (b Bounds) Room(u Usage, size int64) error {
	switch {
	case b.Total > 0 && u.Bytes+size > b.Total:
		return fault.New(fault.Conflict, "Your files may take %d MB together. %d MB are taken, and this would be %d MB more. Delete some files first.",
			b.Total/mib, (u.Bytes+mib-1)/mib, (size+mib-1)/mib).
			With(map[string]any{"reason": "storage", "used_bytes": u.Bytes, "max_bytes": b.Total})
	case b.Count > 0 && u.Files+1 > b.Count:
		return fault.New(fault.Conflict, "You have %d files, the most there may be. Delete some first.", u.Files).
			With(map[string]any{"reason": "storage", "files": u.Files, "max_files": b.Count})
	}
	return nil
}

// Store keeps the rows of files; the bytes are on disk.
type Store interface {
	// PutFile stores a row, over one of the same path. What would pass the
	// bounds is a Conflict, however many are stored at once.
	PutFile(ctx context.Context, v identity.Viewer, f File, b Bounds) error
	// Usage is what the viewer keeps.
	Usage(ctx context.Context, v identity.Viewer) (Usage, error)
	File(ctx context.Context, v identity.Viewer, path string) (File, error)
	ListFiles(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]File, string, error)
	DeleteFile(ctx context.Context, v identity.Viewer, path string) error
}
