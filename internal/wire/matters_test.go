package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/data"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/model/extractive"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/sqlite"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// matters is the pack over its example data in one database.
type matters struct {
	library *artifacts.Library
	store   *artifactstest.Store
	box     *tool.Box
	foreign atomic.Int64
}

// asKeller and asBrandt are two people of the example: a partner with many
// matters, a trainee with one.
var (
	asKeller = identity.Viewer{UserID: "u-keller", Role: identity.RoleUser}
	asBrandt = identity.Viewer{UserID: "u-brandt", Role: identity.RoleUser}
)

type example struct{}

func (example) KnownAs(_ context.Context, v identity.Viewer, m data.Match) (string, error) {
	if v == asBrandt {
		return m.Aliases.Others, nil
	}
	return m.Aliases.First, nil
}

func statements(t testing.TB) string {
	all, err := artifacts.Examples()
	if err != nil || all["matters"] == "" {
		t.Fatal(err)
	}
	return all["matters"]
}

// open makes the tools over a database; change changes the source before.
func openMatters(t *testing.T, url string, change func(doc string) string) *matters {
	t.Helper()
	library, store := artifactstest.Library(t)
	source, err := library.Named(t.Context(), identity.System(), artifacts.KindSource, "matters")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		source.Schema = json.RawMessage(change(string(source.Schema)))
		store.Put(source)
	}
	m := &matters{library: library, store: store}
	desk := data.NewDesk(data.Options{
		Drivers: map[string]data.Driver{data.SQLite: sqlite.Foreign{}, data.Postgres: postgres.Foreign{}},
		Secret: func(_ context.Context, name string) (string, error) {
			if name != artifacts.ExampleSecret("matters") {
				return "", fmt.Errorf("no secret %q", name)
			}
			return url, nil
		},
		Foreign: func(_ context.Context, f data.Foreign) { m.foreign.Add(int64(f.Rows)) },
	})
	t.Cleanup(func() { _ = desk.Close() })
	m.box, err = tool.NewBox(builtin.Tools(builtin.Parts{Model: extractive.Model{}, Catalog: library, Sources: desk, People: example{}}), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mattersInSQLite(t *testing.T) *matters {
	path := filepath.Join(t.TempDir(), "matters.db")
	if err := sqlite.Place(t.Context(), path, statements(t)); err != nil {
		t.Fatal(err)
	}
	return openMatters(t, path, nil)
}

// relative is a day so many days from :today, as SQLite writes it.
var relative = regexp.MustCompile(`date\(:today, ([a-z._]+) \|\| ' days'\)`)

func mattersInPostgreSQL(t *testing.T) *matters {
	d := postgrestest.Empty(t)
	postgrestest.Exec(t, d.Owner, statements(t))
	role := "reader_" + strings.ReplaceAll(id.New(), "-", "")
	postgrestest.Exec(t, d.Super, fmt.Sprintf("CREATE ROLE %q LOGIN", role))
	t.Cleanup(func() {
		postgrestest.Exec(t, d.Super, fmt.Sprintf("DROP OWNED BY %q", role), fmt.Sprintf("DROP ROLE %q", role))
	})
	postgrestest.Exec(t, d.Owner, fmt.Sprintf("GRANT SELECT ON ALL TABLES IN SCHEMA public TO %q", role))
	return openMatters(t, asReader(t, d.Super, role), func(doc string) string {
		doc = strings.Replace(doc, `"driver": "sqlite"`, `"driver": "postgres"`, 1)
		return relative.ReplaceAllString(doc, "to_char(cast(:today as date) + $1, 'YYYY-MM-DD')")
	})
}

// call calls a tool of the pack.
func (m *matters) call(t *testing.T, v identity.Viewer, name, locale string, inputs map[string]any) (map[string]any, error) {
	t.Helper()
	bound, err := m.library.Tools(t.Context(), v, name)
	if err != nil || bound[name].Name == "" {
		t.Fatalf("%s: %v", name, err)
	}
	return m.box.Call(t.Context(), bound[name].Spec, &tool.Call{Viewer: v, Scope: tool.Scope{Locale: locale}, Inputs: inputs})
}

// said is an answer of the assistant: its text, the tools it called, its links.
type said struct {
	text  string
	tools []string
	links []string
}

// ask plays a turn of the pack's assistant as the machine does.
func (m *matters) ask(t *testing.T, v identity.Viewer, locale, question string) said {
	t.Helper()
	var graph struct {
		Nodes []struct {
			Type   string
			System string
			Tools  []string
		}
	}
	var doc []byte
	for _, a := range m.assistants(t) {
		doc = a.Schema
	}
	if err := json.Unmarshal(doc, &graph); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(graph.Nodes, func(n struct {
		Type   string
		System string
		Tools  []string
	}) bool {
		return n.Type == "agent"
	})
	step, err := m.library.Tools(t.Context(), v, "llm.step_v1")
	if err != nil {
		t.Fatal(err)
	}
	names := make([]any, len(graph.Nodes[at].Tools))
	for i, n := range graph.Nodes[at].Tools {
		names[i] = n
	}
	var out said
	transcript := []any{}
	for range 6 {
		got, err := m.box.Call(t.Context(), step["llm.step_v1"].Spec, &tool.Call{Viewer: v, Scope: tool.Scope{Locale: locale}, Inputs: map[string]any{
			"system": graph.Nodes[at].System, "message": question, "tools": names, "transcript": transcript,
		}})
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		calls, _ := got["tool_calls"].([]any)
		if len(calls) == 0 {
			out.text, _ = got["text"].(string)
			cited, _ := got["citations"].([]any)
			for _, c := range cited {
				record, _ := c.(map[string]any)["record"].(map[string]any)
				out.links = append(out.links, fmt.Sprint(record["href"]))
			}
			return out
		}
		results := []any{}
		for _, c := range calls {
			call := c.(map[string]any)
			name := call["name"].(string)
			out.tools = append(out.tools, name)
			inputs, _ := call["arguments"].(map[string]any)
			result, err := m.call(t, v, name, locale, inputs)
			text, _ := json.Marshal(result)
			if err != nil {
				text = []byte(err.Error())
			}
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": call["id"], "content": string(text), "is_error": err != nil})
		}
		transcript = append(transcript, map[string]any{"role": "assistant", "content": got["content"]}, map[string]any{"role": "user", "content": results})
	}
	t.Fatalf("%s: no end", question)
	return said{}
}

// assistants are the workflows of the pack.
func (m *matters) assistants(t *testing.T) []artifacts.Artifact {
	t.Helper()
	files, err := filepath.Glob("../../artifacts/packs/matters/workflow.chat/*.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	a, err := m.library.Workflow(t.Context(), asKeller, strings.TrimSuffix(filepath.Base(files[0]), ".json"))
	if err != nil {
		t.Fatal(err)
	}
	return []artifacts.Artifact{a}
}

// The ten starters, and what each must be answered from.
var starters = []struct {
	tool string
	has  map[string]string // by language
	link string
}{
	{"whats_on_my_plate", map[string]string{"de": "Offene Fristen:", "en": "Open deadlines:"}, "/r/matters/deadline/"},
	{"search_my_deadlines", map[string]string{"de": "Nordlicht", "en": "Nordlicht"}, "/r/matters/deadline/"},
	{"lookup_glossary_term", map[string]string{"de": "Schriftsatz, mit dem der Beklagte", "en": "Pleading in which the defendant"}, ""},
	{"list_my_projects", map[string]string{"de": "Tessera ./. Okular", "en": "Tessera ./. Okular"}, "/r/matters/project/"},
	{"search_my_deadlines", map[string]string{"de": "Nordlicht", "en": "Nordlicht"}, "/r/matters/deadline/"},
	{"list_my_appointments", map[string]string{"de": "Mandantengespräch", "en": "Mandantengespräch"}, "/r/matters/appointment/"},
	{"get_project_detail", map[string]string{"de": "Brennweite ./. Aspera", "en": "Brennweite ./. Aspera"}, "/r/matters/project/"},
	{"lookup_court", map[string]string{"de": "Denisstraße 3", "en": "Denisstraße 3"}, "/r/matters/court/upc-ld-munich"},
	{"lookup_deadline_rule", map[string]string{"de": "Klageerwiderung: 3 Monate ab Zustellung der Klageschrift", "en": "Statement of defence: 3 months from service of the statement of claim"}, ""},
	{"lookup_glossary_term", map[string]string{"de": "für nichtig erklären", "en": "granted patent revoked"}, ""},
}

// Without a language model the ten starters are answered from the example, in both
// languages and over both databases, by records with links to their pages.
//
// Requirements: TOOL-12 (grounded read tools), GRND-03, GRND-34 (the starters), GRND-37 (replies in the user's language)
func TestTheStartersAreAnsweredFromTheExampleWithoutAModel(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *matters{"SQLite": mattersInSQLite, "PostgreSQL": mattersInPostgreSQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t)
			var doc struct {
				Surface struct{ Starters []map[string]string }
			}
			if err := json.Unmarshal(m.assistants(t)[0].Schema, &doc); err != nil || len(doc.Surface.Starters) != len(starters) {
				t.Fatalf("%d starters, %v", len(doc.Surface.Starters), err)
			}
			for i, want := range starters {
				for _, language := range []string{"de", "en"} {
					question := doc.Surface.Starters[i][language]
					got := m.ask(t, asKeller, language, question)
					if !slices.Equal(got.tools, []string{want.tool}) {
						t.Errorf("%s: called %v, want %s\n%s", question, got.tools, want.tool, got.text)
						continue
					}
					if !strings.Contains(got.text, want.has[language]) {
						t.Errorf("%s: %q is not in\n%s", question, want.has[language], got.text)
					}
					if label := map[string]string{"de": "Aus deinen Daten zitiert", "en": "Quoted from your data"}[language]; !strings.Contains(got.text, label) {
						t.Errorf("%s: does not say where it is from\n%s", question, got.text)
					}
					if linked := slices.ContainsFunc(got.links, func(l string) bool { return strings.HasPrefix(l, want.link) }); want.link != "" && !linked {
						t.Errorf("%s: no link to %s in %v", question, want.link, got.links)
					}
					if one := want.link != "" && !strings.HasSuffix(want.link, "/"); one && len(got.links) != 1 {
						t.Errorf("%s: asks for one record, and links %v", question, got.links)
					}
					if want.link == "" && len(got.links) > 0 {
						t.Errorf("%s: links %v", question, got.links)
					}
				}
			}
			if got := m.ask(t, asKeller, "en", doc.Surface.Starters[0]["de"]); !strings.Contains(got.text, "Offene Fristen:") || !strings.Contains(got.text, "Aus deinen Daten zitiert") {
				t.Errorf("asked in German on an English page:\n%s", got.text)
			}
			if n := m.foreign.Load(); n != 0 {
				t.Errorf("the queries gave %d rows their person may not see", n)
			}
		})
	}
}

// What a colleague sees is not found, byte for byte as what is not there.
//
// Requirements: GRND-14 (the result; the answer)
func TestAColleaguesMatterIsNotFoundLikeOneThatIsNotThere(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *matters{"SQLite": mattersInSQLite, "PostgreSQL": mattersInPostgreSQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t)
			own, err := m.call(t, asKeller, "get_project_detail", "de", map[string]any{"project_id": "Nordlicht ./. Velum"})
			if err != nil || own["project"] == nil {
				t.Fatalf("%v, %v", own, err)
			}
			for tool, of := range map[string][2]map[string]any{
				"get_project_detail": {{"project_id": own["project"].(map[string]any)["id"]}, {"project_id": "p99"}},
				"get_deadline":       {{"deadline_id": "d001"}, {"deadline_id": "d999"}},
				"get_appointment":    {{"appointment_id": "a01"}, {"appointment_id": "a99"}},
			} {
				foreign, errForeign := m.call(t, asBrandt, tool, "de", of[0])
				missing, errMissing := m.call(t, asBrandt, tool, "de", of[1])
				a, _ := json.Marshal(foreign)
				b, _ := json.Marshal(missing)
				if string(a) != `{"error":"not found"}` || string(a) != string(b) || errForeign != nil || errMissing != nil {
					t.Errorf("%s: %s and %s, %v, %v", tool, a, b, errForeign, errMissing)
				}
			}
			for _, question := range []string{"Zeig mir die Akte „Nordlicht ./. Velum“.", "Zeig mir die Akte „Es gibt sie ./. nicht“."} {
				if got := m.ask(t, asBrandt, "de", question); got.text != "Dazu habe ich nichts gefunden." || len(got.links) > 0 {
					t.Errorf("%s: %+v", question, got)
				}
			}
		})
	}
}

// A service that forgets to ask who may see what gives nobody a foreign row.
//
// Requirements: GRND-13
func TestARowPlantedByAFaultyRelationIsHeldBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "matters.db")
	if err := sqlite.Place(t.Context(), path, statements(t)); err != nil {
		t.Fatal(err)
	}
	m := openMatters(t, path, func(doc string) string { // every relation forgets
		for _, of := range []string{"p.id", "d.project_id", "a.project_id", "b.project_id", "l.project_id", "v.project_id"} {
			doc = strings.ReplaceAll(doc, " where "+of+" in (select id from visible where viewer = :viewer)", "")
		}
		return doc
	})
	for name, inputs := range map[string]map[string]any{
		"list_my_projects": {}, "search_my_deadlines": {}, "list_my_appointments": {}, "whats_on_my_plate": {},
		"get_project_detail": {"project_id": "p01"}, "get_deadline": {"deadline_id": "d001"},
	} {
		before := m.foreign.Load()
		out, err := m.call(t, asBrandt, name, "de", inputs)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, _ := json.Marshal(out)
		if strings.Contains(string(raw), "Nordlicht") || strings.Contains(string(raw), "Quellwerk") {
			t.Errorf("%s shows a foreign row: %s", name, raw)
		}
		if m.foreign.Load() == before {
			t.Errorf("%s: nothing was counted", name)
		}
	}
}

// The lookup of case law is a draft that a firm makes active when it has a
// source of decisions: two more relations, and the tool without its status.
//
// Requirements: GRND-11
func TestTheLookupOfCaseLawIsActiveWhereDecisionsAreThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "matters.db")
	const law = `create table decisions as with recursive n(i) as (select 0 union all select i + 1 from n where i < 599)
		select 'UPC_CFI_' || i || '/2023' as number, 'Munich LD' as chamber, '2024-01-18' as day, 'On claim ' || i || '.' as note from n;
	create table holdings as select number, p as place, 'Holding ' || p || ' of ' || number as text
		from decisions, (select 0 as p union select 1 union select 2 union select 3);` // more than a source gives at once
	if err := sqlite.Place(t.Context(), path, statements(t)+law); err != nil {
		t.Fatal(err)
	}
	m := openMatters(t, path, func(doc string) string {
		return strings.Replace(doc, `"relations": {`, `"relations": {
			"decision": "select number as case_number, chamber as division, day as decided_on, note as headnote from decisions",
			"decision_holding": "select number as case_number, place, text as holding from holdings",`, 1)
	})
	if bound, err := m.library.Tools(t.Context(), asKeller, "lookup_youpc_case"); err != nil || len(bound) != 0 {
		t.Fatalf("a draft is bound: %v, %v", bound, err)
	}
	draft, err := m.library.Named(t.Context(), identity.System(), artifacts.KindTool, "lookup_youpc_case")
	if err != nil {
		t.Fatal(err)
	}
	draft.Schema = json.RawMessage(strings.Replace(string(draft.Schema), `"status": "draft",`, "", 1))
	draft.Meta = nil
	m.store.Put(draft)
	got, err := m.call(t, asKeller, "lookup_youpc_case", "en", map[string]any{"q": "UPC_CFI_577/2023"})
	raw, _ := json.Marshal(got)
	want := `{"items":[{"case_number":"UPC_CFI_577/2023","decided_on":"2024-01-18","division":"Munich LD","headnote":"On claim 577.",` +
		`"holdings":[{"holding":"Holding 0 of UPC_CFI_577/2023"},{"holding":"Holding 1 of UPC_CFI_577/2023"},{"holding":"Holding 2 of UPC_CFI_577/2023"}]}]}`
	if err != nil || string(raw) != want {
		t.Errorf("found is %s, %v\nwant %s", raw, err, want)
	}
}
