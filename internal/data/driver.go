package data

import (
	"context"
	"time"
)

// Driver opens databases of one kind. A connection string is a secret: no error
// repeats it.
type Driver interface {
	// Open refuses a database that the role could change, or whose rules for
	// rows do not hold for it.
	Open(ctx context.Context, url string) (Database, error)
	// Inspect says everything that is wrong with a database instead, for who
	// sets it up; an error when it cannot be reached at all.
	Inspect(ctx context.Context, url string) ([]string, error)
}

// Database is an open one. It is safe for concurrent use.
type Database interface {
	// Read runs f in a transaction that can only read, on one snapshot, with
	// the settings made in it. Whatever f does takes at most timeout.
	Read(ctx context.Context, timeout time.Duration, settings map[string]string, f func(Reader) error) error
	Close() error
}

// Reader reads in a transaction.
type Reader interface {
	// Query runs one statement whose parameters are places as Bind writes them,
	// and reads at most limit rows and one more.
	Query(sql string, values map[string]any, limit int) (Rows, error)
}

// Rows are what a statement gives. Values are texts, float64, int64, booleans
// and nil.
type Rows struct {
	Columns []string
	Values  [][]any
}
