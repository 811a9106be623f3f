package rehearsal_test

import (
	"context"
	"slices"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

var (
	ann   = identity.Viewer{UserID: "ann", Role: identity.RoleUser}
	admin = identity.Viewer{UserID: "root", Role: identity.RoleAdmin}
)

// object is short for what tools give and take.
type object = map[string]any

// stocked is a library with everything that ships.
func stocked(t testing.TB) *artifacts.Library {
	t.Helper()
	library, _ := artifactstest.Library(t)
	return library
}

// The documents of the person in every run.
const (
	leaveID  = "11111111-1111-7111-8111-111111111111"
	travelID = "22222222-2222-7222-8222-222222222222"
	bankID   = "33333333-3333-7333-8333-333333333333"
)

// titles are the person's documents; there are no sets of them.
type titles []knowledge.Titled

func (l titles) OwnDocuments(context.Context, identity.Viewer, int) ([]knowledge.Titled, error) {
	return l, nil
}

func (l titles) DocumentsByID(_ context.Context, _ identity.Viewer, ids []string) ([]knowledge.Titled, error) {
	var out []knowledge.Titled
	for _, id := range ids {
		if at := slices.IndexFunc(l, func(d knowledge.Titled) bool { return d.ID == id }); at >= 0 {
			out = append(out, l[at])
		}
	}
	return out, nil
}

func (titles) SetsByID(context.Context, identity.Viewer, []string) ([]knowledge.Set, error) {
	return nil, nil
}
