package artifacts_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
)

const source = `{"kind":"data.source","driver":"postgres","secret":"firm_url","viewer":{"match":"email"%s},
	"relations":{"visible":"select id, mail as viewer from members","deadline":"select id, project_id, title from deadlines"},
	"keys":{"project_id":"select id from visible where viewer = :viewer and id in (:ids)"},
	"entities":{"deadline":{"detail":"get_it"}}}`

func query(sql, input string) string {
	return fmt.Sprintf(`{"kind":"tool.spec","name":"find_it","description":"Finds.","read_only":true,
		"input_schema":{"type":"object","properties":{%q:{"type":"string"}}},"output_schema":{"type":"object"},
		"via":{"query":{"source":"firm","parts":{"items":{"sql":%q}}}},"shows":[{"in":"items","entity":"deadline","line":"{title}"}]}`, input, sql)
}

// Only administrators write sources, queries and requests; a query names nothing
// that is not there, and no input passes for the session's word (ISO-10).
//
// Requirements: ISO-10 (a tool call)
func TestOnlyAdministratorsWriteSourcesAndQueries(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	doc := fmt.Sprintf(source, "")
	store.Put(artifacts.Artifact{ID: "firm", Type: artifacts.KindSource, Name: "firm", Visibility: artifacts.Global, Schema: json.RawMessage(doc)})
	request := func(url, inputs string) string {
		return fmt.Sprintf(`{"kind":"tool.spec","name":"find_it","description":"Asks.","input_schema":{"type":"object","properties":{%s}},"output_schema":{"type":"object"},"via":{"http":{"method":"GET","url":%q}}}`, inputs, url)
	}
	for _, c := range []struct {
		who       identity.Viewer
		kind, doc string
		at        string // of the fault; empty: accepted
	}{
		{admin, artifacts.KindSource, doc, ""},
		{ann, artifacts.KindSource, doc, ""}, // the fault is of the whole document
		{admin, artifacts.KindSource, fmt.Sprintf(source, `,"aliases":{"first":"a","others":"b"}`), "/viewer/aliases"},
		{admin, artifacts.KindTool, query("select id, project_id, title from deadline where title = :q", "q"), ""},
		{ann, artifacts.KindTool, query("select id, project_id, title from deadline where title = :q", "q"), "/via"},
		{admin, artifacts.KindTool, query("select id, project_id, title from deadline where title = :other", "q"), "/via/query/parts/items/sql"},
		{admin, artifacts.KindTool, query("delete from deadlines", "q"), "/via/query/parts/items/sql"},
		{admin, artifacts.KindTool, query("select id from deadline where id = :viewer", "viewer"), "/input_schema/properties/viewer"},
		{admin, artifacts.KindTool, query("select id from deadline", "viewer_mail"), "/input_schema/properties/viewer_mail"},
		{admin, artifacts.KindTool, query("select id from deadline", "today"), "/input_schema/properties/today"},
		{admin, artifacts.KindTool, strings.Replace(query("select id from deadline", "q"), `"entity":"deadline"`, `"entity":"gone"`, 1), "/shows/0/entity"},
		{admin, artifacts.KindTool, strings.Replace(query("select id from deadline", "q"), `"source":"firm"`, `"source":"gone"`, 1), "/via/query/source"},
		{admin, artifacts.KindTool, request("https://api.example.org/x/{q}", `"q":{"type":"string"}`), ""},
		{ann, artifacts.KindTool, request("https://api.example.org/x/{q}", `"q":{"type":"string"}`), "/via"},
		{admin, artifacts.KindTool, request("https://{q}/x", `"q":{"type":"string"}`), "/via/http/url"},
		{admin, artifacts.KindTool, request("https://api.example.org/{other}", `"q":{"type":"string"}`), "/via/http/url"},
	} {
		err := library.Check(t.Context(), c.who, c.kind, json.RawMessage(c.doc))
		problems := artifacts.Problems(err)
		switch {
		case c.at == "" && c.who == admin && err != nil:
			t.Errorf("%s is refused: %v", c.doc, problems)
		case c.at == "" && c.who == ann && err == nil:
			t.Errorf("%s is accepted of a person", c.doc)
		case c.at != "" && !slices.ContainsFunc(problems, func(p artifacts.Problem) bool { return strings.HasPrefix(p.Path, c.at) }):
			t.Errorf("%s: want a fault at %s, got %v, %v", c.doc, c.at, problems, err)
		}
	}
}

// A tool that stands on another is never less guarded than that one, whatever it
// says, and both are pinned with the run that calls it.
//
// Requirements: PLAT-08, TOOL-05
func TestARenamedToolIsNeverLessGuarded(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	inner := `{"kind":"tool.spec","name":"inner","description":"%s","privileged":true,"confirm":true,"idempotent":false,
		"input_schema":{"type":"object"},"output_schema":{"type":"object"},"via":{"http":{"method":"POST","url":"https://api.example.org/x"}}}`
	store.Put(artifacts.Artifact{ID: "inner", Type: artifacts.KindTool, Name: "inner", Visibility: artifacts.Global, Schema: json.RawMessage(fmt.Sprintf(inner, "one"))})
	outer := `{"kind":"tool.spec","name":"outer","description":"o","read_only":true,"idempotent":true,"confirm":false,"privileged":false,
		"input_schema":{"type":"object"},"output_schema":{"type":"object"},"via":{"tool":{"name":"inner"}}}`
	if err := library.Check(t.Context(), ann, artifacts.KindTool, json.RawMessage(outer)); err == nil {
		t.Error("a person renames a privileged tool")
	}
	if err := library.Check(t.Context(), admin, artifacts.KindTool, json.RawMessage(outer)); err != nil {
		t.Fatal(err)
	}
	store.Put(artifacts.Artifact{ID: "outer", Type: artifacts.KindTool, Name: "outer", Visibility: artifacts.Global, Schema: json.RawMessage(outer)})
	bound, err := library.Tools(t.Context(), admin, "outer")
	if err != nil {
		t.Fatal(err)
	}
	b := bound["outer"]
	if !b.Privileged || !b.Confirm.Asks || b.IsIdempotent() || b.ReadOnly || b.Runner() != tool.RunnerHTTP || !b.Strange() || len(b.Under) != 1 {
		t.Errorf("%+v, under %v", b.Spec, b.Under)
	}
	if g := b.Graph(); !g.Privileged || !g.Confirm || g.Idempotent {
		t.Errorf("to the machine it is %+v", g)
	}
	// What the run began with is what it calls, whatever is written meanwhile.
	if _, err := store.AppendVersion(t.Context(), admin, "inner", b.Under[0].Version, json.RawMessage(fmt.Sprintf(inner, "two")), "user", ""); err != nil {
		t.Fatal(err)
	}
	then, err := library.SpecAt(t.Context(), admin, b.Pin(), b.Under...)
	if err != nil || then.Over == nil || then.Over.Spec.Description != "one" {
		t.Errorf("%+v, %v", then.Over, err)
	}
	now, err := library.SpecAt(t.Context(), admin, b.Pin(), run.Pin{ArtifactID: "inner", Name: "inner", Version: b.Under[0].Version + 1})
	if err != nil || now.Over == nil || now.Over.Spec.Description != "two" {
		t.Errorf("%+v, %v", now.Over, err)
	}
}

// The tools of the pack are the eight of the specification, with its bounds.
//
// Requirements: GRND-03, GRND-04, GRND-05, GRND-06, GRND-07, GRND-08, GRND-09, GRND-10
func TestThePackHasTheEightTools(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	for name, want := range map[string]string{
		"whats_on_my_plate":    "in: out: deadline_summary appointment_summary matter_summary upcoming_deadlines≤10 upcoming_appointments≤10 recent_activity≤10",
		"list_my_projects":     "in: status kind out: items≤25{id kind label status parent_id path}",
		"get_project_detail":   "in: project_id out: project deadlines≤25 appointments≤25 parties≤10 partner_units≤5",
		"search_my_deadlines":  "in: q status project_id due_after due_before limit≤25 out: items≤25{id title due_date status project_label court}",
		"list_my_appointments": "in: from to project_id out: items{id title start_at end_at location project_label}",
		"lookup_court":         "in: q out: items≤10{slug name country kind address vacation_periods≤4}",
		"lookup_glossary_term": "in: q lang out: items≤5{de en definition category}",
		"lookup_deadline_rule": "in: q out: items≤5{rule_code concept_label trigger_event deadline_text legal_source}",
	} {
		bound, err := library.Tools(t.Context(), ann, name)
		if err != nil || bound[name].Name == "" || !bound[name].ReadOnly {
			t.Fatalf("%s: %+v, %v", name, bound[name], err)
		}
		in, out, _ := strings.Cut(strings.TrimPrefix(want, "in:"), "out:")
		for _, side := range []struct {
			of     string
			schema json.RawMessage
		}{{in, bound[name].InputSchema}, {out, bound[name].OutputSchema}} {
			holds(t, name, side.of, side.schema)
		}
	}
	if _, err := library.Tools(t.Context(), ann, "lookup_youpc_case"); err != nil {
		t.Error(err)
	} else if found, _ := library.Tools(t.Context(), ann, "lookup_youpc_case"); len(found) > 0 {
		t.Error("the draft is in use")
	}
}

var wanted = regexp.MustCompile(`([a-z_]+)(?:≤(\d+))?(?:\{([^}]*)\})?`)

// holds checks that a schema has members, with their bounds and their own members.
func holds(t *testing.T, name, members string, schema json.RawMessage) {
	t.Helper()
	var s struct {
		Properties map[string]struct {
			MaxItems *float64        `json:"maxItems"`
			Maximum  *float64        `json:"maximum"`
			Items    json.RawMessage `json:"items"`
		}
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	for _, m := range wanted.FindAllStringSubmatch(members, -1) {
		p, ok := s.Properties[m[1]]
		if !ok {
			t.Errorf("%s has no %s", name, m[1])
			continue
		}
		bound := p.MaxItems
		if bound == nil {
			bound = p.Maximum
		}
		if m[2] != "" && (bound == nil || fmt.Sprint(*bound) != m[2]) {
			t.Errorf("%s: %s is not bounded by %s", name, m[1], m[2])
		}
		if m[3] != "" {
			holds(t, name+"."+m[1], m[3], p.Items)
		}
	}
}

// views are the views whose names are fixed by the specification.
var views = regexp.MustCompile(`create view paliadin_(turns|rate_limit) .*;`)

// No assistant stands in the program: neither its name, nor those of its tools,
// nor a sentence of its own.
func TestNoAssistantStandsInTheProgram(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("packs/*/*/*.json")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var phrases []string
	add := func(texts ...string) {
		for _, text := range texts {
			if len(text) > 7 { // shorter ones are words of the language
				phrases = append(phrases, strings.ToLower(text))
			}
		}
	}
	for _, file := range files {
		kind, pack := filepath.Base(filepath.Dir(file)), filepath.Base(filepath.Dir(filepath.Dir(file)))
		if pack == "documents" {
			continue // its name is a word of the language, and its endpoints are part of the API
		}
		var d struct {
			Title   any
			Surface struct {
				Title, Tagline, Empty, Placeholder, Thinking map[string]string
				Starters                                     []map[string]string
			}
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		// Those of the pack notes are the field's own words for what they do.
		if kind != artifacts.KindSource && pack != "notes" {
			add(strings.TrimSuffix(filepath.Base(file), ".json"))
		}
		if kind == artifacts.KindWorkflow {
			for _, of := range append([]map[string]string{d.Surface.Title, d.Surface.Tagline, d.Surface.Placeholder, d.Surface.Thinking}, d.Surface.Starters...) {
				for _, text := range of {
					add(text)
				}
			}
		}
	}
	if len(phrases) < 30 {
		t.Fatalf("only %d phrases", len(phrases))
	}
	for _, root := range []string{"../internal", "../activities", "../workflows", "../worker", "../api", "../cmd", "../web/src", "../migrations", "."} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(file, "testdata") || strings.Contains(file, "packs/") || strings.Contains(file, "_test.") || strings.Contains(file, ".test.") || strings.Contains(file, "/gen.ts") || strings.HasSuffix(file, "identity/common.txt") { // which lists passwords
				return err
			}
			if ext := filepath.Ext(file); ext != ".go" && ext != ".ts" && ext != ".tsx" && ext != ".txt" && ext != ".sql" {
				return nil
			}
			raw, err := os.ReadFile(file)
			text := strings.ToLower(string(raw))
			if strings.HasSuffix(file, "0017_surfaces.sql") { // two views have the names that GRND-28 and GRND-32 give them
				text = views.ReplaceAllString(text, "")
			}
			for _, phrase := range phrases {
				if strings.Contains(text, phrase) {
					t.Errorf("%s says %q, which is a pack's", file, phrase)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Requirements: GRND-26 (output 2000)
func TestAnAnswerOfThePackIsBounded(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	a, err := library.Workflow(t.Context(), ann, "paliadin")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Nodes []struct {
			Type   string
			Inputs struct {
				MaxTokens int `json:"max_tokens"`
			}
		}
	}
	if err := json.Unmarshal(a.Schema, &d); err != nil {
		t.Fatal(err)
	}
	agents := 0
	for _, n := range d.Nodes {
		if n.Type == "agent" {
			agents++
			if n.Inputs.MaxTokens != 2000 {
				t.Errorf("a step may write %d tokens", n.Inputs.MaxTokens)
			}
		}
	}
	if agents == 0 {
		t.Error("nothing answers")
	}
}

// Requirements: GRND-34 (the starters), GRND-35, GRND-36 (the words; the accent colour), GRND-37 (title; tagline; starters; empty; placeholder)
func TestTheSurfaceOfThePackSaysWhatIsSpecified(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	a, err := library.Workflow(t.Context(), ann, "paliadin")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"Was steht heute an?", "Welche Fristen sind diese Woche fällig?", "Erkläre mir Klageerwiderung.", "What's on my plate?", "Which deadlines are due this week?", "Explain Klageerwiderung.",
		"Was kann ich für dich tun?", "How can I help?", "Ich kenne deine Akten und Paliads Wissensbasis.", "I know your matters and Paliad's knowledge base.", "Paliadin denkt nach …",
	} {
		if !strings.Contains(string(a.Schema), text) {
			t.Errorf("%q is not there", text)
		}
	}
	var d struct{ Surface struct{ Accent string } }
	if err := json.Unmarshal(a.Schema, &d); err != nil || d.Surface.Accent != "#c6f41c" {
		t.Errorf("the accent colour is %q, %v", d.Surface.Accent, err)
	}
}
