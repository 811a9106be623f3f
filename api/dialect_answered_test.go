package api

import (
	"strings"
	"sync"
	"testing"

	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// speaker is a protocol in which a person is asked and answers. What answers gives
// is all that its client is told, and whether it counted as the answer.
type speaker struct {
	asks    func(p *person)
	answers func(p *person, q run.Interrupt, text string) (told string, counted bool)
}

const whatIsAsked = "words please" // the player asks for a text

// speakers are the page and every protocol of others.
func speakers(t *testing.T) map[string]speaker {
	chose := func(text string) string { return `You chose "` + text + `"` }
	return map[string]speaker{
		"the page": {
			asks: func(p *person) { p.post("/v1/chat", map[string]any{"message": whatIsAsked}).ok() },
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.post("/v1/chat/resume", map[string]any{"interrupt_id": q.ID, "resume_value": map[string]any{"type": "text_input", "value": text}})
				return string(got.body), got.status == 200
			},
		},
		"OpenAI chat": {
			asks: func(p *person) { p.asks(whatIsAsked) },
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.completes(map[string]any{"model": automatic, "messages": dialogue(text)}, conversationHeader, q.ConversationID)
				return got.said(), got.said() == chose(text)
			},
		},
		"Responses": {
			asks: func(p *person) { p.respond(whatIsAsked) },
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.respond(text, "previous_response_id", "resp_"+q.RunID)
				return got.said(), got.said() == chose(text)
			},
		},
		"Anthropic": {
			asks: func(p *person) { p.post(messagesPath, messageStream(whatIsAsked)) },
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.post(messagesPath, messageStream(text), conversationHeader, q.ConversationID)
				if got.status != 200 {
					return string(got.body), false
				}
				h := readAnthropic(p.T, spoken(string(got.body)))
				return h.text, h.text == chose(text)
			},
		},
		"Agent Protocol": {
			asks: func(p *person) {
				lg[LangGraphOutcome](p, "POST", "/threads/"+p.newThread().ID+"/runs/wait", lgRun(whatIsAsked))
			},
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.post(langgraphPath+"/threads/"+q.ConversationID+"/runs/wait", lgResume(map[string]any{q.ID: text}))
				return string(got.body), got.status == 200
			},
		},
		"AG-UI": {
			asks: func(p *person) { p.tellsAgent(id.New(), whatIsAsked) },
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.agent(q.ConversationID, map[string]any{"resume": []any{resume(q.ID, "resolved", text)}})
				return aguiText(got) + got[len(got)-1].Message, got[len(got)-1].Type == "RUN_FINISHED"
			},
		},
		"MCP": {
			asks: func(p *person) {
				p.connects(t, statelessSince, nil).calls("ask_titled", map[string]any{"message": whatIsAsked})
			},
			answers: func(p *person, q run.Interrupt, text string) (string, bool) {
				got := p.connects(t, statelessSince, nil).calls("answer", map[string]any{"interrupt_id": q.ID, "answer": text})
				return got.text + got.raw, !got.wrong
			},
		},
	}
}

// asked has a person asked in a protocol, and gives the question.
func (p *person) asked(by speaker) run.Interrupt {
	p.Helper()
	by.asks(p)
	open, err := p.store.PendingInterrupts(p.Context(), p.viewer(), "")
	p.must(err)
	if len(open) != 1 {
		p.Fatalf("%d questions are open", len(open))
	}
	return open[0]
}

// answeredOnce checks that a question has just that answer, and that its run said so.
func (p *person) answeredOnce(q run.Interrupt, text string) {
	p.Helper()
	for e, err := range p.engine.log.Follow(p.Context(), q.RunID, 0) {
		if p.must(err); e.Kind == stream.MessageDone {
			break
		}
	}
	now, err := p.store.Interrupt(p.Context(), p.viewer(), q.ID)
	if p.must(err); now.Status != run.Answered || string(now.Answer) != `"`+text+`"` {
		p.Errorf("the question is %s, its answer %s, want %q", now.Status, now.Answer, text)
	}
	said := ""
	for _, m := range items(p.get("/v1/conversations/" + q.ConversationID + "/messages").ok()) {
		if m["run_id"] == q.RunID && m["role"] == "assistant" {
			said += m["content"].(string)
		}
	}
	if said != `You chose "`+text+`"` {
		p.Errorf("the run says %q", said)
	}
}

// What one protocol asks, any other answers, in the run that asks; a second answer of
// the first changes nothing.
//
// Requirements: INT-31, INT-33
func TestAQuestionIsAnsweredOnceFromAnyProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	w.signUp("admin@example.org")
	all := speakers(t)
	for from, asking := range all {
		ada := w.signUp(strings.ReplaceAll(strings.ToLower(from), " ", ".") + "@example.org")
		ada.workflow("titled", `{"kind":"workflow.chat","title":"Titled","entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`)
		for to, answering := range all {
			q := ada.asked(asking)
			if told, counted := answering.answers(ada, q, "from "+to); !counted {
				t.Errorf("%s asks and %s answers: %s", from, to, told)
			}
			if told, counted := all["the page"].answers(ada, q, "too late"); counted {
				t.Errorf("%s asks and %s answers, and the page again: %s", from, to, told)
			}
			ada.answeredOnce(q, "from "+to)
		}
	}
}

// Of answers that come at once from everywhere one wins, and the others are told so in
// their own way, or said as what they are: another message.
//
// Requirements: INT-31
func TestOfAnswersFromEveryProtocolAtOnceOneWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	w.signUp("admin@example.org")
	ada := w.signUp("ada@example.org")
	ada.workflow("titled", `{"kind":"workflow.chat","title":"Titled","entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`)
	all := speakers(t)
	for from, asking := range all {
		q := ada.asked(asking)
		var wait sync.WaitGroup
		var mu sync.Mutex
		var winners []string
		for to, answering := range all {
			wait.Go(func() {
				told, counted := answering.answers(ada, q, "from "+to)
				mu.Lock()
				defer mu.Unlock()
				if counted {
					winners = append(winners, to)
				} else if told != "" && strings.Contains(told, `You chose "from `+to) {
					t.Errorf("%s lost and is told %s", to, told)
				}
			})
		}
		wait.Wait()
		if len(winners) != 1 {
			t.Errorf("%s asks: %v have answered", from, winners)
			continue
		}
		ada.answeredOnce(q, "from "+winners[0])
	}
}
