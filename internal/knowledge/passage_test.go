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

func TestARuleIsNearThatHoldsAllOfAClause(t *testing.T) {
	t.Parallel()
	m := knowledge.MatterOf([]knowledge.Passage{{Text: "You must make sure that they, too, receive or can get the source code. Unless required by applicable law or agreed to in writing, the licensor provides the work on an as-is basis without warranties of any kind, either express or implied. The committee meets on Mondays."}})
	for claim, near := range map[string]bool{
		"There is no warranty.": true,
		"We ship to customers and give them the source code only if they pay": true,
		"The invoice for the catering is due on Tuesday":                      false,
	} {
		quotes := m.Closest(claim, 1)
		if got := len(quotes) > 0 && quotes[0].Rating >= knowledge.Near; got != near {
			t.Errorf("%s: %+v", claim, quotes)
		}
	}
}

func TestASectionIsFoundByItsNumber(t *testing.T) {
	t.Parallel()
	of := func(heading, text string) knowledge.Passage {
		return knowledge.Passage{Source: model.Source{DocumentID: heading, Heading: heading, End: len(text)}, Text: text}
	}
	passages := []knowledge.Passage{
		of("5. Conveying", "The terms of section 7 apply to the whole work."),
		of("17. Interpretation", "Nothing else is meant."),
		of("7. Additional Terms", "Permissions may be added by whoever hands it on."),
	}
	for _, question := range []string{"What about section 7?", "Was steht in § 7?"} {
		quotes := knowledge.Quotes(question, passages, 1)
		if len(quotes) != 1 || quotes[0].Heading != "7. Additional Terms" {
			t.Errorf("%s: %+v", question, quotes)
		}
	}
}

func TestAQuoteBeginsBelowItsHeading(t *testing.T) {
	t.Parallel()
	text := "## 4. Working hours\n\nCore time is from ten to two."
	p := knowledge.Passage{Source: model.Source{DocumentID: "d", Heading: "Policy › 4. Working hours", End: len(text)}, Text: text}
	quotes := knowledge.Quotes("What are the working hours?", []knowledge.Passage{p}, 1)
	if len(quotes) != 1 || quotes[0].Text != "Core time is from ten to two." || quotes[0].Start == 0 {
		t.Errorf("%+v", quotes)
	}
}

func TestTheNameOfAChapterIsNoAnswer(t *testing.T) {
	t.Parallel()
	for heading, text := range map[string]string{
		"Kapitel 14. Debian in einem Produkt verwenden › 14.1. Darf ich CDs verkaufen?": "Kapitel 14. Debian in einem Produkt verwenden\n\n14.1. Darf ich CDs verkaufen?\n\nJa, das dürfen Sie.",
		"Chapter 3. Selling CDs of Debian":                                              "Chapter 3. Selling CDs of Debian\n\nYou may sell CDs of Debian without asking us.",
	} {
		p := knowledge.Passage{Source: model.Source{DocumentID: "d", Heading: heading, End: len(text)}, Text: text}
		question := "Darf ich CDs von Debian verkaufen?"
		if strings.HasPrefix(heading, "Chapter") {
			question = "Is selling CDs of Debian allowed?"
		}
		quotes := knowledge.Quotes(question, []knowledge.Passage{p}, 1)
		if len(quotes) != 1 || strings.Contains(quotes[0].Text, "14.") || strings.Contains(quotes[0].Text, "Chapter") {
			t.Errorf("%q: %+v", question, quotes)
		}
	}
}

func TestASentenceThatOnlyPointsElsewhereComesLast(t *testing.T) {
	t.Parallel()
	text := "Refer to the rationale for /opt.\n\nAdd-on software is installed below /opt, which is reserved for it and holds a folder for each of the packages that are added to the system."
	p := knowledge.Passage{Source: model.Source{DocumentID: "d", Heading: "Add-on software", End: len(text)}, Text: text}
	quotes := knowledge.Quotes("What is /opt for?", []knowledge.Passage{p}, 2)
	if len(quotes) == 0 || !strings.HasPrefix(quotes[0].Text, "Add-on software is installed") {
		t.Errorf("%+v", quotes)
	}
}
