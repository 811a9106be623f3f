package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// scanned is a statement cut into tokens.
type scanned struct {
	text   string
	tokens []token
}

type form int

const (
	word  form = iota // an identifier or a keyword, in lower case
	named             // an identifier in quotes
	param             // :name
	other             // a literal, a number, a sign
)

type token struct {
	form       form
	text       string
	start, end int // in the statement
}

// writes are words that no statement here has outside quotes: what changes data,
// what changes the session, and what reaches the server itself.
var writes = []string{
	"insert", "update", "delete", "merge", "truncate", "drop", "create", "alter", "grant", "revoke", "copy", "call", "do",
	"execute", "prepare", "deallocate", "vacuum", "analyze", "reindex", "cluster", "lock", "listen", "notify", "unlisten",
	"set", "reset", "begin", "commit", "rollback", "savepoint", "release", "attach", "detach", "pragma", "into", "replace",
	"set_config", "load_extension", "readfile", "writefile", "nextval", "setval", "query_to_xml", "table_to_xml",
	"xmlparse", "currval", "lastval",
}

// reaches are beginnings of functions that reach the server, its files or other
// servers, or wait.
var reaches = []string{"pg_", "lo_", "dblink", "database_to_", "schema_to_", "cursor_to_"}

// functions whose names are words of writes and that only compute.
var computes = map[string]bool{"replace": true}

// reserved are words that cannot name a relation.
var reserved = map[string]bool{
	"select": true, "from": true, "where": true, "group": true, "order": true, "with": true, "union": true, "join": true,
	"limit": true, "offset": true, "and": true, "or": true, "not": true, "case": true, "when": true, "then": true, "else": true, "end": true,
	"table": true, "values": true, "as": true, "on": true, "in": true, "is": true, "null": true, "user": true,
}

// scan cuts a statement and refuses what is not one SELECT.
func scan(sql string) (scanned, error) {
	s := scanned{text: strings.TrimSpace(sql)}
	for at := 0; at < len(s.text); {
		t, end, err := s.next(at)
		if err != nil {
			return scanned{}, err
		}
		if t != nil {
			s.tokens = append(s.tokens, *t)
		}
		at = end
	}
	if len(s.tokens) == 0 || s.tokens[0].form != word || s.tokens[0].text != "select" && s.tokens[0].text != "with" {
		return scanned{}, errors.New("a statement begins with SELECT or WITH")
	}
	for i, t := range s.tokens {
		if t.form == other && t.text == ";" {
			return scanned{}, errors.New("there is one statement, without a semicolon")
		}
		if t.form == named && s.callee(i) {
			return scanned{}, fmt.Errorf("the function %s is called by a name in quotes", t.text)
		}
		if t.form != word || i > 0 && s.tokens[i-1].text == "." && !s.callee(i) {
			continue // a column or a table of that name
		}
		if slices.Contains(writes, t.text) && !(computes[t.text] && s.callee(i)) {
			return scanned{}, fmt.Errorf("a statement reads, and %s is not for that", strings.ToUpper(t.text))
		}
		if slices.ContainsFunc(reaches, func(p string) bool { return strings.HasPrefix(t.text, p) }) {
			return scanned{}, fmt.Errorf("a statement reads tables, and %s reaches the server", t.text)
		}
	}
	return s, nil
}

// callee reports whether a token is followed by an opening bracket.
func (s scanned) callee(i int) bool { return i+1 < len(s.tokens) && s.tokens[i+1].text == "(" }

// next is the token at a byte, nil for space and comments.
func (s scanned) next(at int) (*token, int, error) {
	text := s.text
	c := text[at]
	rest := text[at:]
	switch {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		return nil, at + 1, nil
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "/*"):
		return nil, 0, errors.New("a statement has no comments: say it in the description")
	case c == '\\' || c == 0:
		return nil, 0, fmt.Errorf("the sign %q has no place in a statement", c)
	case c == '\'' || c == '"':
		end, err := quoted(text, at, c)
		if err != nil {
			return nil, 0, err
		}
		if c == '"' {
			return &token{named, strings.ReplaceAll(text[at+1:end-1], `""`, `"`), at, end}, end, nil
		}
		return &token{other, "''", at, end}, end, nil
	case c == '$':
		return nil, 0, errors.New("write texts in single quotes, and parameters as :name")
	case c == '?' || c == '@' || c == '#' || c == '`' || c == '[':
		return nil, 0, fmt.Errorf("the sign %q is not one both databases read alike; parameters are :name", c)
	case strings.HasPrefix(rest, "::"):
		return &token{other, "::", at, at + 2}, at + 2, nil
	case c == ':':
		end := at + 1
		for end < len(text) && letter(text[end]) {
			end++
		}
		if end == at+1 {
			return nil, 0, errors.New("a colon begins the name of a parameter")
		}
		return &token{param, text[at+1 : end], at, end}, end, nil
	case c >= '0' && c <= '9':
		end := at + 1
		for end < len(text) && (letter(text[end]) || text[end] == '.') {
			end++
		}
		return &token{other, "0", at, end}, end, nil
	case letter(c) || c >= 0x80:
		end := at + 1
		for end < len(text) && (letter(text[end]) || text[end] >= 0x80) {
			end++
		}
		if end < len(text) && text[end] == '\'' && end-at <= 2 { // E'…', U&'…', X'…'
			return nil, 0, errors.New("write texts in plain single quotes")
		}
		return &token{word, strings.ToLower(text[at:end]), at, end}, end, nil
	}
	return &token{other, string(c), at, at + 1}, at + 1, nil
}

func quoted(text string, at int, quote byte) (end int, err error) {
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1, nil
		}
	}
	return 0, errors.New("a quote is not closed")
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// uses are the relations a statement names, in the order of their first use. What
// follows a dot is a column or another schema's.
func (s scanned) uses(relations map[string]string) []string {
	var found []string
	for i, t := range s.tokens {
		if t.form != word && t.form != named || i > 0 && s.tokens[i-1].text == "." {
			continue
		}
		if _, is := relations[t.text]; is && !reserved[t.text] && !slices.Contains(found, t.text) && !s.qualifies(i) {
			found = append(found, t.text)
		}
	}
	return found
}

// qualifies reports whether a token is a schema before a table: name . name
// behind FROM or JOIN.
func (s scanned) qualifies(i int) bool {
	return i > 0 && i+1 < len(s.tokens) && s.tokens[i+1].text == "." &&
		(s.tokens[i-1].text == "from" || s.tokens[i-1].text == "join" || s.tokens[i-1].text == ",")
}

// parameters are the names in order of first use.
func (s scanned) parameters() []string {
	var names []string
	for _, t := range s.tokens {
		if t.form == param && !slices.Contains(names, t.text) {
			names = append(names, t.text)
		}
	}
	return names
}

// afterWith is what follows a WITH the statement begins with.
func (s scanned) afterWith() (string, bool) {
	if s.tokens[0].text != "with" {
		return "", false
	}
	at := s.tokens[0].end
	if len(s.tokens) > 1 && s.tokens[1].text == "recursive" {
		at = s.tokens[1].end
	}
	return strings.TrimSpace(s.text[at:]), true
}

// recursive reports whether a statement is one.
func (s scanned) recursive() bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.form == word && t.text == "recursive" })
}

// Bind writes a statement's parameters as the driver's places, and gives their
// values in order. A list becomes as many; an empty one is NULL, which nothing
// equals. place writes the n-th place, from 1, for a value.
func Bind(sql string, values map[string]any, place func(n int, v any) string) (string, []any, error) {
	s, err := scan(sql)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	var args []any
	last := 0
	for _, t := range s.tokens {
		if t.form != param {
			continue
		}
		v, known := values[t.text]
		if !known {
			return "", nil, fmt.Errorf("nothing is known of the parameter :%s", t.text)
		}
		b.WriteString(s.text[last:t.start])
		last = t.end
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for i, one := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			if one == nil {
				b.WriteString("NULL") // of no type: a database would guess one for a place
				continue
			}
			args = append(args, one)
			b.WriteString(place(len(args), one))
		}
		if isList && len(list) == 0 {
			b.WriteString("NULL")
		}
	}
	b.WriteString(s.text[last:])
	return b.String(), args, nil
}
