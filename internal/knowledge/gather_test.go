package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/words"
)

// chapters is a text of n chapters that each speak of a trade and its fee.
func chapters(n int) string {
	var b strings.Builder
	b.WriteString("# Handbook of trades\n\n")
	for i := range n {
		fmt.Fprintf(&b, "## Chapter %d\n\nTrade number %d must pay a yearly fee of %d euros to the guild. ", i, i, 100+i)
		b.WriteString(strings.Repeat("The weather was mild and nothing else of note was written down by the clerk that season. ", 8))
		b.WriteString("\n\n")
	}
	return b.String()
}

// exact fails unless every passage stands in the stored text where it says.
func (b *bundle) exact(t *testing.T, passages []knowledge.Passage) {
	t.Helper()
	for _, p := range passages {
		x, err := b.Text(t.Context(), b.viewer, p.DocumentID)
		if err != nil {
			t.Fatal(err)
		}
		if x.Text[p.Start:p.End] != p.Text {
			t.Errorf("%q does not stand at %d..%d", p.Text, p.Start, p.End)
		}
	}
}

func tokensOf(passages []knowledge.Passage, id string) int {
	n := 0
	for _, p := range passages {
		if p.DocumentID == id {
			n += words.Tokens(p.Text)
		}
	}
	return n
}

// Requirements: LG-24
func TestWithoutAQuestionPassagesCoverTheWholeDocument(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	long := b.put(t, c, "files/long.md", chapters(40))
	short := b.put(t, c, "files/short.md", "# Note\n\nThe bridge is closed on Mondays.\n")
	for _, d := range []knowledge.Document{long, short} {
		if _, err := b.ingest(t, d.ID); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{long.ID, short.ID}, Tokens: 1500})
	if err != nil {
		t.Fatal(err)
	}
	b.exact(t, g.Passages)
	if n := tokensOf(g.Passages, long.ID); n < 1000 || n > 1500 {
		t.Errorf("the long document has %d tokens of 1500", n)
	}
	if tokensOf(g.Passages, short.ID) == 0 || g.Confidence != knowledge.High || len(g.Documents) != 2 {
		t.Errorf("%+v", g.Documents)
	}
	ofLong := slices.DeleteFunc(slices.Clone(g.Passages), func(p knowledge.Passage) bool { return p.DocumentID != long.ID })
	x, _ := b.Text(t.Context(), b.viewer, long.ID)
	if first, last := ofLong[0], ofLong[len(ofLong)-1]; first.Start > len(x.Text)/4 || last.End < len(x.Text)*3/4 {
		t.Errorf("passages from %d to %d of %d", first.Start, last.End, len(x.Text))
	}
	if !slices.IsSortedFunc(ofLong, func(a, b knowledge.Passage) int { return a.Start - b.Start }) {
		t.Error("not in the order of the document")
	}
}

// Requirements: RAG-16
func TestWithAQuestionEveryDocumentContributes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	var ids []string
	for i, notice := range []string{"The notice period is three months to the end of a quarter.", "Either party may end it with a notice of two weeks."} {
		d := b.put(t, c, fmt.Sprintf("files/contract-%d.md", i), "# Contract\n\n"+notice+"\n\n# Pay\n\nWages are paid on the first of a month.\n")
		if _, err := b.ingest(t, d.ID); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	g, err := b.Gather(t.Context(), b.viewer, knowledge.Need{
		DocumentIDs: ids, Question: "Compare the notice period in contract-0.md and contract-1.md", Ignore: []string{"compare"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.exact(t, g.Passages)
	for _, id := range ids {
		at := slices.IndexFunc(g.Passages, func(p knowledge.Passage) bool { return p.DocumentID == id })
		if at < 0 || !strings.Contains(g.Passages[at].Text, "notice") {
			t.Errorf("document %s contributes %d: %+v", id, at, g.Passages)
		}
	}
	if g.Confidence == knowledge.Low || g.AverageSimilarity < 0.5 {
		t.Errorf("%s %.2f", g.Confidence, g.AverageSimilarity)
	}
	off, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: ids, Question: "Who won the football world cup?"})
	if err != nil || off.Confidence != knowledge.Low || off.AverageSimilarity >= 0.5 {
		t.Errorf("off topic: %s %.2f %v", off.Confidence, off.AverageSimilarity, err)
	}
	vague, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: ids, Question: "Compare those two", Ignore: []string{"compare"}})
	if err != nil || vague.Confidence != knowledge.Medium || len(vague.Passages) == 0 {
		t.Errorf("a question that names nothing: %s %+v %v", vague.Confidence, vague.Passages, err)
	}
}

// Requirements: RAG-16
func TestAHeadingOfANamedDocumentCountsForWhatItSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.put(t, b.newContext(t, b.viewer), "files/travel.md", "# Travel Policy\n\n## Hotels\n\nRooms are reimbursed up to 140 euros per night.\n\n## Meals\n\nMeals are reimbursed up to 48 euros.\n")
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]knowledge.Confidence{
		"What is the hotel limit in the travel policy?":           knowledge.Medium,
		"What does the travel policy say about parental leave?":   knowledge.Low,
		"Which ministry signed the travel policy into force when": knowledge.Low,
	} {
		g, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{d.ID}, Question: question})
		if err != nil || g.Confidence != want || (g.AverageSimilarity < 0.5) != (want == knowledge.Low) {
			t.Errorf("%s: %s %.2f %v", question, g.Confidence, g.AverageSimilarity, err)
		}
	}
}

// Requirements: RAG-16
func TestATextIsHeldAgainstDocumentsSentenceBySentence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.put(t, b.newContext(t, b.viewer), "files/policy.md", "# Data policy\n\n## Retention\n\nCustomer data must be erased two years after the contract has ended.\n\n## Access\n\nOnly the support team may read customer data.\n\n## Kitchen\n\nThe kitchen is cleaned on Fridays.\n")
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	letter := "Dear colleagues,\n\nWe keep customer data for ten years after a contract has ended. Everyone in sales may read customer data. Lunch will be at noon.\n\nBest regards"
	g, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{d.ID}, Text: letter})
	if err != nil {
		t.Fatal(err)
	}
	b.exact(t, g.Passages)
	if len(g.Passages) < 2 || !strings.Contains(g.Passages[0].Text+g.Passages[1].Text, "erased two years") || !strings.Contains(g.Passages[0].Text+g.Passages[1].Text, "support team") {
		t.Errorf("%+v", g.Passages)
	}
	if g.Confidence == knowledge.Low || g.AverageSimilarity < 0.5 {
		t.Errorf("%s %.2f", g.Confidence, g.AverageSimilarity)
	}
	one, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{d.ID}, Text: "The telescope was built in 1990. It orbits the earth every ninety minutes. The mirror is made of glass. We will clean the kitchen on Sundays."})
	if err != nil || one.Confidence == knowledge.Low {
		t.Errorf("a text of which one sentence is spoken of: %s %.2f %v", one.Confidence, one.AverageSimilarity, err)
	}
	off, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{d.ID}, Text: "The telescope was built in 1990. It orbits the earth every ninety minutes."})
	if err != nil || off.Confidence != knowledge.Low || off.AverageSimilarity >= 0.5 {
		t.Errorf("a text about something else: %s %.2f %v", off.Confidence, off.AverageSimilarity, err)
	}
}

// Requirements: RAG-18
func TestDocumentsOfOthersAreMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.put(t, b.newContext(t, b.viewer), "files/mine.md", "The code word is heron.\n")
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	g, err := b.Gather(t.Context(), identity.Viewer{UserID: "bert"}, knowledge.Need{DocumentIDs: []string{d.ID, "nowhere"}, Question: "What is the code word?"})
	if err != nil || len(g.Passages) > 0 || len(g.Documents) > 0 || !slices.Equal(g.Missing, []string{d.ID, "nowhere"}) || g.Confidence != knowledge.Low {
		t.Errorf("%+v %v", g, err)
	}
}

func TestASmallShareIsCutAtASentence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.put(t, b.newContext(t, b.viewer), "files/long.md", chapters(3))
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	g, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{d.ID, d.ID}, Tokens: 60})
	if err != nil || len(g.Passages) != 1 || !strings.HasSuffix(g.Passages[0].Text, ".") || len(g.Documents) != 1 {
		t.Errorf("%+v %v", g, err)
	}
	b.exact(t, g.Passages)
}

func TestSalientQuotesAreInOrderExactAndDifferent(t *testing.T) {
	t.Parallel()
	text := chapters(6)
	quotes := knowledge.MatterOf([]knowledge.Passage{{Text: text}}).Salient(6)
	if len(quotes) < 3 {
		t.Fatalf("%d quotes", len(quotes))
	}
	mild := 0
	for i, q := range quotes {
		if text[q.Start:q.End] != q.Text || i > 0 && q.Start < quotes[i-1].End {
			t.Errorf("quote %d: %q", i, q.Text)
		}
		if strings.Contains(q.Text, "weather was mild") {
			mild++
		}
	}
	if !strings.Contains(quotes[0].Text, "must pay a yearly fee") || mild > 1 {
		t.Errorf("%d of %d quotes repeat the same sentence: %q", mild, len(quotes), quotes[0].Text)
	}
}
