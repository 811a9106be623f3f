package extractive_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/embed/bert"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
	"liminal/internal/store/storetest"
)

// comparer finds near what holds one of its words, and far what does not.
type comparer struct {
	near  string
	like  embed.Likeness // of what is near; zero: very
	fails error
	asked *[]string
}

func (comparer) Version() string { return "test" }

func (c comparer) Compare(_ context.Context, _ string, texts []string) ([]embed.Likeness, error) {
	if c.asked != nil {
		*c.asked = append(*c.asked, texts...)
	}
	out := make([]embed.Likeness, len(texts))
	for i, t := range texts {
		if c.near != "" && strings.Contains(t, c.near) {
			out[i] = cmp.Or(c.like, embed.Likeness{Whole: 0.8, Parts: 0.8})
		}
	}
	return out, c.fails
}

// mounting answers in other words than are asked, beside a passage that has them.
func mounting(question string) model.Request {
	return passages(question,
		"Removable media are mounted below /media. Each medium has a folder of its own there.",
		"USB sticks and CDs are sold at the counter. Where they are from is written on them.")
}

// passages asks for an answer from passages of one document that fit a little.
func passages(question string, texts ...string) model.Request {
	var blocks []model.Block
	at := 0
	for _, text := range texts {
		blocks = append(blocks, model.Block{Type: model.Passage, Text: text, Source: &model.Source{
			DocumentID: "d", ChunkID: text, Title: "media.txt", Heading: "Places", Start: at, End: at + len(text), Score: 0.6 - float64(at)/1000,
		}})
		at += len(text) + 2
	}
	req := user(question, blocks...)
	req.Task = extractive.TaskAnswer
	return req
}

func citations(events []model.Event) (out []model.Event) {
	for _, e := range events {
		if e.Type == model.Citation {
			out = append(out, e)
		}
	}
	return out
}

// Requirements: RAG-12, RAG-16
func TestAnAnswerInOtherWordsIsFoundByItsMeaning(t *testing.T) {
	t.Parallel()
	const question = "Where are USB sticks and CDs mounted?"
	for name, c := range map[string]struct {
		meaning embed.Comparer
		first   string
	}{
		"without it":       {nil, "USB sticks"},
		"with it":          {comparer{near: "Removable media"}, "Removable media"},
		"when it fails":    {comparer{near: "Removable media", fails: errors.New("away")}, "USB sticks"},
		"when it is blind": {comparer{}, "USB sticks"},
	} {
		events := modeltest.Play(t, extractive.Model{Meaning: c.meaning}, mounting(question))
		quotes := citations(events)
		if len(quotes) == 0 || !strings.HasPrefix(quotes[0].Quote, c.first) {
			t.Errorf("%s: %s", name, modeltest.Text(events))
		}
	}
}

// What is shown beside a sentence that means the question is quoted as it stands,
// and what is compared is under the title and the headings.
//
// Requirements: RAG-12, RAG-14
func TestAQuoteFoundByItsMeaningIsWhole(t *testing.T) {
	t.Parallel()
	var asked []string
	events := modeltest.Play(t, extractive.Model{Meaning: comparer{near: "Removable media", asked: &asked}}, mounting("Where are USB sticks and CDs mounted?"))
	if quotes := citations(events); len(quotes) == 0 || quotes[0].Quote != "Removable media are mounted below /media. Each medium has a folder of its own there." || quotes[0].Source.Start != 0 {
		t.Errorf("quoted %v", quotes)
	}
	for _, text := range asked {
		if !strings.HasPrefix(text, "media: Places. ") {
			t.Errorf("compared %q", text)
		}
	}
	if len(asked) < 2 || len(asked) > 16 {
		t.Errorf("%d quotes are compared", len(asked))
	}
	if got := extractive.FormOf(modeltest.Text(events)); got != extractive.Answer {
		t.Errorf("it is called %s: %s", got, modeltest.Text(events))
	}
}

// Requirements: RAG-12, RAG-16
func TestWhatNothingIsLikeIsNotCalledAnAnswer(t *testing.T) {
	t.Parallel()
	events := modeltest.Play(t, extractive.Model{Meaning: comparer{}}, mounting("Where are USB sticks and CDs mounted?"))
	if got := extractive.FormOf(modeltest.Text(events)); got != extractive.Closest {
		t.Errorf("it is called %s: %s", got, modeltest.Text(events))
	}
	far := mounting("Who painted the ceiling?")
	for i := range far.Messages[0].Content {
		if s := far.Messages[0].Content[i].Source; s != nil {
			s.Score = 0.2
		}
	}
	events = modeltest.Play(t, extractive.Model{Meaning: comparer{}}, far)
	if got := extractive.FormOf(modeltest.Text(events)); got != extractive.Nothing || len(citations(events)) > 0 {
		t.Errorf("it is called %s: %s", got, modeltest.Text(events))
	}
}

// Of two places that mean the question about as much one is wrong: neither is called
// the answer, where the same likeness of one alone is.
//
// Requirements: RAG-12, RAG-16
func TestWhatHasARivalElsewhereIsNotCalledAnAnswer(t *testing.T) {
	t.Parallel()
	fairly := embed.Likeness{Whole: 0.7, Parts: 0.6}
	for near, want := range map[string]extractive.Form{
		"/media":      extractive.Answer,
		"are mounted": extractive.Closest, // both say so
	} {
		req := passages("Where are discs mounted?", "Discs are mounted below /media by the desktop.", "Discs are mounted below /mnt by administrators.")
		events := modeltest.Play(t, extractive.Model{Meaning: comparer{near: near, like: fairly}}, req)
		if got := extractive.FormOf(modeltest.Text(events)); got != want {
			t.Errorf("with %q it is called %s, want %s: %s", near, got, want, modeltest.Text(events))
		}
	}
}

// What the words find already, the published model does not lose.
//
// Requirements: RAG-11, RAG-12, RAG-16
func TestThePublishedModelKeepsWhatWordsFind(t *testing.T) {
	t.Parallel()
	m, err := bert.MiniLM.Open(storetest.Server(t, "LANE_RERANKER"))
	must(t, err)
	d := newDesk(t, fixtures...)
	d.model.Meaning = m
	for question, quote := range map[string]string{
		"How many books may a reader borrow?":               "A reader may borrow up to 12 books at a time.",
		"What does a late return cost?":                     "A late return costs 20 cents per book and day.",
		"When does the sauna open?":                         "The sauna opens at noon.",
		"Can DVDs be renewed?":                              "DVDs are lent\nfor 7 days and cannot be renewed.",
		"Wie lange werden bestellte Akten bereitgehalten?":  "Bestellte Akten werden zwei Wochen\nlang bereitgehalten.",
		"Was kostet eine Beglaubigung?":                     "Beglaubigungen kosten 8 Euro.",
		"Wann wird eine personenbezogene Akte freigegeben?": "erst dreißig Jahre nach dem Tod",
	} {
		_, text, quotes := d.ask(t, question)
		if len(quotes) == 0 || !strings.Contains(quotes[0].Quote, quote) {
			t.Errorf("%s: %s", question, text)
		}
	}
	for _, question := range []string{"What will the weather be like tomorrow?", "How do I bake sourdough bread?", "Wie hoch ist der Mount Everest?"} {
		if _, text, quotes := d.ask(t, question); len(quotes) > 0 {
			t.Errorf("%s: answered %q", question, text)
		}
	}
	if _, _, quotes := answerDeskWith(t, m).ask(t, "What is the price of the BW-210?"); len(quotes) == 0 || !strings.Contains(quotes[0].Quote, "| BW-210 | 449   | 22 |") {
		t.Errorf("the price of the pump is %v", quotes)
	}
}

func answerDeskWith(t *testing.T, m embed.Comparer) *desk {
	t.Helper()
	d := answerDesk(t)
	d.model.Meaning = m
	return d
}
