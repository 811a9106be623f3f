package artifacts_test

import (
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/identity"
)

var (
	ann   = identity.Viewer{UserID: "ann", Role: identity.RoleUser}
	bob   = identity.Viewer{UserID: "bob", Role: identity.RoleUser}
	admin = identity.Viewer{UserID: "root", Role: identity.RoleAdmin}
)

// stocked is a library with everything that ships, and its store.
func stocked(t testing.TB) (*artifacts.Library, *artifactstest.Store) {
	t.Helper()
	return artifactstest.Library(t)
}
