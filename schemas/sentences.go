package schemas

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"liminal/internal/check"
)

// sentences turns the tree of failed keywords into one fault for each leaf, of
// the first maxFaults places.
func sentences(failed *jsonschema.ValidationError, source any) Faults {
	return faultsOf(failed, func(leaf *jsonschema.ValidationError) []Fault { return sentence(leaf, source) })
}

// fieldSentences are sentences for who fills in a form: what is missing is told
// at its own place, where a field stands for it.
func fieldSentences(failed *jsonschema.ValidationError, source any) Faults {
	return faultsOf(failed, func(leaf *jsonschema.ValidationError) []Fault {
		faults := sentence(leaf, source)
		if keyword(leaf) == "required" {
			for i, name := range namesMissing(leaf) {
				faults[i].Path += "/" + toPointer(name)
				faults[i].Message = "it is missing"
			}
		}
		return faults
	})
}

// faultsOf are the faults of what failed by itself, in order.
func faultsOf(failed *jsonschema.ValidationError, sentence func(*jsonschema.ValidationError) []Fault) Faults {
	found, more := leaves(failed), false
	if len(found) > maxFaults {
		slices.SortFunc(found, func(a, b *jsonschema.ValidationError) int {
			return cmp.Or(strings.Compare(a.InstanceLocation, b.InstanceLocation), strings.Compare(a.AbsoluteKeywordLocation, b.AbsoluteKeywordLocation))
		})
		found, more = found[:maxFaults], true
	}
	var faults Faults
	for _, leaf := range found {
		for _, fault := range sentence(leaf) {
			fault.Message, fault.Hint = cut(fault.Message, maxMessage), cut(fault.Hint, maxMessage)
			faults = append(faults, fault)
		}
	}
	if faults = ordered(faults); len(faults) > maxFaults {
		faults, more = faults[:maxFaults], true
	}
	if more {
		faults = append(faults, Fault{Message: "more does not fit than is told here"})
	}
	return faults
}

// cut shortens what is told.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// shown quotes a value in a sentence.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(cut(s, maxShown))
	}
	return cut(fmt.Sprint(v), maxShown)
}

func ordered(faults Faults) Faults {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return strings.Compare(a.Message, b.Message)
	})
	return slices.Compact(faults)
}

// leaves finds what failed by itself. Of alternatives only the one that came
// closest is told: the others would only confuse.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	if word := keyword(e); word == "anyOf" || word == "oneOf" {
		return closest(e.Causes)
	}
	var out []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		out = append(out, leaves(cause)...)
	}
	return out
}

func closest(alternatives []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	var best []*jsonschema.ValidationError
	bestReach := -1
	for _, alternative := range alternatives {
		found := leaves(alternative)
		if r := reach(found); r > bestReach || r == bestReach && len(found) < len(best) {
			best, bestReach = found, r
		}
	}
	return best
}

// reach is how far into the value the checks came; a value of another type is
// the least one can fail by.
func reach(failed []*jsonschema.ValidationError) int {
	most := 0
	for _, leaf := range failed {
		depth := 2 * strings.Count(leaf.InstanceLocation, "/")
		if keyword(leaf) != "type" {
			depth++
		}
		most = max(most, depth)
	}
	return most
}

func keyword(e *jsonschema.ValidationError) string {
	return e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
}

// maxHint bounds a description that serves as a hint, in bytes.
const maxHint = 240

func sentence(e *jsonschema.ValidationError, source any) []Fault {
	at := schemaAt(source, e.AbsoluteKeywordLocation)
	fault := Fault{Path: unescape(e.InstanceLocation), Message: e.Message, Hint: hint(at, e.InstanceLocation)}
	switch keyword(e) {
	case "required":
		return missing(e, at, object(source))
	case "additionalProperties":
		names := strings.TrimSuffix(strings.TrimPrefix(e.Message, "additionalProperties "), " not allowed")
		fault.Message = strings.ReplaceAll(names, "'", `"`) + " is not known here"
		if known := keys(object(at["properties"])); len(known) > 0 {
			fault.Hint = "known here: " + strings.Join(known, ", ")
		}
	case "type":
		fault.Message = strings.Replace(e.Message, "expected", "it must be", 1)
		fault.Message = strings.Replace(fault.Message, "but got", "not", 1)
	case "enum", "const":
		fault.Message = "this value is not allowed"
		if allowed := choices(at); len(allowed) == 1 {
			fault.Hint = "write " + allowed[0]
		} else if len(allowed) > 1 {
			fault.Hint = "write one of " + strings.Join(allowed, ", ")
		}
	case "minLength", "maxLength":
		fault.Message = "its " + strings.Replace(e.Message, "but got", "and is", 1)
	case "pattern", "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties":
		fault.Message = "it " + strings.Replace(e.Message, "but found", "and is", 1)
	case "not":
		fault.Message = "this is not allowed here"
	}
	if keyword(e) == "maximum" && bound(path.Base(fault.Path)) {
		fault.Kind = check.Limits
	}
	return []Fault{fault}
}

// bound reports whether a member of this name bounds what a run may use, as
// max_steps and timeout_ms do.
func bound(member string) bool {
	return strings.HasPrefix(member, "max_") || strings.HasSuffix(member, "_ms")
}

// hint is what a schema says of the value, unless that is the whole document.
func hint(schema map[string]any, location string) string {
	about := text(schema["description"])
	if location == "" || len(about) > maxHint {
		return ""
	}
	return about
}

// missing tells each member that is not there, with what it would be for.
func missing(e *jsonschema.ValidationError, at, whole map[string]any) []Fault {
	var faults []Fault
	for _, name := range namesMissing(e) {
		about, there := object(at["properties"])[name]
		if !there && e.InstanceLocation == "" { // a condition on the document
			about = object(whole["properties"])[name]
		}
		faults = append(faults, Fault{
			Path: unescape(e.InstanceLocation), Message: strconv.Quote(name) + " is missing",
			Hint: hint(object(about), "/"+name),
		})
	}
	return faults
}

// namesMissing are the members that are not there, as the library tells them.
func namesMissing(e *jsonschema.ValidationError) []string {
	names := strings.Split(strings.TrimPrefix(e.Message, "missing properties: "), ", ")
	for i, name := range names {
		names[i] = strings.Trim(name, "'")
	}
	return names
}

// maxChoices bounds the values a hint names.
const maxChoices = 60

func choices(schema map[string]any) []string {
	values, _ := schema["enum"].([]any)
	if c, ok := schema["const"]; ok {
		values = []any{c}
	}
	words := make([]string, 0, min(len(values), maxChoices))
	for i, v := range values {
		if i == maxChoices {
			return append(words, "…")
		}
		word := fmt.Sprintf("%v", v)
		if s, ok := v.(string); ok {
			word = strconv.Quote(s)
		}
		words = append(words, word)
	}
	return words
}

// schemaAt finds the sub-schema that holds the keyword at an absolute
// location; an empty map when it is not in this source.
func schemaAt(source any, location string) map[string]any {
	_, pointer, _ := strings.Cut(location, "#")
	tokens := strings.Split(strings.Trim(pointer, "/"), "/")
	at := source
	for _, token := range tokens[:len(tokens)-1] {
		switch x := at.(type) {
		case map[string]any:
			at = x[unpointer(unescape(token))]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			at = x[i]
		default:
			return nil
		}
	}
	return object(at)
}

// unescape undoes the URL escaping the library adds to JSON pointers.
func unescape(pointer string) string {
	if plain, err := url.PathUnescape(pointer); err == nil {
		return plain
	}
	return pointer
}

func toPointer(member string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(member)
}

func unpointer(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func keys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		if key != "$schema" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
