package files

import (
	"context"
	"path"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// RemoveHome removes a person's folder with everything in it. It is the last
// step of deleting an account (DATA-01): their rows are gone by then.
func (r *Roots) RemoveHome(_ context.Context, userID string) error {
	if !id.Valid(userID) {
		return fault.New(fault.Invalid, "Only a person has a folder.")
	}
	return r.base.RemoveAll(path.Join("users", userID))
}
