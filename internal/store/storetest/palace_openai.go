package storetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/capture/capturetest"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// openAISpool is a backend of OpenAI's protocol whose exchanges are taken in.
type openAISpool struct {
	*spooled
	url string
}

func newOpenAISpool(t *testing.T, open Open) openAISpool {
	s := httptest.NewServer(&capturetest.OpenAI{})
	t.Cleanup(s.Close)
	return openAISpool{newSpooled(t, open), s.URL}
}

// ask asks the backend, and records what it says.
func (p openAISpool) ask(path, body string) (id, answer string) {
	p.t.Helper()
	resp, err := http.Post(p.url+path, "application/json", strings.NewReader(body))
	need(p.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	need(p.t, err)
	id = p.say(passed{path: "/openai" + path, body: body, answer: string(raw), kind: resp.Header.Get("Content-Type")})
	return id, string(raw)
}

// palaceOpenAI takes in rounds with a tool in both of OpenAI's protocols.
func palaceOpenAI(t *testing.T, open Open) {
	chat := func(stream, messages string) string {
		return `{"model":"gpt-invented",` + stream + `"tools":[{"type":"function","function":{"name":"read_file"}}],"messages":[{"role":"system","content":"You read files."},{"role":"user","content":"Read it."}` + messages + `]}`
	}
	call := `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%s","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a file\"}"}}]},{"role":"tool","tool_call_id":"call_%[1]s","content":"what stands in it"}`
	use, end := fmt.Sprintf(`{"id":"call_%024d","input":{"path":"a file"},"name":"read_file","type":"tool_use"}`, 1), `{"text":"`+capturetest.OpenAIAnswer+`","type":"text"}`
	counted := palace.Usage{Input: 20, Read: 100, Output: 20}
	for name, c := range map[string]struct {
		stream string
		usage  palace.Usage
	}{
		"as a stream":              {`"stream":true,"stream_options":{"include_usage":true},`, counted},
		"as a stream, not counted": {`"stream":true,`, palace.Usage{}},
		"at once":                  {``, counted},
	} {
		t.Run("chat completions "+name, func(t *testing.T) {
			p := newOpenAISpool(t, open)
			first, answer := p.ask("/v1/chat/completions", chat(c.stream, ""))
			second, _ := p.ask("/v1/chat/completions", chat(c.stream, fmt.Sprintf(call, fmt.Sprintf("%024d", 1))))
			p.take()
			p.rounds(t, first, second, answer, c.usage)
			if c.stream != "" { // at once they are as they came
				p.says(t, 1, use)
				p.says(t, 3, end)
			}
		})
	}
	responses := func(stream, items string) string {
		return `{"model":"gpt-invented","store":false,` + stream + `"instructions":"You read files.","tools":[{"type":"function","name":"read_file"}],"input":[{"role":"user","content":"Read it."}` + items + `]}`
	}
	echoed := `,{"id":"rs_%s","type":"reasoning","summary":[{"type":"summary_text","text":"It is asked."}],"encrypted_content":"aW52ZW50ZWQ1="},{"type":"function_call","call_id":"call_%[1]s","name":"read_file","arguments":"{\"path\":\"a file\"}"},{"type":"function_call_output","call_id":"call_%[1]s","output":"what stands in it"}`
	for name, stream := range map[string]string{"as a stream": `"stream":true,`, "at once": ``} {
		t.Run("responses "+name, func(t *testing.T) {
			p := newOpenAISpool(t, open)
			first, answer := p.ask("/v1/responses", responses(stream, ""))
			second, _ := p.ask("/v1/responses", responses(stream, fmt.Sprintf(echoed, fmt.Sprintf("%024d", 1))))
			count, _ := p.ask("/v1/responses/input_tokens", responses("", ""))
			more, _ := p.ask("/v1/responses", `{"previous_response_id":"resp_1","input":"And more."}`)
			p.take()
			p.rounds(t, first, second, answer, counted)
			for id, kind := range map[string]palace.Kind{count: palace.Count, more: palace.Other} {
				e, err := p.PalaceExchange(t.Context(), p.v, id)
				need(t, err)
				want(t, "kind", e.Kind, kind)
				want(t, "lineage", e.LineageID, "")
			}
		})
	}
}

// rounds holds what was taken in of a round with a tool against what was said.
func (p openAISpool) rounds(t *testing.T, first, second, answer string, usage palace.Usage) {
	t.Helper()
	e, err := p.PalaceExchange(t.Context(), p.v, first)
	need(t, err)
	want(t, "kind", e.Kind, palace.Main)
	want(t, "model", e.Model, "gpt-invented")
	want(t, "stop", e.Stop, "tool_use")
	want(t, "usage", e.Usage, usage)
	_, body, err := p.Response(t.Context(), p.v, first)
	need(t, err)
	want(t, "response", string(body), answer)
	last, err := p.PalaceExchange(t.Context(), p.v, second)
	need(t, err)
	want(t, "the history goes on", last.LineageID, e.LineageID)
	want(t, "stop", last.Stop, "end_turn")
	v, err := p.Timeline(t.Context(), p.v, 1)
	need(t, err)
	var types []string
	for _, b := range v.Blocks {
		if b.Type != palace.Thinking {
			types = append(types, string(b.Type)+" "+b.Tool)
		}
	}
	want(t, "blocks", strings.Join(types, ", "), "User , ToolUse read_file, ToolResult read_file, Assistant ")
	shared, err := p.PalaceShared(t.Context(), p.v)
	need(t, err)
	want(t, "blocks of all agents", len(shared), 2)
	p.classified(t, v.Lineage)
}

// classified holds that a model is asked about a history as about Anthropic's, in the same
// words, and that the policy marks it; a view there is none of.
//
// Requirements: PAL-08 (by a model)
func (p openAISpool) classified(t *testing.T, l palace.Lineage) {
	t.Helper()
	p.Policies = parsed(t, `{"kind":"policy.palace","mode":"view","channels":[{"channel":"files","when":"tool == 'read_file'"}],"classifier":{"by":"model","model":"@near"}}`)
	pl := p.planner()
	var asked []string
	pl.Ask = func(_ context.Context, _ identity.Viewer, lineage string, exchanges int, model string) error {
		asked = append(asked, fmt.Sprint(lineage == l.ID, exchanges, model))
		return nil
	}
	for range 3 {
		need(t, pl.All(t.Context(), p.v))
		pl.Grown([]string{l.ID})
	}
	want(t, "asked", strings.Join(asked, ", "), fmt.Sprint(true, l.Exchanges, "@near"))
	q := got(p.Question(t.Context(), p.v, l.ID))(t)
	var shown []string
	for _, b := range q.Window.Blocks {
		shown = append(shown, spaced(b.Type, b.Tool, b.Channels, b.Text))
	}
	want(t, "a model reads", strings.Join(shown, "\n"), `User  [] Read it.
ToolUse read_file [files] {"path":"a file"}
ToolResult read_file [files] what stands in it
Assistant  [] `+capturetest.OpenAIAnswer)
	c := p.reply(1, first)
	want(t, "outcome", spaced(c.Outcome, c.Refused), "understood")
	if _, err := os.Stat(filepath.Join(p.dir, "views", view.FileName(l.Key))); !os.IsNotExist(err) {
		t.Errorf("the proxy is given a plan (%v)", err)
	}
}

// says holds what the n-th block of the history says against what it should.
func (p openAISpool) says(t *testing.T, n int, content string) {
	t.Helper()
	v, err := p.Timeline(t.Context(), p.v, 1)
	need(t, err)
	c, err := p.Content(t.Context(), p.v, v.Blocks[n])
	need(t, err)
	want(t, "content", string(c.JSON), content)
}
