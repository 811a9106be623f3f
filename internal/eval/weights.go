package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
	"liminal/internal/learning/gate"
	"liminal/internal/learning/lesson"
	"liminal/internal/lora/fit"
	"liminal/internal/model"
	"liminal/internal/model/local"
	"liminal/internal/training"
)

// WeightsOptions say whose adapters are trained. Base is required.
type WeightsOptions struct {
	Base     string // folder of a model that fit.Make made
	Seed     int    // of the first person, 0: 1; each next one has the next
	People   int    // of each group, 0: 10
	Scratch  string // folder for what is trained; "": the system's
	Progress io.Writer
}

// habit is how people of a group judge answers.
type habit struct {
	name                      string
	judged                    int // answers
	mistaken, notes, corrects float64
}

// The first group judges as those whose lessons are measured, of more answers:
// of 20 there are not the 12 liked or corrected ones that a training takes.
var habits = []habit{
	{"judge 60 answers: one in ten the wrong way, notes on 35 %, corrections of 30 % of what they dislike", 60, mistaken, notes, corrects},
	{"correct each of 24 answers", 24, 0, 0, 1},
}

const (
	forms      = 2   // wishes of a person
	unjudged   = 8   // things they never judge an answer about
	unworded   = 3   // ways to ask that they never ask in before
	otherAsked = 4   // questions for each other form
	longest    = 128 // tokens of an answer
)

// Ways are the shares of one figure: before anything was said; with the wishes as
// words of the system's, unframed and in words never taught, which is what text can
// reach with this model; with lessons alone, with weights alone, with both, and
// with what is followed once the gate has decided: weights, without the lessons
// (LORA-10), where it applies them by rule, and else lessons.
type Ways struct {
	Before  float64 `json:"before"`
	Told    float64 `json:"told"`
	Text    float64 `json:"text"`
	Weights float64 `json:"weights"`
	Both    float64 `json:"both"`
	Gated   float64 `json:"gated"`
}

// Trainee is what became of one person's wishes.
type Trainee struct {
	Seed     int      `json:"seed"`
	Wishes   []string `json:"wishes"`
	Lessons  []string `json:"lessons"`
	Rows     int      `json:"rows"` // to train with
	HeldOut  int      `json:"held_out"`
	Steps    int      `json:"steps"`
	Outcome  string   `json:"outcome"` // of the gate; few: too little was said to train with
	Kept     Ways     `json:"kept"`    // wishes that answers to held-out prompts keep
	Asked    Ways     `json:"asked"`   // other wishes that go together with theirs, kept where they are asked for, in words never taught
	Against  Ways     `json:"against"` // wishes that an answer cannot have beside theirs, likewise
	Opposed  int      `json:"opposed"` // questions for such; 0: Against says nothing
	Unasked  Ways     `json:"unasked"` // forms nobody wished for that those answers have no more, or less, than they should
	Right    Ways     `json:"right"`   // of those answers, that say what the thing is
	Training float64  `json:"training_seconds"`
	Seconds  float64  `json:"seconds"`
}

// Trainees are people who judge in one way.
type Trainees struct {
	Name   string    `json:"name"`
	People []Trainee `json:"people"`
}

// WeightsReport is what people's feedback was worth to a model that is trained
// with it.
type WeightsReport struct {
	Model  string     `json:"model"`
	Groups []Trainees `json:"groups"`
}

// Weights has people judge a small model's answers by what they want, derives
// lessons and trains weights from what they said with the very steps of the
// platform, over a store in memory, and asks about other things in other words
// with each, and both. Weights are served as the platform serves them, at the gate
// of a persona.
func Weights(ctx context.Context, o WeightsOptions) (r WeightsReport, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	dir, err := os.MkdirTemp(o.Scratch, "liminal-eval-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := local.Open(local.Options{Dir: o.Base, Root: dir, Seed: func() uint64 { return 1 }})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	t := &trainees{model: m, store: &trainStore{}, plain: map[string]string{}}
	if t.steps, err = t.store.steps(dir, o.Base); err != nil {
		return r, err
	}
	r.Model = m.Name()
	for n, h := range habits {
		if _, err := fmt.Fprintf(o.Progress, "people who %s\n", h.name); err != nil {
			return r, err
		}
		g := Trainees{Name: h.name}
		for i := range cmp.Or(o.People, simulated) {
			seed := cmp.Or(o.Seed, 1) + i
			p, err := t.live(ctx, fmt.Sprintf("group%d-person%d", n, seed), seed, h)
			if err != nil {
				return r, fmt.Errorf("person %d: %w", seed, err)
			}
			g.People = append(g.People, p)
			if _, err := fmt.Fprintf(o.Progress, "  %s\n", p.line()); err != nil {
				return r, err
			}
		}
		r.Groups = append(r.Groups, g)
	}
	return r, nil
}

// trainees are lived one after the other.
type trainees struct {
	model *local.Model
	steps *training.Steps
	store *trainStore
	plain map[string]string // answers without adapters, by question
}

// probe is a question about a thing.
type probe struct {
	thing int
	text  string
}

// drawForms are wishes that go together.
func drawForms(r *rand.Rand) (list []fit.Form) {
	all := fit.Forms()
	for _, i := range r.Perm(len(all)) {
		if len(list) < forms && !slices.ContainsFunc(list, func(f fit.Form) bool { return !fit.GoTogether(f, all[i]) }) {
			list = append(list, all[i])
		}
	}
	return list
}

// drawProbes are what a person asks while they judge, and afterwards: of other
// things, in other words.
func drawProbes(r *rand.Rand) (first, then []probe) {
	order := r.Perm(fit.Things())
	ways := r.Perm(fit.Wordings())
	for at, thing := range order {
		for n, way := range ways {
			p := probe{thing, fit.Ask(thing, way)}
			switch {
			case at < unjudged && n < unworded:
				then = append(then, p)
			case at >= unjudged && n >= unworded:
				first = append(first, p)
			}
		}
	}
	r.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	return first, then
}

// newDraw is what a person is drawn by.
func newDraw(seed int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), 17)) //nolint:gosec // a draw, no secret
}

// live is one person. name tells them apart from all others.
func (t *trainees) live(ctx context.Context, name string, seed int, h habit) (Trainee, error) {
	began := time.Now()
	r := newDraw(seed)
	p := Trainee{Seed: seed, Lessons: []string{}}
	mine := drawForms(r)
	for _, f := range mine {
		p.Wishes = append(p.Wishes, string(f))
	}
	first, then := drawProbes(r)
	var cases []learning.Case
	for i, q := range first[:h.judged] {
		text, err := t.ask(ctx, q.text, nil)
		if err != nil {
			return p, err
		}
		cases = append(cases, h.judge(int64(i+1), q, text, mine, r))
	}
	lessons := lesson.Derive(cases, nil, lesson.Scope{UserID: "person"})
	for _, l := range lessons {
		p.Lessons = append(p.Lessons, l.Text)
	}
	trained, err := t.train(ctx, name, cases, &p)
	if err != nil {
		return p, err
	}
	told := adapterOf(lessons, "en")
	both := append(slices.Clone(told), trained...)
	exams := fit.Exams(otherAsked, uint64(seed)) //nolint:gosec // a small number
	exams = slices.DeleteFunc(exams, func(e fit.Exam) bool { return slices.Contains(mine, e.Form) })
	for _, way := range []struct {
		adapters []model.Adapter
		set      func(w *Ways, x float64)
	}{
		{nil, func(w *Ways, x float64) { w.Before = x }},
		{wished(mine), func(w *Ways, x float64) { w.Told = x }},
		{told, func(w *Ways, x float64) { w.Text = x }},
		{trained, func(w *Ways, x float64) { w.Weights = x }},
		{both, func(w *Ways, x float64) { w.Both = x }},
	} {
		found, err := t.measure(ctx, then, exams, mine, way.adapters)
		if err != nil {
			return p, err
		}
		p.note(found, way.set)
	}
	for _, w := range []*Ways{&p.Kept, &p.Asked, &p.Against, &p.Unasked, &p.Right} {
		if w.Gated = w.Text; p.Outcome == string(gate.ByRule) {
			w.Gated = w.Weights
		}
	}
	p.Seconds = time.Since(began).Seconds()
	return p, nil
}

// wished are wishes as a person would write them into the system's words.
func wished(mine []fit.Form) []model.Adapter {
	var list []string
	for _, f := range mine {
		list = append(list, fit.Untaught(f)[0])
	}
	return []model.Adapter{{ID: "wishes", Mode: model.ModePrompt, Weight: 1, Instructions: strings.Join(list, " ")}}
}

func (p *Trainee) note(f fared, set func(w *Ways, x float64)) {
	set(&p.Kept, f.kept.share())
	set(&p.Asked, f.asked.share())
	set(&p.Against, f.against.share())
	p.Opposed = f.against.of
	set(&p.Unasked, f.unasked.share())
	set(&p.Right, f.right.share())
}

// judge is what a person says of an answer.
func (h habit) judge(id int64, q probe, answer string, mine []fit.Form, r *rand.Rand) learning.Case {
	c := learning.Case{Question: q.text, Answer: answer, Event: learning.Event{
		ID: id, UserID: "person", MessageID: fmt.Sprint("m", id), ConversationID: fmt.Sprint("c", id), Signal: "like", Score: 1,
		ContextText: q.text, CreatedAt: judgedFrom.Add(time.Duration(id) * 5 * time.Hour), Meta: map[string]any{},
	}}
	missed := slices.DeleteFunc(slices.Clone(mine), func(f fit.Form) bool { return f.Keeps(answer) })
	wrong, why := r.Float64() < h.mistaken, r.Float64()
	if (len(missed) > 0) != wrong {
		c.Signal, c.Score = "dislike", -1
	}
	switch {
	case wrong || len(missed) == 0:
	case why < h.notes:
		ways := fit.Untaught(missed[r.IntN(len(missed))])
		c.Meta["notes"] = ways[r.IntN(len(ways))]
	case why < h.notes+h.corrects:
		c.Corrected = fit.Answer(q.thing, mine...)
	}
	return c
}

var judgedFrom = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// train goes the steps of the platform, and gives the version as it would be
// followed; none where too little was said.
func (t *trainees) train(ctx context.Context, name string, cases []learning.Case, p *Trainee) ([]model.Adapter, error) {
	began := time.Now()
	list := make([]dataset.Case, len(cases))
	for i, c := range cases {
		c.UserID = name // nobody else's are trained with
		list[i] = dataset.Case{Case: c, TurnID: c.MessageID, Turns: []dataset.Turn{{Role: "user", Content: c.Question}}}
	}
	v, claim := t.store.begin(name, list)
	d, err := t.steps.Dataset(ctx, v, claim)
	if err != nil {
		return nil, err
	}
	p.Rows, p.HeldOut = d.Rows, d.HeldOut
	if !d.Enough {
		p.Outcome = "few"
		return nil, nil
	}
	f, err := t.steps.Fit(ctx, v, claim, nil, nil)
	if err != nil {
		return nil, err
	}
	p.Steps = f.Steps
	j, err := t.steps.Judge(ctx, v, claim)
	if err != nil {
		return nil, err
	}
	p.Outcome = j.Outcome
	out, err := t.steps.Publish(ctx, v, claim)
	if err != nil {
		return nil, err
	}
	p.Training = time.Since(began).Seconds()
	return []model.Adapter{{
		ID: name, Mode: model.ModeLocal, Dir: filepath.Join("users", name, "adapters", name), Version: out.Version, Checksum: out.Checksum,
		Persona: true, Weight: followedAt,
	}}, nil
}

// followedAt is the gate that the routing policy which ships gives a persona.
const followedAt = 0.5

// fared is what answers had.
type fared struct{ kept, asked, against, unasked, right tally }

// measure asks held-out prompts, and for other forms.
func (t *trainees) measure(ctx context.Context, list []probe, exams []fit.Exam, mine []fit.Form, adapters []model.Adapter) (f fared, err error) {
	for _, q := range list {
		text, err := t.ask(ctx, q.text, adapters)
		if err != nil {
			return f, err
		}
		f.right.add(fit.Says(q.thing, text), true)
		plain, wanted := fit.Answer(q.thing), fit.Answer(q.thing, mine...)
		for _, form := range fit.Forms() {
			if has := form.Keeps(text); slices.Contains(mine, form) {
				f.kept.add(has, true)
			} else {
				// Three points and a greeting are more than three sentences: a form may come of those wished for.
				f.unasked.add(has == form.Keeps(plain) || has == form.Keeps(wanted), true)
			}
		}
	}
	for _, e := range exams {
		req := model.Request{}
		for _, turn := range e.Turns {
			if turn.Role == "system" {
				req.System = turn.Text
				continue
			}
			req.Messages = append(req.Messages, said(model.Role(turn.Role), turn.Text))
		}
		text, err := t.answer(ctx, req, adapters)
		if err != nil {
			return f, err
		}
		if slices.ContainsFunc(mine, func(w fit.Form) bool { return !fit.GoTogether(w, e.Form) }) {
			f.against.add(e.Form.Keeps(text), true)
		} else {
			f.asked.add(e.Form.Keeps(text), true)
		}
	}
	return f, nil
}

func said(role model.Role, text string) model.Message {
	return model.Message{Role: role, Content: []model.Block{{Type: model.Text, Text: text}}}
}

// ask asks as the chat does.
func (t *trainees) ask(ctx context.Context, question string, adapters []model.Adapter) (string, error) {
	if text, known := t.plain[question]; known && len(adapters) == 0 {
		return text, nil
	}
	text, err := t.answer(ctx, model.Request{System: fit.System(), Messages: []model.Message{said(model.User, question)}}, adapters)
	if err == nil && len(adapters) == 0 {
		t.plain[question] = text
	}
	return text, err
}

// answer is the likeliest one, so that asking again gives the same.
func (t *trainees) answer(ctx context.Context, req model.Request, adapters []model.Adapter) (string, error) {
	cold := 0.0
	req.Task, req.MaxTokens, req.Temperature, req.Adapters = "chat", longest, &cold, adapters
	var b strings.Builder
	for e, err := range t.model.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		if e.Type == model.TextDelta {
			b.WriteString(e.Text)
		}
	}
	return strings.TrimSpace(b.String()), nil
}

func (p Trainee) line() string {
	return fmt.Sprintf("%d: wants %s; lessons: %s; %d rows, %d held out, %d steps, gate: %s; kept %s; other wishes %s; against theirs %s; unasked %s; right %s; %.1f s, of which training %.1f",
		p.Seed, strings.Join(p.Wishes, ", "), cmp.Or(strings.Join(p.Lessons, " "), "none"), p.Rows, p.HeldOut, p.Steps, p.Outcome, p.Kept, p.Asked, p.Against, p.Unasked, p.Right, p.Seconds, p.Training)
}

func (w Ways) String() string {
	return fmt.Sprintf("%.2f before, %.2f told, %.2f text, %.2f weights, %.2f both", w.Before, w.Told, w.Text, w.Weights, w.Both)
}

// Print writes the report, and each person where all is true.
func (r WeightsReport) Print(w io.Writer, all bool) error {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%d people who %s, answered by %s\n", len(g.People), g.Name, r.Model)
		outcomes := map[string]int{}
		for _, p := range g.People {
			outcomes[p.Outcome]++
			if all {
				fmt.Fprintf(&b, "  %s\n", p.line())
			}
		}
		fmt.Fprintf(&b, "  gate: %d by rule, %d a person decides, %d not better, %d too little to train with; %s rows, %s seconds\n",
			outcomes[string(gate.ByRule)], outcomes[string(gate.Person)], outcomes[string(gate.None)], outcomes["few"],
			spread(g.People, func(p Trainee) float64 { return float64(p.Rows) }), spread(g.People, func(p Trainee) float64 { return p.Seconds }))
		for _, figure := range []struct {
			name    string
			opposed bool // only of those who were asked for such
			of      func(p Trainee) Ways
		}{
			{"wishes kept", false, func(p Trainee) Ways { return p.Kept }},
			{"other wishes, asked for", false, func(p Trainee) Ways { return p.Asked }},
			{"wishes against theirs, asked for", true, func(p Trainee) Ways { return p.Against }},
			{"other forms, unasked, as they should be", false, func(p Trainee) Ways { return p.Unasked }},
			{"says what it is", false, func(p Trainee) Ways { return p.Right }},
		} {
			people := slices.DeleteFunc(slices.Clone(g.People), func(p Trainee) bool { return figure.opposed && p.Opposed == 0 })
			if len(people) == 0 {
				continue
			}
			fmt.Fprintf(&b, "  %s, of %d people\n", figure.name, len(people))
			for _, way := range []struct {
				name string
				of   func(w Ways) float64
			}{
				{"before", func(w Ways) float64 { return w.Before }}, {"told", func(w Ways) float64 { return w.Told }},
				{"text", func(w Ways) float64 { return w.Text }}, {"weights", func(w Ways) float64 { return w.Weights }},
				{"both", func(w Ways) float64 { return w.Both }}, {"as the gate decides", func(w Ways) float64 { return w.Gated }},
			} {
				fmt.Fprintf(&b, "    %-20s %s\n", way.name, spread(people, func(p Trainee) float64 { return way.of(figure.of(p)) }))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
