package rehearsal

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"liminal/internal/graph"
)

// renamed finds the nodes a change only gave another name: by the new name the
// old one. A node was renamed when an old name is gone and exactly one new node
// is of the same type, does the same and stands between the same neighbours, or
// else stands at the same place of the document and does the same.
func renamed(before, after *graph.Graph) map[string]string {
	was, is := before.Shapes(), after.Shapes()
	gone := missing(was, is)
	fresh := missing(is, was)
	names := map[string]string{}
	if len(gone) == 0 || len(fresh) == 0 {
		return names
	}
	pair(names, places(before, was, gone), places(after, is, fresh))
	for i := range min(len(was), len(is)) {
		a, b := was[i], is[i]
		_, done := names[b.ID]
		if !done && gone[a.ID] && fresh[b.ID] && !taken(names, a.ID) && a.Type == b.Type && a.Does == b.Does {
			names[b.ID] = a.ID
		}
	}
	return names
}

func taken(names map[string]string, old string) bool {
	for _, was := range names {
		if was == old {
			return true
		}
	}
	return false
}

// missing are the ids of shapes that are not among others.
func missing(shapes, others []graph.Shape) map[string]bool {
	there := map[string]bool{}
	for _, s := range others {
		there[s.ID] = true
	}
	out := map[string]bool{}
	for _, s := range shapes {
		if !there[s.ID] {
			out[s.ID] = true
		}
	}
	return out
}

// pair names those that are alike and the only ones of their kind on each side.
func pair(names map[string]string, old, fresh map[string][]string) {
	for place, ids := range fresh {
		if was := old[place]; len(ids) == 1 && len(was) == 1 {
			names[ids[0]] = was[0]
		}
	}
}

// places describes where each of some nodes stands, by what both documents
// have: the ids of nodes by their description.
func places(g *graph.Graph, shapes []graph.Shape, of map[string]bool) map[string][]string {
	known := func(id string) string {
		if of[id] {
			return "?"
		}
		return id
	}
	from, to := map[string][]string{}, map[string][]string{}
	if of[g.Entrypoint()] {
		from[g.Entrypoint()] = []string{"the start"}
	}
	for _, e := range g.Edges() {
		from[e.To] = append(from[e.To], known(e.From))
		to[e.From] = append(to[e.From], known(e.To))
	}
	out := map[string][]string{}
	for _, s := range shapes {
		if !of[s.ID] {
			continue
		}
		slices.Sort(from[s.ID])
		place := strings.Join([]string{
			string(s.Type), s.Does, strings.Join(from[s.ID], ","), strings.Join(to[s.ID], ","),
		}, "|")
		out[place] = append(out[place], s.ID)
	}
	return out
}

// regiven are the nodes of a new document, by their names in it, that give what
// they call or ask something else than before. A record holds results and not
// what they were made of, so they are taken all the same, and a reader of the
// report must know.
func regiven(before, after json.RawMessage, names map[string]string) []string {
	was, is := givings(before), givings(after)
	var other []string
	for _, id := range sortedNames(is) {
		old, there := was[cmp.Or(names[id], id)]
		if there && old.Type == is[id].Type && !reflect.DeepEqual(old, is[id]) {
			other = append(other, id)
		}
	}
	return other
}

// giving is what a node gives to what it calls or asks.
type giving struct {
	Type    string `json:"type"`
	Inputs  any    `json:"inputs"`
	Model   any    `json:"model"`
	System  any    `json:"system"`
	Message any    `json:"message"`
}

func givings(doc json.RawMessage) map[string]giving {
	var d struct {
		Nodes []struct {
			ID string `json:"id"`
			giving
		} `json:"nodes"`
	}
	nodes := map[string]giving{}
	if json.Unmarshal(doc, &d) != nil {
		return nodes
	}
	for _, n := range d.Nodes {
		nodes[n.ID] = n.giving
	}
	return nodes
}
