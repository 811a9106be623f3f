// Package files is each user's own folder: one os.Root a user, limits, and
// signed links.
//
// It may import fault, id and identity. Every path is relative to
// users/{user_id} and nothing reaches outside it (ISO-03, ISO-05).
package files

import (
	"context"
	"time"

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

// Store keeps the rows of files; the bytes are on disk.
type Store interface {
	PutFile(ctx context.Context, v identity.Viewer, f File) error
	File(ctx context.Context, v identity.Viewer, path string) (File, error)
	ListFiles(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]File, string, error)
	DeleteFile(ctx context.Context, v identity.Viewer, path string) error
}
