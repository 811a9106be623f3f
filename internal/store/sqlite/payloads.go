package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"liminal/internal/fault"
)

// Payloads reads the values that histories name, from a file that another
// process has open and another version of the program may have made. It
// changes nothing, not even the schema.
type Payloads struct{ pool *sql.DB }

// OpenPayloads opens a store's file for reading.
func OpenPayloads(path string) (*Payloads, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the store %s cannot be read: %w", path, err)
	}
	u := url.URL{Path: path}
	pool, err := sql.Open("sqlite", "file:"+u.EscapedPath()+"?mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	return &Payloads{pool}, nil
}

// Payload gives a value; NotFound for a name that is not there.
func (p *Payloads) Payload(ctx context.Context, id string) (value []byte, err error) {
	err = p.pool.QueryRowContext(ctx, `SELECT value FROM payload WHERE id = ?`, id).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "There is no such value.")
	}
	return value, err
}

// PutPayload is refused: nothing is written here.
func (p *Payloads) PutPayload(context.Context, string, []byte) error {
	return fault.New(fault.Forbidden, "This store is open for reading only.")
}

// Close lets go of the file.
func (p *Payloads) Close() error { return p.pool.Close() }
