package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
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
		o.BaseURL = "https://server.example/v1"
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

func hybrid(id string, weight float64) model.Adapter {
	return model.Adapter{
		ID: id, Mode: model.ModeHybrid, RemoteModelID: "ft:" + id, RemoteID: "served/" + id,
		Dir: "/adapters/" + id, Weight: weight, Instructions: "Speak like " + id + ".",
	}
}

// The same adapters and the same request, over one backend after the other:
// what differs is what the table of 001 §5.0.2 says, and nothing else.
//
// Requirements: LORA-08, LORA-09, LORA-10, LORA-22
func TestABackendChangesHowAdaptersTravelAndNothingElse(t *testing.T) {
	t.Parallel()
	adapters := []model.Adapter{hybrid("sea", 0.6), hybrid("law", 0.3)}
	sea, both := "Be kind.\n\nSpeak like sea.", "Be kind.\n\nSpeak like sea.\n\nSpeak like law."
	ids, weights := []any{"served/sea", "served/law"}, []any{0.6, 0.3}
	for name, want := range map[string]struct {
		model, system string
		params        map[string]any
	}{
		"openai":         {"ft:sea", sea, nil},
		"azure":          {"ft:sea", sea, nil},
		"together":       {"base", both, map[string]any{"adapter_id": ids, "adapter_weights": weights}},
		"adapter_server": {"base", both, map[string]any{"adapter_id": ids, "adapter_weights": weights}},
		"lorax":          {"base", both, map[string]any{"merged_adapters": map[string]any{"ids": ids, "weights": weights, "merge_strategy": "linear"}}},
		"sagemaker":      {"base", sea, map[string]any{"adapter_id": "served/sea"}},
	} {
		s := &server{}
		req := question()
		req.System, req.Adapters = "Be kind.", adapters
		play(t, client(t, s, openai.Options{Model: "base", Backend: backend(t, name)}), req)
		body := s.asked[0].body
		if body["model"] != want.model {
			t.Errorf("%s: the model is %v, want %s", name, body["model"], want.model)
		}
		if got := systemOf(body); got != want.system {
			t.Errorf("%s: the system text is %q, want %q", name, got, want.system)
		}
		for _, field := range []string{"adapter_id", "adapter_weights", "merged_adapters", "lora"} {
			if !reflect.DeepEqual(body[field], want.params[field]) {
				t.Errorf("%s: %s is %v, want %v", name, field, body[field], want.params[field])
			}
		}
		rest := []any{body["tools"], body["messages"].([]any)[1:], body["stream"]}
		if got, _ := json.Marshal(rest); !strings.Contains(string(got), "How is it?") || len(rest[1].([]any)) != 1 {
			t.Errorf("%s: the rest is %s", name, got)
		}
	}
	if a := model.Apply(backend(t, "local_lora"), adapters); len(a.Local) != 2 || a.System != "" || a.Params != nil || a.Dropped != nil {
		t.Errorf("local_lora: %+v, want the weights of both and no words", a)
	}
}

func systemOf(body map[string]any) string {
	first, _ := body["messages"].([]any)[0].(map[string]any)
	if first["role"] != "system" {
		return ""
	}
	return first["content"].(string)
}

// Requirements: LORA-08
func TestOneAdapterTravelsAsItsServerWantsIt(t *testing.T) {
	t.Parallel()
	numbered := hybrid("sea", 0.5)
	numbered.RemoteID = "2"
	for name, c := range map[string]struct {
		options openai.Options
		adapter model.Adapter
		model   string
		want    map[string]any
	}{
		"together":          {openai.Options{Backend: backend(t, "together")}, hybrid("sea", 0.5), "base", map[string]any{"adapter_id": "served/sea", "adapter_weights": []any{0.5}}},
		"lorax":             {openai.Options{Backend: backend(t, "lorax")}, hybrid("sea", 0.5), "served/sea", map[string]any{"adapter_id": "served/sea"}},
		"llamacpp":          {openai.Options{Backend: backend(t, "llamacpp")}, numbered, "base", map[string]any{"lora": []any{map[string]any{"id": 2.0, "scale": 0.5}}}},
		"another parameter": {openai.Options{Backend: backend(t, "adapter_server"), AdapterParam: "lora_name"}, hybrid("sea", 0.5), "base", map[string]any{"lora_name": "served/sea"}},
	} {
		s := &server{}
		c.options.Model = "base"
		req := question()
		req.Adapters = []model.Adapter{c.adapter}
		play(t, client(t, s, c.options), req)
		body := s.asked[0].body
		if body["model"] != c.model {
			t.Errorf("%s: the model is %v, want %s", name, body["model"], c.model)
		}
		for field, want := range c.want {
			if !reflect.DeepEqual(body[field], want) {
				t.Errorf("%s: %s is %v, want %v", name, field, body[field], want)
			}
		}
	}
}

// Requirements: LORA-09
func TestADroppedAdapterIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := client(t, &server{}, openai.Options{Model: "base", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	req := question()
	req.Adapters = []model.Adapter{hybrid("sea", 0.6), hybrid("law", 0.3), {ID: "old", Mode: model.ModeLocal, Dir: "/old", Weight: 1}}
	play(t, m, req)
	for _, want := range []string{
		"msg=adapter_dropped adapter=old reason=adapter_filtered_by_mode weight=1", "msg=adapter_dropped adapter=law reason=over_cap weight=0.3",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	log.Reset()
	llama := client(t, &server{}, openai.Options{Backend: backend(t, "llamacpp"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	req.Adapters = req.Adapters[:1]
	play(t, llama, req)
	if !strings.Contains(log.String(), "adapter=served/sea reason=no_remote_id") {
		t.Errorf("an adapter without a number is dropped without a word:\n%s", log.String())
	}
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
				{Type: model.Thinking, Text: "never sent", Signature: "s"}, text("Looking."),
				{Type: model.ToolUse, ID: "c1", Name: "rag_search_v1", Input: json.RawMessage(`{"q":1}`)}, {Type: model.ToolUse, ID: "c2", Name: "rag.search_v1"},
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

// A server is asked again without what it refuses to be asked, and not asked
// for it the next time.
//
// Requirements: LORA-25, LORA-27
func TestWhatAServerRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	refused := func(text string) answer {
		return answer{status: 400, body: fmt.Sprintf(`{"error":{"message":%q}}`, text)}
	}
	s := &server{answers: []answer{
		refused("Unsupported parameter: 'max_completion_tokens' is not supported with this model."),
		refused("Unsupported value: 'temperature' does not support 0 with this model."),
		{status: 422, body: `{"detail":[{"loc":["body","stream_options"],"msg":"extra inputs are not permitted"}]}`},
		{body: fine},
	}}
	m := client(t, s, openai.Options{Model: "base"})
	warm := 0.0
	req := question()
	req.Temperature, req.MaxTokens = &warm, 7
	for range 2 {
		if h := play(t, m, req); h.err != nil {
			t.Fatal(h.err)
		}
	}
	if len(s.asked) != 5 {
		t.Fatalf("asked %d times, want 4 and 1", len(s.asked))
	}
	for _, i := range []int{3, 4} {
		body := s.asked[i].body
		if body["max_tokens"] != 7.0 || body["temperature"] != nil || body["stream_options"] != nil || body["max_completion_tokens"] != nil {
			t.Errorf("at last it is asked %v", body)
		}
	}
	again := &server{answers: []answer{refused("temperature must be at most 1")}}
	if h := play(t, client(t, again, openai.Options{}), req); fault.CodeOf(h.err) != fault.Invalid || len(again.asked) != 1 {
		t.Errorf("a value out of range: asked %d times, %v", len(again.asked), h.err)
	}
}

// Requirements: LORA-27
func TestAServerWithoutSchemasIsToldTheSchemaInWords(t *testing.T) {
	t.Parallel()
	said := func(text string) string {
		raw, _ := json.Marshal(text)
		return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\n", raw)
	}
	s := &server{answers: []answer{
		{status: 400, body: `{"error":"json_schema is nothing I know"}`},
		{body: said("Sure! Here it is:\n```json\n{\"n\": 1}\n```\nAnything else?")},
	}}
	req := question()
	req.Schema, req.Tools = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`), nil
	h := play(t, client(t, s, openai.Options{Backend: backend(t, "ollama")}), req)
	if h.err != nil || h.events[0].Text != `{"n": 1}` {
		t.Errorf("got %s", written(h))
	}
	if len(s.asked) != 2 || s.asked[1].body["response_format"] != nil || !strings.Contains(systemOf(s.asked[1].body), `"integer"`) {
		t.Errorf("asked %v", s.asked)
	}
	never := &server{answers: []answer{{status: 400, body: `{"error":"no"}`}}}
	if h := play(t, client(t, never, openai.Options{}), req); fault.CodeOf(h.err) != fault.Invalid || len(never.asked) != 2 {
		t.Errorf("asked %d times, then %v", len(never.asked), h.err)
	}
}

// Requirements: LORA-27
func TestASchemaIsAskedForInTheServersForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		backend, schema string
		strict          any
		kind            string
	}{
		"closed":          {"openai", `{"type":"object","properties":{"n":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}},"required":["n"],"additionalProperties":false}`, true, "json_schema"},
		"open":            {"openai", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, false, "json_schema"},
		"not required":    {"openai", `{"type":"object","properties":{"n":{}},"additionalProperties":false}`, false, "json_schema"},
		"open inside":     {"openai", `{"type":"object","properties":{"n":{"type":"object"}},"required":["n"],"additionalProperties":false}`, false, "json_schema"},
		"a word too much": {"openai", `{"type":"object","properties":{},"additionalProperties":false,"not":{}}`, false, "json_schema"},
		"no object":       {"openai", `{"type":"string"}`, false, "json_schema"},
		"lorax":           {"lorax", `{"type":"object"}`, nil, "json_object"},
	} {
		s := &server{}
		req := question()
		req.Schema = json.RawMessage(c.schema)
		play(t, client(t, s, openai.Options{Backend: backend(t, c.backend)}), req)
		format, _ := s.asked[0].body["response_format"].(map[string]any)
		bound, _ := format["json_schema"].(map[string]any)
		if format["type"] != c.kind || bound["strict"] != c.strict || format["schema"] == nil && bound["schema"] == nil {
			t.Errorf("%s: asked for %v", name, format)
		}
	}
}

// Requirements: LORA-25
func TestEachRefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer
		code   fault.Code
		reason string
		after  any
		says   string
	}{
		"forbidden":       {answer{403, nil, `{"error":{"message":"no access"}}`}, fault.Internal, fault.NotConfigured, nil, "key"},
		"no credit":       {answer{429, nil, `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`}, fault.Internal, fault.NotConfigured, nil, "credit"},
		"wait seconds":    {answer{429, http.Header{"Retry-After": {"1.5"}}, `{}`}, fault.RateLimited, fault.Upstream, 1500.0, "in 2 seconds"},
		"wait in ms":      {answer{429, http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, `{}`}, fault.RateLimited, fault.Upstream, 250.0, "in 1 seconds"},
		"wait until":      {answer{503, http.Header{"Retry-After": {"Fri, 20 Nov 2026 10:00:05 GMT"}, "Date": {"Fri, 20 Nov 2026 10:00:00 GMT"}}, `{}`}, fault.RateLimited, fault.Upstream, 5000.0, "overloaded"},
		"wait somehow":    {answer{529, http.Header{"Retry-After": {"soon"}}, ``}, fault.RateLimited, fault.Upstream, nil, "in a moment"},
		"too large":       {answer{413, nil, `nginx`}, fault.Invalid, "", nil, "too long"},
		"vLLM's length":   {answer{400, nil, `{"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}`}, fault.Invalid, "", nil, "too long"},
		"llama.cpp's":     {answer{400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`}, fault.Invalid, "", nil, "too long"},
		"Azure's filter":  {answer{400, nil, `{"error":{"message":"The response was filtered","code":"content_filter"}}`}, fault.Invalid, "", nil, "other words"},
		"no tools":        {answer{400, nil, `{"error":{"message":"tiny does not support tools"}}`}, fault.Invalid, "", nil, "tiny does not support tools"},
		"gateway":         {answer{502, nil, `<html>`}, fault.Internal, fault.Upstream, nil, "502"},
		"secret repeated": {answer{400, nil, `{"error":"your header Bearer very-secret-token and key k-123456"}`}, fault.Invalid, "", nil, "your header"},
	} {
		s := &server{answers: []answer{c.answer}}
		h := play(t, client(t, s, openai.Options{APIKey: "k-123456", Header: http.Header{"X-Auth": {"Bearer very-secret-token"}}}), question())
		e := fault.From(h.err)
		if e == nil || e.Code != c.code || fault.Reason(e) != c.reason || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v (%s)", name, h.err, fault.Reason(h.err))
			continue
		}
		raw, _ := json.Marshal(e.Details)
		var details map[string]any
		if err := json.Unmarshal(raw, &details); err != nil || details["retry_after_ms"] != c.after {
			t.Errorf("%s: the details are %s, want to wait %v", name, raw, c.after)
		}
		if strings.Contains(h.err.Error(), "very-secret") || strings.Contains(h.err.Error(), "k-123456") {
			t.Errorf("%s: a secret stands in %v", name, h.err)
		}
		if len(s.asked) != 1 {
			t.Errorf("%s: asked %d times", name, len(s.asked))
		}
	}
}

// The key and the question go to no other server than the one that was named.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer elsewhere.Close()
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer here.Close()
	m, err := openai.New(openai.Options{BaseURL: here.URL, APIKey: "k-123456"})
	if err != nil {
		t.Fatal(err)
	}
	if h := play(t, m, question()); fault.Reason(h.err) != fault.Upstream || !strings.Contains(h.err.Error(), "307") || reached {
		t.Errorf("followed: %v, and %v", reached, h.err)
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
	for _, want := range []string{`[1] a:\nFirst.\n\nAnd?`, `[2] b:\nSecond.`, "square brackets"} {
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
