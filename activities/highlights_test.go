package activities_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/activities"
	"liminal/internal/chat"
	"liminal/internal/graph"
	"liminal/internal/knowledge"
	"liminal/internal/stream"
)

// A long answer is kept with what it comes to, in its own words, and told with
// it; a short one comes to what it is.
//
// Requirements: CHAT-07 (summary.highlights)
func TestALongAnswerHasHighlights(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	long.WriteString("# The ferry\n\nThe ferry to the island must leave the harbour before 7 in winter [1].\n\n")
	for _, month := range strings.Fields("January February March April May June July August September October November December") {
		long.WriteString("> In " + month + " the **harbour** of the island has its own table for the ferry, which the master of the harbour pins to the door [2].\n\n")
	}
	long.WriteString("```sh\n" + strings.Repeat("ferry --island --harbour winter\n", 60) + "```\n")
	ended := func(response string) (*chat.Content, string) {
		w := world(nil)
		in := activities.CloseInput{Run: w.Chat("hello", chat.TurnInput{}), Outcome: graph.Outcome{Response: response}}
		if _, err := w.Set().Close(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		done, err := json.Marshal(w.Event(stream.MessageDone))
		if err != nil {
			t.Fatal(err)
		}
		return w.Closed[0].Message.Struct, string(done)
	}
	kept, told := ended(long.String())
	if kept.Summary == nil {
		t.Fatal("a long answer has no highlights")
	}
	highlights := kept.Summary.Highlights
	if !strings.Contains(highlights, "The ferry to the island must leave the harbour before 7 in winter.") || len(highlights) > 600 {
		t.Errorf("the highlights are %q", highlights)
	}
	if strings.ContainsAny(highlights, "[>*#`\n") || strings.Contains(highlights, "--island") {
		t.Errorf("the highlights hold marks or code: %q", highlights)
	}
	plain := knowledge.Fold(strings.NewReplacer("[1]", "", "[2]", "", "> ", "", "**", "", " .", ".").Replace(long.String()))
	for sentence := range strings.SplitAfterSeq(highlights, ". ") {
		if !strings.Contains(strings.ReplaceAll(plain, " .", "."), strings.TrimSpace(sentence)) {
			t.Errorf("the answer does not say %q", sentence)
		}
	}
	if quoted, _ := json.Marshal(kept.Summary); !strings.Contains(told, `"summary":`+string(quoted)) {
		t.Errorf("the stream's end tells %s", told)
	}
	if kept, told = ended("The ferry leaves at 7."); kept.Summary != nil || strings.Contains(told, `"summary"`) {
		t.Errorf("a short answer has %+v", kept.Summary)
	}
}
