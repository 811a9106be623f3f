package chat

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// Item is a JSON object that programs keep for a person beside their conversations,
// under a key in a namespace: what an agent remembers across threads.
type Item struct {
	Namespace []string
	Key       string
	Value     map[string]any
	CreatedAt time.Time
	UpdatedAt time.Time
}

// The bounds of items: of each, and of all of a person's together.
const (
	MaxItemDepth = 16        // parts of a namespace
	MaxItemName  = 200       // bytes of a part of it, and of a key
	MaxItemValue = 64 << 10  // bytes of a value as JSON
	MaxItems     = 10_000    // of one person
	MaxItemBytes = 256 << 20 // of all their values
	// MaxItemSearch is how many bytes of values a search looks into.
	MaxItemSearch = 32 << 20
)

// ItemFilter narrows Items.
type ItemFilter struct {
	Prefix []string // of the namespace; nil: all
	Limit  int      // 1 to MaxItems
	// Fits looks into values, of Most bytes together; nil: all fit.
	Fits func(value map[string]any) bool
	Most int
}

// Items keeps what programs remember of a person.
type Items interface {
	// PutItem keeps an item in the place of the one that is there. RateLimited where
	// the person has as many as they may, or as large ones.
	PutItem(ctx context.Context, v identity.Viewer, i Item) error
	// Item gives one; NotFound where there is none.
	Item(ctx context.Context, v identity.Viewer, namespace []string, key string) (Item, error)
	// DeleteItem removes one, if it is there.
	DeleteItem(ctx context.Context, v identity.Viewer, namespace []string, key string) error
	// Items lists those whose namespace begins with a prefix, latest first. Invalid where
	// more would have to be looked into than may be.
	Items(ctx context.Context, v identity.Viewer, f ItemFilter) ([]Item, error)
	// ItemNamespaces are the namespaces in which something is, in order.
	ItemNamespaces(ctx context.Context, v identity.Viewer) ([][]string, error)
}
