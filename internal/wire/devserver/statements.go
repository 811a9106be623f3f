package devserver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"unsafe"

	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistence "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
)

// maxStatements bounds the prepared statements of a connection. The server has
// some hundred texts of SQL, and few whose length depends on what they ask.
const maxStatements = 512

// keepStatements has the server's connections to a file keep what they have
// prepared: its driver parses a text anew each time, which was a tenth of the
// processor time of a run.
//
// The server opens its files by itself and shares one pool of connections for
// each; the pool is found where the server keeps it, and what is behind it is
// replaced before anybody uses it. kept is false where an upgrade of the server
// has moved it, which a test tells: then everything works as before, only slower.
func keepStatements(kind sqlplugin.DbKind, c *config.SQL) (kept bool, err error) {
	db, err := persistence.NewSQLDB(kind, c, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return false, err
	}
	pool := poolOf(db)
	if pool == nil {
		return false, nil
	}
	if _, done := pool.Driver().(keepingDriver); done {
		return true, nil // an earlier server of this process
	}
	opened := pool.DB
	pool.DB = sql.OpenDB(keeping{keepingDriver{opened.Driver()}, dsnOf(c)})
	pool.SetMaxOpenConns(1) // as the server sets it
	pool.SetMaxIdleConns(1)
	return true, opened.Close()
}

// poolOf is the pool behind a database of the server's SQLite plugin; nil where
// the plugin keeps it elsewhere.
func poolOf(db any) *sqlx.DB {
	v := reflect.ValueOf(db)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	field := v.Elem().FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sqlx.DB]() {
		return nil
	}
	return (*sqlx.DB)(unsafe.Pointer(field.Pointer())) //nolint:gosec // the type was just compared
}

// dsnOf is how the server's plugin names a file to its driver.
func dsnOf(c *config.SQL) string {
	v := url.Values{"_time_format": {"sqlite"}}
	for name, value := range c.ConnectAttributes {
		if name == "mode" {
			v.Set(name, value)
		} else {
			v.Add("_pragma", name+"="+value)
		}
	}
	return "file:" + c.DatabaseName + "?" + v.Encode()
}

// keeping opens connections that keep their statements.
type keeping struct {
	keepingDriver
	dsn string
}

// Connect implements driver.Connector.
func (k keeping) Connect(context.Context) (driver.Conn, error) { return k.Open(k.dsn) }

// Driver implements driver.Connector.
func (k keeping) Driver() driver.Driver { return k.keepingDriver }

type keepingDriver struct{ driver.Driver }

// Open implements driver.Driver.
func (d keepingDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.Driver.Open(dsn)
	if err != nil {
		return nil, err
	}
	able, ok := c.(conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a connection of %T cannot prepare statements", d.Driver), c.Close())
	}
	return &keepingConn{conn: able, kept: map[string]*statement{}}, nil
}

// conn is what SQLite's driver offers.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// keepingConn is used by one goroutine at a time, as every driver.Conn.
//
// What it runs is not cut off when its caller leaves, but for the queries of the
// lists: the server's statements take microseconds, and the driver would begin
// and end a goroutine to watch each.
type keepingConn struct {
	conn
	kept  map[string]*statement
	fresh freshRuns
}

type statement struct {
	driver.Stmt
	does does
	busy bool // its rows are being read
}

// Close implements driver.Conn.
func (c *keepingConn) Close() error { return errors.Join(c.forget(), c.conn.Close()) }

func (c *keepingConn) forget() error {
	var errs []error
	for text, s := range c.kept {
		if !s.busy {
			errs = append(errs, s.Close())
			delete(c.kept, text)
		}
	}
	return errors.Join(errs...)
}

// statement is the prepared one of a text; nil: it is in use.
func (c *keepingConn) statement(ctx context.Context, text string) (*statement, error) {
	if s, ok := c.kept[text]; ok {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if len(c.kept) >= maxStatements {
		if err := c.forget(); err != nil {
			return nil, err
		}
	}
	prepared, err := c.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: prepared, does: doesOf(text)}
	c.kept[text] = s
	return s, nil
}

// Prepare implements driver.Conn.
func (c *keepingConn) Prepare(text string) (driver.Stmt, error) {
	c.fresh.prepared(text)
	return c.conn.Prepare(text)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *keepingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.fresh.prepared(text)
	return c.conn.PrepareContext(ctx, text)
}

// ExecContext implements driver.ExecerContext.
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		c.fresh.executes(doesOf(text), args)
		return c.conn.ExecContext(ctx, text, args)
	}
	c.fresh.executes(s.does, args)
	result, err := s.Stmt.(driver.StmtExecContext).ExecContext(context.WithoutCancel(ctx), args)
	if err == nil {
		c.fresh.made(s.does, args)
	}
	return result, err
}

// QueryContext implements driver.QueryerContext.
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		c.fresh.executes(doesOf(text), args)
		return c.conn.QueryContext(ctx, text, args)
	}
	if c.fresh.knowsNone(s.does, args) {
		return noRows{}, nil
	}
	c.fresh.executes(s.does, args) // a query can write, by RETURNING
	if !s.does.lists {
		ctx = context.WithoutCancel(ctx)
	}
	found, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &rows{found, s}, nil
}

// Begin implements driver.Conn.
func (c *keepingConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx. The driver would parse the three words
// of every transaction anew.
func (c *keepingConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if _, err := c.ExecContext(ctx, "BEGIN", nil); err != nil {
		return nil, err
	}
	return transaction{c}, nil
}

type transaction struct{ c *keepingConn }

// Commit implements driver.Tx. A connection whose commit failed must not stay in
// its transaction.
func (t transaction) Commit() error {
	_, err := t.c.ExecContext(context.Background(), "COMMIT", nil)
	if err != nil {
		_ = t.Rollback() // there may be none any more
	}
	return err
}

// Rollback implements driver.Tx.
func (t transaction) Rollback() error {
	_, err := t.c.ExecContext(context.Background(), "ROLLBACK", nil)
	return err
}

// rows give their statement back when they have been read.
type rows struct {
	driver.Rows
	of *statement
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
