package extractive

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"liminal/internal/model"
)

// papers is what is known of a person's documents when a message is read: the
// data of the role "documents".
type papers struct {
	Registry map[string]string                  `json:"registry"` // title to id, of this conversation
	Titles   []struct{ ID, Title, File string } `json:"titles"`   // all there are
	Explicit []string                           `json:"explicit"` // tagged already
	Action   string                             `json:"action"`
	all      []titled                           // Titles and Registry, read
	used     []string                           // ids of Registry, in the order of Titles
	history  [][]string                         // ids each earlier message names, newest first
}

// readPapers reads the data that came with a message, and the messages before.
func readPapers(data string, earlier []model.Message) papers {
	var p papers
	if json.Unmarshal([]byte(data), &p) != nil {
		return p
	}
	seen := map[string]bool{}
	add := func(id, title, file string) {
		if id != "" && title != "" && !seen[id] {
			seen[id] = true
			p.all = append(p.all, newTitled(id, title, file))
		}
	}
	for _, t := range p.Titles {
		add(t.ID, t.Title, t.File)
	}
	titles := make([]string, 0, len(p.Registry))
	for title := range p.Registry {
		titles = append(titles, title)
	}
	slices.Sort(titles)
	for _, title := range titles {
		add(p.Registry[title], title, "")
	}
	for _, d := range p.all {
		for _, id := range p.Registry {
			if id == d.id && !slices.Contains(p.used, id) {
				p.used = append(p.used, id)
			}
		}
	}
	for _, m := range slices.Backward(earlier) {
		r := newReading(p, textOf(m))
		r.wholeTitles()
		p.history = append(p.history, r.ids())
	}
	if len(p.used) == 0 {
		for _, list := range p.history {
			p.used = union(p.used, list)
		}
	}
	return p
}

func textOf(m model.Message) string {
	var text strings.Builder
	for _, b := range m.Content {
		if b.Type == model.Text {
			text.WriteString(b.Text + "\n")
		}
	}
	return text.String()
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// mention is a document a message names, and where.
type mention struct {
	id string
	at int
}

// reading is a message as it is searched for documents.
type reading struct {
	papers
	text      string
	tokens    []token
	taken     []bool // of tokens: part of a name that was found
	mentions  []mention
	unknown   []string // names that fit no title
	suggested []string
	implicit  bool // documents are meant without being named
	lost      bool // one is meant that cannot be told
}

func newReading(p papers, text string) *reading {
	tokens := p.unversioned(tokensOf(text))
	return &reading{papers: p, text: text, tokens: tokens, taken: make([]bool, len(tokens))}
}

// unversioned takes the "v" off what stands before a number, where names are
// written without it: "GPLv3" is "GPL-3".
func (p papers) unversioned(tokens []token) []token {
	for i, t := range tokens[:max(len(tokens)-1, 0)] {
		short, cut := strings.CutSuffix(t.text, "v")
		if !cut || short == "" || tokens[i+1].start != t.end {
			continue
		}
		known := func(w string) bool {
			return slices.ContainsFunc(p.all, func(d titled) bool {
				return slices.ContainsFunc(d.words(), func(t token) bool { return t.text == w })
			})
		}
		if known(short) && !known(t.text) {
			tokens[i].text, tokens[i].en, tokens[i].de = short, short, short
		}
	}
	return tokens
}

// ids are the documents that were found, in the order they are named.
func (r *reading) ids() []string {
	list := slices.Clone(r.mentions)
	slices.SortStableFunc(list, func(a, b mention) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, m := range list {
		out = union(out, []string{m.id})
	}
	return out
}

// longMessage is from how many bytes only what opens a message is searched:
// the rest is a text it is about.
const longMessage = 600

// references tells which documents a message means, by rules: those whose
// titles or distinctive parts of titles it names, and those of the
// conversation it points back to.
func (t turn) references() map[string]any {
	p := readPapers(t.material["data"], t.req.Messages[:max(len(t.req.Messages)-1, 0)])
	text := t.question
	if p.Action == doCheck || len(text) > longMessage {
		text = opening(text)
	}
	r := newReading(p, text)
	if everything.MatchString(strings.ToLower(text)) {
		for _, d := range p.all {
			r.mentions = append(r.mentions, mention{d.id, 0})
		}
		return r.values()
	}
	r.wholeTitles()
	r.scattered()
	r.handles()
	r.phrases()
	r.names()
	r.pointers()
	return r.values()
}

// values are what was found under the names of the schema.
func (r *reading) values() map[string]any {
	resolved := slices.DeleteFunc(r.ids(), func(id string) bool { return slices.Contains(r.Explicit, id) })
	suggested := slices.DeleteFunc(r.suggested, func(id string) bool { return slices.Contains(resolved, id) })
	confidence, why := sure, "named, or none is meant"
	switch {
	case len(suggested) > 0:
		confidence, why = probable, "several fit"
	case len(r.unknown) > 0:
		confidence, why = unsure, "a name fits no title"
	case r.lost && len(resolved)+len(r.Explicit) == 0:
		confidence, why = unsure, "one is meant and cannot be told"
	}
	return map[string]any{
		"resolved_uuids": list(resolved), "unresolved_names": list(r.unknown), "suggested_uuids": list(suggested),
		"inference_confidence": confidence, "has_implicit_refs": r.implicit, "reasoning": why,
	}
}
