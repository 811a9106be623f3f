package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/capture/capturetest"
	"liminal/internal/capture/proxy"
	"liminal/internal/view"
)

// What a view set aside is got back on the command line as an agent gets it at /mcp, with
// no platform on the folder.
//
// Requirements: PAL-14
func TestWhatIsSetAsideIsRecalledOnTheCommandLine(t *testing.T) {
	t.Parallel()
	_, dir, env := palaceGround(t)
	up := httptest.NewServer(&capturetest.Upstream{})
	t.Cleanup(up.Close)
	ready, ended := make(chan string, 1), make(chan error, 1)
	o := proxy.Options{Dir: dir, Address: "127.0.0.1:0", Upstream: up.URL, Memory: 1 << 20, Disk: 1 << 30, Log: slog.New(slog.DiscardHandler)}
	o.Ready = func(at string) error { ready <- at; return nil }
	go func() { ended <- proxy.Serve(t.Context(), o) }()
	address := ""
	select {
	case address = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	token, err := proxy.AddToken(dir, proxy.Agent{Name: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	if code, _, said := finish(t, env, "palace", "recall", "42-7f3a"); code != exitUnreachable || !strings.Contains(said, "nothing is set aside in what passed last") {
		t.Errorf("before anything is: %d %s", code, said)
	}

	// Three messages: a question, a file that is read, another question.
	text := "päckage main\n" + strings.Repeat("a line of the file\n", 100)
	const id = "0b5e1f0a-aaaa-bbbb-cccc-000000000001"
	result, err := json.Marshal(map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": text})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"model":"m","tools":[{"name":"Read"}],"messages":[{"role":"user","content":"Read it."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}]},{"role":"user","content":[` + string(result) + `]},{"role":"assistant","content":"Done."},{"role":"user","content":"And now?"}]}`
	plan, err := json.Marshal(view.Plan{Client: "session:" + id, Mode: view.Live, Asked: true, Replace: []view.Replacement{{Result: "toolu_1", Sum: view.SumOf(result), Block: "42-7f3a", Label: "Read a.go", Bytes: len(text)}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "views", view.FileName("session:"+id))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, plan, 0o600); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.BaseURL(address, token)+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Claude-Code-Session-Id", id)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()

	for _, name := range []string{"42-7f3a", "42"} {
		if code, out, said := finish(t, env, "palace", "recall", name); code != exitOK || out != text || said != "" {
			t.Errorf("%s: %d %.40q %s", name, code, out, said)
		}
	}
	code, out, said := finish(t, env, "palace", "recall", "42-7f3a", "--from", "2", "--bytes", "6", "--json")
	var part struct {
		Block, Label, Text string
		From, To, Size     int
	}
	if err := json.Unmarshal([]byte(out), &part); code != exitOK || err != nil || part.Text != "äckage" || part.From != 1 || part.To != 8 || part.Size != len(text) || part.Label != "Read a.go" {
		t.Errorf("a part: %d %+v %s", code, part, said)
	}
	if code, out, said = finish(t, env, "palace", "recall", "42-7f3a", "--bytes", "1"); code != exitOK || out != "p\n" || !strings.Contains(said, "bytes 0 to 1 of ") {
		t.Errorf("its beginning: %d %q %s", code, out, said)
	}
	if code, _, said = finish(t, env, "palace", "recall", "42-7f3a", "--from", "1000000"); code != exitUsage || !strings.Contains(said, "there is none from byte 1000000 on") {
		t.Errorf("behind its end: %d %s", code, said)
	}
	if code, _, said = finish(t, env, "palace", "recall", "7-0000"); code != exitUnreachable || !strings.Contains(said, "these are set aside: 42-7f3a; and no platform runs") {
		t.Errorf("another one: %d %s", code, said)
	}
	s, err := proxy.Ask(t.Context(), dir)
	if err != nil || s.Traffic.Views.Recalls != 0 {
		t.Errorf("what its owner looks at counts as asked back by an agent: %+v %v", s.Traffic.Views, err)
	}
}
