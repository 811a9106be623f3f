package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/data"
	"liminal/schemas"
)

// The tools of the program that carry out what a spec says in Via.
const (
	RunnerQuery = "data.query_v1"
	RunnerHTTP  = "http.call_v1"
	RunnerMCP   = "mcp.call_v1"
)

// Via says how a tool is carried out that is data: exactly one member is set.
type Via struct {
	Query *Query   `json:"query,omitempty"`
	Tool  *Renamed `json:"tool,omitempty"`
	HTTP  *HTTP    `json:"http,omitempty"`
	MCP   *MCP     `json:"mcp,omitempty"`
}

// far reports whether the tool is carried out by another program than this one.
func (v *Via) far() bool { return v.Query != nil || v.HTTP != nil || v.MCP != nil }

// Query reads a data.source: Parts are the members of the result.
type Query struct {
	Source string          `json:"source"`
	Parts  map[string]Part `json:"parts"`
	Hide   []string        `json:"hide,omitempty"` // columns that are checked and not told
}

// Of is what a spec with this query asks of its source, without the inputs of a
// call.
func (q *Query) Of(s Spec) data.Query {
	asked := data.Query{Tool: s.Name, Hide: q.Hide, Known: s.Described(), Parts: map[string]data.Statement{}}
	for name, p := range q.Parts {
		st := data.Statement{SQL: p.SQL, One: p.One}
		if p.Nest != nil {
			st.Nest = &data.Nest{Into: p.Nest.Into, By: p.Nest.By, As: p.Nest.As, Limit: p.Nest.Limit}
		}
		asked.Parts[name] = st
	}
	return asked
}

// Part is one statement of a Query.
type Part struct {
	SQL  string `json:"sql"`
	One  bool   `json:"one,omitempty"` // the first row; without one the whole result is Missing
	Nest *Nest  `json:"nest,omitempty"`
}

// Nest hangs the rows of a part under those of another.
type Nest struct {
	Into  string `json:"into"`
	By    string `json:"by"`
	As    string `json:"as"`
	Limit int    `json:"limit,omitempty"`
}

// Renamed calls another tool. In Inputs {"$input": name} is an input of this
// one, in Returns {"$output": pointer} is a part of the other's result.
type Renamed struct {
	Name    string         `json:"name"`
	Inputs  map[string]any `json:"inputs,omitempty"`
	Returns map[string]any `json:"returns,omitempty"`
}

// HTTP asks a server. {name} in URL and Headers is an input, encoded by place.
type HTTP struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       any               `json:"body,omitempty"`
	Result     map[string]any    `json:"result,omitempty"`
	Credential *Credential       `json:"credential,omitempty"`
	Escape     string            `json:"escape,omitempty"`
	// Refusals are, by status of the answer, what is said of it in place of the
	// server's own words.
	Refusals map[string]Words `json:"refusals,omitempty"`
}

// Credential is what goes along in a header: a secret of the house, or the
// account that the call's person connected. It is written as the name of a
// connection.spec, or as an object.
type Credential struct {
	Connection string  `json:"-"`
	Secret     string  `json:"secret"`
	Header     string  `json:"header,omitempty"` // Authorization
	Prefix     *string `json:"prefix,omitempty"` // "Bearer "
}

// UnmarshalJSON takes a text for the name of a connection.
func (c *Credential) UnmarshalJSON(raw []byte) error {
	type plain Credential
	*c = Credential{}
	if json.Unmarshal(raw, &c.Connection) == nil {
		return nil
	}
	return json.Unmarshal(raw, (*plain)(c))
}

// MarshalJSON is what UnmarshalJSON reads.
func (c Credential) MarshalJSON() ([]byte, error) {
	type plain Credential
	if c.Connection != "" {
		return json.Marshal(c.Connection)
	}
	return json.Marshal(plain(c))
}

// Runner names the tool of the program that carries this one out. Of via.tool it
// is that of the tool it stands on.
func (s Spec) Runner() string {
	switch {
	case s.Via == nil:
		return s.Name
	case s.Via.Query != nil:
		return RunnerQuery
	case s.Via.HTTP != nil:
		return RunnerHTTP
	case s.Via.MCP != nil:
		return RunnerMCP
	case s.Via.Tool != nil && s.Over != nil && s.Over.Spec != nil:
		return s.Over.Spec.Runner()
	case s.Via.Tool != nil:
		return s.Via.Tool.Name
	}
	return s.Name
}

// Connection names the connection.spec whose account the calls of the tool are
// made with; "" for none.
func (s Spec) Connection() string {
	switch {
	case s.Via == nil:
		return ""
	case s.Via.HTTP != nil && s.Via.HTTP.Credential != nil:
		return s.Via.HTTP.Credential.Connection
	case s.Via.MCP != nil && s.Over != nil:
		m, _ := DecodeMCPServer(s.Over.Server) // what cannot be read has none
		return m.Auth.Connection
	case s.Via.Tool != nil && s.Over != nil && s.Over.Spec != nil:
		return s.Over.Spec.Connection()
	}
	return ""
}

// ActsOnce reports whether a call does something outside that a second one would do
// once more: that it was begun is written down before it is (TOOL-16).
func (s Spec) ActsOnce() bool {
	return !s.IsIdempotent() && !s.IsJob() && s.Where() == Activity && s.Workflow == ""
}

// Strange reports whether the tool's results are a stranger's to a model
// (SAFE-06).
func (s Spec) Strange() bool {
	if s.Via == nil {
		return s.ContentType == ContentStranger
	}
	return s.ContentType == ContentStranger || s.Via.far() ||
		s.Via.Tool != nil && s.Over != nil && s.Over.Spec != nil && s.Over.Spec.Strange()
}

// ContentStranger is the content type of results that a stranger wrote.
const ContentStranger = "html_untrusted"

// Missing is the result of a query for one record that is not there, or that the
// caller may not see: nothing tells the two apart (GRND-14).
func Missing() map[string]any { return map[string]any{"error": "not found"} }

// IsMissing reports whether out is Missing.
func IsMissing(out map[string]any) bool {
	return len(out) == 1 && out["error"] == "not found"
}

// IsSession reports whether a parameter of a query is the session's, or looks as
// if it were. No input may be called so: it would be taken for the person's word
// on who they are (ISO-10).
func IsSession(name string) bool {
	return data.IsSession(name) || strings.HasPrefix(name, "viewer") || strings.HasPrefix(name, "today_")
}

// viaFaults are what is wrong with Via that the schema cannot say.
func (s Spec) viaFaults() schemas.Faults {
	if s.Via == nil {
		return nil
	}
	var faults schemas.Faults
	add := func(path, hint, format string, args ...any) {
		faults = append(faults, schemas.Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	if s.Workflow != "" {
		add("/via", "leave out one of them", "a tool is carried out by a workflow or by via, not by both")
	}
	if s.Runs == Inline && s.Via.far() {
		add("/runs", "leave it out", "what asks another server cannot run inline")
	}
	if q := s.Via.Query; q != nil {
		for _, name := range s.Described() {
			if IsSession(name) {
				add("/input_schema/properties/"+name, "give the input another name", "%q comes from the session and never from an input", name)
			}
		}
		for name, part := range q.Parts {
			if n := part.Nest; n != nil && (q.Parts[n.Into].SQL == "" || n.Into == name || q.Parts[n.Into].Nest != nil) {
				add("/via/query/parts/"+name+"/nest/into", "name another part that is not nested itself", "there is no part %q to nest into", n.Into)
			}
		}
	}
	return faults
}

// Described are the inputs the schema describes, sorted.
func (s Spec) Described() []string {
	var in shape
	if json.Unmarshal(s.InputSchema, &in) != nil {
		return nil
	}
	names := make([]string, 0, len(in.Properties))
	for name := range in.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
