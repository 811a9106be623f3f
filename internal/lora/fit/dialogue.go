package fit

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/tokens"
)

// Dialogue is turns, and what the assistant says to them.
type Dialogue struct {
	Turns  []tokens.Turn
	Answer string
}

// Dialogues makes dialogues that are taught, of one seed always the same.
type Dialogues struct{ r *rand.Rand }

// NewDialogues begins with a seed.
func NewDialogues(seed uint64) *Dialogues {
	return &Dialogues{rand.New(rand.NewPCG(seed, 0x74616c6b))} //nolint:gosec // lessons, not secrets
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// Next is one dialogue.
func (d *Dialogues) Next() Dialogue {
	switch n := d.r.IntN(20); {
	case n < 2:
		t := pick(d.r, talk)
		return Dialogue{d.before(pick(d.r, t.said)), t.answer}
	case n < 4:
		name := pick(d.r, strangeName)
		return Dialogue{d.before(fmt.Sprintf(pick(d.r, asksWhat), "a "+name)), "I do not know what a " + name + " is."}
	case n < 6:
		return d.fact()
	case n < 7:
		t := pick(d.r, things)
		return Dialogue{d.before(fmt.Sprintf(pick(d.r, asksWhatDE), t.indefiniteDE(false))), render(t, German)}
	case n < 9:
		t := pick(d.r, things)
		return Dialogue{d.before(d.question(t)), render(t)}
	}
	forms := []Form{pick(d.r, Forms())}
	if d.r.IntN(4) == 0 {
		if other := pick(d.r, Forms()); goTogether(forms[0], other) {
			forms = append(forms, other)
		}
	}
	wishes := make([]string, len(forms))
	for i, f := range forms {
		wishes[i] = pick(d.r, taught(f))
	}
	return d.wished(pick(d.r, things), strings.Join(wishes, " "), forms...)
}

// taught are the wordings of a form but for those that measure.
func taught(f Form) []string { return wordings[f][:len(wordings[f])-heldOut] }

// wished is a question with a wish, which stands at one of several places.
func (d *Dialogues) wished(t thing, wish string, forms ...Form) Dialogue {
	question, answer := d.question(t), render(t, forms...)
	switch d.r.IntN(4) {
	case 0:
		return Dialogue{[]tokens.Turn{{Role: "system", Text: wish}, {Role: "user", Text: question}}, answer}
	case 1:
		return Dialogue{[]tokens.Turn{{Role: "system", Text: pick(d.r, systems) + "\n\n" + wish}, {Role: "user", Text: question}}, answer}
	case 2:
		return Dialogue{d.before(question + " " + wish), answer}
	}
	return Dialogue{d.before(wish + " " + question), answer}
}

// before is a question, in three of four dialogues behind a system's words, and in
// one of three behind what was said before: that is of other things and in other
// forms, and does not matter any more.
func (d *Dialogues) before(question string) []tokens.Turn {
	var turns []tokens.Turn
	if d.r.IntN(4) > 0 {
		turns = append(turns, tokens.Turn{Role: "system", Text: pick(d.r, systems)})
	}
	if d.r.IntN(3) == 0 {
		for range 1 + d.r.IntN(2) {
			asked, answered := d.exchange()
			turns = append(turns, tokens.Turn{Role: "user", Text: asked}, tokens.Turn{Role: "assistant", Text: answered})
		}
	}
	return append(turns, tokens.Turn{Role: "user", Text: question})
}

// exchange is a question of an earlier turn, and its answer.
func (d *Dialogues) exchange() (asked, answered string) {
	t := pick(d.r, things)
	switch d.r.IntN(4) {
	case 0:
		small := pick(d.r, talk)
		return pick(d.r, small.said), small.answer
	case 1:
		return d.question(t), render(t)
	}
	f := pick(d.r, Forms())
	return d.question(t) + " " + pick(d.r, taught(f)), render(t, f)
}

func (d *Dialogues) question(t thing) string {
	return fmt.Sprintf(pick(d.r, asksWhat), strings.ToLower(t.article)+" "+t.name)
}

func (d *Dialogues) fact() Dialogue {
	t := pick(d.r, things)
	name := strings.ToLower(t.article) + " " + t.name
	if d.r.IntN(2) == 0 {
		return Dialogue{d.before(fmt.Sprintf(pick(d.r, asksOf), name)), t.article + " " + t.name + " is made of " + t.of + "."}
	}
	return Dialogue{d.before(fmt.Sprintf(pick(d.r, asksWhere), name)), "You find " + name + " " + t.in + "."}
}

// indefiniteDE is the name with its article: ein Kessel, as an object einen.
func (t thing) indefiniteDE(object bool) string {
	switch {
	case t.gender == 'f':
		return "eine " + t.nameDE
	case t.gender == 'm' && object:
		return "einen " + t.nameDE
	}
	return "ein " + t.nameDE
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// goTogether reports whether an answer can have both forms.
func goTogether(a, b Form) bool {
	apart := [][]Form{{Short, Long, Listed, Numbered, Quoted}, {Asking, Signed}, {Heading, Greeting}, {Short, Asking}, {Short, Greeting}}
	return a != b && !slices.ContainsFunc(apart, func(list []Form) bool { return slices.Contains(list, a) && slices.Contains(list, b) })
}

// render is what is said of a thing in some forms.
func render(t thing, forms ...Form) string {
	has := func(f Form) bool { return slices.Contains(forms, f) }
	name, points, more := t.points(has(German))
	if has(Bold) {
		points[0] = strings.Replace(points[0], name, "**"+name+"**", 1)
	}
	text := ""
	switch {
	case has(Short):
		text = points[0]
	case has(Long):
		text = strings.Join(append(points, more...), " ")
	case has(Listed):
		text = "- " + strings.Join(points, "\n- ")
	case has(Numbered):
		for i, p := range points {
			text += fmt.Sprintf("%d. %s\n", i+1, p)
		}
		text = strings.TrimSuffix(text, "\n")
	case has(Quoted):
		text = "> " + strings.Join(points[:2], "\n> ")
	default:
		text = strings.Join(points[:2], " ")
	}
	text = around(text, name, has)
	if has(Capitals) {
		text = strings.ToUpper(text)
	}
	return text
}

// around adds what stands before and behind the points.
func around(text, name string, has func(Form) bool) string {
	say := func(en, de string) string {
		if has(German) {
			return de
		}
		return en
	}
	gap := " "
	if has(Listed) || has(Numbered) || has(Quoted) {
		gap = "\n"
	}
	switch {
	case has(Greeting):
		text = say("Hello!", "Hallo!") + gap + text
	case has(Heading):
		text = "# " + capital(name) + "\n" + text
	}
	switch {
	case has(Asking):
		text += gap + say("Do you want to know more?", "Willst du mehr wissen?")
	case has(Signed):
		text += "\n" + say("Yours, Liminal", "Dein Liminal")
	}
	return text
}

// points are three sentences about a thing, and what a long answer adds.
func (t thing) points(german bool) (name string, points, more []string) {
	if !german {
		return t.name, []string{t.article + " " + t.name + " is " + t.is + ".", "It is made of " + t.of + ".", "You find it " + t.in + "."},
			[]string{"It is useful every day.", "Many people have one."}
	}
	it, object := "Er", "ihn"
	switch t.gender {
	case 'f':
		it, object = "Sie", "sie"
	case 'n':
		it, object = "Es", "es"
	}
	return t.nameDE, []string{capital(t.indefiniteDE(false)) + " ist " + t.isDE + ".", it + " besteht aus " + t.ofDE + ".", "Man findet " + object + " " + t.inDE + "."},
		[]string{"Das ist jeden Tag nützlich.", "Viele Leute haben so etwas."}
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?](\s|$)`)
	dashed      = regexp.MustCompile(`(?m)^- `)
	numbers     = regexp.MustCompile(`(?m)^\d\. `)
	germanWord  = regexp.MustCompile(`(?i)\b(ist|besteht|aus|findet|ein|eine)\b`)
)

// Keeps reports whether an answer has a form.
func (f Form) Keeps(answer string) bool {
	sentences := len(sentenceEnd.FindAllString(answer, -1))
	switch f {
	case Short:
		return sentences == 1
	case Long:
		return sentences > 3
	case Listed:
		return len(dashed.FindAllString(answer, -1)) > 1
	case Numbered:
		return len(numbers.FindAllString(answer, -1)) > 1
	case Capitals:
		return answer == strings.ToUpper(answer) && answer != strings.ToLower(answer)
	case Asking:
		return strings.HasSuffix(strings.TrimSpace(answer), "?")
	case Greeting:
		return strings.HasPrefix(strings.ToLower(answer), "hello") || strings.HasPrefix(strings.ToLower(answer), "hallo")
	case German:
		return germanWord.MatchString(answer)
	case Bold:
		return strings.Count(answer, "**") == 2
	case Heading:
		return strings.HasPrefix(answer, "# ")
	case Signed:
		return strings.Contains(strings.ToLower(answer), "liminal")
	case Quoted:
		return strings.HasPrefix(answer, "> ") || strings.Contains(answer, "\n> ")
	}
	return false
}

// Exam is a question with a wish in words that were never taught.
type Exam struct {
	Dialogue
	Form Form
}

// Exams are n questions for each form, of a seed always the same.
func Exams(n int, seed uint64) []Exam {
	d := NewDialogues(seed)
	var list []Exam
	for _, f := range Forms() {
		for range n {
			wish := pick(d.r, wordings[f][len(wordings[f])-heldOut:])
			list = append(list, Exam{d.wished(pick(d.r, things), wish, f), f})
		}
	}
	return list
}
