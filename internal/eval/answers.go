package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/words"
)

// Outcome is what a person was told who asked.
type Outcome string

// The outcomes. Of a question that the documents do not answer, refused is the
// right one.
const (
	Right   Outcome = "right"   // the first quote holds the passage that answers
	Half    Outcome = "half"    // a later quote does, or the first holds a part of it
	Wrong   Outcome = "wrong"   // quoted as an answer, and none of it answers
	Near    Outcome = "near"    // said to be unsure; what was shown as closest answers
	Unsure  Outcome = "unsure"  // said to be unsure, and nothing that was shown answers
	Refused Outcome = "refused" // said that nothing answers
	Asked   Outcome = "asked"   // asked back, which document or what is meant
)

// outcomes in the order they are printed in.
var outcomes = []Outcome{Right, Half, Wrong, Near, Unsure, Refused, Asked}

// Parts of a set's questions, as a seed splits them.
const (
	All   = ""
	Tuned = "tuned" // the half whose questions may be looked at while something is changed
	Kept  = "kept"  // the half that is kept aside
)

// AnswerOptions say what is asked. Sets and Encoder are required.
type AnswerOptions struct {
	Sets     []Set
	Encoder  embed.Embedder
	Part     string // All, Tuned or Kept
	Seed     uint64 // of the split
	Scratch  string // folder for scratch databases; "": the system's
	Progress io.Writer
}

// Answered is one question and what came of it.
type Answered struct {
	Question string  `json:"question"`
	Document string  `json:"document,omitempty"`
	Outcome  Outcome `json:"outcome"`
	Text     string  `json:"text"` // what the person was shown
}

// AnswerReport counts outcomes: of questions the documents answer, and of
// those they do not.
type AnswerReport struct {
	Part     string          `json:"part,omitempty"`
	Seed     uint64          `json:"seed"`
	Answers  map[Outcome]int `json:"answers"`
	OffTopic map[Outcome]int `json:"off_topic"`
	Each     []Answered      `json:"each"`
}

// Answers asks the questions of sets as a person does who has no language
// model: the same tools search and quote. A set is one context with all of its
// documents.
func Answers(ctx context.Context, o AnswerOptions) (AnswerReport, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	r := AnswerReport{Part: o.Part, Seed: o.Seed, Answers: map[Outcome]int{}, OffTopic: map[Outcome]int{}}
	for _, s := range o.Sets {
		if _, err := fmt.Fprintf(o.Progress, "%s with %s\n", s.Name, o.Encoder.Version()); err != nil {
			return r, err
		}
		each, err := o.ask(ctx, s)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.Name, err)
		}
		for _, a := range each {
			if a.Document == "" {
				r.OffTopic[a.Outcome]++
			} else {
				r.Answers[a.Outcome]++
			}
		}
		r.Each = append(r.Each, each...)
	}
	return r, nil
}

func (o AnswerOptions) ask(ctx context.Context, s Set) (each []Answered, err error) {
	dir, err := os.MkdirTemp(o.Scratch, "liminal-eval-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h, err := openCollection(ctx, dir, s, o.Encoder, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	w := newAsker(h, extractive.Model{})
	of := part(s.Questions, o.Part, o.Seed)
	for i, q := range s.Questions {
		if !of[i] {
			continue
		}
		a, err := w.ask(ctx, q, h.answers[i])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", q.Text, err)
		}
		each = append(each, a)
	}
	return each, nil
}

// part says which questions belong to a part: half of those that can be
// answered, and half of those that cannot, by the seed.
func part(list []Question, name string, seed uint64) []bool {
	in := make([]bool, len(list))
	for _, off := range []bool{false, true} {
		var of []int
		for i, q := range list {
			if q.OffTopic() == off {
				of = append(of, i)
			}
		}
		slices.SortFunc(of, func(a, b int) int {
			return cmp.Or(cmp.Compare(lot(list[a].Text, seed), lot(list[b].Text, seed)), cmp.Compare(a, b))
		})
		half := (len(of) + 1) / 2
		for at, i := range of {
			in[i] = name == All || (name == Tuned) == (at < half)
		}
	}
	return in
}

// lot is a question's place in the order a seed draws.
func lot(text string, seed uint64) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strconv.FormatUint(seed, 10)+"\n"+text) // it never fails
	x := h.Sum64()
	x ^= x >> 33 // FNV mixes the last letters badly, and most end with "?"
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// asker asks by the tools of the chat that answers from documents.
type asker struct {
	h      *collection
	search tool.Tool
	answer tool.Tool
}

func newAsker(h *collection, m model.Model) asker {
	a := asker{h: h}
	for _, t := range builtin.Tools(builtin.Parts{Model: m, Search: h.library}) {
		switch t.Name() {
		case "rag.search_v1":
			a.search = t
		case "rag.answer_with_context_v1":
			a.answer = t
		}
	}
	return a
}

func (a asker) call(q Question, more map[string]any) *tool.Call {
	c := &tool.Call{Viewer: a.h.viewer, Final: true, Emit: func(stream.Payload) {}, Heartbeat: func(any) {}, Alive: func() {}}
	c.ContextIDs, c.Locale = []string{a.h.context}, string(words.Detect(q.Text))
	c.Inputs = map[string]any{"question": q.Text}
	for k, v := range more {
		c.Inputs[k] = v
	}
	return c
}

// ask is the way the workflow "documents" takes.
func (a asker) ask(ctx context.Context, q Question, want answer) (Answered, error) {
	out := Answered{Question: q.Text, Document: q.Document}
	found, err := a.search.Run(ctx, a.call(q, nil))
	if err != nil {
		return out, err
	}
	switch knowledge.Clarity(found["clarity"].(string)) {
	case knowledge.Several, knowledge.Vague:
		out.Outcome, out.Text = Asked, fmt.Sprintf("%s: %v", found["clarity"], found["options"])
		return out, nil
	default:
	}
	said, err := a.answer.Run(ctx, a.call(q, map[string]any{"passages": found["passages"], "confidence": found["confidence"]}))
	if err != nil {
		return out, err
	}
	out.Text, _ = said["answer"].(string)
	quotes, err := readQuotes(said["citations"])
	if err != nil {
		return out, err
	}
	out.Outcome = outcome(extractive.FormOf(out.Text), quotes, q, want)
	return out, nil
}

// quote is a citation of an answer: text[Start:End] of a document.
type quote struct {
	document, text string
	start, end     int
}

func readQuotes(citations any) ([]quote, error) {
	list, ok := citations.([]any)
	if !ok && citations != nil {
		return nil, fmt.Errorf("citations are %T", citations)
	}
	var out []quote
	for _, c := range list {
		m, _ := c.(map[string]any)
		q := quote{}
		q.document, _ = m["document_id"].(string)
		q.text, _ = m["text"].(string)
		start, _ := m["start"].(float64)
		end, _ := m["end"].(float64)
		q.start, q.end = int(start), int(end)
		out = append(out, q)
	}
	return out, nil
}

func outcome(form extractive.Form, quotes []quote, q Question, want answer) Outcome {
	if len(quotes) == 0 || form == extractive.Nothing {
		return Refused
	}
	best, first := 0.0, 0.0
	for i, c := range quotes {
		held := want.held(c)
		for _, also := range q.Also {
			if strings.Contains(newLetters(c.text).text, newLetters(also).text) {
				held = 1
			}
		}
		if best = max(best, held); i == 0 {
			first = held
		}
	}
	switch {
	case form == extractive.Closest && best >= enough:
		return Near
	case form == extractive.Closest:
		return Unsure
	case first >= enough:
		return Right
	case best >= enough, first > 0:
		return Half
	}
	return Wrong
}

// enough of a passage in a quote is what answers.
const enough = 0.5

// held is how much of the passage a quote holds, 0 to 1.
func (a answer) held(q quote) float64 {
	if a.document == "" || q.document != a.document {
		return 0
	}
	return max(0, float64(min(q.end, a.end)-max(q.start, a.start))/float64(a.end-a.start))
}

// Print writes the report: the counts, and every question that was not
// answered well where all is true.
func (r AnswerReport) Print(w io.Writer, all bool) error {
	var b strings.Builder
	if all {
		for _, a := range r.Each {
			if a.Outcome == Right || a.Document == "" && a.Outcome == Refused {
				continue
			}
			fmt.Fprintf(&b, "## %s: %s (%s)\n%s\n\n", a.Outcome, a.Question, cmp.Or(a.Document, "off topic"), a.Text)
		}
	}
	if r.Part != All {
		fmt.Fprintf(&b, "%s half, seed %d\n", r.Part, r.Seed)
	}
	tell := func(name string, counts map[Outcome]int) {
		n := 0
		for _, c := range counts {
			n += c
		}
		fmt.Fprintf(&b, "%s (%d):", name, n)
		for _, o := range outcomes {
			fmt.Fprintf(&b, " %s %d (%.0f%%)", o, counts[o], 100*float64(counts[o])/float64(max(n, 1)))
		}
		b.WriteString("\n")
	}
	tell("answerable", r.Answers)
	tell("off topic", r.OffTopic)
	_, err := io.WriteString(w, b.String())
	return err
}
