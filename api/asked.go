package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// The text rule: in a protocol that has no word for it a question is an answer's
// text, with its options numbered, and the next message answers it if it reads as
// an answer. One that does not cancels the question and is a turn (INT-33).

// askedText is a question as a text.
func askedText(q run.Interrupt, locale string) string {
	var b strings.Builder
	b.WriteString(q.Message)
	for i, o := range q.Options {
		fmt.Fprintf(&b, "\n%d. %s", i+1, o.Label)
	}
	if len(q.Options) > 0 || len(q.AnswerSchema) == 0 || q.Type == graph.AskClientCall {
		return b.String()
	}
	f := formOf(q)
	for _, name := range f.names() {
		if v, ok := f.Properties[name]["default"]; ok && name != f.choice() {
			fmt.Fprintf(&b, "\n%s: %s", f.title(name), shownValue(v))
		}
	}
	german := strings.HasPrefix(locale, "de")
	switch value, whole := f.defaults(); {
	case whole && f.choice() != "" && german:
		b.WriteString("\n\nAntworte mit ja, mit nein, oder mit einem JSON-Objekt wie ")
		b.WriteString(asJSON(value))
	case whole && f.choice() != "":
		b.WriteString("\n\nAnswer yes, no, or with a JSON object such as ")
		b.WriteString(asJSON(value))
	case f.only() != "":
		return b.String()
	case german:
		b.WriteString("\n\nAntworte mit einem JSON-Objekt mit " + strings.Join(f.names(), ", "))
	default:
		b.WriteString("\n\nAnswer with a JSON object with " + strings.Join(f.names(), ", "))
	}
	return b.String()
}

// questionOf is a question of a stream as the text rule reads one.
func questionOf(q stream.InterruptData) run.Interrupt {
	out := run.Interrupt{ID: q.ID, RunID: q.RunID, Type: q.Type, Message: q.Message, AnswerSchema: q.AnswerSchema}
	for _, c := range q.Options {
		out.Options = append(out.Options, run.Option{ID: c.ID, Label: c.Label})
	}
	return out
}

func shownValue(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return asJSON(v)
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// The words that say yes and no, in the languages of the house.
var (
	yesWords = []string{"yes", "y", "ja", "j", "ok", "okay"}
	noWords  = []string{"no", "n", "nein"}
)

// answerIn reads a message as the answer to a question; false: it is none.
func answerIn(q run.Interrupt, message string) (run.Answer, bool) {
	text := strings.TrimSpace(message)
	word := strings.ToLower(strings.Trim(text, " \t\n.!"))
	if q.Type == graph.AskClientCall {
		return run.Answer{}, false // it is answered by its program, call by call
	}
	if len(q.Options) > 0 {
		chosen, ok := chosenBy(q.Options, text, word)
		return run.Answer{Value: chosen}, ok
	}
	if len(q.AnswerSchema) == 0 {
		return run.Answer{Value: text}, text != ""
	}
	f := formOf(q)
	var given map[string]any
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &given) == nil {
		return run.Answer{Value: given}, true
	}
	value, whole := f.defaults()
	switch choice := f.choice(); {
	case whole && choice != "" && slices.Contains(yesWords, word):
		return run.Answer{Value: value}, true
	case whole && choice != "" && slices.Contains(noWords, word):
		return run.Answer{Value: map[string]any{choice: f.other(choice)}}, true
	case f.only() != "":
		return run.Answer{Value: map[string]any{f.only(): text}}, true
	case f.Type != "" && f.Type != "object":
		if f.Type == "string" {
			return run.Answer{Value: text}, true
		}
		var v any
		err := json.Unmarshal([]byte(text), &v)
		return run.Answer{Value: v}, err == nil
	}
	return run.Answer{}, false
}

// chosenBy is the option a text names: by its number, its id or its label, or by
// yes or no where one of two is so called.
func chosenBy(options []run.Option, text, word string) (string, bool) {
	if n, err := strconv.Atoi(strings.TrimRight(word, ".)")); err == nil && n >= 1 && n <= len(options) {
		return options[n-1].ID, true
	}
	for _, o := range options {
		if strings.EqualFold(text, o.ID) || strings.EqualFold(word, strings.ToLower(o.Label)) || strings.EqualFold(text, o.Label) {
			return o.ID, true
		}
	}
	for _, words := range [][]string{yesWords, noWords} {
		if !slices.Contains(words, word) {
			continue
		}
		for _, o := range options {
			if slices.Contains(words, strings.ToLower(o.ID)) || slices.Contains(words, strings.ToLower(o.Label)) {
				return o.ID, true
			}
		}
	}
	return "", false
}

// asForm is what of an answer_schema the text rule reads.
type asForm struct {
	Type       string                    `json:"type"`
	Properties map[string]map[string]any `json:"properties"`
	Required   []string                  `json:"required"`
	Order      []string                  `json:"x-order"`
}

func formOf(q run.Interrupt) (f asForm) {
	_ = json.Unmarshal(q.AnswerSchema, &f) // another shape has no fields
	return f
}

// names are the fields, in their order.
func (f asForm) names() []string {
	names := make([]string, 0, len(f.Properties))
	rest := make([]string, 0, len(f.Properties))
	for name := range f.Properties {
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range slices.Concat(f.Order, f.Required, rest) {
		if f.Properties[name] != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (f asForm) title(name string) string {
	if t, ok := f.Properties[name]["title"].(string); ok && t != "" {
		return t
	}
	return name
}

// defaults is the form as it stands; whole: nothing required is missing.
func (f asForm) defaults() (value map[string]any, whole bool) {
	value = map[string]any{}
	for name, p := range f.Properties {
		if v, ok := p["default"]; ok {
			value[name] = v
		}
	}
	whole = f.Type == "object" && len(value) > 0
	for _, name := range f.Required {
		_, has := value[name]
		whole = whole && has
	}
	return value, whole
}

// choice is the field that decides between two things, one of which it does where
// nobody says otherwise; empty: there is none, or more than one.
func (f asForm) choice() (found string) {
	for name, p := range f.Properties {
		if p["default"] == nil || len(constants(p)) != 2 {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// other is what a choice is where it is not what it would be by itself.
func (f asForm) other(choice string) any {
	p := f.Properties[choice]
	for _, c := range constants(p) {
		if c != p["default"] {
			return c
		}
	}
	return nil
}

// constants are the texts a field is one of.
func constants(p map[string]any) (list []string) {
	if l, ok := p["enum"].([]any); ok {
		for _, c := range l {
			if s, ok := c.(string); ok {
				list = append(list, s)
			}
		}
	}
	if l, ok := p["oneOf"].([]any); ok {
		for _, c := range l {
			one, _ := c.(map[string]any)
			if s, ok := one["const"].(string); ok {
				list = append(list, s)
			}
		}
	}
	return list
}

// only is the one text a form asks for; empty: it asks for more, or something else.
func (f asForm) only() string {
	if len(f.Required) == 1 && len(f.Properties) == 1 {
		if p := f.Properties[f.Required[0]]; p["type"] == "string" && len(constants(p)) == 0 {
			return f.Required[0]
		}
	}
	return ""
}
