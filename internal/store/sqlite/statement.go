package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"liminal/internal/store"
)

// maxStatements bounds a connection's cache. The body has about a hundred
// texts; lists of ids in an IN make more.
const maxStatements = 512

// conn is one connection and its prepared statements. It is used by one
// goroutine at a time.
type conn struct {
	sql        *sql.Conn
	statements map[string]*statement
}

// statement is a prepared text with @names replaced by positions: binding by
// position is twice as fast as asking SQLite for each name.
type statement struct {
	stmt  *sql.Stmt
	names []string
}

func newConn(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{sql: c, statements: map[string]*statement{}}, nil
}

func (c *conn) close() error {
	errs := []error{c.forget()}
	return errors.Join(append(errs, c.sql.Close())...)
}

// forget closes all prepared statements.
func (c *conn) forget() error {
	var errs []error
	for text, s := range c.statements {
		errs = append(errs, s.stmt.Close())
		delete(c.statements, text)
	}
	return errors.Join(errs...)
}

func (c *conn) statement(ctx context.Context, text string) (*statement, error) {
	if s, ok := c.statements[text]; ok {
		return s, nil
	}
	if len(c.statements) >= maxStatements {
		if err := c.forget(); err != nil {
			return nil, err
		}
	}
	positional, names := store.Positional(text, '?')
	stmt, err := c.sql.PrepareContext(ctx, positional)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	s := &statement{stmt: stmt, names: names}
	c.statements[text] = s
	return s, nil
}

// bind puts args into the statement's order. Times become microseconds.
func (s *statement) bind(args store.Args) ([]any, error) {
	values := make([]any, len(s.names))
	for i, name := range s.names {
		v, ok := args[name]
		if !ok {
			return nil, fmt.Errorf("the statement's parameter @%s is not given", name)
		}
		if t, ok := v.(time.Time); ok {
			v = t.UnixMicro()
		}
		values[i] = v
	}
	return values, nil
}

// tx implements store.Tx on one connection.
type tx struct {
	ctx context.Context
	c   *conn
}

// Lock implements store.Tx: there is one writer, and it holds everything.
func (t tx) Lock(string) error { return nil }

// Exec implements store.Tx.
func (t tx) Exec(query string, args store.Args) (int64, error) {
	s, err := t.c.statement(t.ctx, query)
	if err != nil {
		return 0, err
	}
	values, err := s.bind(args)
	if err != nil {
		return 0, err
	}
	result, err := s.stmt.ExecContext(t.ctx, values...)
	if err != nil {
		return 0, report(err)
	}
	return result.RowsAffected()
}

// Query implements store.Tx.
func (t tx) Query(query string, args store.Args, each func(scan store.Scan) error) (err error) {
	s, err := t.c.statement(t.ctx, query)
	if err != nil {
		return err
	}
	values, err := s.bind(args)
	if err != nil {
		return err
	}
	rows, err := s.stmt.QueryContext(t.ctx, values...)
	if err != nil {
		return report(err)
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = report(e)
		}
	}()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return report(rows.Err())
}
