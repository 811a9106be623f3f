package routing

import (
	"fmt"
	"slices"

	"liminal/internal/check"
)

// reader collects the faults of a document.
type reader struct{ faults Faults }

// fault keeps one of the form of the document.
func (r *reader) fault(path, hint, format string, args ...any) {
	r.faultOf(check.Schema, path, hint, format, args...)
}

// faultOf keeps one; a second at the same place would only repeat the first.
func (r *reader) faultOf(kind check.Kind, path, hint, format string, args ...any) {
	if !slices.ContainsFunc(r.faults, func(f Fault) bool { return f.Path == path }) {
		r.faults = append(r.faults, Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Kind: kind})
	}
}

// object reads the members of one object of a document; each method reports
// what is wrong with its member and gives a value to go on with.
type object struct {
	r    *reader
	path string
	m    map[string]any
}

func (o object) at(key string) string { return o.path + "/" + key }

// needed is a string that must be there and not be empty.
func (o object) needed(key string) string {
	s := o.text(key)
	if s == "" {
		o.r.fault(o.at(key), "", "%s is missing", key)
	}
	return s
}

// text is a string; null counts as absent.
func (o object) text(key string) string {
	v := o.m[key]
	s, ok := v.(string)
	if !ok && v != nil {
		o.r.fault(o.at(key), "", "%s is not a string but %s", key, typeName(v))
	}
	return s
}

func (o object) boolean(key string) bool {
	v := o.m[key]
	b, ok := v.(bool)
	if !ok && v != nil {
		o.r.fault(o.at(key), "write true or false without quotes", "%s is not true or false but %s", key, typeName(v))
	}
	return b
}

// typeName names the type of a decoded JSON value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a truth value"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}
