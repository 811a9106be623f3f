package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"liminal/internal/data"
)

// Foreign opens other people's databases, to read them: it implements
// data.Driver. It has nothing to do with the store.
type Foreign struct{}

var _ data.Driver = Foreign{}

// foreignConnections is how many connections a source has at most: the database
// is somebody else's.
const foreignConnections = 4

// Open implements data.Driver.
func (f Foreign) Open(ctx context.Context, url string) (data.Database, error) {
	pool, err := f.pool(ctx, url)
	if err != nil {
		return nil, err
	}
	found, err := inspectRole(ctx, pool)
	if err == nil && len(found) > 0 {
		err = errors.New(found[0])
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &foreign{pool}, nil
}

// Inspect implements data.Driver.
func (f Foreign) Inspect(ctx context.Context, url string) ([]string, error) {
	pool, err := f.pool(ctx, url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return inspectRole(ctx, pool)
}

func (Foreign) pool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	conf, err := poolConfig(url, foreignConnections)
	if err != nil {
		return nil, errors.New("the connection string cannot be read; it is like postgres://reader:password@host:5432/database")
	}
	conf.MinConns, conf.MaxConnIdleTime = 0, time.Minute
	conf.ConnConfig.ConnectTimeout = 10 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, errors.New("PostgreSQL: " + cause(err))
	}
	return pool, nil
}

// inspectRole is why a role must not be used: the database itself has to hold
// back what a query of ours could do wrong.
func inspectRole(ctx context.Context, pool *pgxpool.Pool) ([]string, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, errors.New("PostgreSQL: " + cause(err))
	}
	defer conn.Release()
	var role string
	var super, bypass, create bool
	err = conn.QueryRow(ctx, `SELECT current_user,
		bool_or(r.rolsuper), bool_or(r.rolbypassrls), bool_or(r.rolcreaterole)
		FROM pg_roles r WHERE pg_has_role(current_user, r.oid, 'MEMBER')`).Scan(&role, &super, &bypass, &create)
	if err != nil {
		return nil, errors.New("PostgreSQL: " + cause(err))
	}
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	switch {
	case super:
		add("the role %q is a superuser, or may become one; make a role that may only read: CREATE ROLE … LOGIN, GRANT SELECT", role)
		return found, nil // a superuser may do everything else, too
	case bypass:
		add("the role %q has BYPASSRLS, or may become a role that has it, so the database's rules for rows do not hold for it", role)
	case create:
		add("the role %q may create roles; make one that may only read", role)
	}
	rows, err := conn.Query(ctx, `SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
		AND has_schema_privilege(n.oid, 'USAGE')
		AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
		ORDER BY 1 LIMIT 4`)
	if err != nil {
		return nil, errors.New("PostgreSQL: " + cause(err))
	}
	writable, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, errors.New("PostgreSQL: " + cause(err))
	}
	if len(writable) > 0 {
		more := ""
		if len(writable) == 4 {
			writable, more = writable[:3], " and others"
		}
		add("the role %q may write to %s%s; take that away, or make a role that may only read: GRANT SELECT", role, strings.Join(writable, ", "), more)
	}
	return found, nil
}

type foreign struct{ pool *pgxpool.Pool }

// Close waits for what is under way, for seconds at most.
func (f *foreign) Close() error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.pool.Close()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closing):
		return errors.New("PostgreSQL: some reads of a source have not ended; their connections close with them")
	}
}

// Read implements data.Database.
func (f *foreign) Read(ctx context.Context, timeout time.Duration, settings map[string]string, read func(data.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := f.pool.Acquire(ctx)
	if err != nil {
		return unreachable(ctx, err)
	}
	defer conn.Release()
	c := conn.Conn()
	if _, err := c.Exec(ctx, beginRead+fmt.Sprintf("; SET LOCAL statement_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d",
		timeout.Milliseconds(), 2*timeout.Milliseconds())); err != nil {
		return unreachable(ctx, err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = c.Exec(ending, "ROLLBACK") // one that fails has closed the connection
	}()
	for name, v := range settings {
		if _, err := c.Exec(ctx, "SELECT set_config($1, $2, true)", name, v); err != nil {
			return fmt.Errorf("the setting %s: %w", name, err)
		}
	}
	return read(foreignReader{ctx, c})
}

func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("PostgreSQL: " + cause(err))
}

type foreignReader struct {
	ctx context.Context
	c   *pgx.Conn
}

// Query implements data.Reader.
func (r foreignReader) Query(sql string, values map[string]any, limit int) (data.Rows, error) {
	text, args, err := data.Bind(sql, values, foreignPlace)
	if err != nil {
		return data.Rows{}, err
	}
	for i, a := range args {
		if n, is := a.(float64); is && n == math.Trunc(n) {
			args[i] = int64(n)
		}
	}
	rows, err := r.c.Query(r.ctx, text, args...)
	if err != nil {
		return data.Rows{}, r.failed(err)
	}
	defer rows.Close()
	out := data.Rows{}
	for _, f := range rows.FieldDescriptions() {
		out.Columns = append(out.Columns, f.Name)
	}
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			return data.Rows{}, r.failed(err)
		}
		for i := range row {
			row[i] = foreignValue(row[i])
		}
		out.Values = append(out.Values, row)
		if len(out.Values) > limit {
			rows.Close()
			return out, nil
		}
	}
	if err := rows.Err(); err != nil {
		return data.Rows{}, r.failed(err)
	}
	return out, nil
}

// failed tells time that is up from the rest.
func (r foreignReader) failed(err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "57014" { // query_canceled
		return context.DeadlineExceeded
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return err
}

// foreignPlace says of which type a place is: the server would guess by what
// stands beside it.
func foreignPlace(n int, v any) string {
	kind := "text"
	switch v := v.(type) {
	case bool:
		kind = "boolean"
	case int, int32, int64:
		kind = "bigint"
	case float64:
		if kind = "double precision"; v == math.Trunc(v) {
			kind = "bigint"
		}
	}
	return "CAST($" + strconv.Itoa(n) + " AS " + kind + ")"
}

// foreignValue is a value as a tool's result may hold it.
func foreignValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string, float64, int64:
		return v
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case [16]byte:
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[0:4], v[4:6], v[6:8], v[8:10], v[10:])
	case []byte:
		return strings.ToValidUTF8(string(v), "�")
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.UTC().Format(time.RFC3339)
	case pgtype.Numeric:
		if f, err := v.Float64Value(); err == nil && f.Valid {
			return f.Float64
		}
		return nil
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = foreignValue(list[i])
		}
		return list
	case map[string]any:
		return v
	}
	return fmt.Sprint(v)
}
