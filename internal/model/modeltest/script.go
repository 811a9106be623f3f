package modeltest

import (
	"encoding/json"
	"strings"
	"time"

	"liminal/internal/model"
)

// sentence names a scenario in the text of a request.
func sentence(n Name) string { return "Play the scenario " + string(n) + ", please." }

// lakes is what the passages of the suite say.
const (
	lakes = "The lake is drained every autumn. Fish are moved to the upper pond before the first frost. The keeper writes down their number."
	moved = "Fish are moved to the upper pond before the first frost."
	roads = "The road along the dam is closed to carts in winter."
)

func passages() []model.Block {
	return []model.Block{
		{Type: model.Passage, Text: lakes, Source: &model.Source{
			DocumentID: "doc-lakes", ContextID: "ctx", ChunkID: "lakes-1", Title: "Lake rules", Path: "lakes.md",
			Heading: "Autumn", Page: 3, Start: 40, End: 40 + len(lakes), Score: 0.9,
		}},
		{Type: model.Passage, Text: roads, Source: &model.Source{
			DocumentID: "doc-roads", ContextID: "ctx", ChunkID: "roads-1", Title: "Road rules", Path: "roads.md",
			Start: 0, End: len(roads), Score: 0.4,
		}},
	}
}

// schema is what the Structured scenario asks for; words of it must be found
// in what the provider sends.
const schema = `{"type":"object","properties":{"sluice_gate":{"type":"string"},"opened":{"type":"boolean"}},"required":["sluice_gate","opened"],"additionalProperties":false}`

// The conditions of every request of the suite.
const (
	system = "You keep the lakes and speak in short sentences."
	tokens = 321 // MaxTokens
)

// Request is a request that asks for the scenario.
func Request(n Name) model.Request {
	req := model.Request{
		Task: "chat", System: system, MaxTokens: tokens, Locale: "en",
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: sentence(n)}}}},
	}
	switch n {
	case Tools:
		req.Tools = []model.Tool{
			{Name: "water_level", Description: "The level of a lake.", InputSchema: json.RawMessage(`{"type":"object","properties":{"lake":{"type":"string"},"depth":{"type":"number"}}}`)},
			{Name: "list_lakes", Description: "The names of all lakes.", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		}
	case Structured:
		req.Schema = json.RawMessage(schema)
	case Citations:
		req.Messages[0].Content = append(passages(), req.Messages[0].Content...)
	default:
	}
	return req
}

// scenario is the script of a scenario. Hold is closed already.
func scenario(n Name) Scenario {
	open := make(chan struct{})
	close(open)
	s := Scenario{
		Name: n, Hold: open,
		Text:  []string{"The lake", " is full", ", the würdige \"keeper\"", " says.\n"},
		Usage: model.Usage{Input: 12, Output: 7, CacheRead: 5},
	}
	switch n {
	case Tools:
		s.Text = []string{"Let me ", "look."}
		s.Calls = []Call{
			{ID: "call_one", Name: "water_level", Input: `{"lake": "Upper \"pond\" ü", "depth": 12.25}`},
			{ID: "call_two", Name: "list_lakes"},
			{ID: "call_three", Name: "water_level", Input: `{"lake":"Lower"}`},
		}
	case Thinking:
		s.Thoughts = []string{"First the ", "sluice, ", "then the dam."}
	case Structured:
		s.Text = []string{`{"sluice_`, `gate":"north",`, `"opened":true}`}
	case Citations:
		s.Passages, s.Quote = passages(), moved
		s.Text = []string{"As the rules say: ", moved[:20], moved[20:]}
	case Refused:
		s.Text = []string{"I cannot ", "help with that."}
	case RateLimited:
		s.RetryAfter = 3 * time.Second
	default:
	}
	return s
}

func (s Scenario) text() string { return strings.Join(s.Text, "") }
