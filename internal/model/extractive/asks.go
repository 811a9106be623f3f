package extractive

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"liminal/internal/model"
	"liminal/internal/words"
)

const (
	nearEnough = 0.5  // a question this near to what people say of a tool means it
	rivals     = 0.85 // the second tool is as near as that share of the first: who asks is asked
)

// meant is a tool that a question may mean.
type meant struct {
	tool     model.Tool
	example  model.ToolExample
	ask      string
	near     float64
	captured map[string]string // by input: what stood in its place in the question
}

// bySaying finds the tools a question may mean, by what their examples say people
// ask: the nearest first, each once.
func (t turn) bySaying() []meant {
	var found []meant
	for _, tool := range t.req.Tools {
		if !tool.ReadOnly || t.used(tool.Name) {
			continue
		}
		best := meant{tool: tool}
		inputs := inputsOf(tool).Properties
		for _, example := range tool.Examples {
			for _, ask := range example.Asks {
				near, captured := nearness(t.question, ask)
				for name, text := range captured {
					if inputs[name].Names != "" && !label(t.question, text) { // "my matters" names none
						near, captured = 0.9*common(level(t.question), slot.ReplaceAllString(level(ask), " ")), nil
					}
				}
				if near > best.near {
					best = meant{tool, example, ask, near, captured}
				}
			}
		}
		if best.near > 0 {
			found = append(found, best)
		}
	}
	slices.SortStableFunc(found, func(a, b meant) int {
		switch {
		case a.near > b.near:
			return -1
		case a.near < b.near:
			return 1
		}
		return 0
	})
	return found
}

// spoken reports whether tools are found by what people say of them.
func (t turn) spoken() bool {
	return slices.ContainsFunc(t.req.Tools, func(tool model.Tool) bool { return len(tool.Examples) > 0 })
}

var slot = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// nearness is how near a question is to something people say, 0 to 1, and what
// stands in the question where that has a place for an input.
func nearness(question, ask string) (float64, map[string]string) {
	q, a := level(question), level(ask)
	if q == a {
		return 1, nil
	}
	places := slot.FindAllStringSubmatch(ask, -1)
	if len(places) == 0 {
		return common(q, a), nil
	}
	pattern := regexp.QuoteMeta(a)
	for _, p := range places {
		pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta("{"+p[1]+"}"), `(.+?)`)
	}
	if m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(q); m != nil {
		captured := map[string]string{}
		for i, p := range places {
			captured[p[1]] = asWritten(question, m[i+1])
		}
		// The more of it stands there word for word, the surer.
		return 0.9 + 0.007*float64(min(len(strings.Fields(slot.ReplaceAllString(a, " "))), 13)), captured
	}
	return 0.9 * common(q, slot.ReplaceAllString(a, " ")), nil
}

// level is a text as it is compared: in lower case, without what ends a sentence.
func level(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	text = strings.NewReplacer("„", `"`, "“", `"`, "”", `"`, "«", `"`, "»", `"`, "’", "'", "what's", "what is", "wie lange ist", "wie lang ist").Replace(text)
	return strings.Join(strings.Fields(strings.TrimRight(text, "?!. ")), " ")
}

// articleBefore is what stands before a name and is no part of it.
var articleBefore = regexp.MustCompile(`^(?:the|an?|der|die|das|den|dem|des|eine?[rnms]?) `)

// asWritten is a part of a question in lower case as the question has it.
func asWritten(question, part string) string {
	plain := strings.Trim(articleBefore.ReplaceAllString(strings.Trim(part, `" `), ""), `" `)
	if at := strings.Index(strings.ToLower(question), plain); at >= 0 && at+len(plain) <= len(question) {
		return question[at : at+len(plain)]
	}
	return plain
}

// whole is how near a question is that holds every word of what people say, among
// others of its own.
const whole = 0.7

// common is how much a question and what people say have in common: the words of
// both that begin alike, weighed by their length.
func common(question, ask string) float64 {
	left, right := stems(question), stems(ask)
	if len(left) == 0 || len(right) == 0 {
		return 0
	}
	both, all := 0.0, 0.0
	held, long := true, 0
	for w, n := range right {
		held = held && left[w] > 0
		if n >= 1 {
			long++
		}
	}
	for w, n := range left {
		all += n
		if right[w] > 0 {
			both += 2 * n
		}
	}
	for _, n := range right {
		all += n
	}
	if held && long >= 2 {
		return max(whole, both/all)
	}
	return both / all
}

// stems are the beginnings of a text's words with their weight: a short word says
// little.
func stems(text string) map[string]float64 {
	out := map[string]float64{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		n := utf8.RuneCountInString(w)
		runes := []rune(w)
		weight := 1.0
		switch {
		case n <= 3:
			weight = 0.3
		case n > 6:
			runes, weight = runes[:6], 1.5
		}
		out[string(runes)] = weight
	}
	return out
}

// callMeant calls the tool that a question means, or says what it wants to know
// first: which of two, or what an input is to be.
func (t turn) callMeant(w *writer) (done bool, reason model.StopReason, err error) {
	found := t.bySaying()
	if len(found) == 0 || found[0].near < nearEnough {
		return false, "", nil
	}
	best := found[0]
	if len(found) > 1 && found[1].near >= rivals*best.near && best.near < 0.9 {
		return true, model.EndTurn, w.say(t.say.whichOf + "\n\n- " + said(best.ask) + "\n- " + said(found[1].ask))
	}
	inputs, missing := t.fill(best)
	if missing != "" {
		return true, model.EndTurn, w.say(missing)
	}
	raw, err := json.Marshal(inputs)
	if err != nil {
		return true, "", err
	}
	return true, model.ToolCalls, w.call(model.Event{Type: model.ToolCall, ID: fmt.Sprintf("call_%d", len(t.results)+1), Name: best.tool.Name, Input: raw})
}

// said is what people say, with its places as dots.
func said(ask string) string { return slot.ReplaceAllString(ask, "…") }

// property is what an input schema says of one input.
type property struct {
	Type    any                 `json:"type"`
	Format  string              `json:"format"`
	Enum    []string            `json:"enum"`
	Maximum *float64            `json:"maximum"`
	Range   string              `json:"x-range"` // from, to: the end of a stretch of time
	Words   map[string][]string `json:"x-words"` // what people call a value of enum
	Names   string              `json:"x-names"` // label: it takes the name of a thing as well as its id
	Ask     map[string]string   `json:"x-ask"`   // what is asked where it is missing
}

// fill makes the inputs of a call: what the example sets, and for what it leaves
// open what the words name. missing asks for an input that must be there.
func (t turn) fill(m meant) (inputs map[string]any, missing string) {
	schema := inputsOf(m.tool)
	inputs = map[string]any{}
	from, to, timed := stretch(t.question, t.today())
	for _, name := range slices.Sorted(maps.Keys(m.example.Inputs)) {
		if v := m.example.Inputs[name]; v != nil {
			inputs[name] = v
			continue
		}
		p := schema.Properties[name]
		var v any
		switch {
		case m.captured[name] != "":
			v = m.captured[name]
		case p.Range == "from" && timed:
			v = from
		case p.Range == "to" && timed:
			v = to
		case p.Range != "":
		case len(p.Enum) > 0:
			v = oneOfWords(t.question, p)
		case p.Names != "":
			v = labelIn(t.question)
		case slices.Contains(schema.Required, name):
			v = labelIn(t.question)
		}
		if s, empty := v.(string); v != nil && (!empty || s != "") {
			inputs[name] = v
		}
	}
	for _, name := range schema.Required {
		if _, there := inputs[name]; there {
			continue
		}
		p := schema.Properties[name]
		language := "en"
		if t.say.german {
			language = "de"
		}
		if p.Ask[language] != "" {
			return nil, p.Ask[language]
		}
		return nil, fmt.Sprintf(t.say.lacks, name)
	}
	return inputs, ""
}

// askedOf is what a tool's input schema says.
type askedOf struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

func inputsOf(tool model.Tool) (schema askedOf) {
	_ = json.Unmarshal(hints(tool), &schema) // what is not there asks for nothing
	return schema
}

// label reports whether a part of a question names one thing: in quotation marks,
// by its reference, or as one party against another.
func label(question, part string) bool {
	named := labelIn(question)
	return named != "" && strings.EqualFold(named, strings.Trim(part, `"„“”«» `)) || strings.Contains(part, " ./. ") || strings.Contains(part, " v. ") || reference.MatchString(part)
}

// hints are a tool's input schema with what is for this model only.
func hints(tool model.Tool) json.RawMessage {
	if len(tool.Hints) > 0 {
		return tool.Hints
	}
	return tool.InputSchema
}

var (
	inQuotes  = regexp.MustCompile(`["„“”«»]([^"„“”«»]{2,120})["“”«»]`)
	reference = regexp.MustCompile(`\b[A-Z]{2,6}-\d{2,4}-\d{2,6}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
)

// labelIn is the thing a question names: in quotation marks, or by its reference.
func labelIn(question string) string {
	if m := inQuotes.FindStringSubmatch(question); m != nil {
		return strings.TrimSpace(m[1])
	}
	return reference.FindString(question)
}

// oneOfWords is the value whose words stand in a question; empty: none or several.
func oneOfWords(question string, p property) string {
	q := strings.ToLower(question)
	found := ""
	for _, value := range p.Enum {
		names := p.Words[value]
		if len(names) == 0 {
			names = []string{value}
		}
		if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(q, strings.ToLower(n)) }) {
			continue
		}
		if found != "" {
			return ""
		}
		found = value
	}
	return found
}

var (
	germanDay = regexp.MustCompile(`\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b`)
	isoDay    = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	inDays    = regexp.MustCompile(`(?:nächsten|kommenden|next|coming)\s+(\d{1,3}|zwei|drei|vier|two|three|four)?\s*(tag|woche|monat|day|week|month)`)
	counted   = map[string]int{"zwei": 2, "two": 2, "drei": 3, "three": 3, "vier": 4, "four": 4}
)

// stretch is the time a question names, as its first and last day; what is past
// without a bound has no first day.
func stretch(question string, today time.Time) (from, to string, named bool) {
	q := strings.ToLower(question)
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(q, s) })
	}
	if m := inDays.FindStringSubmatch(q); m != nil {
		n := 1
		if c, known := counted[m[1]]; known {
			n = c
		} else if m[1] != "" {
			_, _ = fmt.Sscan(m[1], &n) // digits
		}
		switch {
		case strings.HasPrefix(m[2], "w"):
			n *= 7
		case strings.HasPrefix(m[2], "m"):
			n *= 30
		}
		return day(0), day(n), true
	}
	switch days := daysIn(question); {
	case len(days) >= 2:
		return days[0], days[1], true
	case len(days) == 1 && has("bis ", "until", "before", "vor dem"):
		return day(0), days[0], true
	case len(days) == 1 && has("ab ", "from", "after", "nach dem"):
		return days[0], "", true
	case len(days) == 1:
		return days[0], days[0], true
	case has("überfällig", "overdue"):
		return "", day(-1), true
	case has("diese woche", "dieser woche", "this week"):
		return day(0), day(7), true
	case has("nächste woche", "nächster woche", "next week"):
		monday := 8 - (int(today.Weekday())+6)%7 - 1
		return day(monday), day(monday + 6), true
	case has("diesen monat", "this month"):
		return day(0), today.AddDate(0, 1, -today.Day()).Format(time.DateOnly), true
	case has("übermorgen", "day after tomorrow"):
		return day(2), day(2), true
	case has("morgen", "tomorrow"):
		return day(1), day(1), true
	case has("heute", "today"):
		return day(0), day(0), true
	case has("gestern", "yesterday"):
		return day(-1), day(-1), true
	}
	return "", "", false
}

// daysIn are the days a question names, in ISO form.
func daysIn(question string) []string {
	var days []string
	for _, m := range isoDay.FindAllString(question, -1) {
		days = append(days, m)
	}
	for _, m := range germanDay.FindAllStringSubmatch(question, -1) {
		if d, err := time.Parse("2.1.2006", m[1]+"."+m[2]+"."+m[3]); err == nil {
			days = append(days, d.Format(time.DateOnly))
		}
	}
	return days
}

// today is the day of the turn. It is told to the model, else it is the clock's.
func (t turn) today() time.Time {
	if !t.req.Today.IsZero() {
		return t.req.Today
	}
	return time.Now()
}

// tellRecords writes a result as its records, one a line, each with its link.
func (t turn) tellRecords(w *writer, tool model.Tool, raw string) (done bool, err error) {
	if tool.Tell == nil {
		return false, nil
	}
	var out map[string]any
	if json.Unmarshal([]byte(raw), &out) != nil {
		return false, nil
	}
	if len(out) == 1 && out["error"] == "not found" {
		return true, w.say(t.say.notFound)
	}
	if err := w.say("*" + t.say.fromData + "*"); err != nil {
		return true, err
	}
	written := false
	for _, kind := range tool.Tell(out, t.locale) {
		if len(kind.Records) == 0 && kind.Empty == "" {
			continue
		}
		head := "\n\n"
		if kind.Heading != "" {
			head = "\n\n**" + kind.Heading + "**\n\n"
		}
		if len(kind.Records) == 0 {
			head += kind.Empty
			if err := w.say(head); err != nil {
				return true, err
			}
			written = true
			continue
		}
		for i, r := range kind.Records {
			line := "\n- " + plainLine(r.Line)
			if i == 0 {
				line = head + "- " + plainLine(r.Line)
			}
			if err := w.say(line); err != nil {
				return true, err
			}
			written = true
			if r.Href == "" {
				continue
			}
			if err := w.send(model.Event{Type: model.Linked, Record: &model.Record{Source: r.Source, Entity: r.Entity, ID: r.ID, Title: r.Title, Href: r.Href}}); err != nil {
				return true, err
			}
		}
	}
	if !written {
		return true, w.say("\n\n" + t.say.notFound)
	}
	return true, nil
}

// plainLine is a text of a database in Markdown: what would be read as Markdown
// there is not.
var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `\<`, "\n", " ", "\r", " ", "|", `\|`)

func plainLine(text string) string { return markdown.Replace(text) }

// suggest says what can be asked, where a question means no tool.
func (t turn) suggest(w *writer) error {
	if greets(t.question) {
		return t.unable(w)
	}
	text := t.say.canAsk
	for _, tool := range t.req.Tools {
		if ask := t.sayingOf(tool); ask != "" {
			text += "\n- " + said(ask)
		}
	}
	return w.say(text)
}

// sayingOf is something people say of a tool, in the language of the answer as far
// as that can be told: examples list German first, as they are written.
func (t turn) sayingOf(tool model.Tool) string {
	for _, e := range tool.Examples {
		for _, ask := range e.Asks {
			if t.say.german == (words.Detect(ask) == words.German) {
				return ask
			}
		}
	}
	return ""
}
