package sqlite

import (
	"context"
	"errors"
)

// lent are connections of which each has one user at a time. One is opened when
// it is wanted and all that are open are in use: each reads the whole schema and
// prepares every statement for itself, so a few that are used again and again
// are cheaper than many that take turns.
type lent struct {
	idle chan *conn
	more chan struct{} // one for each that may still be opened
	open func(context.Context) (*conn, error)
}

func newLent(most int, open func(context.Context) (*conn, error)) *lent {
	l := &lent{idle: make(chan *conn, most), more: make(chan struct{}, most), open: open}
	for range most {
		l.more <- struct{}{}
	}
	return l
}

// take waits for a connection until ctx ends or the database is closed.
func (l *lent) take(ctx context.Context, closed <-chan struct{}) (*conn, error) {
	select {
	case c := <-l.idle:
		return c, nil
	default:
	}
	select {
	case c := <-l.idle:
		return c, nil
	case <-l.more:
		// Whole or not at all: whoever leaves meanwhile leaves it to the next.
		c, err := l.open(context.WithoutCancel(ctx))
		if err != nil {
			l.more <- struct{}{}
		}
		return c, err
	case <-closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lent) put(c *conn) { l.idle <- c }

// close closes them all, waiting for those in use. None is opened afterwards.
func (l *lent) close() error {
	var errs []error
	for range cap(l.more) {
		select {
		case c := <-l.idle:
			errs = append(errs, c.close())
		case <-l.more:
		}
	}
	return errors.Join(errs...)
}
