package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// person is somebody signed in.
type person struct {
	p     *program
	email string
	token string
}

type object = map[string]any

// signUp makes an account.
func (p *program) signUp(email string) *person {
	p.t.Helper()
	who := &person{p: p, email: email}
	who.token = who.must("POST", "/v1/auth/signup", object{"email": email, "password": "correct horse battery staple"})["access_token"].(string)
	return who
}

// signIn is the same person after a restart.
func (who *person) signIn() {
	who.p.t.Helper()
	who.token = ""
	who.token = who.must("POST", "/v1/auth/login", object{"email": who.email, "password": "correct horse battery staple"})["access_token"].(string)
}

// do sends a request and opens the envelope.
func (who *person) do(method, path string, body any) (status int, data object, code, message string) {
	who.p.t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			who.p.t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	req := who.request(who.p.t.Context(), method, path, in)
	req.Header.Set("Content-Type", "application/json")
	return who.send(req)
}

func (who *person) send(req *http.Request) (status int, data object, code, message string) {
	who.p.t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		who.p.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	var envelope struct {
		Data  object
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		who.p.t.Fatalf("%s %s answered %d with %q", req.Method, req.URL, res.StatusCode, raw)
	}
	return res.StatusCode, envelope.Data, envelope.Error.Code, envelope.Error.Message
}

func (who *person) request(ctx context.Context, method, path string, body io.Reader) *http.Request {
	who.p.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, who.p.ready.HTTP+path, body)
	if err != nil {
		who.p.t.Fatal(err)
	}
	if who.token != "" {
		req.Header.Set("Authorization", "Bearer "+who.token)
	}
	return req
}

// must is do, where anything but 200 fails the test.
func (who *person) must(method, path string, body any) object {
	who.p.t.Helper()
	status, data, code, message := who.do(method, path, body)
	if status/100 != 2 {
		who.p.t.Fatalf("%s %s: %d %s: %s", method, path, status, code, message)
	}
	return data
}

// upload stores a file and waits until it is indexed.
func (who *person) upload(contextID, name string, content []byte) object {
	who.p.t.Helper()
	_, document := who.sendFile(contextID, name, content)
	return who.untilIndexed(document, name)
}

// sendFile stores a file, and returns the run that reads it and its document.
func (who *person) sendFile(contextID, name string, content []byte) (run, document string) {
	who.p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("context_id", contextID)
	part, _ := form.CreateFormFile("file", name)
	_, _ = part.Write(content)
	_ = form.Close()
	req := who.request(who.p.t.Context(), "POST", "/v1/files/upload", &body)
	req.Header.Set("Content-Type", form.FormDataContentType())
	status, data, code, message := who.send(req)
	if status/100 != 2 {
		who.p.t.Fatalf("upload of %s: %d %s: %s", name, status, code, message)
	}
	return data["run_id"].(string), data["document"].(object)["id"].(string)
}

func (who *person) untilIndexed(id, name string) (document object) {
	who.p.t.Helper()
	who.p.until(name+" to be indexed", func() bool {
		document = who.must("GET", "/v1/documents/"+id, nil)
		return document["status"] == "ready" || document["status"] == "failed"
	})
	return document
}

// event is one entry of a run's stream.
type event struct {
	Seq  int64
	Kind string
	Data any
}

func (e event) object() object {
	o, _ := e.Data.(object)
	return o
}

// follow reads a run's events until the stream ends or stop says so. A stream
// that breaks because the program died ends without an error.
func (who *person) follow(runID string, after int64, stop func(event) bool) []event {
	who.p.t.Helper()
	ctx, cancel := context.WithTimeout(who.p.t.Context(), patience)
	defer cancel()
	req := who.request(ctx, "GET", fmt.Sprintf("/v1/runs/%s/events?after=%d", runID, after), nil)
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		who.p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(res.Body)
		who.p.t.Fatalf("events of %s: %d %s", runID, res.StatusCode, raw)
	}
	var out []event
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 8<<20)
	var e event
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			e.Seq, _ = strconv.ParseInt(value, 10, 64)
		case "event":
			e.Kind = value
		case "data":
			var frame struct{ Data any }
			if json.Unmarshal([]byte(value), &frame) == nil {
				e.Data = frame.Data
			}
		case "":
			if e.Kind == "" || e.Kind == "ping" {
				e = event{}
				continue
			}
			out = append(out, e)
			if stop != nil && stop(e) {
				return out
			}
			e = event{}
		}
	}
	if ctx.Err() != nil {
		who.p.t.Fatalf("the stream of %s did not end; it held %v", runID, kinds(out))
	}
	return out
}

func kinds(events []event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// text is what a reader has on the screen after these events.
func text(events []event) string {
	var b strings.Builder
	for _, e := range events {
		switch e.Kind {
		case "reset":
			b.Reset()
		case "token":
			s, _ := e.Data.(string)
			b.WriteString(s)
		}
	}
	return b.String()
}

func last(t *testing.T, events []event, kind string) event {
	t.Helper()
	for _, event := range slices.Backward(events) {
		if event.Kind == kind {
			return event
		}
	}
	t.Fatalf("no %s among %v", kind, kinds(events))
	return event{}
}

// messages are what a conversation shows, as "role: content".
func (who *person) messages(conversation string) []string {
	who.p.t.Helper()
	var out []string
	for _, m := range who.must("GET", "/v1/conversations/"+conversation+"/messages?limit=100", nil)["data"].([]any) {
		message := m.(object)
		out = append(out, fmt.Sprintf("%v: %v", message["role"], message["content"]))
	}
	return out
}
