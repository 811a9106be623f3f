package postgres_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"liminal/internal/data"
	"liminal/internal/data/datatest"
	"liminal/internal/id"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
)

// foreignPlace is another database, with a role that may only read it.
func foreignPlace(t *testing.T) datatest.Place {
	d := postgrestest.Empty(t)
	for _, text := range datatest.Tables {
		postgrestest.Exec(t, d.Owner, text)
	}
	role := reader(t, d, "")
	postgrestest.Exec(t, d.Owner, fmt.Sprintf("GRANT SELECT ON ALL TABLES IN SCHEMA public TO %q", role))
	return datatest.Place{
		Name: data.Postgres, Driver: postgres.Foreign{}, URL: asRole(t, d.Super, role),
		Change: func(t testing.TB, text string) { postgrestest.Exec(t, d.Owner, text) },
		Slow:   "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000000) select count(*) as id from n",
	}
}

// reader makes a role of a test and removes it in the end.
func reader(t *testing.T, d postgrestest.Database, may string) string {
	role := "reader_" + strings.ReplaceAll(id.New(), "-", "")
	postgrestest.Exec(t, d.Super, fmt.Sprintf("CREATE ROLE %q LOGIN %s", role, may))
	t.Cleanup(func() {
		postgrestest.Exec(t, d.Super, fmt.Sprintf("DROP OWNED BY %q", role), fmt.Sprintf("DROP ROLE %q", role))
	})
	return role
}

func asRole(t *testing.T, server, role string) string {
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}

// Requirements: GRND-13, GRND-14 (the result)
func TestForeignDatabasesAreReadWithinTheWalls(t *testing.T) {
	t.Parallel()
	datatest.Run(t, foreignPlace)
}

// A role that could change the data, or that rules for rows do not hold for, is
// refused before anything is asked.
func TestARoleThatMayDoMoreThanReadIsRefused(t *testing.T) {
	t.Parallel()
	p := foreignPlace(t)
	d := postgrestest.Empty(t)
	postgrestest.Exec(t, d.Owner, "CREATE TABLE t (id TEXT, note TEXT)")
	writer := reader(t, d, "")
	postgrestest.Exec(t, d.Owner, fmt.Sprintf("GRANT SELECT, UPDATE (note) ON t TO %q", writer))
	bypass := reader(t, d, "BYPASSRLS")
	creator := reader(t, d, "CREATEROLE")
	for role, want := range map[string]string{
		asRole(t, d.Super, writer): "may write to public.t", d.Owner: "may write to public.t",
		asRole(t, d.Super, bypass): "BYPASSRLS", asRole(t, d.Super, creator): "may create roles", d.Super: "superuser",
	} {
		_, err := postgres.Foreign{}.Open(t.Context(), role)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		found, err := postgres.Foreign{}.Inspect(t.Context(), role)
		if err != nil || len(found) == 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
	if found, err := (postgres.Foreign{}).Inspect(t.Context(), p.URL); err != nil || len(found) > 0 {
		t.Errorf("a reader: %v, %v", found, err)
	}
}

// Even a function that writes with its owner's rights does not, and the settings
// of the session reach the database's own rules for rows.
func TestATransactionOfASourceOnlyReads(t *testing.T) {
	t.Parallel()
	p := foreignPlace(t)
	p.Change(t, `CREATE FUNCTION spoil() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ DELETE FROM projects; SELECT 'x' $$`)
	p.Change(t, `ALTER TABLE projects ENABLE ROW LEVEL SECURITY`)
	p.Change(t, `CREATE POLICY own ON projects USING (id IN (SELECT project_id FROM members WHERE mail = current_setting('app.user')))`)
	desk, _ := datatest.Desk(t, p)
	s := datatest.Source(p.Name)
	s.Session = map[string]string{"app.user": ":viewer"}
	if _, err := desk.Ask(t.Context(), s, datatest.Ann, datatest.Query("select spoil() as id", false, nil)); err == nil || !strings.Contains(fmt.Sprint(unwrapped(err)), "read-only") {
		t.Errorf("%v", unwrapped(err))
	}
	out, err := desk.Ask(t.Context(), s, datatest.Bob, datatest.Query("select id from project", false, nil))
	if err != nil || fmt.Sprint(out["items"]) != "[map[id:p2]]" {
		t.Errorf("the database's own rules: %v, %v", out, err)
	}
	db, err := p.Driver.Open(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Read(t.Context(), time.Minute, nil, func(r data.Reader) error {
		rows, err := r.Query("select current_setting('statement_timeout') as t, current_setting('transaction_isolation') as i, current_setting('transaction_read_only') as r", nil, 1)
		if err == nil && fmt.Sprint(rows.Values[0]) != "[1min repeatable read on]" {
			t.Errorf("%v", rows.Values[0])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func unwrapped(err error) error {
	for err != nil {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		err = inner.Unwrap()
	}
	return err
}
