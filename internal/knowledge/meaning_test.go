package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
)

// speaker is an encoder that knows meaning: it writes each word as the one
// word of its kind, and embeds that. It stands in for a real model; local says
// that its sentences are cheap.
type speaker struct {
	embed.Hash
	local bool
	fails error
}

func (speaker) Version() string { return "speaker" }

func (s speaker) Local() bool { return s.local }

func (s speaker) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if s.fails != nil {
		return nil, s.fails
	}
	kinds := make([]string, len(texts))
	for i, text := range texts {
		kinds[i] = kindred(strings.ToLower(text))
	}
	return s.Hash.Embed(ctx, kinds)
}

// kindred are the kinds of a text's words. Those of the gauge stand in it by
// their subject, so that the encoder is seen to know them.
func kindred(text string) string {
	var out []string
	for kind, words := range map[string]string{
		"animal": "dog pets canine", "shop": "business shop", "leave": "holiday vacation", "illness": "sick ill fever temperature",
		"money": "money refunds", "smoke": "smoking cigarettes", "vote": "vote election", "contract": "contracts agreements",
		"bread": "bread dough", "file": "files documents", "program": "program process", "water": "water moisture",
		"password": "password credentials", "book": "copies reproduction", "machine": "machine appliance", "flat": "flat heating",
		"engine": "engine motor", "job": "job resigning", "late": "late overdue", "stairs": "stairs steps",
		"data": "data personal", "eat": "eat canteen", "ship": "ship parcels", "window": "windows glass",
		"airport": "airport terminal", "internet": "internet offline", "call": "call conference", "home": "home remote",
		"same": "same concurrent", "ledger": "ledger bookkeeping accounts",
	} {
		for w := range strings.FieldsSeq(words) {
			if strings.Contains(text, w) {
				out = append(out, strings.Repeat(kind+" ", 3))
				break
			}
		}
	}
	if len(out) == 0 {
		return text
	}
	return strings.Join(out, " ")
}

const kennel = "# Rules of the house\n\nPets such as a canine are not admitted to the premises at any time.\n\n" +
	"# Other matters\n\nThe stairwell is painted green, and admitted visitors may bring flowers.\n\n" +
	"# Bookkeeping\n\nAll accounts are settled at the end of a month by the caretaker.\n"

func search(t *testing.T, e embed.Embedder, question string) knowledge.Found {
	t.Helper()
	b := setup(t, func(o *knowledge.Options) { o.Embedder = e })
	c := b.newContext(t, b.viewer)
	if _, err := b.ingest(t, b.put(t, c, "files/house.md", kennel).ID); err != nil {
		t.Fatal(err)
	}
	found, err := b.Library.Search(t.Context(), b.viewer, knowledge.Question{Text: question, ContextIDs: []string{c}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The passage says pets and canine, never dog: words alone prefer the other
// one, which has the visitor who may bring something.
//
// Requirements: RAG-10, RAG-16, EMB-06
func TestAnEncoderThatKnowsMeaningRaisesWhatOtherWordsSay(t *testing.T) {
	t.Parallel()
	const question = "May visitors bring a dog?"
	if first := search(t, embed.Hash{}, question).Passages[0].Text; strings.Contains(first, "canine") {
		t.Fatalf("the words alone find %q: the question proves nothing", first)
	}
	plain := scoreOf(search(t, embed.Hash{}, question), "canine")
	for _, local := range []bool{true, false} {
		found := search(t, speaker{local: local}, question)
		if got := scoreOf(found, "canine"); got < plain+0.2 {
			t.Errorf("local %t: the passage about animals scores %.2f, by words alone %.2f", local, got, plain)
		}
	}
}

func scoreOf(f knowledge.Found, word string) float64 {
	for _, p := range f.Passages {
		if strings.Contains(p.Text, word) {
			return p.Score
		}
	}
	return 0
}

// Requirements: RAG-13
func TestAnEncoderThatFailsCostsItsOpinionOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	if _, err := b.ingest(t, b.put(t, c, "files/house.md", kennel).ID); err != nil {
		t.Fatal(err)
	}
	failing := knowledge.NewLibrary(knowledge.Options{
		Contexts: b.MemStore, Documents: b.MemStore, Index: b.MemStore, Parsers: parsers(), Embedder: speaker{fails: errors.New("no server")},
	})
	found, err := failing.Search(t.Context(), b.viewer, knowledge.Question{Text: "What colour is the stairwell painted?", ContextIDs: []string{c}})
	if err != nil || len(found.Passages) == 0 || !strings.Contains(found.Passages[0].Text, "green") {
		t.Errorf("%v, %+v", err, found.Passages)
	}
}

// Requirements: RAG-12
func TestAWideSearchOffersWeakPassagesToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	if _, err := b.ingest(t, b.put(t, c, "files/rules.md", "# Rules\n\n"+longText(30)).ID); err != nil {
		t.Fatal(err)
	}
	q := knowledge.Question{Text: "What does the rule of section 7 concern?", ContextIDs: []string{c}, K: 4}
	narrow, err := b.Library.Search(t.Context(), b.viewer, q)
	if err != nil {
		t.Fatal(err)
	}
	q.Wide = true
	wide, err := b.Library.Search(t.Context(), b.viewer, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(narrow.Passages) > 4 || len(wide.Passages) != 12 || wide.Asked != 4 {
		t.Errorf("%d passages, and %d of %d asked for when wide; want 12", len(narrow.Passages), len(wide.Passages), wide.Asked)
	}
	if wide.Passages[0].ChunkID != narrow.Passages[0].ChunkID || wide.AverageSimilarity != narrow.AverageSimilarity || wide.Clarity != narrow.Clarity {
		t.Error("a wide search comes to another verdict")
	}
}
