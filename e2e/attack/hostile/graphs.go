package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

//go:embed graphs/*.json
var corpus embed.FS

// What should come of a graph.
const (
	// Refused: one of the steps before the start is refused for good.
	Refused = "refused"
	// Bounded: it is refused, or runs until a bound ends it with a code that
	// says whose fault it is, or is at work within its bounds until cancelled.
	Bounded = "bounded"
	// Done: it is dear, but fine.
	Done = "done"
)

// Graph is one file of the corpus.
type Graph struct {
	Name   string `json:"-"`
	About  string `json:"about"`
	Steps  []Step `json:"steps"`
	Start  Start  `json:"start"`
	Expect Expect `json:"expect"`
}

// Step is something written before the start: an artifact made, patched or put
// back to an earlier version, a document uploaded.
type Step struct {
	Create  string         `json:"create"` // workflow or tool
	Name    string         `json:"name"`
	Schema  map[string]any `json:"schema"`
	Patch   string         `json:"patch"` // the name of an artifact made before
	Ops     []any          `json:"ops"`
	Restore string         `json:"restore"` // the same, with Version
	Version int            `json:"version"`
	Upload  string         `json:"upload"` // a file's name
	Text    string         `json:"text"`
}

// Start is how the person begins.
type Start struct {
	How     string         `json:"how"` // workflow, chat or tool
	Target  string         `json:"target"`
	Input   map[string]any `json:"input"`
	Message string         `json:"message"`
	Times   int            `json:"times"`  // so many at once; 1
	Thread  bool           `json:"thread"` // chat: all turns in one conversation
}

// Expect is what should come of it.
type Expect struct {
	Outcome string   `json:"outcome"`
	Says    []string `json:"says"` // words that the refusal must have
}

// graphs reads the files of a folder, in the order of their names.
func graphs(folder fs.FS) ([]Graph, error) {
	names, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, err
	}
	var all []Graph
	for _, name := range names {
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		g, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		g.Name = strings.TrimSuffix(name, ".json")
		all = append(all, g)
	}
	return all, nil
}

// read expands what a file abbreviates, and reads it.
func read(raw []byte) (g Graph, err error) {
	var short any
	if err := json.Unmarshal(raw, &short); err != nil {
		return g, err
	}
	long, err := expanded(short, nil)
	if err != nil {
		return g, err
	}
	if raw, err = json.Marshal(long); err != nil {
		return g, err
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		return g, err
	}
	if !slices.Contains([]string{Refused, Bounded, Done}, g.Expect.Outcome) {
		return g, fmt.Errorf("nothing is expected of it: %q", g.Expect.Outcome)
	}
	if g.About == "" || len(g.Steps) == 0 {
		return g, errors.New("it does not say what it is about, or writes nothing")
	}
	g.Start.Times = max(1, g.Start.Times)
	return g, nil
}

// expanded replaces abbreviations, so that a file stays readable however large
// the graph is:
//
//	{"$text": "ab", "times": 3}              "ababab"
//	{"$join": [x, y]}                        the texts in one
//	{"$range": 3}                            [0, 1, 2]
//	{"$each": [1, 3], "of": x}               [x, x, x], <i> in it is 1, 2, 3;
//	                                         in a list it becomes three entries
//	{"$deep": 3, "of": x}                    [[[x]]]
//
// <i+1> and <i-1> are the neighbours; a text that is only <i> is a number.
func expanded(v any, i *int) (any, error) {
	switch x := v.(type) {
	case string:
		return placed(x, i), nil
	case []any:
		out := []any{}
		for _, e := range x {
			one, err := expanded(e, i)
			if err != nil {
				return nil, err
			}
			if m, ok := e.(map[string]any); ok && m["$each"] != nil {
				out = append(out, one.([]any)...)
				continue
			}
			out = append(out, one)
		}
		return out, nil
	case map[string]any:
		if short, err := abbreviated(x, i); short != nil || err != nil {
			return short, err
		}
		out := map[string]any{}
		for key, e := range x {
			one, err := expanded(e, i)
			if err != nil {
				return nil, err
			}
			out[fmt.Sprint(placed(key, i))] = one
		}
		return out, nil
	}
	return v, nil
}

// abbreviated is what an abbreviation stands for; nil when it is none.
func abbreviated(m map[string]any, i *int) (any, error) {
	switch {
	case m["$text"] != nil:
		n, _ := m["times"].(float64)
		return strings.Repeat(fmt.Sprint(placed(fmt.Sprint(m["$text"]), i)), int(n)), nil
	case m["$range"] != nil:
		n, _ := m["$range"].(float64)
		out := []any{}
		for k := range int(n) {
			out = append(out, k)
		}
		return out, nil
	case m["$join"] != nil:
		parts, err := expanded(m["$join"], i)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, p := range parts.([]any) {
			fmt.Fprint(&b, p)
		}
		return b.String(), nil
	case m["$each"] != nil:
		return each(m)
	case m["$deep"] != nil:
		n, _ := m["$deep"].(float64)
		out, err := expanded(m["of"], i)
		for range int(n) {
			out = []any{out}
		}
		return out, err
	}
	return nil, nil
}

// each repeats a value with every number from the first to the last, upwards
// or downwards.
func each(m map[string]any) (any, error) {
	bounds, _ := m["$each"].([]any)
	if len(bounds) != 2 {
		return nil, errors.New("$each needs a first and a last number")
	}
	first, _ := bounds[0].(float64)
	last, _ := bounds[1].(float64)
	step := 1
	if last < first {
		step = -1
	}
	out := []any{}
	for k := int(first); ; k += step {
		one, err := expanded(m["of"], &k)
		if err != nil {
			return nil, err
		}
		if out = append(out, one); k == int(last) {
			return out, nil
		}
	}
}

func placed(s string, i *int) any {
	if i == nil {
		return s
	}
	if s == "<i>" {
		return *i
	}
	return strings.NewReplacer("<i>", strconv.Itoa(*i), "<i+1>", strconv.Itoa(*i+1), "<i-1>", strconv.Itoa(*i-1)).Replace(s)
}
