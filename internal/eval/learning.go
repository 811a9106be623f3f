package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/model"
)

// LearningOptions say who is simulated. Set, Encoder and Model are required.
type LearningOptions struct {
	Set      Set // whose questions are asked, of its documents
	Encoder  embed.Embedder
	Model    model.Model // that answers
	Seed     int         // of the first person, 0: 1; each next one has the next
	People   int         // of each group, 0: 10
	Scratch  string      // folder for a scratch database; "": the system's
	Progress io.Writer
}

// What a simulated person does.
const (
	simulated = 10 // people of a group
	wanted    = 3  // wishes of a person
	judged    = 20 // answers they say something of
	heldOut   = 40 // questions that their lessons are tried with
	mistaken  = 0.1
	notes     = 0.35 // of what they dislike, the share with a note
	corrects  = 0.3  // and that with a correction
)

// Person is what became of one person's wishes.
type Person struct {
	Seed    int      `json:"seed"`
	Wishes  []string `json:"wishes"`
	Lessons []string `json:"lessons"`
	Found   int      `json:"found"`  // wishes of which there is a lesson
	False   int      `json:"false"`  // lessons that are no wish of theirs
	Before  float64  `json:"before"` // share of their wishes that answers to held-out questions keep, without lessons
	After   float64  `json:"after"`  // and with them
	Each    []Fared  `json:"each"`   // wish
}

// Fared is how a wish of a person fared: the share of answers that keep it.
type Fared struct {
	Wish   string  `json:"wish"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Lesson bool    `json:"lesson"` // there is one of it
}

// Group is people who want something of one kind, answered by one model.
type Group struct {
	Name   string   `json:"name"`
	Model  string   `json:"model"`
	People []Person `json:"people"`
}

// LearningReport is what people's feedback was worth.
type LearningReport struct {
	Groups []Group `json:"groups"`
}

// answerer gives an answer, with adapters or without.
type answerer interface {
	answer(ctx context.Context, q Question, adapters []model.Adapter) (string, error)
}

// Learning has people judge answers by what they want, derives lessons from what
// they said, and asks other questions with and without these. The first group
// wants what answers without a language model can follow, the others anything;
// the last is answered by a stand-in that follows every lesson, so that what is
// lost there is lost in deriving them.
func Learning(ctx context.Context, o LearningOptions) (r LearningReport, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	wishes, err := readWishes()
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp(o.Scratch, "liminal-eval-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h, err := openCollection(ctx, dir, o.Set, o.Encoder, 0)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	real := &fromDocuments{asker: newAsker(h, o.Model), found: map[string]map[string]any{}, plain: map[string]string{}}
	questions, err := real.answerable(ctx, o.Set.Questions)
	if err != nil {
		return r, err
	}
	if len(questions) < judged+heldOut {
		return r, fmt.Errorf("%s has %d questions that are looked up plainly; it takes %d", o.Set.Name, len(questions), judged+heldOut)
	}
	any := func(string) bool { return true }
	for _, g := range []struct {
		name string
		of   func(kind string) bool
		by   func(seed int) answerer
		say  string
	}{
		{"what a program can follow", followed, func(int) answerer { return real }, o.Model.Name()},
		{"anything", any, func(int) answerer { return real }, o.Model.Name()},
		{"anything", any, func(seed int) answerer { return standIn{wishes, uint64(seed)} }, "a stand-in that follows lessons"},
	} {
		if _, err := fmt.Fprintf(o.Progress, "%s, answered by %s\n", g.name, g.say); err != nil {
			return r, err
		}
		group := Group{Name: g.name, Model: g.say}
		for n := range cmp.Or(o.People, simulated) {
			seed := cmp.Or(o.Seed, 1) + n
			p, err := live(ctx, seed, questions, wishes, g.of, g.by(seed))
			if err != nil {
				return r, fmt.Errorf("person %d: %w", seed, err)
			}
			group.People = append(group.People, p)
		}
		r.Groups = append(r.Groups, group)
	}
	return r, nil
}

// followed are the kinds of wishes that are directives.
func followed(kind string) bool {
	return slices.Contains([]string{model.DirectiveLength, model.DirectiveList, model.DirectiveLanguage}, kind)
}

// live is one person: what they want, what they say, and what comes of it.
func live(ctx context.Context, seed int, questions []Question, wishes []wish, of func(kind string) bool, by answerer) (Person, error) {
	r := rand.New(rand.NewPCG(uint64(seed), 3))
	p := Person{Seed: seed}
	mine := drawWishes(wishes, wanted, of, r)
	for _, w := range mine {
		p.Wishes = append(p.Wishes, w.Kind+"="+w.Value)
	}
	german := r.IntN(2) == 0
	order := r.Perm(len(questions))
	var cases []learning.Case
	for i, at := range order[:judged] {
		text, err := by.answer(ctx, questions[at], nil)
		if err != nil {
			return p, err
		}
		cases = append(cases, judge(int64(i+1), questions[at].Text, text, mine, german, r))
	}
	lessons := lesson.Derive(cases, nil, lesson.Scope{UserID: "person"})
	for _, l := range lessons {
		kind, value, _ := lesson.Meaning(l)
		said := kind + "=" + value
		p.Lessons = append(p.Lessons, said)
		if slices.Contains(p.Wishes, said) {
			p.Found++
		} else {
			p.False++
		}
	}
	locale := "en"
	if german {
		locale = "de"
	}
	told := adapterOf(lessons, locale)
	before, after := make([]tally, len(mine)), make([]tally, len(mine))
	for _, at := range order[judged : judged+heldOut] {
		for _, a := range []struct {
			adapters []model.Adapter
			sums     []tally
		}{{nil, before}, {told, after}} {
			text, err := by.answer(ctx, questions[at], a.adapters)
			if err != nil {
				return p, err
			}
			for i, w := range mine {
				a.sums[i].add(w.kept(text))
			}
		}
	}
	var all, allAfter tally
	for i, w := range p.Wishes {
		p.Each = append(p.Each, Fared{w, before[i].share(), after[i].share(), slices.Contains(p.Lessons, w)})
		all, allAfter = all.plus(before[i]), allAfter.plus(after[i])
	}
	p.Before, p.After = all.share(), allAfter.share()
	return p, nil
}

// adapterOf is how lessons reach a model.
func adapterOf(lessons []learning.Lesson, locale string) []model.Adapter {
	if len(lessons) == 0 {
		return nil
	}
	a := model.Adapter{ID: "lessons", Mode: model.ModePrompt, Weight: 1, Instructions: lesson.Compose(lessons, nil, locale)}
	for _, l := range lessons {
		if l.Directive != nil {
			a.Directives = append(a.Directives, model.Directive(*l.Directive))
		}
	}
	return []model.Adapter{a}
}

// tally counts answers that keep a wish, of those of which it says anything.
type tally struct{ kept, of int }

func (t *tally) add(kept, known bool) {
	if known {
		t.of++
	}
	if known && kept {
		t.kept++
	}
}

func (t tally) plus(o tally) tally { return tally{t.kept + o.kept, t.of + o.of} }

func (t tally) share() float64 { return float64(t.kept) / float64(max(t.of, 1)) }

// judge is what a person says of an answer: a thumb by whether it keeps all they
// want, one in ten the wrong way, and of what they dislike sometimes why, or how
// it should have been.
func judge(id int64, question, answer string, wishes []wish, german bool, r *rand.Rand) learning.Case {
	c := learning.Case{Question: question, Answer: answer, Event: learning.Event{
		ID: id, UserID: "person", MessageID: fmt.Sprint("m", id), ConversationID: fmt.Sprint("c", id), Signal: "like", Score: 1,
		CreatedAt: time.Date(2026, 1, 1, int(id)*5, 0, 0, 0, time.UTC), Meta: map[string]any{},
	}}
	var missed []wish
	for _, w := range wishes {
		if kept, known := w.kept(answer); known && !kept {
			missed = append(missed, w)
		}
	}
	wrong, why := r.Float64() < mistaken, r.Float64()
	if (len(missed) > 0) != wrong {
		c.Signal, c.Score = "dislike", -1
	}
	switch {
	case wrong || len(missed) == 0:
	case why < notes:
		c.Meta["notes"] = missed[r.IntN(len(missed))].note(german, r)
	case why < notes+corrects:
		c.Corrected = corrected(answer, wishes)
	}
	return c
}

// fromDocuments answers through the tools of the chat.
type fromDocuments struct {
	asker
	found map[string]map[string]any // what the search gave, by question
	plain map[string]string         // answers without adapters, by question
}

// answerable are the questions that are looked up without asking back.
func (d *fromDocuments) answerable(ctx context.Context, list []Question) ([]Question, error) {
	var out []Question
	for _, q := range list {
		if q.OffTopic() {
			continue
		}
		found, err := d.search.Run(ctx, d.call(q, nil))
		if err != nil {
			return nil, err
		}
		if clarity, _ := found["clarity"].(string); knowledge.Clarity(clarity) == knowledge.Clear {
			d.found[q.Text] = map[string]any{"passages": found["passages"], "confidence": found["confidence"]}
			out = append(out, q)
		}
	}
	return out, nil
}

func (d *fromDocuments) answer(ctx context.Context, q Question, adapters []model.Adapter) (string, error) {
	if text, known := d.plain[q.Text]; known && len(adapters) == 0 {
		return text, nil
	}
	c := d.call(q, d.found[q.Text])
	c.Adapters = adapters
	said, err := d.asker.answer.Run(ctx, c)
	if err != nil {
		return "", err
	}
	text, _ := said["answer"].(string)
	if len(adapters) == 0 {
		d.plain[q.Text] = text
	}
	return text, nil
}

// Print writes the report: a line for each group, and each person where all is
// true.
func (r LearningReport) Print(w io.Writer, all bool) error {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%d people who want %s, answered by %s\n", len(g.People), g.Name, g.Model)
		if all {
			for _, p := range g.People {
				fmt.Fprintf(&b, "  %d: wants %s; lessons %s; kept %.2f before, %.2f after\n", p.Seed, strings.Join(p.Wishes, ", "), cmp.Or(strings.Join(p.Lessons, ", "), "none"), p.Before, p.After)
			}
		}
		fmt.Fprintf(&b, "  wishes kept before  %s\n", spread(g.People, func(p Person) float64 { return p.Before }))
		fmt.Fprintf(&b, "              after   %s\n", spread(g.People, func(p Person) float64 { return p.After }))
		fmt.Fprintf(&b, "              gained  %s\n", spread(g.People, func(p Person) float64 { return p.After - p.Before }))
		fmt.Fprintf(&b, "  lessons of %d wishes %s, false ones %s\n", wanted,
			spread(g.People, func(p Person) float64 { return float64(p.Found) }), spread(g.People, func(p Person) float64 { return float64(p.False) }))
		g.printWishes(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printWishes writes how each wish fared, over all who have it.
func (g Group) printWishes(b *strings.Builder) {
	by := map[string][]Fared{}
	var names []string
	for _, p := range g.People {
		for _, k := range p.Each {
			if by[k.Wish] == nil {
				names = append(names, k.Wish)
			}
			by[k.Wish] = append(by[k.Wish], k)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		list := by[n]
		learnt := 0
		for _, k := range list {
			if k.Lesson {
				learnt++
			}
		}
		fmt.Fprintf(b, "    %-12s  %2d people, %2d lessons: kept %.2f before, %.2f after\n", n, len(list), learnt,
			mean(list, func(k Fared) float64 { return k.Before }), mean(list, func(k Fared) float64 { return k.After }))
	}
}
