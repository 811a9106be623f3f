package activities

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"liminal/internal/chat"
	"liminal/internal/knowledge"
)

// The highlights of an answer (CHAT-07). They are sentences of its own, so that
// they cost no call of a model and say nothing that it does not say.
const (
	longAnswer    = 1500     // bytes of prose from which an answer has highlights
	maxSummarised = 24 << 10 // bytes of prose that are read for them
	maxHighlights = 3        // sentences, each with what it needs to be understood
	maxHighlight  = 600      // bytes of all of them
)

// summaryOf is what an answer comes to; nil for one that is soon read.
func summaryOf(c *chat.Content) *chat.Summary {
	var prose strings.Builder
	for _, s := range c.Segments {
		if s.Type == chat.SegmentText {
			prose.WriteString(s.Text + "\n")
		}
	}
	if prose.Len() < longAnswer {
		return nil
	}
	text := unmarked(cutAt(prose.String(), maxSummarised))
	var said strings.Builder
	for _, q := range knowledge.MatterOf([]knowledge.Passage{{Text: text}}).Salient(maxHighlights) {
		sentence := knowledge.Fold(q.Text)
		if said.Len() > 0 {
			sentence = " " + sentence
		}
		if said.Len()+len(sentence) > maxHighlight {
			continue // a shorter one may follow
		}
		said.WriteString(sentence)
	}
	if said.Len() == 0 {
		return nil
	}
	return &chat.Summary{Highlights: said.String()}
}

// marks are those of citations, of quotes and of weight in Markdown.
var marks = regexp.MustCompile(`\s?\[\d{1,3}\]|(?m:^> ?)|\*\*`)

// unmarked is Markdown whose sentences read like prose.
func unmarked(text string) string { return marks.ReplaceAllString(text, "") }

// cutAt is at most n bytes of a text, up to the border of a character.
func cutAt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
