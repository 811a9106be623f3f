package data_test

import (
	"fmt"
	"strings"
	"testing"

	"liminal/internal/data"
)

// The relations a statement names stand before it, those they name before them.
func TestRelationsStandBeforeTheStatement(t *testing.T) {
	t.Parallel()
	s := data.Source{Relations: map[string]string{
		"a": "select id from b where x = :viewer", "b": "select id, x from firm.b", "c": "select 1 as id",
	}}
	for sql, want := range map[string]string{
		"select id from a":                              `WITH "b" AS (select id, x from firm.b), "a" AS (select id from b where x = :viewer) select id from a`,
		"select id from other.a":                        `select id from other.a`,
		"with d as (select 1 as id) select * from c, d": `WITH "c" AS (select 1 as id), d as (select 1 as id) select * from c, d`,
		"select 'a' as x from c":                        `WITH "c" AS (select 1 as id) select 'a' as x from c`,
		"select :a as x":                                `select :a as x`,
		"with recursive n(i) as (select 1 union all select i from n) select id from c, n": `WITH RECURSIVE "c" AS (select 1 as id), n(i) as (select 1 union all select i from n) select id from c, n`,
	} {
		p, err := s.Statement(sql)
		if got := strings.Join(strings.Fields(p.SQL), " "); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", sql, err, got, want)
		}
	}
}

func TestASourceIsRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	s := data.Source{
		Driver: data.SQLite,
		Relations: map[string]string{
			"loop": "select id from loop", "asks": "select id from x where y = :input", "writes": "delete from x", "select": "select 1 as id",
			"good": "select id from x where v = :viewer and d < :today_plus_30",
		},
		Keys:    map[string]string{"open": "select id from good where id in (:ids)", "none": "select id from x where id in (:ids)"},
		Session: map[string]string{"app.user": ":viewer"},
	}
	got := map[string]bool{}
	for _, f := range s.Faults() {
		got[f.Path] = true
	}
	for _, path := range []string{"/relations/loop", "/relations/asks", "/relations/writes", "/relations/select", "/keys/none", "/session/app.user"} {
		if !got[path] {
			t.Errorf("nothing is wrong at %s", path)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("also %v", got)
	}
}

func TestParametersBecomePlaces(t *testing.T) {
	t.Parallel()
	place := func(n int, v any) string { return fmt.Sprintf("$%d", n) }
	text, args, err := data.Bind("select ':no', a::text from t where x = :one and y in (:many) and z in (:none) and w = :nil and x <> :one",
		map[string]any{"one": "1", "many": []any{"2", "3"}, "none": []any{}, "nil": nil}, place)
	want := "select ':no', a::text from t where x = $1 and y in ($2, $3) and z in (NULL) and w = NULL and x <> $4"
	if err != nil || text != want || fmt.Sprint(args) != "[1 2 3 1]" {
		t.Errorf("%v %s %v", err, text, args)
	}
	if _, _, err := data.Bind("select :gone", nil, place); err == nil {
		t.Error("a parameter nobody knows")
	}
}

// No text a person gives ever becomes part of a statement, whatever is in it.
func FuzzBind(f *testing.F) {
	f.Add("select a from t where b = :p", "' or 1=1")
	f.Add("select ':p', \":p\" from t", "x")
	f.Fuzz(func(t *testing.T, sql, value string) {
		text, args, err := data.Bind(sql, map[string]any{"p": "marker\x00" + value}, func(n int, v any) string { return "?" })
		if err != nil {
			return
		}
		if strings.Contains(text, "marker\x00") {
			t.Errorf("%q holds the value", text)
		}
		if strings.Count(text, "?") < len(args) {
			t.Errorf("%q has too few places for %v", text, args)
		}
	})
}
