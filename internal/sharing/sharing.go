// Package sharing is what a person shares of their own: a context, a document set
// or an artifact, with one person or with everybody of their tenant, to read or
// also to add to (ISO-06). What it means for who may read and change is in the
// store's predicates, and behind them in the database's own policies.
//
// It may import identity.
package sharing

import (
	"context"
	"strings"
	"time"

	"liminal/internal/identity"
)

// MaxShares is with how many people one thing may be shared.
const MaxShares = 200

// Kind is what is shared.
type Kind string

// The kinds of things that can be shared.
const (
	Context  Kind = "context"
	Set      Kind = "document set"
	Artifact Kind = "artifact"
)

// Shareable reports whether artifacts of a type can be shared. An adapter is made
// of what one person said, and a memory of their conversations.
func Shareable(kind string) bool {
	return !strings.HasPrefix(kind, "adapter.") && !strings.HasPrefix(kind, "memory.")
}

// Share is one thing shared with one person, or with a tenant.
type Share struct {
	ID        string
	OwnerID   string
	Kind      Kind
	ObjectID  string
	GranteeID string // empty: everybody of TenantID
	TenantID  string
	Write     bool // may add: documents of their own to a context, versions to an artifact
	CreatedAt time.Time
}

// Person is somebody as who shares with them sees them.
type Person struct{ ID, Email, Handle string }

// Named is a share with the names of what and whom it is of.
type Named struct {
	Share
	Name           string
	Owner, Grantee Person
}

// Filter is a page of shares.
type Filter struct {
	Received bool // those that reach the viewer, instead of those they gave
	Kind     Kind // with ObjectID: of this one thing
	ObjectID string
	Cursor   string
	Limit    int
}

// Shares keeps them.
type Shares interface {
	// PutShare shares something of the viewer's own; NotFound when it is not.
	// Sharing it again with the same changes what they may.
	PutShare(ctx context.Context, v identity.Viewer, s Share) (Share, error)
	// MayShare is NotFound for what is not the viewer's own.
	MayShare(ctx context.Context, v identity.Viewer, kind Kind, objectID string) error
	// DropShare takes a share back, for its owner, or lets go of it, for whom
	// alone it reaches; NotFound for everybody else. It counts at once: with
	// the next read, whatever is under way.
	DropShare(ctx context.Context, v identity.Viewer, id string) (Share, error)
	// ListShares lists them, the latest first.
	ListShares(ctx context.Context, v identity.Viewer, f Filter) ([]Named, string, error)
	// FindPerson finds somebody of the viewer's tenant by their address or name,
	// exactly as it is; NotFound for everybody else, so that accounts are not
	// listed by trying.
	FindPerson(ctx context.Context, v identity.Viewer, exact string) (Person, error)
}
