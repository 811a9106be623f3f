package wire_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/store/sqlite"
)

// more is more of everything than a result holds: a partner's matter with 30
// deadlines and as many appointments, 15 parties and all six units, and ten
// matters beside it.
func more() string {
	var b strings.Builder
	for n := range 10 {
		fmt.Fprintf(&b, "INSERT INTO projects VALUES ('x%02d', NULL, 'opposition', 'Zusatz %02d', 'X-%02d', '/zz%02d/', 'closed', 'München'); INSERT INTO members VALUES ('x%02d', 'u01');\n", n, n, n, n, n)
	}
	for n := range 30 {
		fmt.Fprintf(&b, "INSERT INTO deadlines VALUES ('xd%02d', 'x00', 'Zusatzfrist', %d, 'pending', 'Prüfkammer', NULL);\n", n, n+1)
		fmt.Fprintf(&b, "INSERT INTO appointments VALUES ('xa%02d', 'x00', 'Zusatztermin', %d, '09:00', '10:00', NULL);\n", n, n*2+1)
		fmt.Fprintf(&b, "INSERT INTO parties VALUES ('xb%02d', 'x00', 'Beteiligte %02d', 'witness', NULL);\n", n, n)
		fmt.Fprintf(&b, "INSERT INTO vacations VALUES ('upc-ld-munich', 'Pause %02d', 'x');\n", n)
	}
	for n := range 6 {
		fmt.Fprintf(&b, "INSERT INTO project_units VALUES ('x00', 'e%d');\n", n+1)
	}
	return b.String()
}

// rows are the records of a part, and texts a member of each.
func rows(t *testing.T, out map[string]any, part string) []any {
	t.Helper()
	list, ok := out[part].([]any)
	if !ok {
		t.Fatalf("%s is %v of %v", part, out[part], out)
	}
	return list
}

func texts(list []any, member string) (out []string) {
	for _, one := range list {
		out = append(out, fmt.Sprint(one.(map[string]any)[member]))
	}
	return out
}

// What the tools' schemas promise their queries keep: inputs narrow what comes, the
// defaults are those of the specification, and no list is longer than it says.
//
// Requirements: GRND-04, GRND-05, GRND-06, GRND-07, GRND-08, GRND-09, GRND-10
func TestTheQueriesOfThePackKeepWhatTheirSchemasPromise(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "matters.db")
	if err := sqlite.Place(t.Context(), path, statements(t)+"\n"+more()); err != nil {
		t.Fatal(err)
	}
	m := openMatters(t, path, nil)
	call := func(name string, inputs map[string]any) map[string]any {
		t.Helper()
		out, err := m.call(t, asKeller, name, "de", inputs)
		if err != nil {
			t.Fatalf("%s %v: %v", name, inputs, err)
		}
		return out
	}
	for _, want := range []struct {
		tool   string
		inputs map[string]any
		part   string
		n      int // exactly
	}{
		{"whats_on_my_plate", nil, "upcoming_deadlines", 10},
		{"whats_on_my_plate", nil, "upcoming_appointments", 10},
		{"whats_on_my_plate", nil, "recent_activity", 10},
		{"list_my_projects", nil, "items", 25},
		{"get_project_detail", map[string]any{"project_id": "x00"}, "deadlines", 25},
		{"get_project_detail", map[string]any{"project_id": "x00"}, "appointments", 25},
		{"get_project_detail", map[string]any{"project_id": "x00"}, "parties", 10},
		{"get_project_detail", map[string]any{"project_id": "x00"}, "partner_units", 5},
		{"search_my_deadlines", nil, "items", 25},
		{"search_my_deadlines", map[string]any{"limit": 3.0}, "items", 3},
		{"search_my_deadlines", map[string]any{"q": "prüfkammer", "limit": 25.0}, "items", 25},
		{"search_my_deadlines", map[string]any{"project_id": "x01"}, "items", 0},
		{"list_my_appointments", map[string]any{"project_id": "x00"}, "items", 15}, // of 30 every other day, those of 30 days
		{"lookup_court", map[string]any{"q": "U"}, "items", 10},
		{"lookup_glossary_term", map[string]any{"q": "e"}, "items", 5},
		{"lookup_deadline_rule", map[string]any{"q": "e"}, "items", 5},
	} {
		if got := rows(t, call(want.tool, want.inputs), want.part); len(got) != want.n {
			t.Errorf("%s %v gives %d %s, want %d", want.tool, want.inputs, len(got), want.part, want.n)
		}
	}

	second := rows(t, call("list_my_projects", map[string]any{"page": 2.0}), "items")
	first := texts(rows(t, call("list_my_projects", nil), "items"), "id")
	if len(second) != 7 || slices.ContainsFunc(texts(second, "id"), func(id string) bool { return slices.Contains(first, id) }) {
		t.Errorf("the second page holds %v after %v", texts(second, "id"), first)
	}
	for inputs, member := range map[[2]string]string{{"status", "closed"}: "status", {"kind", "opposition"}: "kind"} {
		if got := texts(rows(t, call("list_my_projects", map[string]any{inputs[0]: inputs[1]}), "items"), member); len(got) < 10 || slices.ContainsFunc(got, func(s string) bool { return s != inputs[1] }) {
			t.Errorf("matters with %v: %v", inputs, got)
		}
	}
	today := time.Now()
	day := func(in int) string { return today.AddDate(0, 0, in).Format(time.DateOnly) }
	due := func(inputs map[string]any) []string {
		t.Helper()
		inputs["q"] = "Zusatzfrist"
		return texts(rows(t, call("search_my_deadlines", inputs), "items"), "due_date")
	}
	if got := due(map[string]any{"due_after": day(5), "due_before": day(9)}); len(got) != 5 || got[0] != day(5) || got[4] != day(9) {
		t.Errorf("between the fifth day and the ninth: %v", got)
	}
	for status, some := range map[string]bool{"pending": true, "done": false} {
		if got := due(map[string]any{"status": status}); (len(got) > 0) != some {
			t.Errorf("deadlines that are %s: %v", status, got)
		}
	}
	appointments := func(inputs map[string]any) []string {
		t.Helper()
		inputs["project_id"] = "x00"
		return texts(rows(t, call("list_my_appointments", inputs), "items"), "start_at")
	}
	if got := appointments(map[string]any{"from": day(40), "to": day(50)}); len(got) != 5 || got[0] < day(40) || got[4] > day(51) {
		t.Errorf("appointments between two days: %v", got)
	}
	courts := rows(t, call("lookup_court", map[string]any{"q": "upc-ld-munich"}), "items")
	if pauses, _ := courts[0].(map[string]any)["vacation_periods"].([]any); len(pauses) != 4 {
		t.Errorf("the court's vacations are %v", courts[0])
	}
	term := func(lang string) string {
		return texts(rows(t, call("lookup_glossary_term", map[string]any{"q": "Klageerwiderung", "lang": lang}), "items"), "definition")[0]
	}
	if !strings.Contains(term("en"), "defendant") || !strings.Contains(term("de"), "Beklagte") {
		t.Errorf("the term is told as %q and %q", term("en"), term("de"))
	}
}
