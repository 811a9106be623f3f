package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/data"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/model/extractive"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// kanzlei is a firm's own database, as docs/sources.md assumes it.
var kanzlei = []string{
	`CREATE SCHEMA kanzlei`,
	`CREATE TABLE kanzlei.akte (id int PRIMARY KEY, art text, bezeichnung text, zeichen text, abgelegt boolean)`,
	`CREATE TABLE kanzlei.mitglied (akte_id int, mail text)`,
	`CREATE TABLE kanzlei.frist (id int PRIMARY KEY, akte_id int, betreff text, faellig date, erledigt boolean, gericht text, geaendert timestamptz)`,
	`CREATE TABLE kanzlei.termin (id int PRIMARY KEY, akte_id int, betreff text, beginn timestamp, ende timestamp, ort text)`,
	`CREATE TABLE kanzlei.beteiligter (id int PRIMARY KEY, akte_id int, name text, rolle text, vertreter text)`,
	`INSERT INTO kanzlei.akte VALUES (1, 'infringement', 'Ada ./. Babbage', 'K-1', false), (2, 'opposition', 'Einspruch Lovelace', 'K-2', false), (3, 'infringement', 'Bo ./. Turing', 'K-3', true)`,
	`INSERT INTO kanzlei.mitglied VALUES (1, 'Ada@kanzlei.example'), (2, 'ada@kanzlei.example'), (3, 'bo@kanzlei.example')`,
	`INSERT INTO kanzlei.frist VALUES (10, 1, 'Klageerwiderung', current_date + 3, false, 'LG Berlin', now()), (11, 3, 'Geheim', current_date + 3, false, 'LG Berlin', now())`,
	`INSERT INTO kanzlei.termin VALUES (20, 1, 'Verhandlung', current_date + time '09:30', current_date + time '11:00', 'Saal 3')`,
	`INSERT INTO kanzlei.beteiligter VALUES (30, 1, 'Babbage AG', 'opponent', NULL)`,
}

type byAddress map[string]string

func (b byAddress) KnownAs(_ context.Context, v identity.Viewer, _ data.Match) (string, error) {
	return b[v.UserID], nil
}

// block is the nth example of the guide that begins so.
func block(t *testing.T, kind string) []byte {
	t.Helper()
	raw, err := os.ReadFile("../../docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(raw), "```json\n")[1:] {
		doc, _, _ := strings.Cut(part, "\n```")
		if strings.Contains(doc, `"kind": "`+kind+`"`) {
			return []byte(doc)
		}
	}
	t.Fatalf("the guide has no %s", kind)
	return nil
}

// A firm connects its own PostgreSQL with one artifact and one secret, word for
// word as the guide says: the eight tools stay.
//
// Requirements: GRND-12
func TestTheGuideConnectsAFirmsOwnDatabase(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	postgrestest.Exec(t, d.Owner, kanzlei...)
	role := "reader_" + strings.ReplaceAll(id.New(), "-", "")
	postgrestest.Exec(t, d.Super, fmt.Sprintf("CREATE ROLE %q LOGIN", role))
	t.Cleanup(func() {
		postgrestest.Exec(t, d.Super, fmt.Sprintf("DROP OWNED BY %q", role), fmt.Sprintf("DROP ROLE %q", role))
	})
	postgrestest.Exec(t, d.Owner, fmt.Sprintf("GRANT USAGE ON SCHEMA kanzlei TO %q", role), fmt.Sprintf("GRANT SELECT ON ALL TABLES IN SCHEMA kanzlei TO %q", role))

	library, store := artifactstest.Library(t)
	admin := identity.Viewer{UserID: "root", Role: identity.RoleAdmin}
	for kind, doc := range map[string][]byte{artifacts.KindSource: block(t, artifacts.KindSource), artifacts.KindTool: block(t, artifacts.KindTool)} {
		if err := library.Check(t.Context(), admin, kind, doc); err != nil {
			t.Fatalf("%s: %v\n%v", kind, err, artifacts.Problems(err))
		}
	}
	source, err := library.Named(t.Context(), identity.System(), artifacts.KindSource, "matters")
	if err != nil {
		t.Fatal(err)
	}
	source.Schema = block(t, artifacts.KindSource)
	store.Put(source)
	desk := data.NewDesk(data.Options{
		Drivers: map[string]data.Driver{data.Postgres: postgres.Foreign{}},
		Secret:  func(context.Context, string) (string, error) { return asReader(t, d.Super, role), nil },
	})
	t.Cleanup(func() { _ = desk.Close() })
	people := byAddress{"ada": "ada@kanzlei.example", "bo": "bo@kanzlei.example"}
	box, err := tool.NewBox(builtin.Tools(builtin.Parts{Model: extractive.Model{}, Catalog: library, Sources: desk, People: people}), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &matters{library: library, box: box}
	ada, bo := identity.Viewer{UserID: "ada", Role: identity.RoleUser}, identity.Viewer{UserID: "bo", Role: identity.RoleUser}
	for name, inputs := range map[string]map[string]any{
		"whats_on_my_plate": {}, "list_my_projects": {}, "get_project_detail": {"project_id": "K-1"}, "search_my_deadlines": {}, "list_my_appointments": {},
		"lookup_court": {"q": "x"}, "lookup_glossary_term": {"q": "x"}, "lookup_deadline_rule": {"q": "x"},
	} {
		out, err := m.call(t, ada, name, "de", inputs)
		raw, _ := json.Marshal(out)
		if err != nil || strings.Contains(string(raw), "Geheim") || strings.Contains(string(raw), "Turing") {
			t.Errorf("%s: %v %s", name, err, raw)
		}
	}
	if got := m.ask(t, ada, "de", "Welche Fristen sind diese Woche fällig?"); !strings.Contains(got.text, "Klageerwiderung – Ada ./. Babbage (LG Berlin)") {
		t.Errorf("%+v", got)
	}
	if out, err := m.call(t, bo, "get_project_detail", "de", map[string]any{"project_id": "1"}); err != nil || !tool.IsMissing(out) {
		t.Errorf("%v, %v", out, err)
	}
	s, err := data.Decode(source.Schema)
	if err != nil {
		t.Fatal(err)
	}
	report, err := desk.Check(t.Context(), s, []data.Person{{Viewer: "ada@kanzlei.example"}, {Viewer: "bo@kanzlei.example"}}, nil)
	if err != nil || !report.OK() || report.Differ == nil || !*report.Differ || report.People[0].Records["project_id"] != 2 || report.People[1].Records["project_id"] != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// The check says what is missing, and that nobody is told apart.
func TestTheCheckOfASourceSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	postgrestest.Exec(t, d.Owner, kanzlei...)
	role := "reader_" + strings.ReplaceAll(id.New(), "-", "")
	postgrestest.Exec(t, d.Super, fmt.Sprintf("CREATE ROLE %q LOGIN", role))
	t.Cleanup(func() {
		postgrestest.Exec(t, d.Super, fmt.Sprintf("DROP OWNED BY %q", role), fmt.Sprintf("DROP ROLE %q", role))
	})
	s, err := data.Decode(block(t, artifacts.KindSource))
	if err != nil {
		t.Fatal(err)
	}
	desk := data.NewDesk(data.Options{
		Drivers: map[string]data.Driver{data.Postgres: postgres.Foreign{}},
		Secret:  func(context.Context, string) (string, error) { return asReader(t, d.Super, role), nil },
	})
	t.Cleanup(func() { _ = desk.Close() })
	two := []data.Person{{Viewer: "ada@kanzlei.example"}, {Viewer: "bo@kanzlei.example"}}
	report, err := desk.Check(t.Context(), s, two, nil)
	if err != nil || report.OK() || !strings.Contains(fmt.Sprint(report.Faults), "permission denied for schema kanzlei") {
		t.Errorf("without a grant: %+v, %v", report, err)
	}
	postgrestest.Exec(t, d.Owner, fmt.Sprintf("GRANT USAGE ON SCHEMA kanzlei TO %q", role), fmt.Sprintf("GRANT SELECT ON ALL TABLES IN SCHEMA kanzlei TO %q", role))
	s.Relations["visible"] = "select a.id::text as id, :viewer as viewer from kanzlei.akte a" // everybody sees everything
	s.Relations["party"] = "select name from kanzlei.gone"
	report, err = desk.Check(t.Context(), s, two, nil)
	if err != nil || report.OK() || report.Differ == nil || *report.Differ || !strings.Contains(fmt.Sprint(report.Faults), "the relation party cannot be read") {
		t.Errorf("%+v, %v", report, err)
	}
}
