package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// object is JSON as a client reads and writes it.
type object = map[string]any

const (
	password = "correct horse battery staple"
	// requestLimit is how long a request of an attack may take.
	requestLimit = 30 * time.Second
)

// person is somebody signed in, or nobody: without a token.
type person struct {
	t                             *trial
	name, email, id, token, again string
	session, tenant               string
	http                          *http.Client
}

// answer is what came back. err says that nothing did.
type answer struct {
	status        int
	header        http.Header
	raw           []byte
	data          object
	code, message string
	took          time.Duration
	err           error
}

func (a answer) ok() bool { return a.err == nil && a.status/100 == 2 }

// broken is a fault of the program's: an answer of 500 or above that does not say
// that the operator has not set up what was asked for.
func (a answer) broken() bool {
	return a.status >= http.StatusInternalServerError && !bytes.Contains(a.raw, []byte(`"not_configured"`))
}

// refused is a clear no.
func (a answer) refused() bool { return a.err == nil && a.status/100 == 4 }

func (a answer) String() string {
	if a.err != nil {
		return "no answer: " + a.err.Error()
	}
	return fmt.Sprintf("%d %.100q", a.status, a.raw)
}

func (a answer) text(field string) string {
	s, _ := a.data[field].(string)
	return s
}

// nobody is a stranger with an address of their own: what is counted by
// address must not count against another attack.
func (t *trial) nobody() *person {
	n := t.house.addresses.Add(1)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(n/250), byte(n%250+1))}}
	return &person{t: t, http: &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 32, MaxConnsPerHost: 256},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signUp makes an account in the plan with the widest bounds.
func (t *trial) signUp(name string) *person {
	p := t.stranger(name)
	if t.house.admin != nil {
		t.house.admin.plan("paid", p)
	}
	return p
}

// stranger is somebody who has just made an account.
func (t *trial) stranger(name string) *person { return t.tenant(name, "") }

// tenant is a stranger in a tenant; none is the usual one.
func (t *trial) tenant(name, tenant string) *person {
	t.people++
	p := t.nobody()
	p.name, p.tenant = name, tenant
	p.email = fmt.Sprintf("%s-%s-%d@example.org", name, t.name, t.people)
	body := object{"email": p.email, "password": password}
	if tenant != "" {
		body["tenant_id"] = tenant
	}
	p.keep(p.need("POST", "/v1/auth/signup", body))
	return p
}

func (p *person) keep(a answer) {
	p.token, p.again, p.session = a.text("access_token"), a.text("refresh_token"), a.text("session_id")
	user, _ := a.data["user"].(object)
	p.id, _ = user["id"].(string)
	if p.token == "" || p.id == "" {
		p.t.must(fmt.Errorf("%s is not signed in: %s", p.name, a))
	}
}

// plan gives somebody a plan; only an administrator may.
func (p *person) plan(plan string, to *person) {
	p.t.must(p.do("PATCH", "/v1/users/"+to.id, object{"plan": plan}).asError())
}

func (a answer) asError() error {
	if a.ok() {
		return nil
	}
	return errors.New(a.String())
}

// do sends JSON. Headers are pairs; an empty value takes the header away.
func (p *person) do(method, path string, body any, headers ...string) answer {
	return p.within(requestLimit, method, path, body, headers...)
}

func (p *person) within(limit time.Duration, method, path string, body any, headers ...string) answer {
	var raw []byte
	if body != nil {
		var err error
		raw, err = json.Marshal(body)
		p.t.must(err)
	}
	if body != nil {
		headers = append([]string{"Content-Type", "application/json"}, headers...)
	}
	return p.send(limit, method, p.t.house.ready.HTTP+path, raw, headers...)
}

// send sends bytes to an address and reads the envelope of the answer.
func (p *person) send(limit time.Duration, method, url string, body []byte, headers ...string) (a answer) {
	ctx, cancel := context.WithTimeout(p.t.ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			req.Host = headers[i+1]
		case headers[i+1] == "":
			req.Header.Del(headers[i])
		default:
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	began := time.Now()
	defer func() { a.took = time.Since(began) }()
	res, err := p.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	a = answer{status: res.StatusCode, header: res.Header}
	a.raw, a.err = io.ReadAll(io.LimitReader(res.Body, 8<<20))
	var envelope struct {
		Data  object
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(a.raw, &envelope) == nil {
		a.data, a.code, a.message = envelope.Data, envelope.Error.Code, envelope.Error.Message
	}
	return a
}

// need is do, where anything but success ends the trial.
func (p *person) need(method, path string, body any, headers ...string) answer {
	a := p.do(method, path, body, headers...)
	if !a.ok() {
		p.t.must(fmt.Errorf("%s %s: %s", method, path, a))
	}
	return a
}

// hello says hello and waits for the whole answer.
func (p *person) hello(limit time.Duration) (took time.Duration, err error) {
	a := p.within(limit, "POST", "/v1/chat", object{"message": "hello", "stream": false})
	if a.err == nil && (!a.ok() || a.text("content") == "") {
		a.err = errors.New(a.String())
	}
	return a.took, a.err
}

// upload sends a file and does not wait until it is read.
func (p *person) upload(contextID, name string, content []byte) answer {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if contextID != "" {
		_ = form.WriteField("context_id", contextID) // a buffer takes everything
	}
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename="%s"`, strings.NewReplacer(`"`, "%22", "\\", "\\\\").Replace(name)))
	h.Set("Content-Type", "application/octet-stream")
	part, _ := form.CreatePart(h)
	_, _ = part.Write(content)
	_ = form.Close()
	return p.send(requestLimit, "POST", p.t.house.ready.HTTP+"/v1/files/upload", body.Bytes(), "Content-Type", form.FormDataContentType())
}

// context makes a context.
func (p *person) context(name string) string {
	return p.need("POST", "/v1/contexts", object{"name": name}).text("id")
}

// workflow stores a graph of one's own.
func (p *person) workflow(name string, nodes ...object) answer {
	entry, _ := nodes[0]["id"].(string)
	return p.do("POST", "/v1/artifacts", object{
		"type": "workflow", "name": name, "schema": object{"kind": "workflow.chat", "entrypoint": entry, "nodes": nodes},
	})
}

// wait polls until something is so.
func (t *trial) wait(limit time.Duration, so func() bool) bool {
	deadline := time.Now().Add(limit)
	for !so() {
		if time.Now().After(deadline) || t.ctx.Err() != nil {
			return false
		}
		time.Sleep(5 * look)
	}
	return true
}
