package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"liminal/internal/data"
)

// Foreign opens other files, to read them: it implements data.Driver. The
// connection string is the path of a file.
type Foreign struct{}

var _ data.Driver = Foreign{}

// foreignReaders is how many connections read a file at once.
const foreignReaders = 4

// Open implements data.Driver.
func (f Foreign) Open(ctx context.Context, path string) (data.Database, error) {
	path = strings.TrimPrefix(path, "file:")
	if !filepath.IsAbs(path) {
		return nil, errors.New("the connection string of a SQLite source is the absolute path of its file")
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("the file of the source is not there, or is no file")
	}
	u := url.URL{Path: path}
	pool, err := sql.Open("sqlite", "file:"+u.EscapedPath()+"?mode=ro&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=busy_timeout(2000)")
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(foreignReaders)
	pool.SetConnMaxIdleTime(time.Minute)
	var n int
	if err := pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		_ = pool.Close()
		return nil, errors.New("the file of the source is no SQLite database")
	}
	return &foreignFile{pool}, nil
}

// Inspect implements data.Driver. There are no roles, and the file is opened so
// that it cannot be written to.
func (f Foreign) Inspect(ctx context.Context, path string) ([]string, error) {
	db, err := f.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return nil, db.Close()
}

type foreignFile struct{ pool *sql.DB }

func (f *foreignFile) Close() error { return f.pool.Close() }

// Read implements data.Database. SQLite has no settings of a session.
func (f *foreignFile) Read(ctx context.Context, timeout time.Duration, _ map[string]string, read func(data.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tx, err := f.pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return overdue(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	return read(foreignReader{ctx, tx})
}

func overdue(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

type foreignReader struct {
	ctx context.Context
	tx  *sql.Tx
}

// Query implements data.Reader.
func (r foreignReader) Query(query string, values map[string]any, limit int) (data.Rows, error) {
	text, args, err := data.Bind(query, values, foreignPlace)
	if err != nil {
		return data.Rows{}, err
	}
	for i, a := range args {
		if n, is := a.(float64); is && n == math.Trunc(n) {
			args[i] = int64(n)
		}
	}
	rows, err := r.tx.QueryContext(r.ctx, text, args...)
	if err != nil {
		return data.Rows{}, overdue(r.ctx, err)
	}
	defer func() { _ = rows.Close() }()
	out := data.Rows{}
	if out.Columns, err = rows.Columns(); err != nil {
		return data.Rows{}, err
	}
	for rows.Next() {
		row, into := make([]any, len(out.Columns)), make([]any, len(out.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return data.Rows{}, overdue(r.ctx, err)
		}
		for i := range row {
			row[i] = foreignValue(row[i])
		}
		if out.Values = append(out.Values, row); len(out.Values) > limit {
			break
		}
	}
	if err := rows.Err(); err != nil {
		return data.Rows{}, overdue(r.ctx, err)
	}
	return out, nil
}

// foreignPlace says of which type a place is, as the other database has to be
// told.
func foreignPlace(n int, v any) string {
	kind := "TEXT"
	switch v := v.(type) {
	case bool, int, int32, int64:
		kind = "INTEGER"
	case float64:
		if kind = "REAL"; v == math.Trunc(v) {
			kind = "INTEGER"
		}
	}
	return "CAST(?" + strconv.Itoa(n) + " AS " + kind + ")"
}

func foreignValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string, float64, int64:
		return v
	case []byte:
		return strings.ToValidUTF8(string(v), "�")
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.UTC().Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

// Place makes a file of statements where there is none: whole, or not at all.
func Place(ctx context.Context, path, statements string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".making-*.db")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	if err := draft.Close(); err != nil {
		return err
	}
	u := url.URL{Path: draft.Name()}
	db, err := sql.Open("sqlite", "file:"+u.EscapedPath())
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statements)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, os.ErrExist) { // another process was first
		return err
	}
	return nil
}
