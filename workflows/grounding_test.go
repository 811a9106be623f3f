package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/openai"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// matters is a graph whose agent is held to what its tool returns.
const matters = `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
	{"id":"ask","type":"agent","system":"You know the deadlines.","tools":["search_my_deadlines"],"inputs":{"today":"2026-05-12","message":"${input.message}"},
	 "stream":true,"save_as":"said","next":"which",
	 "ground":{"markers":{"frist":"deadline"},"trailer":"paliadin-meta"}},
	{"id":"which","type":"switch","branches":[
		{"when":"said.stop == 'tool_loop_cap'","next":"stuck"},
		{"when":"said.tag in ['data','concept','navigation','meta','other']","next":"tagged"},
		{"when":"any(said.calls, .name == 'search_my_deadlines')","next":"data"},
		{"when":"true","next":"other"}]},
	{"id":"stuck","type":"end","response":"Sorry, I got stuck — try rephrasing.","data":{"tag":"other","error_code":"tool_loop_cap"}},
	{"id":"tagged","type":"end","data":{"tag":"${vars.said.tag}","calls":"${vars.said.calls}"}},
	{"id":"data","type":"end","data":{"tag":"data","calls":"${vars.said.calls}","evidence":"${vars.said.evidence}"}},
	{"id":"other","type":"end","data":{"tag":"other","calls":"${vars.said.calls}"}}]}`

// spoken is one answer of a provider: words, and a call of the tool.
type spoken struct {
	text string
	call string // of the call's arguments; empty: none
	hold func() // after the words; nil: it goes on
}

// wireProvider is a server of one of two protocols that says one answer after
// another.
type wireProvider struct {
	t       *testing.T
	mu      sync.Mutex
	answers []spoken
	asked   []string                     // the messages of each request, as JSON
	checks  func(question string) string // what is said of an answer's sentences; nil: nothing
	checked []string                     // the messages of each request for that
}

func (p *wireProvider) next(messages json.RawMessage) spoken {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, string(messages))
	n := min(len(p.asked), len(p.answers)) - 1
	return p.answers[n]
}

// check answers as the model of the role check.
func (p *wireProvider) check(messages json.RawMessage) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checked = append(p.checked, string(messages))
	if p.checks == nil {
		return ""
	}
	return p.checks(string(messages))
}

func (p *wireProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Messages json.RawMessage `json:"messages"`
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, json.Unmarshal(body, &call)); err != nil {
		p.t.Error(err)
	}
	var roles []struct {
		Role string `json:"role"`
	}
	if err := json.Unmarshal(call.Messages, &roles); err != nil || len(roles) == 0 || roles[len(roles)-1].Role == "assistant" {
		p.t.Errorf("newer models take no answer that is begun for them: %s", call.Messages)
	}
	say := spoken{}
	if strings.Contains(string(body), "You check an answer before a person sees it.") {
		say.text = p.check(call.Messages)
	} else {
		say = p.next(call.Messages)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		openaiSays(w, say)
		return
	}
	anthropicSays(w, say)
}

// pieces cuts a text in the middle of words and figures.
func pieces(text string) (out []string) {
	for len(text) > 0 {
		n := min(7, len(text))
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func openaiSays(w http.ResponseWriter, say spoken) {
	send := func(choice map[string]any) {
		raw, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": []any{choice}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
		flush(w)
	}
	for _, piece := range pieces(say.text) {
		send(map[string]any{"index": 0, "delta": map[string]any{"content": piece}})
	}
	if say.hold != nil {
		say.hold()
	}
	end := "stop"
	if say.call != "" {
		end = "tool_calls"
		send(map[string]any{"index": 0, "delta": map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": "search_my_deadlines", "arguments": say.call},
		}}}})
	}
	send(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": end})
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

func anthropicSays(w http.ResponseWriter, say spoken) {
	send := func(kind string, data map[string]any) {
		data["type"] = kind
		raw, _ := json.Marshal(data)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
		flush(w)
	}
	send("message_start", map[string]any{"message": map[string]any{"role": "assistant", "usage": map[string]any{"input_tokens": 10, "output_tokens": 1}}})
	block := 0
	if say.text != "" {
		send("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
		for _, piece := range pieces(say.text) {
			send("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": piece}})
		}
		send("content_block_stop", map[string]any{"index": 0})
		block++
	}
	if say.hold != nil {
		say.hold()
	}
	end := "end_turn"
	if say.call != "" {
		end = "tool_use"
		send("content_block_start", map[string]any{"index": block, "content_block": map[string]any{"type": "tool_use", "id": "toolu_1", "name": "search_my_deadlines", "input": map[string]any{}}})
		send("content_block_delta", map[string]any{"index": block, "delta": map[string]any{"type": "input_json_delta", "partial_json": say.call}})
		send("content_block_stop", map[string]any{"index": block})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": end}, "usage": map[string]any{"output_tokens": 5}})
	send("message_stop", map[string]any{})
}

// deadlineSpec is the tool's spec, over a source that gives its records pages.
func deadlineSpec(t *testing.T) tool.Spec {
	t.Helper()
	spec, err := tool.Decode([]byte(`{"kind":"tool.spec","name":"search_my_deadlines","description":"d","read_only":true,
		"input_schema":{"type":"object"},"output_schema":{"type":"object"},
		"via":{"query":{"source":"matters","parts":{"items":{"sql":"select 1 from deadline"}}}},
		"shows":[{"in":"items","entity":"deadline","line":"{title}, {due_date}","title":"{title}","summary":{"en":"{n} results","de":"{n} Ergebnisse"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	spec.Over = &tool.Over{Source: json.RawMessage(`{"kind":"data.source","entities":{"deadline":{"list":"search_my_deadlines"}}}`)}
	return spec
}

// specCatalog is as much of the artifacts as a model step reads.
type specCatalog struct {
	builtin.Catalog
	spec tool.Spec
}

func (c specCatalog) Tools(context.Context, identity.Viewer, ...string) (map[string]artifacts.Bound, error) {
	return map[string]artifacts.Bound{c.spec.Name: {Spec: c.spec}}, nil
}

// groundedTurn plays a turn over a provider's true protocol.
func groundedTurn(t *testing.T, wire string, answers ...spoken) (*bundle, *wireProvider) {
	t.Helper()
	p := &wireProvider{t: t, answers: answers}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	var m model.Model
	var err error
	if wire == "openai" {
		m, err = openai.New(openai.Options{BaseURL: server.URL + "/v1", APIKey: "k", Model: "m"})
	} else {
		m, err = anthropic.New(anthropic.Options{BaseURL: server.URL, APIKey: "k", Model: "claude-sonnet-4-6"})
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := deadlineSpec(t)
	tools := builtin.Tools(builtin.Parts{Model: m, Catalog: specCatalog{spec: spec}})
	at := slices.IndexFunc(tools, func(x tool.Tool) bool { return x.Name() == graph.StepTool })
	step := tool.Spec{Runs: tool.Activity, Queue: tool.QueueModels}
	world := activitiestest.New(matters).Tool(graph.StepTool, step, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		if c.Emit == nil {
			c.Emit = func(stream.Payload) {}
		}
		out, err := tools[at].Run(ctx, c)
		raw, _ := json.Marshal(out) // as the history has it
		out = nil
		_ = json.Unmarshal(raw, &out)
		return out, err
	})
	world.Tool(spec.Name, spec, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"items": []any{
			map[string]any{"id": "c47bd2", "title": "Klageerwiderung", "due_date": "2026-05-16", "project_label": "Müller ./. Nordlicht"},
			map[string]any{"id": "d91e07", "title": "Replik", "due_date": "2026-05-29", "project_label": "Brandt ./. Solaris"},
		}}, nil
	})
	return setup(t, world), p
}

// sent is every byte that readers of the stream were sent, and what its tokens
// say together: a word may be in two of them.
func (b *bundle) sent() string {
	var all, said strings.Builder
	for _, e := range b.world.Events {
		all.Write(e.Data)
		all.WriteByte('\n')
		if e.Kind == stream.Token {
			var piece string
			_ = json.Unmarshal(e.Data, &piece)
			said.WriteString(piece)
		}
	}
	return all.String() + said.String()
}

// read is what a reader has who takes in tokens and resets.
func (b *bundle) read() (text string, chips int) {
	for _, e := range b.world.Events {
		switch e.Kind {
		case stream.Token:
			var piece string
			_ = json.Unmarshal(e.Data, &piece)
			text += piece
		case stream.Reset:
			text, chips = "", 0
		case stream.Chip:
			chips++
		default:
		}
	}
	return text, chips
}

// invented is an id that nothing returned, as it might be told: by itself it may
// be part of a random one.
var invented = []string{"frist-ffff01", ":ffff01", `"ffff01"`}

var look = spoken{text: "Ich sehe nach.", call: `{"status":"pending"}`}

// Requirements: GRND-16, GRND-17, GRND-18, GRND-19, GRND-41
func TestAGroundedAnswerOverTheProvidersOwnProtocols(t *testing.T) {
	t.Parallel()
	const first = "Die Klageerwiderung in Müller ist am 16.05. fällig [1].\n\n"
	for name, scene := range map[string]struct {
		answers []spoken
		want    string
		never   []string // in no byte of the stream; more than digits, which a time in it may have too
		asked   int
		chips   int
		cited   string
		data    map[string]any
		second  func(question string) string // the model that checks
		check   func(t *testing.T, p *wireProvider)
	}{
		"a true round": {
			answers: []spoken{look, {text: "Die Klageerwiderung in Müller ist am 16.05. fällig [#frist-c47bd2].\n\nDie Replik folgt am 29. Mai. [#deadline-OPEN:d91e07]"}},
			want:    first + "Die Replik folgt am 29. Mai [2].", asked: 2, chips: 1, cited: "c47bd2 d91e07",
			data: map[string]any{"tag": "data"},
		},
		"an invented id": {
			answers: []spoken{look, {text: "Die Klageerwiderung ist fällig [#frist-ffff01]."}, {text: "Die Klageerwiderung in Müller ist am 16.05. fällig [#frist-c47bd2]."}},
			want:    strings.TrimSpace(first), never: invented, asked: 3, cited: "c47bd2",
		},
		"an invented date in the second paragraph": {
			answers: []spoken{look, {text: "Die Klageerwiderung in Müller ist am 16.05. fällig.\n\nDie Replik ist am 30.05.2026 fällig. Danach kommt nichts."}, {text: "Die Replik ist am 29.05.2026 fällig."}},
			want:    first + "Die Replik ist am 29.05.2026 fällig [2].", never: []string{"30.05.2026", "Danach kommt"}, asked: 3, cited: "c47bd2 d91e07",
			check: func(t *testing.T, p *wireProvider) {
				last := p.asked[2]
				if !strings.Contains(last, "Not in any tool result: 30.05.2026.") || !strings.Contains(last, "Die Klageerwiderung in Müller ist am 16.05. fällig [1].") {
					t.Errorf("asked again with %s", last)
				}
			},
		},
		"the right figure of the wrong matter": {
			answers: []spoken{look, {text: "In Brandt ./. Solaris ist die Replik am 16.05. fällig."}, {text: "In Brandt ./. Solaris ist sie am 29.05. fällig."}},
			want:    "In Brandt ./. Solaris ist sie am 29.05. fällig [1].", never: []string{"16.05. fällig"}, asked: 3, cited: "d91e07",
		},
		"invented again": {
			answers: []spoken{look, {text: "Am 1.6. ist die Replik fällig."}, {text: "Am 2.6. ist die Replik fällig. Die Klageerwiderung in Müller ist am 16.05. fällig."}},
			want:    "Die Klageerwiderung in Müller ist am 16.05. fällig [1].\n\n_A sentence was left out: it said what no result holds._", never: []string{"1.6. ist", "2.6. ist"}, asked: 3, cited: "c47bd2",
		},
		"endless tools": {
			answers: []spoken{look}, want: "Sorry, I got stuck — try rephrasing.", asked: 6,
			data: map[string]any{"tag": "other", "error_code": "tool_loop_cap"},
		},
		"a true date, denied": {
			answers: []spoken{look, {text: "Die Klageerwiderung in Müller ist am 16.05. fällig. Die Replik in Brandt ist nicht am 29.05. fällig."}, {text: "Die Replik in Brandt ist am 29.05. fällig."}},
			want:    strings.TrimSpace(first) + " Die Replik in Brandt ist am 29.05. fällig [2].", never: []string{"nicht am"}, asked: 3, cited: "c47bd2 d91e07",
			second: func(q string) string {
				if strings.Contains(q, "nicht am 29.05.") {
					return `{"n":1,"check":"2026-05-16","ok":true}` + "\n" + `{"n":2,"check":"due 2026-05-29","ok":false,"said":"nicht am 29.05."}`
				}
				return `{"n":1,"check":"due 2026-05-29","ok":true}`
			},
			check: func(t *testing.T, p *wireProvider) {
				if len(p.checked) != 2 || !strings.Contains(p.checked[0], `\"due_date\":\"2026-05-29\"`) || !strings.Contains(p.checked[0], "Was ist in Müller fällig?") || !strings.Contains(p.checked[0], "Today: 2026-05-12 (Tuesday)") {
					t.Errorf("who checks was told %q", p.checked)
				}
				if !strings.Contains(p.checked[1], "The answer so far:") {
					t.Errorf("who checks the rest was not told what was shown: %s", p.checked[1])
				}
				if last := p.asked[2]; !strings.Contains(last, "Not in any tool result: nicht am 29.05..") {
					t.Errorf("asked again with %s", last)
				}
			},
		},
		"reckoned as no rule knows": {
			answers: []spoken{look, {text: "Zwischen beiden Fristen in Müller und Brandt liegen 312 Stunden."}},
			want:    "Zwischen beiden Fristen in Müller und Brandt liegen 312 Stunden [1][2].", asked: 2, cited: "c47bd2 d91e07",
			second: func(string) string {
				return `{"n":1,"check":"13 days of 24 hours","ok":true,"from":["2026-05-16","2026-05-29"]}`
			},
		},
		"accepted for a value that stands nowhere": {
			answers: []spoken{look, {text: "Zwischen beiden Fristen in Müller und Brandt liegen 313 Stunden."}, {text: "Nichts weiter."}},
			want:    "Nichts weiter.", never: []string{"313 Stunden"}, asked: 3,
			second: func(string) string { return `{"n":1,"check":"so it is","ok":true,"from":["313"]}` },
		},
		"an id that is accepted though nothing returned it": {
			answers: []spoken{look, {text: "Die Klageerwiderung ist am 16.05. fällig [#frist-ffff01]."}, {text: "Nichts weiter."}},
			want:    "Nichts weiter.", never: invented, asked: 3,
			second: func(string) string { return `{"n":1,"check":"16 May","ok":true,"from":["2026-05-16"]}` },
		},
		"a trailer": {
			answers: []spoken{look, {text: "Die Klageerwiderung in Müller ist am 16.05. fällig.\n\n---\n[paliadin-meta]\nused_tools: search_my_deadlines\nrows_seen: 2\nclassifier_tag: navigation\n[/paliadin-meta]"}},
			want:    strings.TrimSpace(first), never: []string{"used_tools", "---"}, asked: 2, cited: "c47bd2", data: map[string]any{"tag": "navigation"},
		},
	} {
		for _, wire := range []string{"openai", "anthropic"} {
			t.Run(name+" "+wire, func(t *testing.T) {
				t.Parallel()
				b, p := groundedTurn(t, wire, scene.answers...)
				p.checks = scene.second
				b.chat("Was ist in Müller fällig?")
				c := b.closed()
				if c.End.Status != run.Done || c.Message == nil {
					t.Fatalf("the turn ended %s: %s", c.End.Status, c.End.Error)
				}
				text, chips := b.read()
				if got := strings.TrimSpace(c.Message.Content); got != scene.want {
					t.Errorf("the message is %q\nwant           %q", got, scene.want)
				}
				if name != "endless tools" && text != c.Message.Content {
					t.Errorf("a reader has %q of %q", text, c.Message.Content)
				}
				for _, never := range scene.never {
					if all := b.sent(); strings.Contains(all, never) {
						t.Errorf("%q was sent:\n%s", never, all)
					}
				}
				if len(p.asked) != scene.asked {
					t.Errorf("the model was asked %d times, want %d", len(p.asked), scene.asked)
				}
				var cited []string
				links := 0
				for _, s := range c.Message.Struct.Segments {
					switch s.Type {
					case chat.SegmentCitation:
						cited = append(cited, s.SourceID)
					case chat.SegmentAttachment:
						links++
					default:
					}
				}
				if got := strings.Join(cited, " "); got != scene.cited || chips != scene.chips || links != scene.chips {
					t.Errorf("cited %q, %d chips on the stream and %d in the message", got, chips, links)
				}
				data, _ := c.Message.Meta["data"].(map[string]any)
				for key, want := range scene.data {
					if data[key] != want {
						t.Errorf("%s is %v, want %v", key, data[key], want)
					}
				}
				if scene.check != nil {
					scene.check(t, p)
				}
			})
		}
	}
}

// Requirements: GRND-37 (replies in the user's language)
func TestAModelIsToldToReplyInTheLanguageOfTheTurn(t *testing.T) {
	t.Parallel()
	for locale, language := range map[string]string{"de": "German", "en": "English"} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			b, p := groundedTurn(t, "openai", spoken{text: "Nichts."})
			b.world.Workflows["default"] = strings.Replace(matters, "You know the deadlines.", "Reply in ${user.language}.", 1)
			b.set.Person = func(_ context.Context, _ identity.Viewer, locale string) (map[string]string, error) {
				return map[string]string{"language": map[string]string{"de": "German", "en": "English"}[locale]}, nil
			}
			b.turn(b.world.Chat("Was ist fällig?", chat.TurnInput{Locale: locale}))
			if c := b.closed(); c.End.Status != run.Done {
				t.Fatalf("the turn ended %s: %s", c.End.Status, c.End.Error)
			}
			if len(p.asked) != 1 || !strings.Contains(p.asked[0], "Reply in "+language+".") {
				t.Errorf("the model was told %q", p.asked)
			}
		})
	}
}

// Requirements: GRND-26 (output 2000)
func TestAnAgentsBoundReachesItsSteps(t *testing.T) {
	t.Parallel()
	b, _ := groundedTurn(t, "openai", spoken{text: "Nichts."})
	b.world.Workflows["default"] = strings.Replace(matters, `"today":`, `"max_tokens":2000,"today":`, 1)
	b.chat("Was ist fällig?")
	if len(b.world.Calls) == 0 || fmt.Sprint(b.world.Calls[0].Inputs["max_tokens"]) != "2000" {
		t.Errorf("the step was called with %+v", b.world.Calls)
	}
}

// What a person stops keeps the paragraphs that were judged, and nothing of the
// one that was not.
func TestAGroundedAnswerThatIsStoppedKeepsWhatWasShown(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"openai", "anthropic"} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			var b *bundle
			var in string
			stop := func() {
				for { // until the first paragraph is out
					kinds := b.world.Kinds()
					if taken := slices.Index(kinds, stream.Reset); taken >= 0 && slices.Contains(kinds[taken:], stream.Token) {
						break
					}
					runtime.Gosched()
				}
				b.set.Stop(in)
			}
			b, _ = groundedTurn(t, wire, look, spoken{text: "Die Klageerwiderung in Müller ist am 16.05. fällig.\n\nDie Replik ist am 31.12. fällig", hold: stop})
			input := b.world.Chat("Was ist fällig?", chat.TurnInput{})
			in = input.RunID
			b.turn(input)
			c := b.closed()
			if c.End.Status != run.Cancelled || c.Message == nil || strings.TrimSpace(c.Message.Content) != "Die Klageerwiderung in Müller ist am 16.05. fällig [1]." || strings.Contains(b.sent(), "am 31.12") {
				t.Errorf("the turn ended %s with %+v", c.End.Status, c.Message)
			}
		})
	}
}
