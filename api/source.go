package api

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/tool"
)

// DataSources are other people's databases that tools read.
type DataSources interface {
	// List is those the viewer may use, by name.
	List(ctx context.Context, v identity.Viewer) ([]DataSourceInfo, error)
	// SetSecret keeps the connection string of a source; Forbidden for all but
	// administrators.
	SetSecret(ctx context.Context, v identity.Viewer, name, secret string) error
	// Check tries one, as the people of these addresses; none: as people who have
	// accounts. Forbidden for all but administrators.
	Check(ctx context.Context, v identity.Viewer, name string, as []string) (data.Report, error)
}

// DataSourceInfo is a source as far as it is told.
type DataSourceInfo struct {
	Name, Title, Driver, Secret string
	SecretSet                   bool
	Entities                    map[string]data.Entity
	Shows                       map[string][]tool.Shown // by tool: how the results of those the entities name are told
}

func (s *server) sourceRoutes() {
	add(s, route("GET /v1/sources", "sources", "Databases that tools read for me, and the kinds of records in them that have pages", scopeRead), s.listSources)
	add(s, route("PUT /v1/sources/{name}/secret", "setSourceSecret", "Set the connection string of one, for administrators; it is sealed, and never shown"), s.setSourceSecret)
	add(s, route("POST /v1/sources/{name}/check", "checkSource", "Try one, for administrators: what is missing, and whether two people see different records"), s.checkSource)
}

// DataSource is a database that tools read. How it is reached is for
// administrators.
type DataSource struct {
	Name      string       `json:"name"`
	Title     string       `json:"title" doc:"in the language of who asks"`
	Entities  []DataEntity `json:"entities" doc:"the kinds of records that have pages"`
	Driver    string       `json:"driver,omitempty" doc:"postgres or sqlite; for administrators"`
	Secret    string       `json:"secret,omitempty" doc:"the name of its connection string; for administrators"`
	SecretSet bool         `json:"secret_set" doc:"false: nothing can be read yet"`
}

// DataEntity is a kind of record with a page at /r/{source}/{entity}/{id}, filled
// by POST /v1/tools/run.
type DataEntity struct {
	Name   string            `json:"name"`
	Title  map[string]string `json:"title" doc:"what such records are called, by language"`
	Detail string            `json:"detail,omitempty" doc:"the tool that gives one"`
	Input  string            `json:"input,omitempty" doc:"the input of that tool that takes the id"`
	List   string            `json:"list,omitempty" doc:"the tool that gives many"`
	Href   string            `json:"href,omitempty" doc:"where its pages are instead, {id} being the id"`

	DetailShows []DataShown `json:"detail_shows" doc:"how the detail tool's result is told"`
	ListShows   []DataShown `json:"list_shows" doc:"how the list tool's result is told"`
}

// DataShown says how records in a tool's result are told: {name} in a line stands
// for a member of the record, and a part in square brackets falls away when a
// member in it is empty. Texts are by language.
type DataShown struct {
	In      string            `json:"in" doc:"the member of the result; empty: the result itself"`
	Entity  string            `json:"entity" doc:"what a record is; empty: it has no page"`
	ID      string            `json:"id" doc:"the member of a record that holds its id"`
	Line    map[string]string `json:"line"`
	Title   map[string]string `json:"title"`
	Heading map[string]string `json:"heading"`
	Empty   map[string]string `json:"empty"`

	Values map[string]map[string]map[string]string `json:"values" doc:"what values of a member are called, by member, value and language; any other reads as it is"`
}

func dataShown(list []tool.Shown) []DataShown {
	out := make([]DataShown, 0, len(list))
	text := func(w tool.Words) map[string]string {
		if w == nil {
			return map[string]string{}
		}
		return w
	}
	for _, s := range list {
		values := map[string]map[string]map[string]string{}
		for member, names := range s.Values {
			values[member] = map[string]map[string]string{}
			for value, name := range names {
				values[member][value] = text(name)
			}
		}
		out = append(out, DataShown{
			In: s.In, Entity: s.Entity, ID: cmp.Or(s.ID, "id"), Line: text(s.Line), Title: text(s.Title), Heading: text(s.Heading), Empty: text(s.Empty), Values: values,
		})
	}
	return out
}

// DataSourceList is all sources.
type DataSourceList struct {
	Data []DataSource `json:"data"`
}

func (s *server) listSources(ctx context.Context, _ *struct{}) (DataSourceList, error) {
	out := DataSourceList{Data: []DataSource{}}
	if s.DataSources == nil {
		return out, nil
	}
	v := viewerOf(ctx)
	list, err := s.DataSources.List(ctx, v)
	if err != nil {
		return out, err
	}
	for _, one := range list {
		d := DataSource{Name: one.Name, Title: one.Title, SecretSet: one.SecretSet, Entities: []DataEntity{}}
		if v.IsAdmin() {
			d.Driver, d.Secret = one.Driver, one.Secret
		}
		for _, name := range slices.Sorted(maps.Keys(one.Entities)) {
			e := one.Entities[name]
			title := e.Title
			if title == nil {
				title = map[string]string{}
			}
			d.Entities = append(d.Entities, DataEntity{Name: name, Title: title, Detail: e.Detail, Input: e.InputOf(), List: e.List, Href: e.Href,
				DetailShows: dataShown(one.Shows[e.Detail]), ListShows: dataShown(one.Shows[e.List])})
		}
		out.Data = append(out.Data, d)
	}
	return out, nil
}

// DataSourceName is the path of a source.
type DataSourceName struct {
	Name string `path:"name" maxLength:"128"`
}

type setSourceSecretInput struct {
	DataSourceName
	Body struct {
		Secret string `json:"secret" maxLength:"4096" doc:"the connection string; empty: none any more"`
	}
}

// There is no Idempotency-Key: what is kept for one is kept longer than a secret
// should be, and a repeat sets the same.
func (s *server) setSourceSecret(ctx context.Context, in *setSourceSecretInput) (Nothing, error) {
	if err := s.looksAfterSources(ctx); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.DataSources.SetSecret(ctx, viewerOf(ctx), in.Name, in.Body.Secret)
}

type checkSourceInput struct {
	DataSourceName
	Body struct {
		As []string `json:"as,omitempty" maxItems:"10" doc:"by what the database knows people, such as their addresses; left out: two who have accounts"`
	}
}

// SourceReport is what a check found.
type SourceReport struct {
	OK     bool             `json:"ok"`
	Faults []string         `json:"faults" doc:"what must be mended before it can be used"`
	Tools  []data.ToolFound `json:"tools"`
	People []data.Seen      `json:"people"`
	Differ Nullable[bool]   `json:"differ" doc:"two of the people see different records; null: fewer than two were asked"`
}

func (s *server) checkSource(ctx context.Context, in *checkSourceInput) (SourceReport, error) {
	v := viewerOf(ctx)
	if err := s.looksAfterSources(ctx); err != nil {
		return SourceReport{}, err
	}
	if err := s.Limits.Spend(ctx, quota.PlanOf(v.Plan).Chat, v.UserID); err != nil {
		return SourceReport{}, err
	}
	r, err := s.DataSources.Check(ctx, v, in.Name, in.Body.As)
	return SourceReport{OK: err == nil && r.OK(), Faults: r.Faults, Tools: r.Tools, People: r.People, Differ: Nullable[bool]{V: r.Differ}}, err
}

// looksAfterSources refuses all but administrators, before anything is looked for.
func (s *server) looksAfterSources(ctx context.Context) error {
	switch {
	case !viewerOf(ctx).IsAdmin():
		return fault.New(fault.Forbidden, "Only administrators look after sources.")
	case s.DataSources == nil:
		return fault.New(fault.NotFound, "There is no such source.")
	}
	return nil
}
