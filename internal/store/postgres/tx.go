package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// How transactions begin. The person is named in the same message, so it costs
// no round trip of its own.
const (
	beginRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	beginWrite = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
)

// settling bounds the end of a transaction whose caller may have gone: a
// COMMIT that was sent is waited for.
const settling = 15 * time.Second

// closing bounds Close: a server that has stopped answering holds no process up.
const closing = 5 * time.Second

// Read implements store.DB.
func (db *DB) Read(ctx context.Context, v identity.Viewer, f func(store.Tx) error) error {
	return db.within(ctx, beginRead, v, func(ctx context.Context, c *pgx.Conn) error { return f(tx{ctx, c, &db.statements}) })
}

// Write implements store.DB. It runs f again when the database chose its
// transaction to end a deadlock or a conflict, and when the connection was
// lost before the commit was asked for. A connection lost during the commit
// leaves open whether it happened: that is an error, and what was to be
// written has ids that tell.
func (db *DB) Write(ctx context.Context, v identity.Viewer, f func(store.Tx) error) error {
	return db.within(ctx, beginWrite, v, func(ctx context.Context, c *pgx.Conn) error { return f(tx{ctx, c, &db.statements}) })
}

// within runs f in a transaction, as often as the errors it ends with allow,
// and within Options.Longest in all: a server that accepts connections and
// does not answer ends what waits for it.
func (db *DB) within(outer context.Context, begin string, v identity.Viewer, f func(context.Context, *pgx.Conn) error) error {
	text, err := beginning(begin, v)
	if err != nil {
		return err
	}
	text += db.limits
	ctx, cancel := context.WithTimeout(outer, db.longest)
	defer cancel()
	tries := patience{limit: db.patience}
	for {
		err := db.once(ctx, text, f)
		if err == nil || !again(err) || !tries.wait(ctx, err) {
			if errors.Is(err, context.DeadlineExceeded) && outer.Err() == nil {
				return fault.Wrap(fault.Internal, report(err), "The database did not answer within %s. Try again.", db.longest)
			}
			return report(err)
		}
		if lost(err) {
			db.pool.Reset() // the others of the pool died with it
		}
	}
}

// once runs f in one transaction on one connection.
func (db *DB) once(ctx context.Context, begin string, f func(context.Context, *pgx.Conn) error) (err error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return &early{err}
	}
	defer conn.Release() // closes it when it is in no state to be used again
	c := conn.Conn()
	if _, err := c.Exec(ctx, begin); err != nil {
		return &early{err}
	}
	committing := false
	defer func() {
		if committing {
			return
		}
		// Also after a panic: the connection must not stay in a transaction.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(settling, db.longest))
		defer cancel()
		_, _ = c.Exec(ending, "ROLLBACK") // one that fails has closed the connection
	}()
	if err := f(ctx, c); err != nil {
		return &early{err}
	}
	committing = true
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(settling, db.longest))
	defer cancel()
	return commit(ending, c, begin)
}

func commit(ctx context.Context, c *pgx.Conn, begin string) error {
	tag, err := c.Exec(ctx, "COMMIT")
	switch {
	case err != nil && strings.HasPrefix(begin, beginRead):
		return &early{err} // nothing was to become durable
	case err != nil && (lost(err) || !answered(err)):
		return fault.Wrap(fault.Internal, err, "The connection to the database was lost while it stored this; whether it was stored is not known. Look before you try again.")
	case err != nil:
		return &early{err} // the server said no: a deferred check, a conflict
	case tag.String() != "COMMIT":
		return &early{errors.New("the transaction was rolled back: a statement in it had failed")}
	}
	return nil
}

// beginning is the text that begins a transaction for a viewer. It has no
// parameters: several statements travel in one message only so.
func beginning(begin string, v identity.Viewer) (string, error) {
	if v.UserID != "" && !id.Valid(v.UserID) {
		return "", fault.New(fault.Unauthorized, "This account's id is no id; sign in again.")
	}
	var b strings.Builder
	b.WriteString(begin)
	if v.UserID != "" {
		b.WriteString("; SET LOCAL app.user_id = '" + v.UserID + "'")
	}
	if v.IsAdmin() && !v.IsSystem() {
		b.WriteString("; SET LOCAL app.admin = 'on'")
	}
	if v.IsSystem() {
		b.WriteString("; SET LOCAL app.system = 'on'")
	}
	return b.String(), nil
}

// tx implements store.Tx on one connection.
type tx struct {
	ctx        context.Context
	c          *pgx.Conn
	statements *statements
}

// Lock implements store.Tx.
func (t tx) Lock(key string) error { return lock(t.ctx, t.c, key) }

// lock takes an advisory lock until the transaction ends. Locks are
// taken in the order of calls, so two transactions that take the same two in
// different orders deadlock; the server ends one of them after a second and it
// is run again. The body takes a person's before a conversation's.
func lock(ctx context.Context, c *pgx.Conn, key string) error {
	sum := sha256.Sum256([]byte(key))
	n := int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits name a lock
	_, err := c.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", n)
	return err
}

// Exec implements store.Tx.
func (t tx) Exec(query string, args store.Args) (int64, error) {
	text, values, err := t.statements.bind(query, args)
	if err != nil {
		return 0, err
	}
	tag, err := t.c.Exec(t.ctx, text, values...)
	if err != nil {
		return 0, violation(err)
	}
	return tag.RowsAffected(), nil
}

// Query implements store.Tx.
func (t tx) Query(query string, args store.Args, each func(scan store.Scan) error) error {
	text, values, err := t.statements.bind(query, args)
	if err != nil {
		return err
	}
	rows, err := t.c.Query(t.ctx, text, values...)
	if err != nil {
		return violation(err)
	}
	defer rows.Close()
	scan := func(dest ...any) error { return rows.Scan(adapted(dest)...) }
	for rows.Next() {
		if err := each(scan); err != nil {
			return err
		}
	}
	rows.Close()
	return violation(rows.Err())
}

// adapted lets the body scan a number into a truth, as the other database has
// no truths of its own.
func adapted(dest []any) []any {
	for i, d := range dest {
		if b, ok := d.(*bool); ok {
			dest[i] = truth{b}
		}
	}
	return dest
}

type truth struct{ b *bool }

// Scan implements sql.Scanner.
func (t truth) Scan(src any) error {
	switch v := src.(type) {
	case bool:
		*t.b = v
	case int64:
		*t.b = v != 0
	default:
		return fmt.Errorf("a %T is no truth", src)
	}
	return nil
}
