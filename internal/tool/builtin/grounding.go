package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/data"
	"liminal/internal/grounding"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// mostEvidence bounds the records a step names as what it stands on.
const mostEvidence = 200

// gate lets an answer through paragraph by paragraph, as far as it says what the
// run's results hold (GRND-16). It stands before the filter: what that takes out
// is taken out of what may be said.
type gate struct {
	evidence *grounding.Evidence
	reading  *grounding.Reading
	call     *tool.Call
	quotes   bool                                        // the model only quotes: there is nothing to check
	second   func(ctx context.Context) grounding.Checker // nil: the rules judge alone
	spent    model.Usage                                 // of what it was asked
	last     bool                                        // what no result holds is left out; else the answer ends there
	trailer  string                                      // a block that is no part of the text; empty: none is

	cited       []any // citations, those of before first; their place is their number
	numbers     map[string]int
	calls       []any
	records     []any
	unsupported []any
	left        int // sentences that were left out
	held        string
	tail        string // the trailer, once it has begun
	trailing    bool
	yield       func(model.Event, error) bool
	over        bool
}

// gated makes the gate of a step whose node has ground; nil: it has none. It
// reads the transcript before what strangers wrote in it is framed.
func (t step) gated(ctx context.Context, c *tool.Call, offered map[string]tool.Spec, transcript []model.Message, talk talk) (*gate, error) {
	rules, ok := c.Inputs["ground"].(map[string]any)
	if !ok {
		return nil, nil
	}
	g := &gate{call: c, numbers: map[string]int{}, calls: []any{}, records: []any{}, unsupported: []any{}, cited: []any{}}
	g.quotes = !t.on(c).model.Generative()
	g.last, _ = rules["last"].(bool)
	g.trailer, _ = rules["trailer"].(string)
	g.evidence = grounding.New(today(c), optionsOf(rules))
	for _, spec := range offered {
		for _, k := range kindsOf(spec, c.Locale) {
			g.evidence.Kind(k)
		}
	}
	for _, m := range talk.messages {
		for _, b := range m.Content {
			if m.Role == model.User && b.Type == model.Text {
				g.evidence.Words(b.Text)
			}
		}
	}
	g.evidence.Names(words(c, "system"))
	earlier, err := t.earlier(ctx, c, maxHistoryMessages)
	if err != nil {
		return nil, err
	}
	g.evidence.Earlier(citedBefore(earlier)...)
	g.results(transcript, offered)
	g.reading = g.evidence.Read()
	if slices.Contains(texts(rules["checks"]), "model") {
		g.second = func(ctx context.Context) grounding.Checker { return t.on(c).checker(ctx, c, &g.spent) }
	}
	g.resume(c.Inputs["said"])
	return g, nil
}

// today is the day of the run, as its graph says it, else that of the program.
func today(c *tool.Call) time.Time {
	if day, err := time.Parse(time.DateOnly, words(c, "today")); err == nil {
		return day
	}
	return time.Now()
}

func optionsOf(rules map[string]any) grounding.Options {
	o := grounding.Options{Cite: rules["cite"] != "markers", Markers: map[string]string{}}
	checks := texts(rules["checks"])
	o.Checks = grounding.Checks{
		IDs: slices.Contains(checks, "ids"), Dates: slices.Contains(checks, "dates"),
		Numbers: slices.Contains(checks, "numbers"), Refs: slices.Contains(checks, "refs"),
	}
	markers, _ := rules["markers"].(map[string]any)
	for word, entity := range markers {
		o.Markers[word], _ = entity.(string)
	}
	return o
}

// kindsOf are the records in a tool's result, with the pages its source gives
// them.
func kindsOf(s tool.Spec, locale string) []grounding.Kind {
	source, entities := entitiesOf(s)
	kinds := make([]grounding.Kind, 0, len(s.Shows))
	for _, shown := range s.Shows {
		k := grounding.Kind{In: shown.In, Entity: shown.Entity, ID: shown.ID, Source: source, Tell: func(values map[string]any) (line, title string) {
			line = tool.Fill(shown.Line.In(locale), values, locale)
			if title = line; shown.Title != nil {
				title = tool.Fill(shown.Title.In(locale), values, locale)
			}
			return line, title
		}}
		if e, ok := entities[shown.Entity]; ok {
			k.Page = func(id string) string { return data.PageOf(source, shown.Entity, e, id) }
			if e.List != "" && e.Href == "" {
				k.List = strings.TrimSuffix(data.PageOf(source, shown.Entity, e, ""), "/")
			}
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// citedBefore are the records that earlier answers of the conversation cited.
func citedBefore(messages []chat.Message) (records []grounding.Record) {
	for _, m := range messages {
		for _, q := range m.Struct.Citations() {
			if q.Record != nil {
				records = append(records, grounding.Record{Entity: q.Record.Entity, ID: q.Record.ID, Line: q.Text, Title: q.Record.Title, Href: q.Record.Href, Source: q.Record.Source})
			}
		}
	}
	return records
}

// results takes in what the tools of the run returned.
func (g *gate) results(transcript []model.Message, offered map[string]tool.Spec) {
	by := map[string]string{}
	for _, m := range transcript {
		for _, b := range m.Content {
			switch b.Type {
			case model.ToolUse:
				by[b.ID] = b.Name
			case model.ToolResult:
				g.result(b, by[b.ID], offered)
			default:
			}
		}
	}
}

func (g *gate) result(b model.Block, name string, offered map[string]tool.Spec) {
	call := map[string]any{"name": name, "status": "ok", "records": 0.0}
	g.calls = append(g.calls, call)
	var out any
	if err := json.Unmarshal([]byte(b.Text), &out); err != nil {
		out = b.Text
	}
	object, _ := out.(map[string]any)
	if b.IsError || tool.IsMissing(object) {
		call["status"] = "error"
		return
	}
	spec := offered[name]
	found := g.evidence.Result(grounding.Result{Call: b.ID, Tool: name, Value: out, Kinds: kindsOf(spec, g.call.Locale)})
	call["records"] = float64(len(found))
	if said := spec.Summarise(object, g.call.Locale); said != "" {
		call["summary"] = said
	}
	for _, r := range found {
		if len(g.records) < mostEvidence {
			g.records = append(g.records, map[string]any{"entity": r.Entity, "id": r.ID})
		}
	}
}

// resume goes on with the numbers of what was shown before.
func (g *gate) resume(said any) {
	object, _ := said.(map[string]any)
	list, _ := object["citations"].([]any)
	if text, ok := object["text"].(string); ok {
		g.reading.Shown(text)
	}
	g.cited = append(g.cited, list...)
	for _, q := range chat.ReadCitations(list) {
		if q.Record != nil {
			g.numbers[q.Record.Entity+"\x00"+q.Record.ID] = q.N
		}
	}
}

// cite gives the number of a record's citation.
func (g *gate) cite(r grounding.Record) int {
	key := r.Entity + "\x00" + r.ID
	if n := g.numbers[key]; n > 0 {
		return n
	}
	n := len(g.numbers) + 1
	g.numbers[key] = n
	g.cited = append(g.cited, map[string]any{
		"n": float64(n), "text": r.Line,
		"record": map[string]any{"source": r.Source, "entity": r.Entity, "id": r.ID, "title": r.Title, "href": r.Href},
	})
	return n
}

// through is a model's events without what stands in no result. An answer that
// is to be asked for again ends with Ungrounded.
func (g *gate) through(ctx context.Context, events iter.Seq2[model.Event, error]) iter.Seq2[model.Event, error] {
	if g == nil || g.quotes {
		return events
	}
	return func(yield func(model.Event, error) bool) {
		g.yield = yield
		if g.second != nil {
			g.reading.CheckedBy(g.second(ctx))
		}
		for event, err := range events {
			if err != nil {
				g.flush(true)
				g.send(model.Event{}, err)
				return
			}
			if g.feed(event); g.over {
				return
			}
		}
		g.flush(ctx.Err() != nil)
	}
}

func (g *gate) feed(e model.Event) {
	switch e.Type {
	case model.TextDelta:
		g.held += e.Text
		for !g.over {
			block := g.block()
			if block == "" {
				return
			}
			g.judge(block)
		}
	case model.ToolCall:
		g.flush(false)
		g.send(e, nil)
	case model.Stop:
		g.flush(e.Reason == model.MaxTokens)
		g.apologise()
		g.send(e, nil)
	default:
		g.send(e, nil)
	}
}

// block takes what can be judged from what is held; empty: nothing can.
func (g *gate) block() string {
	if g.trailing {
		g.tail += g.held
		g.held = ""
		return ""
	}
	if g.trailer != "" {
		if i := strings.Index(g.held, "["+g.trailer+"]"); i >= 0 {
			g.trailing, g.tail = true, g.held[i:]
			g.held = beforeTrailer(g.held[:i])
			block := g.held
			g.held = ""
			return block
		}
	}
	n := grounding.Block(g.held)
	if n == 0 && len(g.held) < mostHeld {
		return ""
	}
	if n == 0 {
		n = len(g.held)
	}
	if g.trailer != "" && g.mayBegin(g.held[:n], g.held[n:]) {
		return ""
	}
	block := g.held[:n]
	g.held = g.held[n:]
	return block
}

// mostHeld bounds what is held back of a paragraph that does not end.
const mostHeld = 16 << 10

// mayBegin reports whether a line may be the one before the trailer.
func (g *gate) mayBegin(block, rest string) bool {
	if strings.TrimSpace(block) != "---" {
		return false
	}
	rest, open := strings.TrimSpace(rest), "["+g.trailer+"]"
	return len(rest) < len(open) && strings.HasPrefix(open, rest)
}

func beforeTrailer(text string) string {
	text = strings.TrimRight(text, " \n\r\t")
	return strings.TrimRight(strings.TrimSuffix(text, "---"), " \n\r\t")
}

// flush judges the rest. Of an answer that broke off, what is no whole sentence
// may be half of a figure, and is lost.
func (g *gate) flush(torn bool) {
	for !g.over {
		block := g.block()
		if block == "" {
			break
		}
		g.judge(block)
	}
	rest := g.held
	g.held = ""
	if g.trailer != "" && strings.TrimSpace(rest) == "---" {
		return
	}
	if torn {
		rest = rest[:strings.LastIndexAny(rest, ".!?\n")+1]
	}
	if rest != "" && !g.over {
		g.judge(rest)
	}
}

// judge shows a block as far as results hold what it says.
func (g *gate) judge(block string) {
	for p := range g.reading.Judge(block, g.cite) {
		if p.Unsupported == nil {
			g.show(p)
		} else if g.last {
			g.left++
		} else {
			for _, said := range p.Unsupported {
				g.unsupported = append(g.unsupported, said)
			}
			g.send(model.Event{Type: model.Stop, Reason: model.Ungrounded}, nil)
			g.over = true
		}
		if g.over {
			return
		}
	}
}

func (g *gate) show(p grounding.Piece) {
	if p.Text != "" {
		g.send(model.Event{Type: model.TextDelta, Text: p.Text}, nil)
	}
	for _, c := range p.Chips {
		g.send(model.Event{Type: model.Linked, Record: recordOf(c)}, nil)
	}
}

// recordOf is a chip as an answer carries it.
func recordOf(c grounding.Chip) *model.Record {
	r := &model.Record{Source: c.Source, Entity: c.Kind, ID: c.ID, Title: c.Label, Href: c.Href}
	if c.Action != model.RecordOpens {
		r.Action = c.Action
	}
	return r
}

// apologise says that sentences were left out, and nothing of what they said.
func (g *gate) apologise() {
	if g.left == 0 || g.over {
		return
	}
	text := fmt.Sprintf("_%d sentences were left out: they said what no result holds._", g.left)
	switch de := german(g.call); {
	case g.left == 1 && de:
		text = "_Ein Satz wurde weggelassen: Er nannte etwas, das in keinem Ergebnis steht._"
	case g.left == 1:
		text = "_A sentence was left out: it said what no result holds._"
	case de:
		text = fmt.Sprintf("_%d Sätze wurden weggelassen: Sie nannten etwas, das in keinem Ergebnis steht._", g.left)
	}
	g.send(model.Event{Type: model.TextDelta, Text: "\n\n" + text}, nil)
}

func (g *gate) send(e model.Event, err error) {
	if !g.over && !g.yield(e, err) {
		g.over = true
	}
}

// grounds adds to a step's result what its words stand on. citations are those
// of the whole answer so far; none where the answer is not shown.
func (g *gate) grounds(out map[string]any, s *completion) {
	calls, tag := g.claimed()
	out["calls"], out["evidence"], out["links"] = append(g.calls, calls...), g.records, linksOf(s.records)
	if tag != "" {
		out["tag"] = tag
	}
	if g.left > 0 {
		out["left_out"] = float64(g.left)
	}
	if n := g.reading.Checked(); n.Blocks > 0 {
		out["usage"] = usage(s.usage.Add(g.spent))
		out["checked"] = map[string]any{
			"blocks": float64(n.Blocks), "unanswered": float64(n.Unanswered),
			"refused": float64(n.Refused), "accepted": float64(n.Accepted),
		}
	}
	if len(g.unsupported) > 0 {
		out["unsupported"] = g.unsupported
	}
	if s.replaced {
		delete(out, "citations")
		return
	}
	links, _ := out["citations"].([]any)
	out["citations"] = append(slices.Clip(g.cited), links...)
}

// linksOf says what kinds of links an answer has.
func linksOf(records []model.Record) []any {
	links := []any{}
	for _, r := range records {
		links = append(links, map[string]any{"kind": r.Entity, "action": cmp.Or(r.Action, model.RecordOpens)})
	}
	return links
}

var trailerTag = regexp.MustCompile(`^[a-z][a-z_]{0,31}$`)

// claimed is what the trailer says: nobody here called these tools, so nobody
// knows whether it is so (GRND-41).
func (g *gate) claimed() (calls []any, tag string) {
	var tools, rows []string
	for _, line := range strings.Split(g.tail, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "used_tools":
			tools = strings.Split(value, ",")
		case "rows_seen":
			rows = strings.Split(value, ",")
		case "classifier_tag":
			if tag = strings.ToLower(strings.TrimSpace(value)); !trailerTag.MatchString(tag) {
				tag = ""
			}
		}
	}
	for i, name := range tools {
		if name = strings.TrimSpace(name); name == "" || len(calls) == mostEvidence {
			continue
		}
		call := map[string]any{"name": name, "status": "ok", "claimed": true}
		if i < len(rows) {
			if n, err := strconv.Atoi(strings.TrimSpace(rows[i])); err == nil && n >= 0 {
				call["records"] = float64(n)
			}
		}
		calls = append(calls, call)
	}
	return calls, tag
}
