package data

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"liminal/internal/fault"
)

// Attempt is a tool to try on a source.
type Attempt struct {
	Query
	// Fits says what the result lacks; nil: anything will do.
	Fits func(ctx context.Context, out map[string]any) error
}

// Report is what a check of a source found.
type Report struct {
	Faults []string    `json:"faults"` // what must be mended before it can be used
	Tools  []ToolFound `json:"tools"`
	People []Seen      `json:"people"`
	// Differ: two of the people see different records. It is unknown where fewer
	// than two were asked.
	Differ *bool `json:"differ,omitempty"`
}

// OK reports whether nothing is wrong.
func (r Report) OK() bool {
	return len(r.Faults) == 0 && !slices.ContainsFunc(r.Tools, func(t ToolFound) bool { return t.Fault != "" || t.Foreign > 0 }) &&
		(r.Differ == nil || *r.Differ)
}

// ToolFound is how a tool went.
type ToolFound struct {
	Tool    string `json:"tool"`
	Fault   string `json:"fault,omitempty"`
	Skipped bool   `json:"skipped,omitempty" doc:"it needs an input, and has no example that gives one"`
	Foreign int    `json:"foreign,omitempty" doc:"rows that its query gave and its person may not see: the query is faulty"`
	Unkeyed bool   `json:"unkeyed,omitempty" doc:"no column of it is a key, so nothing of it is asked about once more"`
}

// Seen is what one person sees.
type Seen struct {
	Viewer  string         `json:"viewer"`
	Records map[string]int `json:"records" doc:"by key, how many they may see"`
}

// Check tries a source: whether it can be reached and is guarded, whether each
// relation and tool can be read, and whether the people see different records.
// It is for administrators: what the database says is in the report.
func (d *Desk) Check(ctx context.Context, s Source, people []Person, attempts []Attempt) (Report, error) {
	r := Report{Faults: []string{}, Tools: []ToolFound{}, People: []Seen{}}
	add := func(format string, args ...any) { r.Faults = append(r.Faults, fmt.Sprintf(format, args...)) }
	driver, url, err := d.reach(ctx, s)
	if err != nil {
		if known, ok := errors.AsType[*fault.Error](err); ok {
			add("%s", known.Message)
			return r, nil
		}
		return r, err
	}
	found, err := driver.Inspect(ctx, url)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		add("%s", err)
		return r, nil
	}
	if r.Faults = append(r.Faults, found...); len(found) > 0 {
		return r, nil
	}
	db, err := driver.Open(ctx, url)
	if err != nil {
		add("%s", err)
		return r, nil
	}
	defer func() { _ = db.Close() }()
	if len(people) == 0 {
		people = []Person{{Viewer: "nobody"}}
	}
	if len(s.Keys) == 0 {
		add("the source has no keys: nothing that comes back is asked about once more")
	}
	d.relations(ctx, db, s, people[0], add)
	r.Tools = d.tried(ctx, db, s, people, attempts)
	r.People, r.Differ = d.seen(ctx, db, s, people, add)
	return r, ctx.Err()
}

// relations reads nothing of each, which tells whether it can be read.
func (d *Desk) relations(ctx context.Context, db Database, s Source, who Person, add func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(s.Relations)) {
		if err := d.readOnce(ctx, db, s, who, "select * from "+name+" limit 0", nil); err != nil {
			add("the relation %s cannot be read: %s", name, cause(err))
		}
	}
}

func (d *Desk) readOnce(ctx context.Context, db Database, s Source, who Person, sql string, rows *Rows) error {
	values, err := d.values(s, who, Query{Parts: map[string]Statement{"x": {SQL: sql}}})
	if err != nil {
		return err
	}
	p, err := s.Statement(sql)
	if err != nil {
		return err
	}
	return db.Read(ctx, s.Timeout(), settings(s, values), func(r Reader) error {
		got, err := r.Query(p.SQL, values, s.Rows())
		if err == nil && rows != nil {
			*rows = got
		}
		return err
	})
}

// tried calls each tool as each of the people.
func (d *Desk) tried(ctx context.Context, db Database, s Source, people []Person, attempts []Attempt) []ToolFound {
	var list []ToolFound
	for _, t := range attempts {
		found := ToolFound{Tool: t.Tool, Skipped: t.Inputs == nil, Unkeyed: true}
		for _, who := range people {
			if found.Skipped || found.Fault != "" {
				break
			}
			d.tryOn(ctx, db, s, who, t, &found)
		}
		found.Unkeyed = found.Unkeyed && !found.Skipped && found.Fault == ""
		list = append(list, found)
	}
	return list
}

func (d *Desk) tryOn(ctx context.Context, db Database, s Source, who Person, t Attempt, found *ToolFound) {
	inner := NewDesk(Options{
		Drivers: map[string]Driver{s.Driver: lent{db}}, Now: d.o.Now,
		Secret:  func(context.Context, string) (string, error) { return "", nil },
		Foreign: func(_ context.Context, f Foreign) { found.Foreign += f.Rows },
	})
	for _, st := range t.Parts {
		var rows Rows
		for key := range s.Keys {
			if d.columns(ctx, db, s, who, t.Query, st, &rows) == nil && slices.Contains(rows.Columns, key) {
				found.Unkeyed = false
			}
		}
	}
	out, err := inner.Ask(ctx, s, who, t.Query)
	switch {
	case errors.Is(err, ErrMissing):
	case err != nil:
		found.Fault = cause(err)
	case t.Fits != nil:
		if err := t.Fits(ctx, out); err != nil {
			found.Fault = strings.TrimSuffix(err.Error(), ".")
		}
	}
}

// columns are those of a statement.
func (d *Desk) columns(ctx context.Context, db Database, s Source, who Person, q Query, st Statement, rows *Rows) error {
	values, err := d.values(s, who, q)
	if err != nil {
		return err
	}
	p, err := s.Statement(st.SQL)
	if err != nil {
		return err
	}
	return db.Read(ctx, s.Timeout(), settings(s, values), func(r Reader) error {
		*rows, err = r.Query(p.SQL, values, 0)
		return err
	})
}

// seen counts what each person may see by the keys themselves: every value of
// each key in the relations, asked about for them.
func (d *Desk) seen(ctx context.Context, db Database, s Source, people []Person, add func(string, ...any)) ([]Seen, *bool) {
	list := make([]Seen, 0, len(people))
	sets := map[string]map[string]bool{}
	for _, who := range people {
		one, of := Seen{Viewer: who.Viewer, Records: map[string]int{}}, map[string]bool{}
		for _, key := range slices.Sorted(maps.Keys(s.Keys)) {
			for _, relation := range slices.Sorted(maps.Keys(s.Relations)) {
				var rows Rows
				if d.readOnce(ctx, db, s, who, "select distinct "+key+" from "+relation+" limit 1000", &rows) != nil {
					continue // it has no such column
				}
				ids := map[string]any{}
				for _, row := range rows.Values {
					if row[0] != nil {
						ids[fmt.Sprint(row[0])] = row[0]
					}
				}
				values, err := d.values(s, who, Query{})
				if err != nil {
					continue
				}
				err = db.Read(ctx, s.Timeout(), settings(s, values), func(r Reader) error {
					may, err := visible(r, s, key, ids, values)
					for id := range may {
						of[key+" "+id] = true
					}
					return err
				})
				if err != nil {
					add("the key %s cannot be asked: %s", key, cause(err))
				}
			}
		}
		for id := range of {
			key, _, _ := strings.Cut(id, " ")
			one.Records[key]++
		}
		list, sets[who.Viewer] = append(list, one), of
	}
	if len(sets) < 2 {
		return list, nil
	}
	differ := false
	for _, a := range sets {
		for _, b := range sets {
			differ = differ || !maps.Equal(a, b)
		}
	}
	return list, &differ
}

// cause is what the database said, for who sets it up.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		known, ok := err.(*fault.Error) //nolint:errorlint // each step is looked at
		if inner == nil || ok && known.Code == fault.Invalid {
			return strings.TrimSuffix(err.Error(), ".")
		}
		err = inner
	}
}

// lent is a driver that gives a database which is open already.
type lent struct{ db Database }

func (l lent) Open(context.Context, string) (Database, error)    { return kept{l.db}, nil }
func (l lent) Inspect(context.Context, string) ([]string, error) { return nil, nil }

type kept struct{ Database }

func (kept) Close() error { return nil }
