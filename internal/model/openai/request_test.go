package openai_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/openai"
)

const streamed = "text/event-stream"

// server plays one answer after the other, the last again and again, and
// keeps what it was asked.
type server struct {
	mu      sync.Mutex
	answers []answer
	asked   []asked
}

type answer struct {
	status int // 0: 200
	header http.Header
	body   string
}

type asked struct {
	url    string
	header http.Header
	body   map[string]any
}

const fine = `data: {"choices":[{"delta":{"content":"Fine."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n"

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	s.asked = append(s.asked, asked{r.URL.String(), r.Header.Clone(), body})
	a := answer{body: fine}
	if len(s.answers) > 0 {
		a = s.answers[min(len(s.asked), len(s.answers))-1]
	}
	header := http.Header{"Content-Type": {streamed}}
	if a.status != 0 {
		header = http.Header{"Content-Type": {"application/json"}}
	}
	maps.Copy(header, a.header)
	return &http.Response{StatusCode: max(a.status, 200), Header: header, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

func client(t *testing.T, s *server, o openai.Options) model.Model {
	t.Helper()
	o.HTTP = &http.Client{Transport: s}
	if o.BaseURL == "" {
		o.BaseURL = "https://api.openai.com/v1"
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func backend(t *testing.T, name string) model.Backend {
	t.Helper()
	b, ok := model.BackendOf(name)
	if !ok {
		t.Fatalf("no backend %s", name)
	}
	return b
}

func TestEachServerIsReachedWhereItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options openai.Options
		url     string
		header  string
	}{
		"a bare address":       {openai.Options{BaseURL: "http://127.0.0.1:11434"}, "http://127.0.0.1:11434/v1/chat/completions", "Authorization"},
		"with /v1":             {openai.Options{BaseURL: "http://127.0.0.1:8000/v1/"}, "http://127.0.0.1:8000/v1/chat/completions", "Authorization"},
		"with a prefix":        {openai.Options{BaseURL: "https://a.example/llm/api"}, "https://a.example/llm/api/chat/completions", "Authorization"},
		"the whole":            {openai.Options{BaseURL: "https://a.example/v1/chat/completions"}, "https://a.example/v1/chat/completions", "Authorization"},
		"Azure's resource":     {openai.Options{BaseURL: "https://me.openai.azure.com", Backend: backend(t, "azure"), APIVersion: "2024-10-21"}, "https://me.openai.azure.com/openai/deployments/gpt%2F4o/chat/completions?api-version=2024-10-21", "Api-Key"},
		"Azure's /openai":      {openai.Options{BaseURL: "https://me.openai.azure.com/openai/", Backend: backend(t, "azure"), APIVersion: "v"}, "https://me.openai.azure.com/openai/deployments/gpt%2F4o/chat/completions?api-version=v", "Api-Key"},
		"Azure's deployment":   {openai.Options{BaseURL: "https://me.openai.azure.com/openai/deployments/mine", Backend: backend(t, "azure"), APIVersion: "v"}, "https://me.openai.azure.com/openai/deployments/mine/chat/completions?api-version=v", "Api-Key"},
		"Azure's newer routes": {openai.Options{BaseURL: "https://me.openai.azure.com/openai/v1", Backend: backend(t, "azure"), APIVersion: "v"}, "https://me.openai.azure.com/openai/v1/chat/completions", "Api-Key"},
	} {
		s := &server{}
		c.options.APIKey, c.options.Model, c.options.Header = "secret", "gpt/4o", http.Header{"x-team": {"lakes"}}
		play(t, client(t, s, c.options), question())
		got := s.asked[0]
		if got.url != c.url {
			t.Errorf("%s: asked at %s, want %s", name, got.url, c.url)
		}
		if !strings.HasSuffix(got.header.Get(c.header), "secret") || got.header.Get("X-Team") != "lakes" {
			t.Errorf("%s: the headers are %v", name, got.header)
		}
	}
	for _, bad := range []openai.Options{{}, {BaseURL: "server.example"}, {BaseURL: "ftp://a.example"}, {BaseURL: "http://a.example", Backend: backend(t, "local_lora")}} {
		if _, err := openai.New(bad); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v, want it refused", bad, err)
		}
	}
}

// Requirements: LORA-19 (temperature and max tokens; top-p)
func TestADialogueIsSaidInTheWordsOfTheProtocol(t *testing.T) {
	t.Parallel()
	s := &server{}
	text := func(t string) model.Block { return model.Block{Type: model.Text, Text: t} }
	warm := 0.5
	play(t, client(t, s, openai.Options{Model: "base"}), model.Request{
		Model: "other", System: "Be kind.", MaxTokens: 9, Temperature: &warm, TopP: &warm, User: "u1",
		Tools: []model.Tool{{Name: "rag.search_v1", Description: "Looks.", InputSchema: json.RawMessage(`{"type":"object"}`)}, {Name: "rag_search_v1"}},
		Messages: []model.Message{
			{Role: model.User, Content: []model.Block{text("One.")}},
			{Role: model.User, Content: []model.Block{text("Two."), text(" ")}},
			{Role: model.Assistant, Content: []model.Block{
				{Type: model.Thinking, Text: "never sent", Signature: "s"},
				text("Looking."),
				{Type: model.ToolUse, ID: "c1", Name: "rag_search_v1", Input: json.RawMessage(`{"q":1}`)},
				{Type: model.ToolUse, ID: "c2", Name: "rag.search_v1"},
			}},
			{Role: model.User, Content: []model.Block{
				{Type: model.ToolResult, ID: "c1", Text: "found"}, {Type: model.ToolResult, ID: "c2", Text: "lost", IsError: true}, text("Go on."),
			}},
		},
	})
	got, err := json.MarshalIndent(s.asked[0].body, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"max_completion_tokens":9,"messages":[{"content":"Be kind.","role":"system"},{"content":"One.\n\nTwo.","role":"user"},
{"content":"Looking.","role":"assistant","tool_calls":[
 {"function":{"arguments":"{\"q\":1}","name":"rag_search_v1_2"},"id":"c1","type":"function"},{"function":{"arguments":"{}","name":"rag_search_v1"},"id":"c2","type":"function"}]},
{"content":"found","role":"tool","tool_call_id":"c1"},{"content":"Error: lost","role":"tool","tool_call_id":"c2"},{"content":"Go on.","role":"user"}],
"model":"other","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,
"tools":[{"function":{"description":"Looks.","name":"rag_search_v1","parameters":{"type":"object"}},"type":"function"},
 {"function":{"name":"rag_search_v1_2","parameters":{"properties":{},"type":"object"}},"type":"function"}],"top_p":0.5,"user":"u1"}`
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("sent is\n%s\nwant\n%s", got, want)
	}
}

func TestAToolIsCalledByItsOwnName(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"rag_search_v1","arguments":"{}"}}]},"finish_reason":"stop"}]}` + "\n\n"
	req := question()
	req.Tools = []model.Tool{{Name: "rag.search_v1"}}
	h := play(t, opened(t, "vllm", replay{streamed, []byte(body)}), req)
	if h.err != nil || h.events[0].Name != "rag.search_v1" || h.events[len(h.events)-1].Reason != model.ToolCalls {
		t.Errorf("got %s", written(h))
	}
}

func TestPassagesAreNumberedOverTheWholeRequest(t *testing.T) {
	t.Parallel()
	s := &server{}
	passage := func(id, text string) model.Block {
		return model.Block{Type: model.Passage, Text: text, Source: &model.Source{DocumentID: id, Title: id, End: len(text)}}
	}
	req := question()
	req.Messages = []model.Message{
		{Role: model.User, Content: []model.Block{passage("a", "First."), {Type: model.Text, Text: "And?"}}},
		{Role: model.Assistant, Content: []model.Block{{Type: model.Text, Text: "So."}}},
		{Role: model.User, Content: []model.Block{passage("b", "Second."), {Type: model.Text, Text: "And now?"}}},
	}
	m := client(t, s, openai.Options{})
	play(t, m, req)
	raw, _ := json.Marshal(s.asked[0].body["messages"])
	for _, want := range []string{`[1] a:\n\u003cpassage\u003e\nFirst.\n\u003c/passage\u003e\n\nAnd?`, `[2] b:\n`, "square brackets"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the messages do not say %q: %s", want, raw)
		}
	}
	req.Schema = json.RawMessage(`{"type":"array"}`)
	s.answers = []answer{{body: `data: {"choices":[{"delta":{"content":"[1]"},"finish_reason":"stop"}]}` + "\n\n"}}
	if h := play(t, m, req); h.err != nil || h.events[0].Text != "[1]" || slices.ContainsFunc(h.events, func(e model.Event) bool { return e.Type == model.Citation }) {
		t.Errorf("a list of JSON is read as %s", written(h))
	}
}
