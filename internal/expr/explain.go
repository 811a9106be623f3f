package expr

import (
	"encoding/json"
	"slices"
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
	if enc.Encode(v) != nil {
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
