package extractive_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
)

// desktop are tools that say what people ask of them.
func desktop() []model.Tool {
	find := json.RawMessage(`{"type":"object","properties":{
		"status":{"type":"string","enum":["open","done"],"x-words":{"open":["offen","open"],"done":["erledigt","done"]}},
		"after":{"type":"string","x-range":"from"},"before":{"type":"string","x-range":"to"}}}`)
	show := json.RawMessage(`{"type":"object","required":["ship"],"properties":{"ship":{"type":"string","x-names":"label","x-ask":{"de":"Welches Schiff?","en":"Which ship?"}}}}`)
	return []model.Tool{
		{Name: "find_trips", ReadOnly: true, InputSchema: find, Examples: []model.ToolExample{{Inputs: map[string]any{"status": nil, "after": nil, "before": nil},
			Asks: []string{"Welche Fahrten sind diese Woche?", "Which trips are this week?", "Which trips are there?"}}}},
		{Name: "show_ship", ReadOnly: true, InputSchema: show, Examples: []model.ToolExample{{Inputs: map[string]any{"ship": nil},
			Asks: []string{"Zeig mir das Schiff {ship}", "Show me the ship {ship}"}}}},
		{Name: "find_crews", ReadOnly: true, Examples: []model.ToolExample{{Inputs: map[string]any{}, Asks: []string{"Which crews are this week?"}}}},
		{Name: "sink_ship", Examples: []model.ToolExample{{Inputs: map[string]any{}, Asks: []string{"Sink the ship"}}}},
	}
}

func eventsOf(t *testing.T, question, locale string) []model.Event {
	t.Helper()
	return modeltest.Play(t, extractive.Model{}, model.Request{
		Task: extractive.TaskAgent, Locale: locale, Tools: desktop(), Today: time.Date(2026, 5, 13, 10, 0, 0, 0, time.UTC), // a Wednesday
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: question}}}},
	})
}

// A question calls the tool people so ask for, with what its words name.
func TestAToolIsFoundByWhatPeopleSayAndFilledFromTheWords(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Which trips are this week?":                           `find_trips {"after":"2026-05-13","before":"2026-05-20"}`,
		"Welche Fahrten sind nächste Woche noch offen?":        `find_trips {"after":"2026-05-18","before":"2026-05-24","status":"open"}`,
		"Which trips are there in the next two weeks?":         `find_trips {"after":"2026-05-13","before":"2026-05-27"}`,
		"Which trips are there until 20.05.2026?":              `find_trips {"after":"2026-05-13","before":"2026-05-20"}`,
		"Which trips are there from 2026-06-01 to 2026-06-30?": `find_trips {"after":"2026-06-01","before":"2026-06-30"}`,
		"Which trips are there tomorrow?":                      `find_trips {"after":"2026-05-14","before":"2026-05-14"}`,
		"Welche Fahrten sind überfällig und offen?":            `find_trips {"before":"2026-05-12","status":"open"}`,
		"Which trips are there?":                               `find_trips {}`,
		"Show me the ship \"Nordlicht ./. Velum\".":            `show_ship {"ship":"Nordlicht ./. Velum"}`,
		"Zeig mir das Schiff „Grüne Ente“!":                    `show_ship {"ship":"Grüne Ente"}`,
		"Zeig mir doch bitte einmal das Schiff ABC-2026-1007":  `show_ship {"ship":"ABC-2026-1007"}`,
	} {
		got := ""
		for _, e := range eventsOf(t, question, "de") {
			if e.Type == model.ToolCall {
				got = e.Name + " " + string(e.Input)
			}
		}
		if got != want {
			t.Errorf("%s\n%s, want\n%s", question, got, want)
		}
	}
}

// What is not clear is asked about, in few words, and nothing is called: of two
// tools alike near, of an input that must be there. A tool that changes something
// is never called.
func TestWhatIsNotClearIsAskedAbout(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Which are this week?":          "That may mean two things.",
		"Show me the ship":              "Which ship?",
		"Sink the ship":                 "", // no call, whatever is said
		"Do you like the weather there": "No language model is configured",
	} {
		text := ""
		for _, e := range eventsOf(t, question, "en") {
			switch e.Type {
			case model.ToolCall:
				t.Errorf("%s: called %s %s", question, e.Name, e.Input)
			case model.TextDelta:
				text += e.Text
			default:
			}
		}
		if !strings.Contains(text, want) || text == "" {
			t.Errorf("%s: %s", question, text)
		}
	}
}

// toldOf is what is said of the result of find_trips, and how many links it has.
func toldOf(t *testing.T, tools []model.Tool, locale, question, result string) (text string, linked int) {
	t.Helper()
	for _, e := range modeltest.Play(t, extractive.Model{}, model.Request{Task: extractive.TaskAgent, Locale: locale, Tools: tools, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Type: model.Text, Text: question}}},
		{Role: model.Assistant, Content: []model.Block{{Type: model.ToolUse, ID: "c", Name: "find_trips", Input: []byte("{}")}}},
		{Role: model.User, Content: []model.Block{{Type: model.ToolResult, ID: "c", Text: result}}},
	}}) {
		switch e.Type {
		case model.TextDelta:
			text += e.Text
		case model.Linked:
			linked++
		default:
		}
	}
	return text, linked
}

// Whoever asks in German reads German labels, whatever language their page has;
// what is no language's is told in that of the page.
//
// Requirements: GRND-37 (replies in the user's language)
func TestRecordsAreToldInTheLanguageOfTheQuestion(t *testing.T) {
	t.Parallel()
	tools := desktop()
	tools[0].Tell = func(_ map[string]any, locale string) []model.ToolRecords {
		return []model.ToolRecords{{Heading: locale, Records: []model.Record{{Line: "Nordlicht"}}}}
	}
	for _, c := range []struct{ locale, question, want string }{
		{"en", "Welche Fahrten sind diese Woche?", "*Aus deinen Daten zitiert:*\n\n**de**"},
		{"de-DE", "Which trips are there?", "*Quoted from your data:*\n\n**en**"},
		{"de-DE", "Nordlicht 2026", "*Aus deinen Daten zitiert:*\n\n**de-DE**"},
		{"en", "Nordlicht 2026", "*Quoted from your data:*\n\n**en**"},
	} {
		if text, _ := toldOf(t, tools, c.locale, c.question, "{}"); !strings.HasPrefix(text, c.want) {
			t.Errorf("%s under %s: %q", c.question, c.locale, text)
		}
	}
	for question, want := range map[string]string{"Zeig mir das Schiff": "Welches Schiff?", "Show me the ship": "Which ship?"} {
		if text := modeltest.Text(eventsOf(t, question, map[bool]string{true: "en", false: "de"}[want == "Welches Schiff?"])); text != want {
			t.Errorf("%s: %q", question, text)
		}
	}
}

// A row is told as its line is, whatever is in it: no Markdown, no link of its own.
func TestRowsAreToldAndNotRead(t *testing.T) {
	t.Parallel()
	tools := desktop()
	tools[0].Tell = func(out map[string]any, _ string) []model.ToolRecords {
		name, _ := out["name"].(string)
		return []model.ToolRecords{{Records: []model.Record{{Line: name, Title: name, ID: "1", Entity: "ship", Source: "fleet", Href: "/r/fleet/ship/1"}}}}
	}
	ask := func(result string) (text string, linked int) {
		return toldOf(t, tools, "en", "Which trips are there?", result)
	}
	if text, n := ask(`{"name":"[x](javascript:1) **loud**\n# head"}`); text != "*Quoted from your data:*\n\n- \\[x\\](javascript:1) \\*\\*loud\\*\\* # head" || n != 1 {
		t.Errorf("%q, %d links", text, n)
	}
	if text, n := ask(`{"error":"not found"}`); text != "I couldn't find anything matching that." || n != 0 {
		t.Errorf("%q, %d links", text, n)
	}
}
