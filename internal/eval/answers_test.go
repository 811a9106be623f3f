package eval

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/embed/bert"
	"liminal/internal/model/extractive"
	"liminal/internal/store/storetest"
)

// Both halves together are all questions, the halves of two seeds differ, and
// one seed always draws the same.
func TestASeedSplitsTheQuestions(t *testing.T) {
	t.Parallel()
	var list []Question
	for _, word := range strings.Fields("one two three four five six seven eight nine ten eleven") {
		list = append(list, Question{Text: word + "?", Document: "d"}, Question{Text: "off " + word + "?"})
	}
	tuned, kept, other := part(list, Tuned, 1), part(list, Kept, 1), part(list, Tuned, 2)
	var drawn []string
	same, answerable := true, 0
	for i := range list {
		if tuned[i] == kept[i] {
			t.Errorf("%s is in both halves or in none", list[i].Text)
		}
		same = same && tuned[i] == other[i]
		if tuned[i] && !list[i].OffTopic() {
			answerable++
			drawn = append(drawn, list[i].Text)
		}
	}
	if same || answerable != 6 {
		t.Errorf("seeds draw the same: %v; %d answerable ones", same, answerable)
	}
	if got := strings.Join(drawn, " "); got != drawnByOne {
		t.Errorf("the first seed draws %s: figures of before cannot be compared any more", got)
	}
}

const drawnByOne = "three? seven? eight? nine? ten? eleven?"

func TestAnOutcomeIsTheFormAndTheQuotes(t *testing.T) {
	t.Parallel()
	want := answer{"d", 100, 200}
	hit, part, miss := quote{"d", "", 90, 210}, quote{"d", "", 180, 260}, quote{"e", "", 100, 200}
	for name, c := range map[string]struct {
		form   extractive.Form
		quotes []quote
		also   string
		want   Outcome
	}{
		"the first":          {extractive.Answer, []quote{hit, miss}, "", Right},
		"the second":         {extractive.Answer, []quote{miss, hit}, "", Half},
		"a part":             {extractive.Answer, []quote{part}, "", Half},
		"none":               {extractive.Answer, []quote{miss}, "", Wrong},
		"other words":        {extractive.Answer, []quote{{"e", "It *also* says this.", 0, 9}}, "also says", Right},
		"closest":            {extractive.Closest, []quote{miss, hit}, "", Near},
		"closest, but wrong": {extractive.Closest, []quote{miss, part}, "", Unsure},
		"nothing":            {extractive.Nothing, nil, "", Refused},
	} {
		q := Question{Document: "d"}
		if c.also != "" {
			q.Also = []string{c.also}
		}
		if got := outcome(c.form, c.quotes, q, want); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAnswersAreAskedOfOwnQuestions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"set.json":        `{"title":"Pets","asks":"answers","documents":["rules.md"]}`,
		"questions.jsonl": `{"question":"When are dogs fed?","document":"rules.md","passage":"Dogs are fed at noon."}` + "\n" + `{"question":"Who invented the telephone?"}`,
		"rules.md":        "# Rules\n\nDogs are fed at noon.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sets, _, err := LoadAnswers(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Answers(t.Context(), AnswerOptions{Sets: sets, Encoder: embed.Hash{}, Scratch: t.TempDir()})
	if err != nil || r.Answers[Right] != 1 || r.OffTopic[Refused] != 1 || len(r.Each) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	var text bytes.Buffer
	if err := r.Print(&text, true); err != nil || !strings.Contains(text.String(), "answerable (1): right 1 (100%)") {
		t.Errorf("%s, %v", text.String(), err)
	}
	with, err := Answers(t.Context(), AnswerOptions{Sets: sets, Encoder: embed.Hash{}, Reranker: blind{}, Scratch: t.TempDir()})
	if err != nil || with.Answers[Near] != 1 || with.OffTopic[Refused] != 1 {
		t.Errorf("what is like nothing is called an answer: %+v, %v", with, err)
	}
	text.Reset()
	if err := with.Print(&text, false); err != nil || !strings.Contains(text.String(), "compared by meaning with blind") {
		t.Errorf("%s, %v", text.String(), err)
	}
	if searched, _, err := Load(dir, nil); err != nil || len(searched) != 0 {
		t.Errorf("it is taken for a set that measures the search: %v, %v", searched, err)
	}
}

// The answers without a language model must not get worse. The bounds lie a
// little on the easy side of what was measured when they were set.
//
// Requirements: RAG-13, RAG-16
func TestTheKeylessAnswersStayAsGoodAsTheyWere(t *testing.T) {
	t.Parallel()
	storetest.Long(t, "it takes in a megabyte and a half of manuals")
	sets, _, err := LoadAnswers("../../eval/manuals", nil)
	if err != nil {
		t.Fatal(err)
	}
	byWords := bounds{right: 51, wrong: 25, refused: 24}
	byWords.hold(t, AnswerOptions{Sets: sets, Encoder: embed.Hash{}, Scratch: t.TempDir()})
	m, err := bert.MiniLM.Open(storetest.Server(t, "LANE_RERANKER"))
	if err != nil {
		t.Fatal(err)
	}
	byMeaning := bounds{right: 58, wrong: 15, refused: 24}
	byMeaning.hold(t, AnswerOptions{Sets: sets, Encoder: embed.Hash{}, Reranker: m, Scratch: t.TempDir()})
}

// bounds are the least that are right, the most that are wrong, of 124 questions
// that can be answered, and the least that are refused of 26 that cannot.
type bounds struct{ right, wrong, refused int }

func (b bounds) hold(t *testing.T, o AnswerOptions) {
	t.Helper()
	r, err := Answers(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.Print(&text, false); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	if r.Answers[Right] < b.right || r.Answers[Wrong] > b.wrong || r.OffTopic[Refused] < b.refused {
		t.Errorf("right %d, at least %d; wrong %d, at most %d; refused off topic %d, at least %d",
			r.Answers[Right], b.right, r.Answers[Wrong], b.wrong, r.OffTopic[Refused], b.refused)
	}
}

// blind finds nothing like anything.
type blind struct{}

func (blind) Version() string { return "blind" }

func (blind) Compare(_ context.Context, _ string, texts []string) ([]embed.Likeness, error) {
	return make([]embed.Likeness, len(texts)), nil
}
