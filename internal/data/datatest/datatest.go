// Package datatest is what a driver of sources has to do: one suite for every
// database. It may import data and fault; only tests import it.
package datatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"liminal/internal/data"
	"liminal/internal/fault"
)

// Tables are what the suite reads: Schema makes them, in a dialect both know.
var Tables = []string{
	`CREATE TABLE projects (id TEXT PRIMARY KEY, label TEXT NOT NULL)`,
	`CREATE TABLE members (project_id TEXT NOT NULL, mail TEXT NOT NULL)`,
	`CREATE TABLE deadlines (id TEXT PRIMARY KEY, project_id TEXT, title TEXT NOT NULL, due TEXT NOT NULL, effort INTEGER NOT NULL, share DOUBLE PRECISION)`,
	`INSERT INTO projects VALUES ('p1', 'Müller ./. Weber'), ('p2', 'Kessler'), ('p3', 'Ohm''s law')`,
	`INSERT INTO members VALUES ('p1', 'ann@x.test'), ('p3', 'ann@x.test'), ('p2', 'bob@x.test')`,
	`INSERT INTO deadlines VALUES ('d1', 'p1', 'Klageerwiderung', '2026-05-16', 3, 0.5), ('d2', 'p2', 'Berufung', '2026-05-17', 2, NULL),
	 ('d3', 'p3', 'Replik', '2026-05-18', 1, 1.0), ('d4', NULL, 'Nobody''s', '2026-05-19', 1, NULL)`,
}

// Place is a database with Tables that a driver may read.
type Place struct {
	Name   string // of the driver in a source
	Driver data.Driver
	URL    string
	// Change changes the data, as its owner.
	Change func(t testing.TB, sql string)
	// Slow is a SELECT that takes many seconds.
	Slow string
}

// Source is one over Tables.
func Source(driver string) data.Source {
	return data.Source{
		Kind: "data.source", Driver: driver, Secret: "url", Viewer: data.Match{Match: "email"},
		Relations: map[string]string{
			"deadline": "select id, project_id, title, due as due_date, effort, share from deadlines",
			"project":  "select id, label from projects",
			"visible":  "select project_id as id, mail as viewer from members",
		},
		Keys: map[string]string{"project_id": "select id from visible where viewer = :viewer and id in (:ids)"},
	}
}

// Ann and Bob see different projects.
var (
	Ann = data.Person{Viewer: "ann@x.test", ID: "1", Locale: "de"}
	Bob = data.Person{Viewer: "bob@x.test", ID: "2"}
)

// Today is the day of the suite.
var Today = time.Date(2026, 5, 15, 9, 0, 0, 0, time.UTC)

// Desk is one over a place; foreign counts rows the second wall held back.
func Desk(t testing.TB, p Place) (desk *data.Desk, foreign *atomic.Int64) {
	t.Helper()
	foreign = &atomic.Int64{}
	desk = data.NewDesk(data.Options{
		Drivers: map[string]data.Driver{p.Name: p.Driver},
		Secret:  func(context.Context, string) (string, error) { return p.URL, nil },
		Foreign: func(_ context.Context, f data.Foreign) { foreign.Add(int64(f.Rows)) },
		Now:     func() time.Time { return Today },
	})
	t.Cleanup(func() {
		if err := desk.Close(); err != nil {
			t.Error(err)
		}
	})
	return desk, foreign
}

// Query is one of a single part.
func Query(sql string, one bool, inputs map[string]any, known ...string) data.Query {
	return data.Query{
		Tool: "a_tool", Parts: map[string]data.Statement{"items": {SQL: sql, One: one}}, Inputs: inputs,
		Known: append(known, slices.Collect(maps.Keys(inputs))...),
	}
}

// Run plays the suite; place makes a database for each test.
func Run(t *testing.T, place func(t *testing.T) Place) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, p Place)
	}{
		{"rows come as JSON of both databases alike", rows},
		{"parameters are bound and never pasted", bound},
		{"a parameter that is not given is NULL", absent},
		{"a list expands", lists},
		{"the session's parameters are the session's", session},
		{"rows of others are held back and counted", others},
		{"a foreign record is like one that is not there", one},
		{"all parts see one state", snapshot},
		{"rows hang under others", nested},
		{"a slow query ends in time", slow},
		{"more rows than the source allows are an error", many},
		{"what is not one SELECT is refused", statements},
		{"a place that is not there is said in one sentence", gone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, place(t))
		})
	}
}

func ask(t *testing.T, p Place, who data.Person, q data.Query) map[string]any {
	t.Helper()
	desk, _ := Desk(t, p)
	out, err := desk.Ask(t.Context(), Source(p.Name), who, q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func items(t *testing.T, out map[string]any) []any {
	t.Helper()
	list, ok := out["items"].([]any)
	if !ok {
		t.Fatalf("no list: %v", out)
	}
	return list
}

func rows(t *testing.T, p Place) {
	out := items(t, ask(t, p, Ann, Query("select id, project_id, title, due_date, effort, share, null as blank from deadline order by id", false, nil)))
	want := "[map[blank:<nil> due_date:2026-05-16 effort:3 id:d1 project_id:p1 share:0.5 title:Klageerwiderung] " +
		"map[blank:<nil> due_date:2026-05-18 effort:1 id:d3 project_id:p3 share:1 title:Replik]]"
	if got := fmt.Sprint(out); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func bound(t *testing.T, p Place) {
	for _, evil := range []string{"' or 1=1 --", "'; drop table projects; --", `x" or "1"="1`, "p1') union select mail, mail from members --"} {
		out := items(t, ask(t, p, Ann, Query("select id, id as project_id from project where label = :q or label like '%' || :q", false, map[string]any{"q": evil})))
		if len(out) != 0 {
			t.Errorf("%q found %v", evil, out)
		}
	}
	out := items(t, ask(t, p, Ann, Query("select id, id as project_id from project where label = :q", false, map[string]any{"q": "Ohm's law"})))
	if len(out) != 1 {
		t.Errorf("a quote in a parameter: %v", out)
	}
	out = items(t, ask(t, p, Ann, Query("select id, project_id from deadline where effort >= :least and due_date < :due order by id limit :n", false,
		map[string]any{"least": float64(2), "due": "2026-05-17", "n": float64(5)})))
	if len(out) != 1 {
		t.Errorf("numbers: %v", out)
	}
}

func absent(t *testing.T, p Place) {
	q := Query("select id, project_id from deadline where (:status is null or title = :status) order by id limit coalesce(:n, 1)", false, nil, "status", "n")
	if out := items(t, ask(t, p, Ann, q)); len(out) != 1 {
		t.Errorf("%v", out)
	}
}

func lists(t *testing.T, p Place) {
	sql := "select id, project_id from deadline where title in (:titles) order by id"
	for n, titles := range map[int][]any{0: {}, 1: {"Replik"}, 2: {"Replik", "Klageerwiderung", "Berufung"}} {
		if out := items(t, ask(t, p, Ann, Query(sql, false, map[string]any{"titles": titles}))); len(out) != n {
			t.Errorf("%v: %v", titles, out)
		}
	}
}

func session(t *testing.T, p Place) {
	out := ask(t, p, Ann, Query("select :viewer as viewer, :viewer_id as viewer_id, :tenant as tenant, :today as today, :today_plus_7 as soon, :today_minus_15 as past, :locale as locale", true, nil))
	want := "map[locale:de past:2026-04-30 soon:2026-05-22 tenant: today:2026-05-15 viewer:ann@x.test viewer_id:1]"
	if got := fmt.Sprint(out["items"]); got != want {
		t.Errorf("%s", got)
	}
	desk, _ := Desk(t, p)
	for _, name := range []string{"viewer", "viewer_id", "today", "viewer_email"} {
		_, err := desk.Ask(t.Context(), Source(p.Name), Ann, Query("select id, project_id from deadline", false, map[string]any{name: "bob@x.test"}))
		if !errors.Is(err, fault.Invalid) {
			t.Errorf("an input %s is taken: %v", name, err)
		}
	}
}

// A query without any predicate, as a faulty one is.
func others(t *testing.T, p Place) {
	desk, foreign := Desk(t, p)
	for who, want := range map[*data.Person]string{&Ann: "d1 d3", &Bob: "d2"} {
		out, err := desk.Ask(t.Context(), Source(p.Name), *who, Query("select id, project_id, title from deadline order by id", false, nil))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, row := range items(t, out) {
			ids = append(ids, row.(map[string]any)["id"].(string))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s sees %q, want %q", who.Viewer, got, want)
		}
	}
	// Bob's and nobody's to Ann, two of Ann's and nobody's to Bob.
	if n := foreign.Load(); n != 5 {
		t.Errorf("%d rows were counted, want 5", n)
	}
}

func one(t *testing.T, p Place) {
	desk, foreign := Desk(t, p)
	q := func(id string) data.Query {
		return data.Query{Tool: "get", Inputs: map[string]any{"id": id}, Known: []string{"id"}, Parts: map[string]data.Statement{
			"deadline": {SQL: "select id, project_id, title from deadline where id = :id", One: true},
			"all":      {SQL: "select id, project_id from deadline"},
		}}
	}
	for _, id := range []string{"d2", "d4", "none"} {
		if out, err := desk.Ask(t.Context(), Source(p.Name), Ann, q(id)); !errors.Is(err, data.ErrMissing) || out != nil {
			t.Errorf("%s: %v, %v", id, out, err)
		}
	}
	if foreign.Load() == 0 {
		t.Error("nothing was counted")
	}
	if out, err := desk.Ask(t.Context(), Source(p.Name), Ann, q("d1")); err != nil || out["deadline"].(map[string]any)["title"] != "Klageerwiderung" {
		t.Errorf("her own: %v, %v", out, err)
	}
}

func snapshot(t *testing.T, p Place) {
	db, err := p.Driver.Open(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	count := func(r data.Reader) any {
		rows, err := r.Query("select count(*) from deadlines", nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		return rows.Values[0][0]
	}
	err = db.Read(t.Context(), 10*time.Second, nil, func(r data.Reader) error {
		before := count(r)
		p.Change(t, "INSERT INTO deadlines VALUES ('d9', 'p1', 'meanwhile', '2026-06-01', 1, NULL)")
		if after := count(r); after != before {
			t.Errorf("%v rows, then %v", before, after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func nested(t *testing.T, p Place) {
	out := ask(t, p, Ann, data.Query{Tool: "list", Hide: []string{"project_id"}, Parts: map[string]data.Statement{
		"items": {SQL: "select id, id as project_id, label from project order by id"},
		"under": {SQL: "select project_id as id, title from deadline order by title", Nest: &data.Nest{Into: "items", By: "id", As: "deadlines", Limit: 4}},
	}})
	want := "map[items:[map[deadlines:[map[title:Klageerwiderung]] id:p1 label:Müller ./. Weber] map[deadlines:[map[title:Replik]] id:p3 label:Ohm's law]]]"
	if got := fmt.Sprint(out); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func slow(t *testing.T, p Place) {
	desk, _ := Desk(t, p)
	s := Source(p.Name)
	s.Limits.TimeoutMS = 200
	began := time.Now()
	_, err := desk.Ask(t.Context(), s, Ann, Query(p.Slow, false, nil))
	if !errors.Is(err, fault.Internal) || time.Since(began) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if _, err := desk.Ask(t.Context(), s, Ann, Query("select id, project_id from deadline", false, nil)); err != nil {
		t.Errorf("the next query: %v", err)
	}
}

func many(t *testing.T, p Place) {
	desk, _ := Desk(t, p)
	s := Source(p.Name)
	s.Limits.Rows = 2
	if _, err := desk.Ask(t.Context(), s, Ann, Query("select id, project_id from deadline", false, nil)); err == nil {
		t.Error("four rows where two are allowed")
	}
}

func statements(t *testing.T, p Place) {
	desk, _ := Desk(t, p)
	for _, sql := range []string{
		"delete from deadlines", "select 1; select 2", "with x as (delete from deadlines returning id) select * from x",
		"select * into y from deadlines", "select pg_sleep(1)", "select set_config('app.user', 'bob', true)", "select \"pg_sleep\"(1)",
		"select pg_catalog.pg_sleep(1)", "select 1 -- ", "select 1 /* */", "attach database 'x' as y", "pragma query_only = 0", "select E'\\''", "select $$x$$", "",
	} {
		if _, err := desk.Ask(t.Context(), Source(p.Name), Ann, Query(sql, false, nil)); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", sql, err)
		}
	}
}

func gone(t *testing.T, p Place) {
	p.URL = strings.Replace(p.URL, "data.db", "gone.db", 1)
	if strings.HasPrefix(p.URL, "postgres") {
		p.URL = "postgres://reader:hunter2@127.0.0.1:1/none"
	}
	desk, _ := Desk(t, p)
	_, err := desk.Ask(t.Context(), Source(p.Name), Ann, Query("select id, project_id from deadline", false, nil))
	if err == nil || fault.Reason(err) != fault.NotConfigured || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}
