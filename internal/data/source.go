// Package data reads other people's databases for a person: what a data.source
// says of one, the queries of tools over it, and the two walls around each.
//
// The first wall is the connection: a role that may only read, a transaction
// that may only read, one snapshot, bounded time, one SELECT. The second looks at
// what came back: every key in it is asked about once more, whether the person may
// see it, however the query was written (GRND-13).
//
// A driver knows one database; it is handed in as a Driver. The package may import
// check, fault, poll, vault and words.
package data

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"liminal/internal/check"
	"liminal/internal/words"
)

// The bounds of a query, where the source names none, and what it may name.
const (
	DefaultTimeout = 3 * time.Second
	MaxTimeout     = 30 * time.Second
	DefaultRows    = 500
	MaxRows        = 5000
)

// Source is a data.source document.
type Source struct {
	Kind      string            `json:"kind"`
	Title     words.Texts       `json:"title,omitempty"`
	Driver    string            `json:"driver"` // postgres, sqlite
	Secret    string            `json:"secret"` // the name of the connection string
	Viewer    Match             `json:"viewer"`
	Relations map[string]string `json:"relations"`
	Keys      map[string]string `json:"keys"`
	Session   map[string]string `json:"session,omitempty"`
	Limits    struct {
		TimeoutMS int `json:"timeout_ms,omitempty"`
		Rows      int `json:"rows,omitempty"`
	} `json:"limits,omitzero"`
	Entities map[string]Entity `json:"entities,omitempty"`
}

// Match says by what the source knows a person.
type Match struct {
	Match string `json:"match"` // email, id
	// Aliases stand in for people in an example that ships with the program:
	// the first account is First, everybody else Others.
	Aliases *Aliases `json:"aliases,omitempty"`
}

// Aliases are the people of an example.
type Aliases struct {
	First  string `json:"first"`
	Others string `json:"others"`
}

// Entity is a kind of record with a page.
type Entity struct {
	Title  map[string]string `json:"title,omitempty"`
	Detail string            `json:"detail,omitempty"` // the tool that gives one
	Input  string            `json:"input,omitempty"`  // its input that takes the id; empty: id
	List   string            `json:"list,omitempty"`   // the tool that gives many
	Href   string            `json:"href,omitempty"`   // of the page; empty: one of this program's
}

// InputOf is the detail tool's input that takes the id.
func (e Entity) InputOf() string {
	if e.Detail == "" {
		return ""
	}
	return cmp.Or(e.Input, "id")
}

// Decode reads a data.source.
func Decode(doc []byte) (Source, error) {
	var s Source
	if err := json.Unmarshal(doc, &s); err != nil {
		return Source{}, fmt.Errorf("the data.source is not readable: %w", err)
	}
	return s, nil
}

// PageOf is where a record's page is: the firm's own, or one of this program.
func PageOf(source, entity string, e Entity, id string) string {
	if e.Href != "" {
		return strings.ReplaceAll(e.Href, "{id}", url.PathEscape(id))
	}
	return "/r/" + url.PathEscape(source) + "/" + url.PathEscape(entity) + "/" + url.PathEscape(id)
}

// Timeout is how long one query may take.
func (s Source) Timeout() time.Duration {
	if s.Limits.TimeoutMS <= 0 {
		return DefaultTimeout
	}
	return min(time.Duration(s.Limits.TimeoutMS)*time.Millisecond, MaxTimeout)
}

// Rows is how many rows a part of a query may give.
func (s Source) Rows() int {
	if s.Limits.Rows <= 0 {
		return DefaultRows
	}
	return min(s.Limits.Rows, MaxRows)
}

// Part is one statement over a source's relations, as it is sent: the relations
// it names stand in front, and Names are its parameters in order of first use.
type Part struct {
	SQL   string
	Names []string
}

// Relation names that would hide what SQL means by them.
var plainName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Statement makes a statement over the relations.
func (s Source) Statement(sql string) (Part, error) {
	main, err := scan(sql)
	if err != nil {
		return Part{}, err
	}
	var order []string
	state := map[string]int{}
	var visit func(name string) error
	visit = func(name string) error {
		switch state[name] {
		case 1:
			return fmt.Errorf("the relation %q leads back to itself", name)
		case 2:
			return nil
		}
		state[name] = 1
		inner, err := scan(s.Relations[name])
		if err != nil {
			return fmt.Errorf("the relation %q: %w", name, err)
		}
		for _, of := range inner.uses(s.Relations) {
			if err := visit(of); err != nil {
				return err
			}
		}
		state[name] = 2
		order = append(order, name)
		return nil
	}
	for _, name := range main.uses(s.Relations) {
		if err := visit(name); err != nil {
			return Part{}, err
		}
	}
	if len(order) == 0 {
		return Part{SQL: main.text, Names: main.parameters()}, nil
	}
	var b strings.Builder
	b.WriteString("WITH ")
	if main.recursive() || slices.ContainsFunc(order, func(name string) bool { return s.recursive(name) }) {
		b.WriteString("RECURSIVE ")
	}
	for i, name := range order {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(`"` + name + `" AS (` + strings.TrimSpace(s.Relations[name]) + ")")
	}
	if rest, with := main.afterWith(); with {
		b.WriteString(",\n" + rest)
	} else {
		b.WriteString("\n" + main.text)
	}
	whole, err := scan(b.String())
	if err != nil {
		return Part{}, err
	}
	return Part{SQL: whole.text, Names: whole.parameters()}, nil
}

func (s Source) recursive(relation string) bool {
	of, err := scan(s.Relations[relation])
	return err == nil && of.recursive()
}

// Faults are what is wrong with a source that its schema cannot say.
func (s Source) Faults() []check.Fault {
	var found []check.Fault
	add := func(path, hint, format string, args ...any) {
		found = append(found, check.Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	session := func(path string, p Part, also ...string) {
		for _, name := range p.Names {
			if !IsSession(name) && !slices.Contains(also, name) {
				add(path, "use :viewer, :viewer_id, :tenant, :today, :today_plus_7 or :locale", "a relation knows no inputs, and :%s is one", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Relations)) {
		path := "/relations/" + name
		if !plainName.MatchString(name) || reserved[name] {
			add(path, "use lower-case letters, digits and underscores", "%q cannot be the name of a relation", name)
			continue
		}
		p, err := s.Statement("select * from " + name)
		if err != nil {
			add(path, "write one SELECT", "%s", err)
			continue
		}
		session(path, p)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Keys)) {
		path := "/keys/" + name
		p, err := s.Statement(s.Keys[name])
		if err != nil {
			add(path, "write one SELECT", "%s", err)
			continue
		}
		if !slices.Contains(p.Names, "ids") || !p.asks("viewer") {
			add(path, "select those of :ids that :viewer may see", "the statement does not ask for :ids and :viewer, so it tells nobody apart")
		}
		session(path, p, "ids")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Session)) {
		if v, is := strings.CutPrefix(s.Session[name], ":"); is && !IsSession(v) {
			add("/session/"+name, "write :viewer, :viewer_id, :tenant, :today or :locale", "a session knows no %q", s.Session[name])
		}
		if lower := strings.ToLower(name); s.Driver == SQLite || !strings.Contains(name, ".") && lower != "search_path" && lower != "timezone" {
			add("/session/"+name, "name a setting of your own, such as app.user; on SQLite there are none", "%q is no setting a source may make", name)
		}
	}
	return found
}

// asks reports whether a statement's own text, or a relation before it, has a
// parameter.
func (p Part) asks(name string) bool {
	return slices.Contains(p.Names, name) || slices.Contains(p.Names, name+"_id")
}

// The drivers there are.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

// sessionNames are what a query knows of who asks.
var sessionNames = []string{"viewer", "viewer_id", "tenant", "today", "locale"}

var shifted = regexp.MustCompile(`^today_(plus|minus)_(\d{1,4})$`)

// IsSession reports whether a parameter comes from the session.
func IsSession(name string) bool {
	return slices.Contains(sessionNames, name) || shifted.MatchString(name)
}
