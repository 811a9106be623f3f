package graph

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxText bounds the text one template may render, in bytes.
const maxText = 1 << 20

// template is a JSON value whose strings may hold ${path}. A string that is
// one reference keeps the type of what it names; inside text a reference is
// rendered. $${ stands for a literal ${. The zero template is absent.
type template struct {
	kind  templateKind
	value any // constant
	ref   reference
	parts []part
	keys  []string // object, sorted
	items []template
}

type templateKind int

const (
	absent templateKind = iota
	constant
	single // exactly one reference
	text   // parts
	list   // items
	object // keys and items
)

type part struct {
	lit string
	ref *reference
}

// reference is ${vars.docs[0].title?}: a root, a path, and whether null stands
// for a missing key.
type reference struct {
	path     []string
	optional bool
}

func (r reference) String() string { return strings.Join(r.path, ".") }

// compile turns a decoded JSON value into a template. bad reports each
// malformed reference with a JSON pointer relative to v.
func compile(v any, path string, bad func(path, message, hint string)) template {
	switch x := v.(type) {
	case string:
		return compileText(x, path, bad)
	case []any:
		t := template{kind: list, items: make([]template, len(x))}
		for i, e := range x {
			t.items[i] = compile(e, path+"/"+strconv.Itoa(i), bad)
		}
		return t.folded()
	case map[string]any:
		t := template{kind: object, keys: sortedKeys(x)}
		for _, key := range t.keys {
			t.items = append(t.items, compile(x[key], path+"/"+pointer(key), bad))
		}
		return t.folded()
	}
	return template{kind: constant, value: v}
}

func compileText(s, path string, bad func(path, message, hint string)) template {
	parts := splitText(s, path, bad)
	switch {
	case len(parts) == 1 && parts[0].ref != nil:
		return template{kind: single, ref: *parts[0].ref}
	case len(parts) == 1:
		return template{kind: constant, value: parts[0].lit}
	case len(parts) == 0:
		return template{kind: constant, value: ""}
	}
	return template{kind: text, parts: parts}
}

func splitText(s, path string, bad func(path, message, hint string)) []part {
	var parts []part
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			parts = append(parts, part{lit: lit.String()})
			lit.Reset()
		}
	}
	for s != "" {
		at := strings.Index(s, "${")
		if at < 0 {
			lit.WriteString(s)
			break
		}
		if at > 0 && s[at-1] == '$' {
			lit.WriteString(s[:at-1] + "${")
			s = s[at+2:]
			continue
		}
		lit.WriteString(s[:at])
		end := strings.IndexByte(s[at:], '}')
		if end < 0 {
			bad(path, "the template ${ is not closed", "close it with }, or write $${ for a literal ${")
			break
		}
		ref, ok := parseReference(s[at+2 : at+end])
		if !ok {
			bad(path, "${"+s[at+2:at+end]+"} is not a path", "write ${input.message} or ${vars.name}; templates have no other logic")
		} else {
			flush()
			parts = append(parts, part{ref: &ref})
		}
		s = s[at+end+1:]
	}
	flush()
	return parts
}

// parseReference reads a dotted path; [0] is the same as .0.
func parseReference(s string) (reference, bool) {
	s = strings.TrimSpace(s)
	var r reference
	if cut, ok := strings.CutSuffix(s, "?"); ok {
		r.optional, s = true, cut
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "[", "."), "]", "")
	r.path = strings.Split(s, ".")
	for _, segment := range r.path {
		if segment == "" || strings.ContainsAny(segment, " \t\n\r'\"`()${}+*/%&|=<>!?,;:\\") {
			return reference{}, false
		}
	}
	return r, len(r.path) <= 32
}

// folded makes a list or object of constants one constant, so that only what
// depends on a run is worked on in a run.
func (t template) folded() template {
	for _, item := range t.items {
		if item.kind != constant {
			return t
		}
	}
	if t.kind == list {
		out := make([]any, len(t.items))
		for i, item := range t.items {
			out[i] = item.value
		}
		return template{kind: constant, value: out}
	}
	out := make(map[string]any, len(t.keys))
	for i, key := range t.keys {
		out[key] = t.items[i].value
	}
	return template{kind: constant, value: out}
}

// references calls f for every reference of t with where it stands; path is
// where t does.
func (t template) references(path string, f func(string, reference)) {
	if t.kind == single {
		f(path, t.ref)
	}
	for _, p := range t.parts {
		if p.ref != nil {
			f(path, *p.ref)
		}
	}
	for i, item := range t.items {
		key := strconv.Itoa(i)
		if t.kind == object {
			key = pointer(t.keys[i])
		}
		item.references(path+"/"+key, f)
	}
}

// resolve gives the value of t; the Failure names the key that is missing.
func (t template) resolve(s scope) (any, *Failure) {
	switch t.kind {
	case absent:
		return nil, nil
	case constant:
		s.run.work -= weight(t.value)
		if !s.run.grow(bytesOf(t.value)) {
			return nil, failuref(CodeLimit, noRoom)
		}
		return copied(t.value), nil
	case single:
		v, failure := t.ref.resolve(s)
		s.run.work -= weight(v)
		if failure == nil && !s.run.grow(bytesOf(v)) {
			return nil, failuref(CodeLimit, noRoom+": there is none left for ${%s}", t.ref)
		}
		return copied(v), failure
	case text:
		return t.render(s)
	case list:
		out := make([]any, len(t.items))
		for i, item := range t.items {
			v, failure := item.resolve(s)
			if failure != nil {
				return nil, failure
			}
			out[i] = v
		}
		return out, nil
	default: // an object, below
	}
	out := make(map[string]any, len(t.keys))
	for i, key := range t.keys {
		v, failure := t.items[i].resolve(s)
		if failure != nil {
			return nil, failure
		}
		out[key] = v
	}
	return out, nil
}

func (t template) render(s scope) (any, *Failure) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.ref == nil {
			b.WriteString(p.lit)
			continue
		}
		v, failure := p.ref.resolve(s)
		if failure != nil {
			return nil, failure
		}
		shown, failure := boundedText(v)
		if failure != nil {
			return nil, failure
		}
		s.run.work -= referenceCost + len(shown)/64
		b.WriteString(shown)
		if b.Len() > maxText {
			return nil, failuref(CodeValidation, "a template renders more than %d bytes at ${%s}", maxText, p.ref)
		}
	}
	if !s.run.grow(16 + b.Len()) {
		return nil, failuref(CodeLimit, noRoom)
	}
	return b.String(), nil
}

// referenceCost is the work of following one reference.
const referenceCost = 4

// resolve follows the path. A missing key is a failure (GRAPH-05) unless the
// reference ends in a question mark; a key that is there and null is null. One
// node may name a value as often as a document has room for, so it ends here
// once the machine's work is used up, and not with the node.
func (r reference) resolve(s scope) (any, *Failure) {
	if s.run.work < 0 {
		return nil, failuref(CodeLimit, "the values of the node are too large to be put together: no room is left at ${%s}", r)
	}
	v, ok := s.lookup(r.path[0])
	for i := 1; ok && i < len(r.path); i++ {
		v, ok = member(v, r.path[i])
	}
	if !ok && !r.optional {
		return nil, failuref(CodeValidation, "${%s} has no value: nothing has set %q yet; write ${%s?} where it may be missing", r, r.String(), r)
	}
	if !ok {
		return nil, nil
	}
	return v, nil
}

func member(v any, key string) (any, bool) {
	switch x := v.(type) {
	case map[string]any:
		got, ok := x[key]
		return got, ok
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(x) {
			return nil, false
		}
		return x[i], true
	}
	return nil, false
}

// rendered is a value inside text: null is nothing, whole numbers have no
// point, lists and objects are JSON.
func rendered(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return strconv.FormatInt(int64(x), 10)
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
