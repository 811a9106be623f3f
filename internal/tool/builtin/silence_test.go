package builtin_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/model/openai"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// pipes is a network inside the process, so that a server and its clients share
// the clock of a test.
type pipes struct {
	made chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.made <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// served is the model behind a server of OpenAI's protocol that says its answers
// with say, which writes the data of one event; gone is closed when nobody hears
// them any more.
func served(t *testing.T, answer func(gone <-chan struct{}, say func(delta string))) model.Model {
	t.Helper()
	network := &pipes{made: make(chan net.Conn), done: make(chan struct{})}
	var handlers sync.WaitGroup
	handler := func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		c := http.NewResponseController(w)
		_ = c.Flush()
		answer(r.Context().Done(), func(delta string) {
			if r.Context().Err() == nil {
				_, _ = io.WriteString(w, "data: "+delta+"\n\n")
				_ = c.Flush()
			}
		})
	}
	server := &http.Server{Handler: http.HandlerFunc(handler)}
	go func() { _ = server.Serve(network) }()
	transport := &http.Transport{DialContext: network.dial, DisableKeepAlives: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		handlers.Wait()
	})
	m, err := openai.New(openai.Options{BaseURL: "http://model.test/v1", Model: "wire-1", HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func word(text string) string { return `{"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` }

const lastWord = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":90}}`

// A node that leaves it to the setting, in a run whose models may speak for half
// an hour.
func patient(c *tool.Call) *tool.Call {
	c.Longest, c.Silence = 30*time.Minute, tool.ChatCap
	return c
}

// Requirements: STREAM-09
func TestAnAnswerIsNotCutWhileItsWordsCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := served(t, func(_ <-chan struct{}, say func(string)) {
			for range 90 {
				time.Sleep(2 * time.Second)
				say(word("word "))
			}
			say(lastWord)
			say("[DONE]")
		})
		began := time.Now()
		p := builtin.Parts{Model: m, Silence: 10 * time.Second, MaxTokens: 1000}
		out := must(t, p, "llm.generic_chat_v1", patient(&tool.Call{Inputs: inputs("message", "Hi")}))
		if answer, _ := out["answer"].(string); strings.Count(answer, "word") != 90 || out["truncated"] != nil {
			t.Errorf("cut after %s: %v", time.Since(began), out)
		}
		if took := time.Since(began); took < 3*time.Minute {
			t.Errorf("the answer came within %s", took)
		}
	})
}

// Requirements: STREAM-09
func TestAModelThatFallsSilentIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		setting, node time.Duration
		words         int
		after         time.Duration // since the last word
	}{
		"as the setting says":           {90 * time.Second, tool.ChatCap, 3, 90 * time.Second},
		"as the node says, which less":  {90 * time.Second, 15 * time.Second, 3, 15 * time.Second},
		"before its first word":         {90 * time.Second, tool.ChatCap, 0, 90 * time.Second},
		"the setting is less than both": {5 * time.Second, 15 * time.Second, 1, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last atomic.Int64 // when the last word was said
				m := served(t, func(gone <-chan struct{}, say func(string)) {
					for range c.words {
						time.Sleep(time.Second)
						say(word("word "))
					}
					last.Store(time.Now().UnixNano())
					ticks := time.NewTicker(time.Second)
					defer ticks.Stop()
					for { // what keeps a connection open is no word
						select {
						case <-ticks.C:
							say(`{"choices":[{"index":0,"delta":{"content":""}}]}`)
						case <-gone:
							return
						}
					}
				})
				call := patient(&tool.Call{Inputs: inputs("message", "Hi")})
				call.Silence = c.node
				out, err := run(t, builtin.Parts{Model: m, Silence: c.setting}, "llm.generic_chat_v1", call)
				if waited := time.Since(time.Unix(0, last.Load())); waited < c.after || waited > c.after+time.Second {
					t.Errorf("waited for %s, want %s", waited, c.after)
				}
				if c.words == 0 {
					if !errors.Is(err, fault.Internal) || fault.Reason(err) != graph.CodeTimeout {
						t.Errorf("%v, %v", out, err)
					}
				} else if answer, _ := out["answer"].(string); err != nil || out["truncated"] != true || strings.Count(answer, "word") != c.words {
					t.Errorf("%v, %v", out, err)
				}
			})
		})
	}
}

// The arguments of a tool are written piece by piece, and told once they are
// whole.
//
// Requirements: STREAM-09
func TestAModelThatWritesAToolsArgumentsIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		piece := func(text string) string {
			return `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"files.write_v1","arguments":"` + text + `"}}]}}]}`
		}
		m := served(t, func(_ <-chan struct{}, say func(string)) {
			say(piece(`{\"text\":\"`))
			for range 60 {
				time.Sleep(2 * time.Second)
				say(piece("word "))
			}
			say(piece(`\"}`))
			say(`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
			say("[DONE]")
		})
		heard, said := 0, 0
		ctx := model.WithHearing(t.Context(), func(n int) { heard += n })
		for e, err := range m.Stream(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "write"}}}}}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == model.ToolCall {
				said = len(e.Input)
			}
		}
		if said != len(`{"text":""}`)+60*len("word ") || heard < said {
			t.Errorf("heard %d bytes of arguments of %d", heard, said)
		}
	})
}

// Requirements: STREAM-09, LORA-26
func TestAnAnswerWithoutEndIsBoundedByItsTokens(t *testing.T) {
	for name, c := range map[string]struct {
		setting int // LIMINAL_ANSWER_TOKENS
		plan    int // of policy.models; 0: none
		want    int // tokens
	}{
		"of the plan":                 {1000, 50, 50},
		"of the setting":              {40, 0, 40},
		"of the setting, over a plan": {30, 50, 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := served(t, func(gone <-chan struct{}, say func(string)) {
					ticks := time.NewTicker(time.Second)
					defer ticks.Stop()
					for {
						select {
						case <-ticks.C:
							say(word("word "))
						case <-gone:
							return
						}
					}
				})
				call := patient(&tool.Call{Inputs: inputs("message", "Hi")})
				call.Choose = func(string) model.Choice { return model.Choice{Most: c.plan} }
				out := must(t, builtin.Parts{Model: m, Silence: time.Minute, MaxTokens: c.setting}, "llm.generic_chat_v1", call)
				answer, _ := out["answer"].(string)
				if out["truncated"] != true || out["stop"] != string(model.MaxTokens) || len(answer) < 4*c.want || len(answer) > 8*c.want+8 {
					t.Errorf("%d characters: %v", len(answer), out)
				}
			})
		})
	}
}
