package graph

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// fields reads the members of one object of a document; each method reports
// what is wrong with its member and gives a value to go on with.
type fields struct {
	p    *parser
	path string
	m    map[string]any
}

func (f fields) at(key string) string { return f.path + "/" + pointer(key) }

// text is a string that must be there and not be empty.
func (f fields) text(key string) string {
	s := f.optional(key)
	if _, isText := f.m[key].(string); s == "" && (f.m[key] == nil || isText) {
		f.p.fault(f.at(key), "", "%s is missing", key)
	}
	return s
}

// optional is a string; null counts as absent.
func (f fields) optional(key string) string {
	v := f.m[key]
	s, ok := v.(string)
	if !ok && v != nil {
		f.p.fault(f.at(key), "", "%s is not a string but %s", key, typeName(v))
	}
	return s
}

// node is the id of another node, checked when all are known.
func (f fields) node(key string) string {
	id := f.optional(key)
	if s, isText := f.m[key].(string); isText && s == "" {
		f.p.fault(f.at(key), "leave it out to end here", "%s is empty", key)
	}
	if id != "" {
		f.p.targets = append(f.p.targets, target{f.at(key), id})
	}
	return id
}

// oneOf is one of a closed set of words; absent, the first.
func (f fields) oneOf(key string, of []string) string {
	v := f.optional(key)
	switch {
	case v == "":
		return of[0]
	case !slices.Contains(of, v):
		f.p.fault(f.at(key), expr.Nearest(v, of), "there is no %s %q; it is one of %s", key, v, strings.Join(of, ", "))
		return of[0]
	}
	return v
}

func (f fields) boolean(key string) bool {
	v := f.m[key]
	b, ok := v.(bool)
	if !ok && v != nil {
		f.p.fault(f.at(key), "", "%s is not true or false but %s", key, typeName(v))
	}
	return b
}

func (f fields) integer(key string, standard, least, most int) int {
	return int(f.number(key, int64(standard), int64(least), int64(most), ""))
}

func (f fields) millis(key string, standard, least, most int64) int64 {
	return f.number(key, standard, least, most, " ms")
}

func (f fields) number(key string, standard, least, most int64, unit string) int64 {
	v := f.m[key]
	if v == nil {
		return standard
	}
	x, ok := v.(float64)
	switch {
	case !ok || x != math.Trunc(x):
		f.p.fault(f.at(key), "", "%s is not a whole number but %s", key, expr.Show(v))
	case x < float64(least):
		f.p.fault(f.at(key), "", "%s is %s, the least is %d%s", key, expr.Show(v), least, unit)
	case x > float64(most):
		f.p.faultOf(check.Limits, f.at(key), "a document may lower this limit, never raise it", "%s is %s, the most is %d%s", key, expr.Show(v), most, unit)
	default:
		return int64(x)
	}
	return standard
}

// strings is a list of distinct strings that are not empty.
func (f fields) strings(key string) []string {
	v := f.m[key]
	l, ok := v.([]any)
	if !ok && v != nil {
		f.p.fault(f.at(key), "", "%s is not a list but %s", key, typeName(v))
	}
	var out []string
	for i, e := range l {
		s, _ := e.(string)
		switch {
		case s == "":
			f.p.fault(f.at(key)+"/"+strconv.Itoa(i), "", "%s holds %s, not a name", key, expr.Show(e))
		case !slices.Contains(out, s):
			out = append(out, s)
		}
	}
	return out
}

// object is a template that gives an object; absent is an empty one.
func (f fields) object(key string) template {
	v := f.m[key]
	if v == nil {
		return template{kind: constant, value: map[string]any{}}
	}
	if _, ok := v.(map[string]any); !ok {
		f.p.fault(f.at(key), "", "%s is not an object but %s", key, typeName(v))
	}
	return f.template(key)
}

// template compiles a member; its references are checked when all are known.
func (f fields) template(key string) template {
	v := f.m[key]
	if v == nil {
		return template{}
	}
	t := compile(v, f.at(key), func(path, message, hint string) { f.p.faultOf(check.Expressions, path, hint, "%s", message) })
	f.p.templates = append(f.p.templates, located{f.at(key), t})
	return t
}

// condition keeps a condition to be compiled when all names are known.
func (f fields) condition(key string, set func(*expr.Program)) {
	v := f.m[key]
	s, ok := v.(string)
	switch {
	case v == nil:
		f.p.fault(f.at(key), "write \"true\" for the default branch", "the branch has no when")
	case !ok:
		f.p.fault(f.at(key), "put it in quotes", "%s is not a string but %s", key, typeName(v))
	default:
		f.p.conditions = append(f.p.conditions, condition{f.at(key), s, set})
	}
}
