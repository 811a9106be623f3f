package tool

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"liminal/internal/words"
)

// Words is a text, or one for each language.
type Words = words.Texts

// Shown says how records in a result are told: one text for the keyless answer,
// the evidence line, and record pages.
type Shown struct {
	In      string `json:"in,omitempty"`     // the member of the result; empty: the result itself
	Entity  string `json:"entity,omitempty"` // as the source calls it; empty: no links
	ID      string `json:"id,omitempty"`     // the member of a record; empty: id
	Line    Words  `json:"line"`
	Title   Words  `json:"title,omitempty"` // of the link; nil: the line
	Heading Words  `json:"heading,omitempty"`
	Summary Words  `json:"summary,omitempty"`
	Empty   Words  `json:"empty,omitempty"`
	// Values are what a member's values are called in a line and a title, such as
	// {"status": {"pending": {"de": "offen"}}}; any other reads as it is.
	Values map[string]map[string]Words `json:"values,omitempty"`
}

// Record is one row of a result as people see it.
type Record struct {
	Entity, ID  string
	Line, Title string
	Values      map[string]any
}

// Records are those of a result, in its order, told in a language.
func (s Shown) Records(out map[string]any, locale string) []Record {
	var rows []any
	switch v := any(out); {
	case s.In == "":
		rows = []any{v}
	default:
		if list, ok := out[s.In].([]any); ok {
			rows = list
		} else if one, ok := out[s.In].(map[string]any); ok {
			rows = []any{one}
		}
	}
	var records []Record
	for _, row := range rows {
		values, ok := row.(map[string]any)
		if !ok {
			continue
		}
		called := s.called(values, locale)
		r := Record{Entity: s.Entity, Values: values, Line: Fill(s.Line.In(locale), called, locale)}
		if r.Line == "" {
			continue
		}
		r.Title = r.Line
		if s.Title != nil {
			r.Title = Fill(s.Title.In(locale), called, locale)
		}
		if s.Entity != "" {
			key := s.ID
			if key == "" {
				key = "id"
			}
			r.ID = scalar(values[key], "")
		}
		records = append(records, r)
	}
	return records
}

// called is a record with its values as Values calls them.
func (s Shown) called(record map[string]any, locale string) map[string]any {
	if s.Values == nil {
		return record
	}
	told := maps.Clone(record)
	for member, names := range s.Values {
		value, _ := record[member].(string)
		if name := names[value].In(locale); name != "" {
			told[member] = name
		}
	}
	return told
}

// Summarise is a result in a few words, as evidence (GRND-20); empty where Shows
// says nothing.
func (s Spec) Summarise(out map[string]any, locale string) string {
	if IsMissing(out) {
		return ""
	}
	var said []string
	for _, shown := range s.Shows {
		if shown.Summary == nil {
			continue
		}
		n := len(shown.Records(out, locale))
		line := plural.ReplaceAllStringFunc(shown.Summary.In(locale), func(of string) string {
			m := plural.FindStringSubmatch(of)
			if n == 1 {
				return m[1]
			}
			return m[2]
		})
		said = append(said, Fill(line, map[string]any{"n": float64(n)}, locale))
	}
	return strings.Join(said, ", ")
}

var (
	optional    = regexp.MustCompile(`\[[^\[\]]*\]`)
	plural      = regexp.MustCompile(`\{n\|([^{}|]*)\|([^{}|]*)\}`) // one, or any other number
	placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)
)

// Fill writes values into a line: {name} is a member, and a part in square
// brackets falls away when a member in it is empty.
func Fill(line string, values map[string]any, locale string) string {
	line = optional.ReplaceAllStringFunc(line, func(part string) string {
		for _, m := range placeholder.FindAllStringSubmatch(part, -1) {
			if scalar(values[m[1]], locale) == "" {
				return ""
			}
		}
		return part[1 : len(part)-1]
	})
	return strings.TrimSpace(placeholder.ReplaceAllStringFunc(line, func(name string) string {
		return scalar(values[name[1:len(name)-1]], locale)
	}))
}

// scalar is a value as a person reads it; dates are written as the language
// writes them.
func scalar(v any, locale string) string {
	switch v := v.(type) {
	case string:
		return dated(v, locale)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// dated is a text, or what a date in ISO form reads like.
func dated(text, locale string) string {
	german := strings.HasPrefix(strings.ToLower(locale), "de")
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if german {
			return day.Format("02.01.2006")
		}
		return text
	}
	if at, err := time.Parse("2006-01-02T15:04", text); err == nil {
		if german {
			return at.Format("02.01.2006, 15:04")
		}
		return at.Format("2006-01-02 15:04")
	}
	return text
}
