package palace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"liminal/internal/capture"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

// Folder is the palace folder of this machine, as far as it is to forget something.
type Folder struct {
	// Dir is the folder, Spool the one of segments in it.
	Dir, Spool string
	Keys       *vault.Ring
	Owner      func(ctx context.Context) (identity.Viewer, error)
}

const (
	ownerName  = "owner" // whose the spool is, by id
	viewsName  = "views"
	epochsName = "epochs"
)

// erase overwrites in the spool what is gone, if the spool is this person's.
func (f *Folder) erase(ctx context.Context, v identity.Viewer, gone func(hash string) bool) (int, error) {
	if owner, err := f.Owner(ctx); err != nil || owner.UserID != v.UserID {
		return 0, err
	}
	return capture.Erase(f.Spool, f.Keys, gone)
}

// drop removes what is planned for a client, in which its blocks have names.
func (f *Folder) drop(ctx context.Context, v identity.Viewer, client string) error {
	if owner, err := f.Owner(ctx); err != nil || owner.UserID != v.UserID {
		return err
	}
	sum := sha256.Sum256([]byte(client))
	err := os.Remove(filepath.Join(f.Dir, viewsName, hex.EncodeToString(sum[:])[:32]+".json"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
}

// claim notes whose the spool is: when that account goes, nobody else could tell.
func claim(dir string, owner identity.Viewer) error {
	name := filepath.Join(dir, ownerName)
	if was, err := os.ReadFile(name); err == nil && string(was) == owner.UserID {
		return nil
	}
	return os.WriteFile(name, []byte(owner.UserID), 0o600)
}

// Forget erases what the folder keeps of a person whose account is deleted: the next
// whose the proxy is must not find it. What is under way goes on being written, so the
// person ends their agents first.
func (f *Folder) Forget(userID string) error {
	was, err := os.ReadFile(filepath.Join(f.Dir, ownerName))
	if errors.Is(err, os.ErrNotExist) || err == nil && strings.TrimSpace(string(was)) != userID {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = capture.Clear(f.Spool, f.Keys)
	return errors.Join(err, os.RemoveAll(filepath.Join(f.Dir, viewsName)), os.RemoveAll(filepath.Join(f.Dir, epochsName)), os.Remove(filepath.Join(f.Dir, ownerName)))
}
