package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
)

// maxOpen bounds the databases that are open at once.
const maxOpen = 16

// opening bounds how long a database may take to be opened.
const opening = 10 * time.Second

// maxKeys bounds how many keys are asked about in one statement.
const maxKeys = 400

// Options of a Desk. Drivers and Secret are required.
type Options struct {
	Drivers map[string]Driver // by Source.Driver
	// Secret is the connection string of a name; NotFound when there is none.
	Secret func(ctx context.Context, name string) (string, error)
	// Foreign is told of rows that a query gave and its person may not see: the
	// query is faulty.
	Foreign func(ctx context.Context, f Foreign)
	Logger  *slog.Logger
	Now     func() time.Time
}

// Foreign are rows that the second wall held back.
type Foreign struct {
	Tool, Key string
	Rows      int
}

// Desk asks sources. It is safe for concurrent use.
type Desk struct {
	o Options

	mu   sync.Mutex
	open map[string]*opened // by driver and connection string
}

type opened struct {
	once sync.Once
	db   Database
	err  error
	used time.Time
}

// NewDesk makes one.
func NewDesk(o Options) *Desk {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Desk{o: o, open: map[string]*opened{}}
}

// Close closes what is open.
func (d *Desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for key, o := range d.open {
		if o.db != nil {
			errs = append(errs, o.db.Close())
		}
		delete(d.open, key)
	}
	return errors.Join(errs...)
}

// Person is who asks, as the source knows them.
type Person struct {
	Viewer, ID, Tenant, Locale string
}

// Query is what a tool asks of a source.
type Query struct {
	Tool   string // for what is told of it
	Parts  map[string]Statement
	Hide   []string
	Inputs map[string]any
	Known  []string // inputs there may be; those that are not given are NULL
}

// Statement is one member of the result.
type Statement struct {
	SQL  string
	One  bool
	Nest *Nest
}

// Nest hangs rows under those of another part.
type Nest struct {
	Into, By, As string
	Limit        int
}

// ErrMissing says that a single record is not there, or is not the person's to
// see. Nobody is told which.
var ErrMissing = errors.New("data: not found")

// part is a statement under way.
type part struct {
	Statement
	sql     string
	columns []string
	rows    []map[string]any
}

// Ask answers a query. Every part is read in one snapshot, and every key in it
// is asked about once more before anything is told.
func (d *Desk) Ask(ctx context.Context, s Source, who Person, q Query) (map[string]any, error) {
	values, err := d.values(s, who, q)
	if err != nil {
		return nil, err
	}
	parts := make(map[string]*part, len(q.Parts))
	for name, st := range q.Parts {
		made, err := s.Statement(st.SQL)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "The query of %s cannot be used: %s.", q.Tool, err)
		}
		parts[name] = &part{Statement: st, sql: made.SQL}
	}
	db, err := d.database(ctx, s)
	if err != nil {
		return nil, err
	}
	err = db.Read(ctx, s.Timeout(), settings(s, values), func(r Reader) error {
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if err := parts[name].read(r, values, s.Rows()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return d.guard(ctx, r, s, q.Tool, values, parts)
	})
	if err != nil {
		return nil, failed(ctx, err, q.Tool)
	}
	return resultOf(parts, q.Hide)
}

// values are a query's parameters. What is the session's wins over an input of
// the name, which nobody can have declared.
func (d *Desk) values(s Source, who Person, q Query) (map[string]any, error) {
	values := map[string]any{}
	for _, name := range q.Known {
		values[name] = nil
	}
	maps.Copy(values, q.Inputs)
	for name := range values {
		if IsSession(name) || strings.HasPrefix(name, "viewer") {
			return nil, fault.New(fault.Invalid, "The input %s of %s comes from the session and never from an input.", name, q.Tool)
		}
	}
	maps.Copy(values, d.session(who))
	if who.Viewer == "" {
		return nil, fault.New(fault.Forbidden, "This source knows people by their %s, and yours is not known.", cmp.Or(s.Viewer.Match, "email"))
	}
	today := d.o.Now()
	for _, p := range s.statements(q) {
		of, err := scan(p)
		if err != nil {
			continue // Statement says so
		}
		for _, name := range of.parameters() {
			if m := shifted.FindStringSubmatch(name); m != nil {
				days, _ := strconv.Atoi(m[2])
				if m[1] == "minus" {
					days = -days
				}
				values[name] = today.AddDate(0, 0, days).Format(time.DateOnly)
			}
		}
	}
	return values, nil
}

// statements are all texts that a query may become.
func (s Source) statements(q Query) []string {
	all := slices.Concat(slices.Collect(maps.Values(s.Relations)), slices.Collect(maps.Values(s.Keys)))
	for _, p := range q.Parts {
		all = append(all, p.SQL)
	}
	return all
}

func (d *Desk) session(who Person) map[string]any {
	return map[string]any{
		"viewer": who.Viewer, "viewer_id": who.ID, "tenant": who.Tenant, "locale": who.Locale,
		"today": d.o.Now().Format(time.DateOnly),
	}
}

// settings are those of the transaction, for the rules of rows that the
// database has itself.
func settings(s Source, values map[string]any) map[string]string {
	made := make(map[string]string, len(s.Session))
	for name, v := range s.Session {
		if of, is := strings.CutPrefix(v, ":"); is {
			v, _ = values[of].(string)
		}
		made[name] = v
	}
	return made
}

func (p *part) read(r Reader, values map[string]any, limit int) error {
	rows, err := r.Query(p.sql, values, limit)
	if err != nil {
		return err
	}
	if len(rows.Values) > limit {
		return fmt.Errorf("more than %d rows: write a LIMIT, or raise limits.rows of the source", limit)
	}
	p.columns = rows.Columns
	for _, of := range rows.Values {
		row := make(map[string]any, len(of))
		for i, v := range of {
			row[rows.Columns[i]] = v
		}
		p.rows = append(p.rows, row)
	}
	return nil
}

// guard is the second wall: rows whose key the source does not give back for
// this person are dropped, whatever the query thought. A row without a value
// under a key belongs to nobody, and is dropped too.
func (d *Desk) guard(ctx context.Context, r Reader, s Source, tool string, values map[string]any, parts map[string]*part) error {
	for _, key := range slices.Sorted(maps.Keys(s.Keys)) {
		asked := map[string]any{}
		for _, p := range parts {
			if !slices.Contains(p.columns, key) {
				continue
			}
			for _, row := range p.rows {
				if v := row[key]; v != nil {
					asked[fmt.Sprint(v)] = v
				}
			}
		}
		seen, err := visible(r, s, key, asked, values)
		if err != nil {
			return fmt.Errorf("the key %s: %w", key, err)
		}
		dropped := 0
		for _, p := range parts {
			if !slices.Contains(p.columns, key) {
				continue
			}
			before := len(p.rows)
			p.rows = slices.DeleteFunc(p.rows, func(row map[string]any) bool {
				return row[key] == nil || !seen[fmt.Sprint(row[key])]
			})
			dropped += before - len(p.rows)
		}
		if dropped > 0 {
			d.o.Logger.ErrorContext(ctx, "a query gave rows its person may not see; they were held back, and the query is faulty",
				"tool", tool, "key", key, "rows", dropped)
			if d.o.Foreign != nil {
				d.o.Foreign(ctx, Foreign{Tool: tool, Key: key, Rows: dropped})
			}
		}
	}
	return nil
}

// visible are those of the keys that the source gives back.
func visible(r Reader, s Source, key string, asked, values map[string]any) (map[string]bool, error) {
	seen := map[string]bool{}
	made, err := s.Statement(s.Keys[key])
	if err != nil {
		return nil, err
	}
	ids := slices.Sorted(maps.Keys(asked))
	for batch := range slices.Chunk(ids, maxKeys) {
		with := maps.Clone(values)
		list := make([]any, len(batch))
		for i, id := range batch {
			list[i] = asked[id]
		}
		with["ids"] = list
		rows, err := r.Query(made.SQL, with, MaxRows)
		if err != nil {
			return nil, err
		}
		for _, row := range rows.Values {
			if len(row) > 0 && row[0] != nil {
				seen[fmt.Sprint(row[0])] = true
			}
		}
	}
	return seen, nil
}

// resultOf is the result of the parts.
func resultOf(parts map[string]*part, hide []string) (map[string]any, error) {
	out := map[string]any{}
	for _, p := range parts {
		if p.One && len(p.rows) == 0 {
			return nil, ErrMissing
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if p := parts[name]; p.Nest != nil {
			nest(p, parts[p.Nest.Into])
		}
	}
	for name, p := range parts {
		for _, row := range p.rows {
			for _, column := range hide {
				delete(row, column)
			}
		}
		switch {
		case p.Nest != nil:
		case p.One:
			out[name] = p.rows[0]
		default:
			list := make([]any, len(p.rows))
			for i, row := range p.rows {
				list[i] = row
			}
			out[name] = list
		}
	}
	return out, nil
}

// nest hangs rows under those of another part that have the same value.
func nest(p, into *part) {
	if into == nil {
		return
	}
	under := map[string][]any{}
	limit := cmp.Or(p.Nest.Limit, 100)
	for _, row := range p.rows {
		key := fmt.Sprint(row[p.Nest.By])
		delete(row, p.Nest.By)
		if len(under[key]) < limit {
			under[key] = append(under[key], row)
		}
	}
	for _, row := range into.rows {
		list := under[fmt.Sprint(row[p.Nest.By])]
		if list == nil {
			list = []any{}
		}
		row[p.Nest.As] = list
	}
}

// database opens a source's, once for all sources of the same connection string.
func (d *Desk) database(ctx context.Context, s Source) (Database, error) {
	driver, url, err := d.reach(ctx, s)
	if err != nil {
		return nil, err
	}
	key := s.Driver + "\x00" + url
	d.mu.Lock()
	o, ok := d.open[key]
	if !ok {
		d.makeRoom()
		o = &opened{}
		d.open[key] = o
	}
	o.used = d.o.Now()
	d.mu.Unlock()
	o.once.Do(func() { // others wait for it, so the first who asked does not take it along when they leave
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opening)
		defer cancel()
		db, err := driver.Open(ctx, url)
		d.mu.Lock() // makeRoom and Close look at what others are opening
		o.db, o.err = db, err
		d.mu.Unlock()
	})
	if o.err == nil {
		return o.db, nil
	}
	d.mu.Lock()
	if d.open[key] == o {
		delete(d.open, key) // the next call tries again
	}
	d.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fault.Wrap(fault.Internal, o.err, "The source cannot be read: %s.", strings.TrimSuffix(o.err.Error(), ".")).With(map[string]any{"reason": fault.NotConfigured})
}

// makeRoom closes the database that was used longest ago.
func (d *Desk) makeRoom() {
	if len(d.open) < maxOpen {
		return
	}
	oldest := ""
	for key, o := range d.open {
		if o.db != nil && (oldest == "" || o.used.Before(d.open[oldest].used)) {
			oldest = key
		}
	}
	if oldest != "" {
		go func(db Database) { _ = db.Close() }(d.open[oldest].db) // it waits for what is under way
		delete(d.open, oldest)
	}
}

// reach is how a source is reached.
func (d *Desk) reach(ctx context.Context, s Source) (Driver, string, error) {
	driver, ok := d.o.Drivers[s.Driver]
	if !ok {
		return nil, "", fault.New(fault.Invalid, "There is no driver %q: write postgres or sqlite.", s.Driver)
	}
	url, err := d.o.Secret(ctx, s.Secret)
	if errors.Is(err, fault.NotFound) {
		return nil, "", fault.New(fault.Internal, "The source has no connection string yet: an administrator sets the secret %q.", s.Secret).
			With(map[string]any{"reason": fault.NotConfigured})
	}
	return driver, url, err
}

// failed is why a query was not answered, without what the database says of
// its tables: that is for the log and for who sets a source up.
func failed(ctx context.Context, err error, tool string) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(fault.Internal, err, "The data took too long to read. Ask for less at once.")
	}
	return fault.Wrap(fault.Internal, err, "The data behind %s could not be read.", tool)
}
