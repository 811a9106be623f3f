package knowledge_test

import (
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

func TestTheTitleOfASectionIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := knowledge.Passage{
		Source: model.Source{DocumentID: "d", Title: "Terms", Heading: "11. Patents", End: 200},
		Text:   "  11. Patents.\n\n  A contributor grants you a licence under its patents for what it wrote. Nothing else is granted.",
	}
	quotes := knowledge.Quotes("What about patents?", []knowledge.Passage{p}, 3)
	if len(quotes) == 0 {
		t.Fatal("no quotes")
	}
	for _, q := range quotes {
		if strings.Contains(q.Text, "11. Patents.") || p.Text[q.Start:q.End] != q.Text {
			t.Errorf("quoted %q", q.Text)
		}
	}
}
