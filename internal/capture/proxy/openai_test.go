package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
)

// What lies below /openai/ goes to a backend of its own, to the byte; refusals and a
// backend that is not there are told as OpenAI's clients understand.
//
// Requirements: PAL-02 (captures the request and forwards it; captures the response and returns it)
func TestOpenAIsProtocolHasABackendOfItsOwn(t *testing.T) {
	t.Parallel()
	up, upstream := backend(t)
	openAI := &capturetest.OpenAI{}
	s := httptest.NewServer(openAI)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	address, stop := served(t, Options{Dir: dir, Upstream: upstream, OpenAI: s.URL})
	token, err := AddToken(dir, Agent{Name: "codex"})
	if err != nil {
		t.Fatal(err)
	}
	c := plainClient(t)
	post := func(base, path, body string) (int, string) {
		resp := ask(t, c, http.MethodPost, base+path, []byte(body), http.Header{"Authorization": {"Bearer " + key}})
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return resp.StatusCode, string(raw)
	}
	base := BaseURL(address, token)
	body := `{"model":"m",  "stream":true,"input":"hello"}`
	if status, got := post(base, "/openai/v1/responses?a=%20b", body); status != 200 || !strings.Contains(got, `"response.completed"`) {
		t.Errorf("%d %s", status, got)
	}
	if status, got := post(base, "/v1/messages", streamed); status != 200 || !strings.Contains(got, "message_stop") {
		t.Errorf("%d %s", status, got)
	}
	asked := openAI.Asked()
	if len(asked) != 1 || asked[0].URI != "/v1/responses?a=%20b" || string(asked[0].Body) != body || asked[0].Header.Get("Authorization") != "Bearer "+key || len(up.Asked()) != 1 {
		t.Errorf("the backends were asked %+v, and %d", asked, len(up.Asked()))
	}
	shape := func(text string) string {
		var doc struct {
			Type  *string
			Error struct{ Type, Message string }
		}
		if json.Unmarshal([]byte(text), &doc) != nil || doc.Type != nil {
			return "none of OpenAI's: " + text
		}
		return doc.Error.Type
	}
	if status, got := post("http://"+address+"/a/plt_nobody", "/openai/v1/responses", body); status != 401 || shape(got) != "authentication_error" {
		t.Errorf("without a token: %d %s", status, shape(got))
	}
	s.Close()
	if status, got := post(base, "/openai/v1/responses", body); status != 502 || shape(got) != "api_error" || !strings.Contains(got, "PALACE_OPENAI_UPSTREAM") {
		t.Errorf("without a backend: %d %s", status, got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for e, err := range capture.Exchanges(SpoolDir(dir), nil, nil) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, e.Request.Path)
	}
	if got := strings.Join(paths, " "); got != "/openai/v1/responses /v1/messages /openai/v1/responses" {
		t.Errorf("kept are %s", got)
	}
}
