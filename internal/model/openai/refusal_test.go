package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model/openai"
)

// A server is asked again without what it refuses to be asked, and not asked
// for it the next time.
//
// Requirements: LORA-25 (a clean message), LORA-27
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

// Many servers are reached under OpenAI's name that know only the older words,
// and one of OpenAI's may stand behind another's.
func TestTheLimitOfAnAnswerHasTheNameTheServerKnows(t *testing.T) {
	t.Parallel()
	s := &server{answers: []answer{
		{body: fine},
		{status: 400, body: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`},
		{body: fine},
	}}
	m := client(t, s, openai.Options{BaseURL: "https://llm.example/v1", Model: "base"})
	req := question()
	req.MaxTokens = 7
	for range 2 {
		if h := play(t, m, req); h.err != nil {
			t.Fatal(h.err)
		}
	}
	if first, last := s.asked[0].body, s.asked[2].body; first["max_tokens"] != 7.0 || last["max_completion_tokens"] != 7.0 || last["max_tokens"] != nil {
		t.Errorf("asked %v, at last %v", first, last)
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

// Requirements: LORA-25 (a clean message)
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
		"wait for days":   {answer{429, http.Header{"Retry-After": {"604800"}}, `{}`}, fault.RateLimited, fault.Upstream, 604800000.0, "Try again later."},
		"wait till 9999":  {answer{503, http.Header{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}, "Date": {"Fri, 20 Nov 2026 10:00:00 GMT"}}, `{}`}, fault.RateLimited, fault.Upstream, 9223372036854.0, "Try again later."},
		"too large":       {answer{413, nil, `nginx`}, fault.Invalid, "", nil, "too long"},
		"vLLM's length":   {answer{400, nil, `{"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}`}, fault.Invalid, "", nil, "too long"},
		"llama.cpp's":     {answer{400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`}, fault.Invalid, "", nil, "too long"},
		"Azure's filter":  {answer{400, nil, `{"error":{"message":"The response was filtered","code":"content_filter"}}`}, fault.Invalid, "", nil, "other words"},
		"no tools":        {answer{400, nil, `{"error":{"message":"tiny does not support tools"}}`}, fault.Invalid, "", nil, "tiny does not support tools"},
		"no model named":  {answer{400, nil, `{"error":"model is required"}`}, fault.Internal, fault.NotConfigured, nil, "choose one"},
		"gateway":         {answer{502, nil, `<html>`}, fault.Internal, fault.Upstream, nil, "502"},
		"secret repeated": {answer{400, nil, `{"error":"your header Bearer very-secret-token and key k-123456"}`}, fault.Invalid, "", nil, "your header"},
	} {
		s, named := &server{answers: []answer{c.answer}}, "base"
		if name == "no model named" {
			named = ""
		}
		h := play(t, client(t, s, openai.Options{Model: named, APIKey: "k-123456", Header: http.Header{"X-Auth": {"Bearer very-secret-token"}}}), question())
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
