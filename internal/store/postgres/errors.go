package postgres

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"liminal/internal/fault"
	"liminal/internal/store"
)

// early is an error from before a commit was asked for: nothing was stored,
// and nothing will be.
type early struct{ cause error }

func (e *early) Error() string { return e.cause.Error() }

func (e *early) Unwrap() error { return e.cause }

// violation turns the server's constraint errors into the seam's.
func violation(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch e.Code {
	case "23505":
		return &store.Violation{Unique: true, Name: constraint(e), Cause: err}
	case "23503":
		return &store.Violation{Name: constraint(e), Cause: err}
	}
	return err
}

// constraint is the name of the index or the rule that was broken; the server's
// own names for those of a column become "table.column".
func constraint(e *pgconn.PgError) string {
	column, ok := strings.CutPrefix(e.ConstraintName, e.TableName+"_")
	if !ok {
		return e.ConstraintName
	}
	if column == "pkey" {
		return e.TableName + ".id"
	}
	for _, kind := range []string{"_key", "_fkey"} {
		if name, ok := strings.CutSuffix(column, kind); ok {
			return e.TableName + "." + name
		}
	}
	return e.ConstraintName
}

// report makes sentences of what a person or an operator can mend.
func report(err error) error {
	for e := (*early)(nil); errors.As(err, &e); {
		err = e.cause
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch e.Code {
	case "22P02":
		if strings.Contains(e.Message, "uuid") {
			return fault.Wrap(fault.NotFound, err, "There is nothing with this id: it is no UUID.")
		}
	case "22021", "22P05":
		return fault.Wrap(fault.Invalid, err, "The text contains a zero byte, or is not UTF-8; it cannot be stored.")
	case "53100":
		return fault.Wrap(fault.Internal, err, "The database's disk is full; nothing was stored. Whoever runs this server must free some space.")
	}
	return err
}

// again reports whether a transaction that ended with err may be run again.
func again(err error) bool {
	if e := (*early)(nil); !errors.As(err, &e) {
		return false
	}
	return conflict(err) || lost(err)
}

// conflict: the server chose this transaction to fail so that others go on.
func conflict(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40001" || e.Code == "40P01")
}

// answered reports whether an error is what the server said: without an answer
// nobody knows what it did.
func answered(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok
}

// lost reports whether the connection, and not what was sent on it, failed: the
// server stopped, restarts, or closed this one of its connections.
func lost(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "57P01", "57P02", "57P03", "57P05", "53300", "25P03":
			return true
		}
		return strings.HasPrefix(e.Code, "08")
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed")
}

// conflicts is how often a transaction that lost to others is run again.
const conflicts = 10

// patience says how long to go on trying.
type patience struct {
	limit time.Duration
	since time.Time
	tries int
}

// wait waits before the next try; false: it is enough.
func (p *patience) wait(ctx context.Context, err error) bool {
	if p.since.IsZero() {
		p.since = time.Now()
	}
	p.tries++
	if conflict(err) && p.tries > conflicts || time.Since(p.since) > p.limit {
		return false
	}
	most := min(5*time.Millisecond<<min(p.tries, 6), 250*time.Millisecond)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rand.N(most)): //nolint:gosec // a pause
		return true
	}
}
