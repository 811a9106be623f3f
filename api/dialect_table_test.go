package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
)

// What of ours each protocol has a word for, as the design's table lists it: a row
// for each, a column for each protocol. A cell is a test; where the protocol has no
// word, that nothing is said of it.
var (
	theirProtocols = []string{"OpenAI chat", "Responses", "Anthropic", "Agent Protocol", "AG-UI", "MCP"}
	ourMatters     = []string{"workflow", "conversation", "run", "token", "status", "tool", "citation", "question", "answer", "skip", "error", "stop", "reset"}
)

// column is how a protocol has each of them.
type column map[string]func(t *testing.T, p *person)

// Every line of the table holds in every protocol, over one server. A cell without a
// test fails it.
//
// Requirements: STREAM-32, INT-33
func TestEveryProtocolHasAWordForWhatIsOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	w.server.abandoned = time.Millisecond
	w.server.keepAlive.ping = 5 * time.Millisecond
	columns := map[string]column{
		"OpenAI chat": completionCells, "Responses": responseCells, "Anthropic": messageCells,
		"Agent Protocol": langgraphCells, "AG-UI": aguiCells, "MCP": mcpCells,
	}
	w.signUp("admin@example.org")
	people := map[string]*person{}
	for _, protocol := range theirProtocols {
		p := w.signUp(strings.ReplaceAll(strings.ToLower(protocol), " ", ".") + "@example.org")
		p.workflow("titled", `{"kind":"workflow.chat","title":"Titled","entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`)
		people[protocol] = p
	}
	for _, protocol := range theirProtocols {
		for name := range columns[protocol] {
			if !slices.Contains(ourMatters, name) {
				t.Errorf("%s has a cell %s that is no row", protocol, name)
			}
		}
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			for _, matter := range ourMatters {
				cell := columns[protocol][matter]
				if cell == nil {
					t.Errorf("no test says how %s has %s", protocol, matter)
					continue
				}
				t.Run(matter, func(t *testing.T) {
					here := *people[protocol]
					its := *here.world
					its.T, here.world = t, &its
					cell(t, &here)
				})
			}
		})
	}
}

// heard is all that is sent in answer to a request that succeeds.
func (p *person) heard(path string, body map[string]any) string {
	p.Helper()
	got := p.post(path, body)
	if got.status != http.StatusOK {
		p.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	return string(got.body)
}

// spoken is a stream without what only keeps it open.
func spoken(body string) string {
	blocks := strings.Split(body, "\n\n")
	return strings.Join(slices.DeleteFunc(blocks, func(b string) bool { return strings.HasPrefix(b, ":") || strings.HasPrefix(b, "event: ping") }), "\n\n")
}

func has(t *testing.T, said string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("%q is not in %s", w, said)
		}
	}
}

func hasNot(t *testing.T, said string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(said, w) {
			t.Errorf("%q is in %s", w, said)
		}
	}
}

// closes begins a slow run as a stream, reads until it says its first word, and goes
// away: the run stops, as its row says.
func (p *person) closes(r *http.Request) {
	p.Helper()
	ctx, leave := context.WithCancel(p.Context())
	defer leave()
	got, err := http.DefaultClient.Do(r.WithContext(ctx))
	p.must(err)
	defer got.Body.Close()
	for lines := bufio.NewReader(got.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			p.Fatal(err)
		}
		if err == io.EOF || strings.Contains(line, "slow") && !strings.Contains(line, "metadata") {
			break
		}
	}
	leave()
	p.stopped(got.Header.Get("X-Run-Id"))
}

// stopped waits for the end of a run that nobody reads any more.
func (p *person) stopped(runID string) {
	p.Helper()
	p.engine.ended(p.T, runID)
	if got := p.one(runID)["status"]; got != "cancelled" {
		p.Errorf("the run is %v", got)
	}
}

func completionStream(message string) map[string]any {
	return map[string]any{"model": automatic, "messages": dialogue(message), "stream": true}
}

var completionCells = column{
	"workflow": func(t *testing.T, p *person) {
		has(t, string(p.get(modelsPath).body), `"id":"titled"`, `"display_name":"Titled"`)
		if got := p.completes(map[string]any{"model": "titled", "messages": dialogue("Hi")}); got.said() != "Hi" || got.Model != "titled" {
			t.Errorf("%+v", got)
		}
	},
	"conversation": func(t *testing.T, p *person) {
		first := p.asks("Where are we?")
		found := p.asks("Where are we?", "Where are we?", "And?")
		named := p.completes(map[string]any{"model": automatic, "messages": dialogue("Here")}, conversationHeader, first.About.ConversationID)
		if found.About.ConversationID != first.About.ConversationID || named.About.ConversationID != first.About.ConversationID {
			t.Errorf("%+v, %+v, %+v", first.About, found.About, named.About)
		}
	},
	"run": func(t *testing.T, p *person) {
		if got := p.asks("Hi"); got.ID != "chatcmpl-"+got.About.RunID || p.one(got.About.RunID)["status"] != "done" {
			t.Errorf("%+v", got)
		}
	},
	"token": func(t *testing.T, p *person) {
		text, list, _ := p.chunks(completionStream("hello there"))
		if text != "hello there" || len(list) < 3 {
			t.Errorf("%q in %d pieces", text, len(list))
		}
	},
	"status": func(t *testing.T, p *person) {
		hasNot(t, p.heard(completionsPath, completionStream("Hi")), "Answering")
	},
	"tool": func(t *testing.T, p *person) {
		said := p.heard(completionsPath, completionStream("look"))
		has(t, said, "Found.")
		hasNot(t, said, "2 results", `"find"`)
	},
	"citation": func(t *testing.T, p *person) {
		has(t, p.heard(completionsPath, completionStream("Hi")), `"annotations":[{"type":"url_citation"`)
	},
	"question": func(t *testing.T, p *person) {
		got := p.asks("ask which")
		if got.said() != "which\n1. One\n2. Two" || got.About.Interrupt == nil || got.Choices[0].FinishReason != "stop" {
			t.Errorf("%+v", got)
		}
	},
	"answer": func(t *testing.T, p *person) {
		asked := p.asks("ask whether")
		if got := p.asks("ask whether", asked.said(), "2"); got.said() != `You chose "two"` || got.About.RunID != asked.About.RunID {
			t.Errorf("%+v", got)
		}
	},
	"skip": func(t *testing.T, p *person) {
		asked := p.asks("ask when")
		if got := p.asks("ask when", asked.said(), "never mind"); got.said() != "never mind" || p.questionOf(asked.About.RunID).Status != "cancelled" {
			t.Errorf("%+v", got)
		}
	},
	"error": func(t *testing.T, p *person) {
		got := p.completes(map[string]any{"model": automatic, "messages": dialogue("fail")})
		_, _, failed := p.chunks(completionStream("fail"))
		if got.Code != 500 || got.Error.Type != "server_error" || failed == nil || failed.Message != got.Error.Message {
			t.Errorf("%+v, %+v", got.Error, failed)
		}
	},
	"stop": func(_ *testing.T, p *person) { p.closes(p.request("POST", completionsPath, completionStream("slow"))) },
	"reset": func(t *testing.T, p *person) {
		if text, _, failed := p.chunks(completionStream("repeat")); text != "one two" || failed != nil {
			t.Errorf("%q, %+v", text, failed)
		}
		if text, _, failed := p.chunks(completionStream("differ")); text != "one " || failed == nil || !strings.Contains(failed.Message, "run") {
			t.Errorf("%q, %+v", text, failed)
		}
	},
}

func responseStream(message string) map[string]any {
	return map[string]any{"model": automatic, "input": message, "stream": true}
}

var responseCells = column{
	"workflow": func(t *testing.T, p *person) {
		if got := p.respond("Hi", "model", "titled"); got.said() != "Hi" || got.Model != "titled" {
			t.Errorf("%+v", got)
		}
	},
	"conversation": func(t *testing.T, p *person) {
		first := p.respond("Hi")
		if got := p.respond("And?", "previous_response_id", first.ID); got.Liminal.ConversationID != first.Liminal.ConversationID || value(got.Previous) != first.ID {
			t.Errorf("%+v", got)
		}
	},
	"run": func(t *testing.T, p *person) {
		if got := p.respond("Hi"); got.ID != "resp_"+got.Liminal.RunID || p.responds("GET", "/"+got.ID, nil).said() != "Hi" {
			t.Errorf("%+v", got)
		}
	},
	"token": func(t *testing.T, p *person) {
		has(t, p.heard(responsesPath, responseStream("hello there")), "response.output_text.delta", `"delta":"there"`)
	},
	"status": func(t *testing.T, p *person) { hasNot(t, p.heard(responsesPath, responseStream("Hi")), "Answering") },
	"tool": func(t *testing.T, p *person) {
		list := p.happened(p.request("POST", responsesPath, responseStream("look")))
		out := list[len(list)-1].Response.Output
		if len(out) != 3 || out[1].Type != "mcp_call" || out[1].Name != "find" || value(out[1].Output) != "2 results" || out[2].Content[0].Text != "Found." {
			t.Errorf("%+v", out)
		}
	},
	"citation": func(t *testing.T, p *person) {
		if got := p.respond("Hi"); len(got.Output[0].Content[0].Annotations) != 1 {
			t.Errorf("%+v", got.Output)
		}
	},
	"question": func(t *testing.T, p *person) {
		if got := p.respond("ask which"); got.said() != "which\n1. One\n2. Two" || got.Status != "completed" {
			t.Errorf("%+v", got)
		}
		if got := p.respond("confirm it"); len(got.Output) != 2 || got.Output[1].Type != "mcp_approval_request" {
			t.Errorf("%+v", got)
		}
	},
	"answer": func(t *testing.T, p *person) {
		asked := p.respond("confirm it")
		yes := map[string]any{"type": "mcp_approval_response", "approval_request_id": asked.Output[1].ID, "approve": true}
		if got := p.respond([]any{yes}, "previous_response_id", asked.ID); got.said() != `You chose "yes"` || got.Liminal.RunID != asked.Liminal.RunID {
			t.Errorf("%+v", got)
		}
		asked = p.respond("ask which")
		if got := p.respond("2", "previous_response_id", asked.ID); got.said() != `You chose "two"` || got.Liminal.RunID != asked.Liminal.RunID {
			t.Errorf("%+v", got)
		}
	},
	"skip": func(t *testing.T, p *person) {
		asked := p.respond("ask which")
		if got := p.respond("never mind", "previous_response_id", asked.ID); got.said() != "never mind" || p.questionOf(asked.Liminal.RunID).Status != "cancelled" {
			t.Errorf("%+v", got)
		}
	},
	"error": func(t *testing.T, p *person) {
		list := p.happened(p.request("POST", responsesPath, responseStream("fail")))
		if last := list[len(list)-1]; last.Type != "response.failed" || last.Response.Error.V.Message != "The model is away." {
			t.Errorf("%+v", last)
		}
	},
	"stop": func(t *testing.T, p *person) {
		begun := p.respond("slow", "background", true)
		if got := p.responds("POST", "/"+begun.ID+"/cancel", nil); got.Status != "cancelled" {
			t.Errorf("%+v", got)
		}
		p.stopped(begun.Liminal.RunID)
		p.closes(p.request("POST", responsesPath, responseStream("slow")))
	},
	"reset": func(t *testing.T, p *person) {
		same := p.happened(p.request("POST", responsesPath, responseStream("repeat")))
		if last := same[len(same)-1]; last.Type != "response.completed" || last.Response.Output[0].Content[0].Text != "one two" {
			t.Errorf("%+v", last)
		}
		other := p.happened(p.request("POST", responsesPath, responseStream("differ")))
		if last := other[len(other)-1]; last.Type != "response.failed" {
			t.Errorf("%+v", last)
		}
	},
}

func messageStream(message string) map[string]any {
	return map[string]any{"model": automatic, "max_tokens": 512, "messages": dialogue(message), "stream": true}
}

// messageNow is a message that is answered at once.
func messageNow(p *person, more map[string]any, texts ...string) (m anthropic.Message, about CompletionOf) {
	p.Helper()
	body := messageStream("")
	body["stream"], body["messages"] = false, dialogue(texts...)
	for name, v := range more {
		body[name] = v
	}
	unjson(p.T, []byte(p.heard(messagesPath, body)), &m)
	return m, aboutMessage(p.T, &m)
}

var messageCells = column{
	"workflow": func(t *testing.T, p *person) {
		if m, _ := messageNow(p, map[string]any{"model": "titled"}, "Hi"); saidIn(&m) != "Hi" || m.Model != "titled" {
			t.Errorf("%s", m.RawJSON())
		}
	},
	"conversation": func(t *testing.T, p *person) {
		_, first := messageNow(p, nil, "Where are we?")
		_, found := messageNow(p, nil, "Where are we?", "Where are we?", "And?")
		got := p.post(messagesPath, messageStream("Here"), conversationHeader, first.ConversationID)
		if found.ConversationID != first.ConversationID || got.header.Get(conversationHeader) != first.ConversationID {
			t.Errorf("%+v, %+v, %v", first, found, got.header)
		}
	},
	"run": func(t *testing.T, p *person) {
		if m, about := messageNow(p, nil, "Hi"); m.ID != "msg_"+about.RunID || p.one(about.RunID)["status"] != "done" {
			t.Errorf("%s", m.RawJSON())
		}
	},
	"token": func(t *testing.T, p *person) {
		has(t, p.heard(messagesPath, messageStream("hello there")), `"type":"text_delta","text":"there"`)
	},
	// While there is nothing to say; what is done in between has no words.
	"status": func(t *testing.T, p *person) {
		r := p.request("POST", messagesPath, messageStream("slow"))
		got, err := http.DefaultClient.Do(r)
		p.must(err)
		defer got.Body.Close()
		lines, said := bufio.NewReader(got.Body), ""
		for !strings.Contains(said, "event: ping\n") {
			line, err := lines.ReadString('\n')
			p.must(err)
			said += line
		}
		p.engine.tell(got.Header.Get("X-Run-Id"), "proceed")
		rest, err := io.ReadAll(lines)
		p.must(err)
		hasNot(t, said+string(rest), "Answering")
	},
	"tool": func(t *testing.T, p *person) {
		said := p.heard(messagesPath, messageStream("look"))
		hasNot(t, said, "2 results", `"find"`)
		if h := readAnthropic(t, spoken(said)); h.text != "I look.\n\nFound." { // each a block of its own
			t.Errorf("%q", h.text)
		}
	},
	"citation": func(t *testing.T, p *person) {
		has(t, p.heard(messagesPath, messageStream("Hi")), `"citations_delta"`, `"search_result_location"`)
	},
	"question": func(t *testing.T, p *person) {
		if m, about := messageNow(p, nil, "ask which"); saidIn(&m) != "which\n1. One\n2. Two" || about.Interrupt == nil || m.StopReason != anthropic.StopReasonEndTurn {
			t.Errorf("%s", m.RawJSON())
		}
	},
	"answer": func(t *testing.T, p *person) {
		asked, about := messageNow(p, nil, "ask whether")
		if m, after := messageNow(p, nil, "ask whether", saidIn(&asked), "2"); saidIn(&m) != `You chose "two"` || after.RunID != about.RunID {
			t.Errorf("%s", m.RawJSON())
		}
	},
	"skip": func(t *testing.T, p *person) {
		asked, about := messageNow(p, nil, "ask when")
		if m, _ := messageNow(p, nil, "ask when", saidIn(&asked), "never mind"); saidIn(&m) != "never mind" || p.questionOf(about.RunID).Status != "cancelled" {
			t.Errorf("%s", m.RawJSON())
		}
	},
	"error": func(t *testing.T, p *person) {
		has(t, p.heard(messagesPath, messageStream("fail")), "event: error\n", `"type":"api_error"`, "The model is away.")
	},
	"stop": func(_ *testing.T, p *person) { p.closes(p.request("POST", messagesPath, messageStream("slow"))) },
	"reset": func(t *testing.T, p *person) {
		if h := readAnthropic(t, spoken(p.heard(messagesPath, messageStream("repeat")))); h.text != "one two" || h.failed != "" {
			t.Errorf("%+v", h)
		}
		if h := readAnthropic(t, spoken(p.heard(messagesPath, messageStream("differ")))); h.text != "one " || h.failed == "" {
			t.Errorf("%+v", h)
		}
	},
}
