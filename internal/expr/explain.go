package expr

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// explained is how many bytes of a value Explain shows.
const explained = 80

// Explain gives the condition with the values it reads, for the sentence that
// says why no branch was taken: intent == 'qa' (intent = "chat"). Every value
// is shortened to 80 bytes. It never fails: what cannot be shown is left out.
func (p *Program) Explain(env Env) string {
	if len(p.reads) == 0 {
		return p.source
	}
	shown := make([]string, 0, len(p.reads))
	for _, r := range p.reads {
		shown = append(shown, r.String()+" = "+Show(r.value(env)))
	}
	return p.source + " (" + strings.Join(shown, ", ") + ")"
}

func (r read) value(env Env) any {
	v := env(r.name)
	for _, key := range r.path {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[key]
	}
	return v
}

// Show gives a value as JSON in at most 80 bytes.
func Show(v any) string {
	if s, ok := v.(string); ok && len(s) > explained {
		v = s[:explained]
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	part := explained
	if enc.Encode(beginning(v, &part, 0)) != nil {
		return kind(v)
	}
	s := strings.TrimSuffix(b.String(), "\n")
	if len(s) <= explained {
		return s
	}
	cut := explained - len("...")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// maxMembers is the size of an object whose members are put in order only to
// show the first.
const maxMembers = 1000

// beginning is as much of a value as its first left bytes as JSON can hold: a
// condition may read a value of megabytes, and is shown with 80 bytes of it.
func beginning(v any, left *int, depth int) any {
	if *left--; *left < 0 || depth > maxDepth {
		return nil
	}
	switch x := v.(type) {
	case string:
		if len(x) > explained {
			x = x[:explained]
		}
		*left -= len(x)
		return x
	case map[string]any:
		if len(x) > maxMembers {
			return "an object of " + strconv.Itoa(len(x)) + " members"
		}
		out := map[string]any{}
		for _, key := range sortedKeys(x) {
			if *left < 0 {
				break
			}
			*left -= len(key)
			out[key] = beginning(x[key], left, depth+1)
		}
		return out
	case []any:
		if x == nil {
			return v
		}
		out := make([]any, 0, min(len(x), explained))
		for _, e := range x {
			if *left < 0 {
				break
			}
			out = append(out, beginning(e, left, depth+1))
		}
		return out
	}
	return v
}

// sortedKeys is the only place of the package that ranges over a map: the
// order it gives does not depend on the map's.
//
//workflowcheck:ignore
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Values gives what the condition reads, each by the name it has in the
// condition. Texts are shortened to 80 bytes; lists and objects are shown as
// such, as shortened JSON.
func (p *Program) Values(env Env) map[string]any {
	read := make(map[string]any, len(p.reads))
	for _, r := range p.reads {
		switch v := r.value(env).(type) {
		case nil, bool, float64, int, int64, json.Number:
			read[r.String()] = v
		case string:
			read[r.String()] = strings.ToValidUTF8(v[:min(len(v), explained)], "")
		default:
			read[r.String()] = Show(v)
		}
	}
	return read
}
