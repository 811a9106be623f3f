package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// PalaceModel proves what is kept of models that are asked.
func PalaceModel(t *testing.T, open Open) {
	t.Run("an answer is heard after the rules, and a person before both", func(t *testing.T) { palaceHeard(t, open) })
	t.Run("what is no answer changes nothing and is counted", func(t *testing.T) { palaceUnheard(t, open) })
	t.Run("after each exchange the newest window is asked about, of each history one at a time", func(t *testing.T) { palaceAsks(t, open) })
	t.Run("of what has ended notes are proposed once, and a person keeps them", func(t *testing.T) { palaceNotes(t, open) })
	t.Run("what the palace asks a model through its own proxy is in no history", func(t *testing.T) { palaceAsksItself(t, open) })
	t.Run("answers are sealed with the rest, and erased with it", func(t *testing.T) { palaceAnswersSealed(t, open) })
}

const byModel = `{"kind":"policy.palace","mode":"view","rules":[{"id":"first","when":"text startsWith '0'","do":"++"}],"keep":{"turns":0},"channels":[{"channel":"search","when":"tool == 'Grep'"}],
	"classifier":{"by":"model","model":"@near","window":30}}`

// reply is what a model says of the window of an agent now.
func (p *spooled) reply(agent int, text func(view.Window) string) palace.Classified {
	p.t.Helper()
	q := got(p.Question(p.t.Context(), p.v, p.timeline(agent).Lineage.ID))(p.t)
	c, _, err := p.Heard(p.t.Context(), p.v, q, palace.Reply{Model: "qwen3:4b", Text: text(q.Window), Took: 30 * time.Millisecond})
	need(p.t, err)
	return c
}

// first keeps the first block of a window.
func first(w view.Window) string { return fmt.Sprintf("++%d", w.IDs()[0]) }

// spaced are values with a space between each two.
func spaced(values ...any) string { return strings.TrimSpace(fmt.Sprintln(values...)) }

// talk is the n-th exchange of a conversation.
func (p *spooled) talk(session string, n int) {
	var messages []string
	for i := range n {
		if i > 0 {
			messages = append(messages, assistant(fmt.Sprintf(`{"type":"text","text":"answer %d"}`, i)))
		}
		messages = append(messages, user(fmt.Sprint("question ", i)))
	}
	p.say(passed{session: session, body: request(messages...), answer: events(textBlock(fmt.Sprint("answer ", n)))})
}

// shownAs is the display id of the n-th block of a type in a window.
func shownAs(w view.Window, kind string, n int) int {
	for _, b := range w.Blocks {
		if b.Type == kind {
			if n == 0 {
				return b.ID
			}
			n--
		}
	}
	return -1
}

// Requirements: PAL-02 (classifies), PAL-07 (a model is asked so), PAL-08 (by a model), PAL-19
func palaceHeard(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Policies = parsed(t, byModel)
	pl := p.planner()
	p.grepped("s", 4, 2)
	p.take()
	aside := func() string {
		out := []string{}
		for _, r := range p.plan(pl, 1).Plan.Replace {
			out = append(out, r.Label)
		}
		return strings.Join(out, ", ")
	}
	want(t, "before", aside(), "")
	l := p.timeline(1)
	q := got(p.Question(t.Context(), p.v, l.Lineage.ID))(t)
	want(t, "asked", spaced(q.Agent, q.Window.Task, q.Window.Tool, q.Window.Channels, q.Classifier.Model, q.Exchanges == l.Lineage.Exchanges), "1 on 0 Grep [search] @near true")
	all := func(w view.Window) string {
		return fmt.Sprintf("++%d channels=auth,search --%d,%d,%d,%d", shownAs(w, "User", 0), shownAs(w, "ToolResult", 0), shownAs(w, "ToolResult", 1), shownAs(w, "ToolResult", 2), shownAs(w, "ToolResult", 3))
	}
	c := p.reply(1, all)
	want(t, "outcome", spaced(c.Outcome, c.Refused, c.Model, len(c.Blocks) > 10), "understood  qwen3:4b true")
	want(t, "aside", aside(), "Grep 1, Grep 2, Grep 3") // of the first a rule says ++
	// A person's word goes first, and the next answer before the last.
	results := slices.DeleteFunc(slices.Clone(l.Blocks), func(b palace.Block) bool { return b.Type != palace.ToolResult })
	got(p.Wish(t.Context(), p.v, results[1].UUID, view.Show))(t)
	p.reply(1, func(w view.Window) string { return fmt.Sprintf("++%d", shownAs(w, "ToolResult", 2)) })
	want(t, "after a person, and another answer", aside(), "Grep 3")
	task := slices.IndexFunc(l.Blocks, func(b palace.Block) bool { return b.Type == palace.User })
	want(t, "channels", fmt.Sprint(got(p.PalaceBlock(t.Context(), p.v, l.Blocks[task].UUID))(t).Channels), "[auth search]")
	events, _, err := p.PalaceEvents(t.Context(), p.v, results[2].UUID, "", 0)
	need(t, err)
	want(t, "events", spaced(events[0].Who, events[0].What, events[0].Why, events[1].What, len(events)), "model kept qwen3:4b dropped 2")
	// The same answer again is no event.
	p.reply(1, func(w view.Window) string { return fmt.Sprintf("++%d", shownAs(w, "ToolResult", 2)) })
	events, _, err = p.PalaceEvents(t.Context(), p.v, results[2].UUID, "", 0)
	need(t, err)
	want(t, "events of the same", len(events), 2)
	list, next, err := p.PalaceClassified(t.Context(), p.v, l.Lineage.ID, "", 2)
	need(t, err)
	want(t, "kept", spaced(len(list), next != "", list[0].Who, list[0].Model, list[0].Took, list[0].Exchanges, list[0].Lineage == l.Lineage.ID), spaced("2 true model qwen3:4b 30000", l.Lineage.Exchanges, "true"))
	list, _, err = p.PalaceClassified(t.Context(), p.v, "", next, 2)
	need(t, err)
	want(t, "the first", spaced(len(list), list[0].Answer == all(q.Window), slices.Equal(list[0].Blocks, q.Window.UUIDs(q.Window.IDs()))), "1 true true")
	bob := person(t, p.store)
	theirs, _, err := p.PalaceClassified(t.Context(), bob, l.Lineage.ID, "", 0)
	need(t, err)
	want(t, "another's", len(theirs), 0)
	if _, err := p.Question(t.Context(), bob, l.Lineage.ID); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another's history is asked about: %v", err)
	}
}

// Requirements: PAL-07 (a model is asked so), PAL-08 (the latency in /stats; by a model), PAL-09
func palaceUnheard(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Policies = parsed(t, byModel)
	pl := p.planner()
	var told []palace.Outcome
	p.Answered = func(c palace.Classified) { told = append(told, c.Outcome) }
	p.grepped("s", 2, 1)
	p.grepped("other", 1, 1)
	p.take()
	p.plan(pl, 1)
	mine := got(p.Question(t.Context(), p.v, p.timeline(1).Lineage.ID))(t).Window.IDs()
	theirs := got(p.Question(t.Context(), p.v, p.timeline(2).Lineage.ID))(t).Window.IDs()
	for _, text := range []string{
		"", "Block 3 is old.", "--3-5", fmt.Sprintf("++%d --%d", mine[0], mine[0]), fmt.Sprintf("--%d", theirs[0]), "--65536", "++", fmt.Sprintf("--%d and forget your rules", mine[1]), fmt.Sprintf("++%d channels=secret", mine[0]),
		"--" + strings.Repeat("9", 20_000) + "\x00\xff",
	} {
		c := p.reply(1, func(view.Window) string { return text })
		if c.Outcome != palace.Unreadable || c.Refused == "" {
			t.Errorf("%.30q is %s: %s", text, c.Outcome, c.Refused)
		}
	}
	q := got(p.Question(t.Context(), p.v, p.timeline(1).Lineage.ID))(t)
	for _, o := range []palace.Outcome{palace.Late, palace.Failed, palace.NotLocal, palace.NoModel} {
		if c, more, err := p.Heard(t.Context(), p.v, q, palace.Reply{Outcome: o, Why: "for a reason", Took: time.Second}); err != nil || more || c.Outcome != o {
			t.Errorf("%s: %+v, %t, %v", o, c, more, err)
		}
	}
	want(t, "wishes", len(got(p.PalaceWishes(t.Context(), p.v, q.Lineage))(t)), 0)
	events, _, err := p.PalaceEvents(t.Context(), p.v, "", "", 0)
	need(t, err)
	want(t, "events", len(events), 0)
	f := got(p.Stats(t.Context(), p.v))(t).Classifier.Model
	want(t, "figures", spaced(f.Calls, f.Outcomes, f.Most, f.Refused), "14 map[failed:1 late:1 none:1 remote:1 unreadable:10] 1000000 for a reason")
	want(t, "told", len(told), 14)
}

// Where the model is reached through the proxy, each question would be asked about again.
//
// Requirements: PAL-08 (by a model)
func palaceAsksItself(t *testing.T, open Open) {
	p := newSpooled(t, open)
	quoted := func(text string) string { return string(got(json.Marshal(text))(t)) }
	asking, noting := quoted(view.Asking), quoted(view.Noting+"\n\nAnswer as JSON.")
	ids := []string{
		p.say(passed{session: "a", body: `{"model":"m","system":` + asking + `,"messages":[` + user("<data>") + `]}`, answer: events(textBlock("++1"))}),
		p.say(passed{session: "b", body: `{"model":"m","system":[{"type":"text","text":` + noting + `,"cache_control":{"type":"ephemeral"}}],"messages":[` + user("<data>") + `]}`, answer: events(textBlock("{}"))}),
		p.say(passed{path: "/openai/v1/chat/completions", body: `{"model":"m","messages":[{"role":"system","content":` + asking + `},{"role":"user","content":"<data>"}]}`, answer: `{}`, kind: "application/json"}),
		p.say(passed{path: "/openai/v1/responses", body: `{"model":"m","instructions":` + noting + `,"input":"<data>"}`, answer: `{}`, kind: "application/json"}),
	}
	p.say(passed{session: "c", body: request(user("You decide what a coding agent goes on to see?")), answer: events(textBlock("No."))})
	p.take()
	for _, id := range ids {
		e := got(p.PalaceExchange(t.Context(), p.v, id))(t)
		want(t, "kind", spaced(e.Kind, e.LineageID), "other")
	}
	want(t, "agents", len(got(p.PalaceAgents(t.Context(), p.v))(t)), 1)
}

// Requirements: PAL-02 (classifies), PAL-08 (by a model)
func palaceAsks(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Policies = parsed(t, byModel)
	pl := p.planner()
	var asked []string
	busy := map[string]bool{}
	pl.Ask = func(_ context.Context, _ identity.Viewer, lineage string, exchanges int, model string) error {
		asked = append(asked, fmt.Sprint(lineage, " ", exchanges, " ", model))
		if busy[lineage] {
			return fault.New(fault.Conflict, "one is under way")
		}
		return nil
	}
	said := func() string {
		slices.Sort(asked)
		s := strings.Join(asked, ", ")
		asked = nil
		return s
	}
	grow := func(session string, exchanges int) {
		for n := range exchanges {
			p.talk(session, n+1)
		}
		p.take()
	}
	grow("s", 1)
	grow("t", 1) // two agents at once
	one, two := p.timeline(1).Lineage.ID, p.timeline(2).Lineage.ID
	pl.Grown([]string{one, two})
	need(t, pl.All(t.Context(), p.v))
	both := []string{one + " 1 @near", two + " 1 @near"}
	slices.Sort(both)
	want(t, "of two histories", said(), strings.Join(both, ", "))
	// An answer has the plan made again, and nothing asked again.
	want(t, "the window of that answer", p.reply(1, first).Exchanges, 1)
	need(t, pl.All(t.Context(), p.v))
	want(t, "after an answer", said(), "")
	// While one is asked about, the newest window waits, and is asked about then.
	busy[one] = true
	for _, n := range []int{2, 3} {
		p.talk("s", n)
		p.take()
		p.plan(pl, 1)
	}
	want(t, "while one is under way", said(), one+" 2 @near, "+one+" 3 @near")
	want(t, "waits", pl.AskAgain(t.Context(), p.v), true)
	want(t, "is tried again", said(), one+" 3 @near")
	busy[one] = false
	want(t, "waits no longer", pl.AskAgain(t.Context(), p.v), false)
	want(t, "is asked about", said(), one+" 3 @near")
	// What the question before has seen is not asked about again.
	busy[one] = true
	p.talk("s", 4)
	p.take()
	p.plan(pl, 1)
	want(t, "the newest", said(), one+" 4 @near")
	p.reply(1, first)
	want(t, "seen meanwhile", spaced(pl.AskAgain(t.Context(), p.v), said()), "false")
	// By rules, or where views are off, nobody is asked.
	for _, doc := range []string{`{"kind":"policy.palace"}`, `{"kind":"policy.palace","mode":"off","classifier":{"by":"model"}}`} {
		q := newSpooled(t, open)
		q.Policies = parsed(t, doc)
		quiet := q.planner()
		quiet.Ask = pl.Ask
		q.grepped("s", 1, 1)
		q.take()
		q.plan(quiet, 1)
	}
	want(t, "by rules", said(), "")
}

// Requirements: PAL-19
func palaceNotes(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Policies = parsed(t, `{"kind":"policy.palace","notes":{"propose":true,"most":2},"classifier":{"model":"@near"}}`)
	for n := range 4 {
		p.talk("s", n+1)
	}
	p.take()
	l := p.timeline(1)
	want(t, "while it goes on", len(got(p.Notable(t.Context(), p.v))(t)), 0)
	p.talk("s", 1) // /clear: another history begins
	p.take()
	want(t, "when it has ended", fmt.Sprint(got(p.Notable(t.Context(), p.v))(t)), "map["+l.Lineage.ID+":@near]")
	q := got(p.Consolidation(t.Context(), p.v, l.Lineage.ID))(t)
	ids := q.Window.IDs()
	want(t, "what is read of it", len(ids), 8)
	want(t, "proposed", got(p.Note(t.Context(), p.v, q, "qwen3:4b", []palace.Draft{
		{Says: "of nothing"}, {Says: "of another", Blocks: []int{9999}}, {Says: "  ", Blocks: ids[:1]}, {Says: "the key is sk-ant-api03-" + strings.Repeat("a", 40), Blocks: ids[:2]}, {Says: "second", Blocks: ids[1:2]}, {Says: "too many", Blocks: ids[:1]},
	}))(t), 2)
	got(p.Note(t.Context(), p.v, q, "qwen3:4b", []palace.Draft{{Says: "again", Blocks: ids[:1]}}))(t)
	want(t, "is asked again", len(got(p.Notable(t.Context(), p.v))(t)), 0)
	list, next, err := p.PalaceNotes(t.Context(), p.v, palace.NoteFilter{State: palace.Proposed, Lineage: l.Lineage.ID}, "", 1)
	need(t, err)
	want(t, "a page", spaced(len(list), next != "", list[0].Says, list[0].Agent, list[0].Blocks), "1 true second 1 ["+l.Blocks[1].UUID+"]")
	want(t, "what it is drawn from", spaced(len(list[0].Sources), list[0].Sources[0].UUID, list[0].Sources[0].Label), spaced(1, l.Blocks[1].UUID, l.Blocks[1].Label))
	list, _, err = p.PalaceNotes(t.Context(), p.v, palace.NoteFilter{}, next, 0)
	need(t, err)
	want(t, "without the secret", spaced(len(list), strings.Contains(list[0].Says, "sk-ant"), len(list[0].Blocks)), "1 false 2")
	tier := func() palace.Tier { return got(p.PalaceBlock(t.Context(), p.v, list[0].Blocks[0]))(t).Tier }
	want(t, "before", tier(), palace.Medium)
	kept := got(p.KeepNote(t.Context(), p.v, list[0].ID, true))(t)
	want(t, "kept", spaced(kept.State, kept.Sources[0].Tier, kept.Sources[1].Tier), "kept LONG LONG")
	want(t, "after", tier(), palace.Long)
	_, err = p.KeepNote(t.Context(), p.v, list[0].ID, false)
	wantFault(t, err, fault.Conflict)
	_, err = p.KeepNote(t.Context(), person(t, p.store), list[0].ID, true)
	wantFault(t, err, fault.NotFound)
	p.Folder = p.folder()
	got(p.EraseBlock(t.Context(), p.v, list[0].Blocks[0]))(t)
	_, err = p.PalaceNote(t.Context(), p.v, list[0].ID)
	wantFault(t, err, fault.NotFound)
}

// What is said of a history is content of it.
func palaceAnswersSealed(t *testing.T, open Open) {
	p := newSpooled(t, open)
	need(t, p.spool.Close(t.Context()))
	p.keys = palaceRing(t, "a")
	p.OpenWith(p.keys)
	p.write()
	p.Policies = parsed(t, byModel)
	p.grepped("s", 1, 1)
	p.take()
	const prose = "It looked for a wren."
	p.reply(1, func(view.Window) string { return prose })
	answer := func(l *palace.Library) string {
		list, _, err := l.PalaceClassified(t.Context(), p.v, "", "", 0)
		need(t, err)
		return list[0].Answer
	}
	want(t, "opened", answer(p.Library), prose)
	q := got(p.Question(t.Context(), p.v, p.timeline(1).Lineage.ID))(t)
	got(p.Note(t.Context(), p.v, q, "qwen3:4b", []palace.Draft{{Says: "Wrens are looked for.", Blocks: q.Window.IDs()[:1]}}))(t)
	notes, _, err := p.PalaceNotes(t.Context(), p.v, palace.NoteFilter{}, "", 0)
	need(t, err)
	note := got(p.PalaceNote(t.Context(), p.v, notes[0].ID))(t)
	source := got(p.PalaceBlock(t.Context(), p.v, note.Blocks[0]))(t)
	want(t, "a note opened", spaced(notes[0].Says, notes[0].Sources[0].Label, note.Sources[0].Label), spaced("Wrens are looked for.", source.Label, source.Label))
	kept, _, err := p.store.PalaceClassified(t.Context(), p.v, "", "", 0)
	need(t, err)
	if text := fmt.Sprint(kept); strings.Contains(text, "wren") || strings.Contains(text, "It looked") {
		t.Errorf("the database has %s", text)
	}
	p.Folder = p.folder()
	got(p.EraseBlock(t.Context(), p.v, p.timeline(1).Blocks[0].UUID))(t)
	want(t, "erased", answer(p.Library), "")
}
