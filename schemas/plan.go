package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/check"
)

// The bounds of a schema that a person wrote. They hold before anything is
// compiled: what is beyond one of them costs no more than its own reading.
const (
	MaxSchema     = 64 << 10 // bytes of JSON
	maxNesting    = 64       // levels of lists and objects in a schema
	maxSubschemas = 2000     // schemas within it; half of it in the drafts after draft-07, which cost more to read
	maxRefs       = 1000     // $ref
	maxChain      = 64       // schemas that apply to one value through each other
	maxExpansion  = 20_000   // schemas that apply to one value, every $ref written out
	maxValues     = 20_000   // elements of all enum and const, 64 bytes of text being one
	maxPattern    = 1024     // bytes of one pattern
	maxProgram    = 4000     // instructions of one pattern
	maxPrograms   = 40_000   // instructions of all patterns
	maxOdd        = 20_000   // elements under references to where no schema stands
)

// plan is what a schema asks of a value, read without the library: which
// schemas apply to what. It refuses what is unbounded, and estimates what a
// check costs.
type plan struct {
	nodes   []*node
	by      map[string]int // pointer to node
	root    any
	id      string // the keyword for a schema's own address
	self    string // the address the whole gives itself
	most    int    // schemas within it
	trusted bool
	refs    int
	values  int
	program int
	odd     int
	sums    sums
	faults  Faults
}

// node is one schema within the whole. The lists are indexes of nodes.
type node struct {
	at       string
	types    kinds // the library looks no further when the value is of none; 0: any
	required int
	values   int // elements of enum and const
	choices  int
	program  int // instructions of pattern
	keys     int // instructions of the patterns of patternProperties
	texts    bool
	numbers  bool
	unique   bool
	shared   bool // more than one schema leads here
	above    int  // the longest chain of schemas for the same value that leads here

	inplace []int
	props   map[string]int
	others  []int // schemas that may apply to any member
	names   []int
	tuple   [][]int // by place
	items   []int   // schemas that may apply to any element
}

// one, listed and named are the keywords that hold a schema, a list and an
// object of schemas, in every draft. Whatever draft a schema names, all of
// them count.
var (
	inplaceOne    = []string{"not", "if", "then", "else"}
	inplaceListed = []string{"allOf", "anyOf", "oneOf"}
	inplaceNamed  = []string{"dependencies", "dependentSchemas"}
	memberOne     = []string{"additionalProperties", "unevaluatedProperties"}
	elementOne    = []string{"items", "additionalItems", "contains", "unevaluatedItems"}
	elementListed = []string{"items", "prefixItems"}
	apartNamed    = []string{"definitions", "$defs"}
	// unknown are keywords that no schema here may use: they lead elsewhere, or
	// ask the library for work that cannot be told beforehand.
	unknown = []string{"$recursiveRef", "$dynamicRef", "$recursiveAnchor", "$dynamicAnchor", "$anchor", "$vocabulary", "regexProperties", "contentSchema"}
	// dialects are the drafts a schema may name.
	dialects = []string{
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema",
		"http://json-schema.org/draft-06/schema", "https://json-schema.org/draft-06/schema",
		"http://json-schema.org/draft-04/schema", "https://json-schema.org/draft-04/schema",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
	}
)

// planned reads a schema. The faults are its own, in order of place; nil when
// it may be compiled.
func planned(source any, trusted bool) (*plan, Faults) {
	p := &plan{by: map[string]int{}, root: source, trusted: trusted, id: "$id", most: maxSubschemas}
	if n := nesting(source, 0); n > maxNesting {
		return p, Faults{{Message: fmt.Sprintf("the schema nests more than %d levels deep", maxNesting), Kind: check.Limits}}
	}
	p.head()
	p.node(source, "")
	if len(p.faults) == 0 {
		p.chains()
	}
	slices.SortStableFunc(p.faults, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	return p, p.faults
}

func (p *plan) fault(kind check.Kind, path, hint, format string, args ...any) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Kind: kind})
	}
}

// head reads what the schema says of itself, and takes it out: the library
// would follow it.
func (p *plan) head() {
	m, ok := p.root.(map[string]any)
	if !ok {
		return
	}
	if draft, there := m["$schema"]; there {
		s, _ := draft.(string)
		if !slices.Contains(dialects, strings.TrimSuffix(s, "#")) {
			p.fault(check.References, "/$schema", "write http://json-schema.org/draft-07/schema#, or leave it out", "there is no draft %s of JSON Schema here", shown(draft))
		}
	}
	switch draft, _ := m["$schema"].(string); {
	case strings.Contains(draft, "draft-04"):
		p.id = "id"
	case strings.Contains(draft, "/draft/20"):
		p.most = maxSubschemas / 2
	}
	if s, ok := m[p.id].(string); ok {
		p.self = strings.TrimSuffix(s, "#")
		delete(m, p.id)
	}
}

// node reads the schema at a place and everything it leads to.
func (p *plan) node(schema any, at string) int {
	if i, known := p.by[at]; known {
		return i
	}
	i, n := len(p.nodes), &node{at: at}
	p.nodes, p.by[at] = append(p.nodes, n), i
	if len(p.nodes) > p.most && !p.trusted {
		if len(p.nodes) == p.most+1 {
			p.fault(check.Limits, "", "", "it has more than %d schemas within it", p.most)
		}
		return i
	}
	m, ok := schema.(map[string]any)
	if !ok {
		return i
	}
	p.refused(m, at)
	p.own(n, m)
	if ref, ok := m["$ref"].(string); ok {
		if target, ok := p.reference(m, ref, at); ok {
			n.inplace = append(n.inplace, target)
		}
	}
	p.sameValue(n, m)
	p.members(n, m)
	p.elements(n, m)
	for _, key := range apartNamed {
		p.named(m, key, at)
	}
	return i
}

// refused looks for what would lead out of the schema.
func (p *plan) refused(m map[string]any, at string) {
	for _, key := range unknown {
		if _, there := m[key]; there {
			p.fault(check.References, at+"/"+key, "name a schema under definitions and write {\"$ref\": \"#/definitions/name\"}", "%s is not known here", key)
		}
	}
	if at == "" {
		return
	}
	if s, ok := m[p.id].(string); ok {
		p.fault(check.References, at+"/"+p.id, "leave it out; a reference is written #/definitions/name", "a schema within a schema has no address of its own, such as %s", shown(s))
	}
	if _, there := m["$schema"]; there {
		p.fault(check.References, at+"/$schema", "leave it out", "only the whole schema names a draft")
	}
}

// reference follows a $ref, which leads to a place of this schema or nowhere.
// It is written anew, so that one place has one name.
func (p *plan) reference(m map[string]any, ref, at string) (int, bool) {
	if p.refs++; p.refs > maxRefs && !p.trusted {
		if p.refs == maxRefs+1 {
			p.fault(check.Limits, "", "", "it has more than %d references", maxRefs)
		}
		return 0, false
	}
	pointer, inside := strings.CutPrefix(ref, "#")
	if whole, fragment, _ := strings.Cut(ref, "#"); !inside && p.self != "" && whole == p.self {
		pointer, inside = fragment, true
	}
	if !inside {
		p.fault(check.References, at+"/$ref", "references start with #, such as #/definitions/name", "the reference to %s leads outside the schema", cut(ref, maxShown))
		return 0, false
	}
	target, place, ok := p.follow(pointer)
	if !ok {
		p.fault(check.References, at+"/$ref", "", "the reference to %s leads nowhere: the schema has no such place", cut(ref, maxShown))
		return 0, false
	}
	m["$ref"] = "#" + place.escaped()
	if _, known := p.by[place.pointer()]; !known {
		if p.odd += weigh(target, maxOdd); p.odd > maxOdd && !p.trusted {
			p.fault(check.Limits, at+"/$ref", "put what is referred to under definitions", "references lead to too much that stands where no schema does")
			return 0, false
		}
	}
	return p.node(target, place.pointer()), true
}

// place is a path into the schema, unescaped.
type place []string

func (l place) pointer() string {
	var b strings.Builder
	for _, token := range l {
		b.WriteString("/" + escapeToken(token))
	}
	return b.String()
}

func (l place) escaped() string {
	var b strings.Builder
	for _, token := range l {
		b.WriteString("/" + url.PathEscape(escapeToken(token)))
	}
	return b.String()
}

func escapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// follow finds what stands at a pointer of a reference.
func (p *plan) follow(pointer string) (any, place, bool) {
	if pointer == "" || pointer == "/" {
		return p.root, nil, true
	}
	if !strings.HasPrefix(pointer, "/") || strings.Count(pointer, "/") > maxNesting {
		return nil, nil, false
	}
	var way place
	at := p.root
	for token := range strings.SplitSeq(pointer[1:], "/") {
		plain, err := url.PathUnescape(token)
		if err != nil {
			return nil, nil, false
		}
		token = unpointer(plain)
		switch x := at.(type) {
		case map[string]any:
			var there bool
			if at, there = x[token]; !there {
				return nil, nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(x) {
				return nil, nil, false
			}
			at, token = x[i], strconv.Itoa(i)
		default:
			return nil, nil, false
		}
		way = append(way, token)
	}
	return at, way, true
}

// own reads what the schema asks of its value itself.
func (p *plan) own(n *node, m map[string]any) {
	n.types = kindsOf(m["type"])
	required, _ := m["required"].([]any)
	n.required = len(required)
	for _, key := range []string{"dependencies", "dependentRequired"} {
		for _, names := range object(m[key]) {
			list, _ := names.([]any)
			n.required += len(list)
		}
	}
	n.unique = m["uniqueItems"] == true
	for _, key := range []string{"format", "minLength", "maxLength", "contentEncoding", "contentMediaType"} {
		_, there := m[key]
		n.texts = n.texts || there
	}
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		_, there := m[key]
		n.numbers = n.numbers || there
	}
	if values, ok := m["enum"].([]any); ok {
		n.values, n.choices = weigh(values, maxValues), len(values)
	}
	if value, ok := m["const"]; ok {
		n.values, n.choices = n.values+weigh(value, maxValues), n.choices+1
	}
	if p.values += n.values; p.values > maxValues && !p.trusted {
		p.fault(check.Limits, n.at, "ask for a text or a number of a form, and check it where it is used", "the values of enum and const are too many or too large")
	}
	if pattern, ok := m["pattern"].(string); ok {
		n.program = p.pattern(pattern, n.at+"/pattern")
	}
}

// pattern gives what a regular expression becomes when it is compiled.
func (p *plan) pattern(source, at string) int {
	size := programOf(source)
	if p.program += size; !p.trusted && (size > maxProgram || p.program > maxPrograms) {
		p.fault(check.Limits, at, "write a shorter one with fewer repetitions", "the pattern %s is too large", shown(cut(source, maxShown)))
	}
	return size
}

// sameValue reads the schemas that apply to the value itself.
func (p *plan) sameValue(n *node, m map[string]any) {
	for _, key := range inplaceOne {
		n.inplace = append(n.inplace, p.one(m, key, n.at)...)
	}
	for _, key := range inplaceListed {
		n.inplace = append(n.inplace, p.listed(m, key, n.at)...)
	}
	for _, key := range inplaceNamed {
		named := p.named(m, key, n.at)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			n.inplace = append(n.inplace, named[name])
		}
	}
}

// members reads the schemas of an object's members.
func (p *plan) members(n *node, m map[string]any) {
	n.props = p.named(m, "properties", n.at)
	patterns := p.named(m, "patternProperties", n.at)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		n.keys += p.pattern(pattern, n.at+"/patternProperties/"+escapeToken(pattern))
		n.others = append(n.others, patterns[pattern])
	}
	for _, key := range memberOne {
		n.others = append(n.others, p.one(m, key, n.at)...)
	}
	n.names = p.one(m, "propertyNames", n.at)
}

// elements reads the schemas of a list's elements.
func (p *plan) elements(n *node, m map[string]any) {
	for _, key := range elementOne {
		n.items = append(n.items, p.one(m, key, n.at)...)
	}
	for _, key := range elementListed {
		if found := p.listed(m, key, n.at); len(found) > 0 {
			n.tuple = append(n.tuple, found)
		}
	}
}

func (p *plan) one(m map[string]any, key, at string) []int {
	switch m[key].(type) {
	case map[string]any, bool:
		return []int{p.node(m[key], at+"/"+key)}
	}
	return nil
}

func (p *plan) listed(m map[string]any, key, at string) []int {
	list, _ := m[key].([]any)
	var out []int
	for i, schema := range list {
		out = append(out, p.node(schema, at+"/"+key+"/"+strconv.Itoa(i)))
	}
	return out
}

func (p *plan) named(m map[string]any, key, at string) map[string]int {
	members := object(m[key])
	out := make(map[string]int, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch schema := members[name].(type) {
		case map[string]any, bool:
			out[name] = p.node(schema, at+"/"+key+"/"+escapeToken(name))
		}
	}
	return out
}

// kinds is a set of JSON types.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBool
	isNumber
	isText
	isList
	isObject
)

func kindsOf(types any) kinds {
	list, ok := types.([]any)
	if !ok {
		list = []any{types}
	}
	var out kinds
	for _, t := range list {
		switch t {
		case "null":
			out |= isNull
		case "boolean":
			out |= isBool
		case "number", "integer":
			out |= isNumber
		case "string":
			out |= isText
		case "array":
			out |= isList
		case "object":
			out |= isObject
		}
	}
	return out
}

// nesting is how many levels of lists and objects a value has, as far as it
// matters.
func nesting(v any, depth int) int {
	if depth > maxDepth {
		return depth
	}
	deepest := depth
	switch x := v.(type) {
	case map[string]any:
		for _, e := range x {
			deepest = max(deepest, nesting(e, depth+1))
		}
	case []any:
		for _, e := range x {
			deepest = max(deepest, nesting(e, depth+1))
		}
	}
	return deepest
}

// weigh is how many elements a value has, 64 bytes of text being one; it stops
// once there are more than most.
func weigh(v any, most int) int {
	sum := 1
	switch x := v.(type) {
	case string:
		sum += len(x) / 64
	case json.Number:
		sum += len(x) / 64
	case map[string]any:
		for key, e := range x {
			if sum += len(key)/64 + weigh(e, most-sum); sum > most {
				break
			}
		}
	case []any:
		for _, e := range x {
			if sum += weigh(e, most-sum); sum > most {
				break
			}
		}
	}
	return sum
}
