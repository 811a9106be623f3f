// Package sqlite keeps everything in one file: the adapter of the store's seam
// on modernc.org/sqlite, and the chunk index (FTS5 and exact cosine).
//
// One connection writes and a few read, in WAL mode with a sync at every
// commit, so what was acknowledged survives a killed process and a power cut.
// It may import store, the nouns and migrations.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/migrations"
)

// Options of a database; the zero value is the defaults.
type Options struct {
	Readers int           // connections that read, 1 to 64; 0: 4
	Logger  *slog.Logger  // nil: slog.Default()
	Quiet   time.Duration // without a write, after which the write-ahead log is folded in; 0: 2 s

	sync string // "" is "full"; tests that lose nothing by a power cut turn it off
}

// DB is an open database file. It implements store.DB.
type DB struct {
	path   string
	pool   *sql.DB
	writer *lent // one connection
	reader *lent
	logger *slog.Logger

	stop  context.CancelFunc
	done  sync.WaitGroup
	wrote chan struct{} // a write happened; the tidier waits for quiet

	closing  sync.Once
	closed   chan struct{}
	closeErr error
}

var (
	_ store.DB     = (*DB)(nil)
	_ store.Looker = (*DB)(nil)
)

// Open opens or creates the file and applies what migrations are missing; an
// existing file is copied first. Several processes may open it at once.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	have, err := migrations.Of(migrations.SQLite)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, o, have)
}

func open(ctx context.Context, path string, o Options, have []migrations.Migration) (*DB, error) {
	if o.Readers <= 0 {
		o.Readers = 4
	}
	o.Readers = min(o.Readers, 64)
	if o.sync == "" {
		o.sync = "full"
	}
	if o.Quiet <= 0 {
		o.Quiet = 2 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	pool, err := sql.Open("sqlite", dsn(path, o.sync))
	if err != nil {
		return nil, err
	}
	db := &DB{
		path: path, pool: pool, logger: o.Logger, wrote: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	db.writer, db.reader = newLent(1, db.openWriter), newLent(o.Readers, db.openReader)
	if err := db.connect(ctx, have); err != nil {
		err = fmt.Errorf("the database %s cannot be opened: %w", path, err)
		return nil, errors.Join(err, db.reader.close(), db.writer.close(), pool.Close())
	}
	var tidying context.Context
	tidying, db.stop = context.WithCancel(context.WithoutCancel(ctx))
	db.done.Go(func() { db.tidy(tidying, o.Quiet) })
	return db, nil
}

// dsn escapes the path: a question mark in a folder's name is a name. What is deleted
// is overwritten: people are told that it is gone.
func dsn(path, sync string) string {
	u := url.URL{Path: path}
	return "file:" + u.EscapedPath() + "?_pragma=busy_timeout(10000)&_pragma=synchronous(" + sync + ")" +
		"&_pragma=foreign_keys(1)&_pragma=secure_delete(1)&_pragma=temp_store(memory)&_pragma=cache_size(-16000)"
}

// connect makes the file ready, and looks whether it can be read: what is wrong
// with it is told now.
func (db *DB) connect(ctx context.Context, have []migrations.Migration) error {
	w, err := db.writer.take(ctx, db.closed)
	if err != nil {
		return err
	}
	defer db.writer.put(w)
	if err := walMode(ctx, w); err != nil {
		return err
	}
	if err := db.migrate(ctx, w, have); err != nil {
		return err
	}
	r, err := db.reader.take(ctx, db.closed)
	if err != nil {
		return err
	}
	db.reader.put(r)
	return nil
}

func (db *DB) openWriter(ctx context.Context) (*conn, error) { return newConn(ctx, db.pool) }

func (db *DB) openReader(ctx context.Context) (*conn, error) {
	c, err := newConn(ctx, db.pool)
	if err != nil {
		return nil, fmt.Errorf("a connection that reads: %w", err)
	}
	if _, err := c.sql.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
		return nil, errors.Join(fmt.Errorf("a connection that reads: %w", err), c.close())
	}
	return c, nil
}

// walMode turns on the write-ahead log, which stays on in the file. Of several
// programs that do so at once SQLite refuses all but one without waiting.
func walMode(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		_, err := c.sql.ExecContext(ctx, "PRAGMA journal_mode = wal")
		if !busy(err) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// Close waits for what is under way and closes the file.
func (db *DB) Close() error {
	db.closing.Do(func() {
		close(db.closed)
		db.stop()
		db.done.Wait()
		db.closeErr = errors.Join(db.reader.close(), db.writer.close(), db.pool.Close())
	})
	return db.closeErr
}

// Read implements store.DB.
func (db *DB) Read(ctx context.Context, _ identity.Viewer, f func(store.Tx) error) error {
	return db.with(ctx, db.reader, func(c *conn) error {
		return transact(ctx, c, "BEGIN", f)
	})
}

// Look implements store.Looker: a statement by itself reads one snapshot too. The
// driver would begin and end a goroutine to watch it for the end of ctx.
func (db *DB) Look(ctx context.Context, _ identity.Viewer, f func(store.Tx) error) error {
	return db.with(ctx, db.reader, func(c *conn) error {
		return f(&look{tx: tx{context.WithoutCancel(ctx), c}})
	})
}

// look is a tx of one statement.
type look struct {
	tx
	ran bool
}

var errLook = errors.New("a look at the store is one statement; what needs several reads in a transaction")

// Exec implements store.Tx.
func (l *look) Exec(query string, args store.Args) (int64, error) {
	if l.ran {
		return 0, errLook
	}
	l.ran = true
	return l.tx.Exec(query, args)
}

// Query implements store.Tx.
func (l *look) Query(query string, args store.Args, each func(scan store.Scan) error) error {
	if l.ran {
		return errLook
	}
	l.ran = true
	return l.tx.Query(query, args, each)
}

// Write implements store.DB. Once begun it does not look at ctx any more: it
// takes less time than the look, and a half-done commit helps nobody.
func (db *DB) Write(ctx context.Context, _ identity.Viewer, f func(store.Tx) error) error {
	return db.with(ctx, db.writer, func(c *conn) error {
		err := transact(context.WithoutCancel(ctx), c, "BEGIN IMMEDIATE", f)
		select {
		case db.wrote <- struct{}{}:
		default:
		}
		return err
	})
}

var errClosed = errors.New("the database has been closed")

// with lends a connection to f.
func (db *DB) with(ctx context.Context, of *lent, f func(*conn) error) error {
	select {
	case <-db.closed:
		return errClosed
	default:
	}
	if err := ctx.Err(); err != nil { // of several ready cases select takes any
		return err
	}
	c, err := of.take(ctx, db.closed)
	if err != nil {
		return err
	}
	defer of.put(c)
	return f(c)
}

func transact(ctx context.Context, c *conn, begin string, f func(store.Tx) error) (err error) {
	t := tx{ctx, c}
	// A caller who leaves while it begins is told so, though it has begun: the
	// connection would stay in a transaction that nobody ends, and refuse every
	// later one.
	if _, err := (tx{context.WithoutCancel(ctx), c}).Exec(begin, nil); err != nil {
		return err
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		// Also after a panic: the connection must not stay in a transaction.
		_, e := (tx{context.WithoutCancel(ctx), c}).Exec("ROLLBACK", nil)
		if err == nil {
			err = e
		}
	}()
	if err := f(t); err != nil {
		return err
	}
	if _, err := (tx{context.WithoutCancel(ctx), c}).Exec("COMMIT", nil); err != nil {
		return err
	}
	committed = true
	return nil
}

// tidy folds the write-ahead log into the file when nothing is written: under
// steady readers it would otherwise grow without end, and its length is the
// time the next start takes.
func (db *DB) tidy(ctx context.Context, quiet time.Duration) {
	timer := time.NewTimer(quiet)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.wrote:
			timer.Reset(quiet)
		case <-timer.C:
			db.checkpoint(ctx)
		}
	}
}

// Settle implements store.Settler: the log, in which the pages are as they were before,
// is folded into the file and emptied. Readers of an older snapshot are waited for.
func (db *DB) Settle(ctx context.Context) error {
	return db.with(ctx, db.writer, func(c *conn) error {
		for {
			var busy, pages, folded int
			err := c.sql.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &folded)
			if err != nil || busy == 0 {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the write-ahead log could not be emptied, for somebody reads an older state: %w", ctx.Err())
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

func (db *DB) checkpoint(ctx context.Context) {
	err := db.with(ctx, db.writer, func(c *conn) error {
		_, err := c.sql.ExecContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	})
	if err != nil && ctx.Err() == nil {
		db.logger.WarnContext(ctx, "the write-ahead log was not folded in", "path", db.path, "error", err)
	}
}
