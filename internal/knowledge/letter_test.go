package knowledge_test

import (
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

const letter = "From: Ada Brook <ada@orrin-valves.example>\nTo: Stores <stores@mill.example>\nDate: Monday, 2 June 2025\n\n" +
	"Dear Jo,\n\nthe six valves of your order will reach you on 14 July. The foundry was flooded.\n\n" +
	"The penalty is 0.5 % a week.\n\nKind regards\nAda Brook\nSales, Orrin Valves\n+44 113 496 0999\n"

// What a letter says is quoted, and not who wrote it, unless that is asked.
// Requirements: RAG-13
func TestTheEndOfALetterIsQuotedToWhomAsksWhoWroteIt(t *testing.T) {
	t.Parallel()
	p := knowledge.Passage{Source: model.Source{DocumentID: "d", Title: "Your order", End: len(letter)}, Text: letter}
	for question, want := range map[string]string{
		"When will the valves from Orrin come?":           "14 July",
		"What is the phone number of Ada Brook at Orrin?": "0999",
	} {
		quotes := knowledge.Quotes(question, []knowledge.Passage{p}, 3)
		if len(quotes) == 0 || !strings.Contains(quotes[0].Text, want) {
			t.Errorf("%s: %+v, want %q first", question, quotes, want)
		}
	}
}
