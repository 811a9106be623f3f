package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"time"
)

// turnLimit is how long somebody waits for an answer; a turn that took longer
// counts as that long, and as failed.
const turnLimit = 10 * time.Second

const password = "correct horse battery staple"

// object is JSON as a client reads it.
type object = map[string]any

// Refusal is an answer that is an error.
type Refusal struct {
	Status        int
	Code, Message string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// Person is somebody with an account.
type Person struct {
	base, id, token string
	http            *http.Client
}

// newPerson makes an account. Everybody comes from an address of their own,
// because limits of an address are none of what is measured here.
func newPerson(ctx context.Context, base string, n int) (*Person, error) {
	from := &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+n/200), byte(2+n%200))}
	p := &Person{base: base, http: &http.Client{Transport: &http.Transport{
		DialContext: (&net.Dialer{LocalAddr: from}).DialContext, MaxIdleConnsPerHost: 8,
	}}}
	email := fmt.Sprintf("p%d-%d@example.org", n, time.Now().UnixNano())
	data, err := p.call(ctx, "POST", "/v1/auth/signup", object{"email": email, "password": password})
	if err != nil {
		return nil, fmt.Errorf("person %d gets no account: %w", n, err)
	}
	p.token, _ = data["access_token"].(string)
	user, _ := data["user"].(object)
	p.id, _ = user["id"].(string)
	return p, nil
}

// call sends a request and opens the envelope; an error that the program
// answered with is a *Refusal.
func (p *Person) call(ctx context.Context, method, path string, body any) (object, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return p.send(ctx, method, path, "application/json", raw)
}

func (p *Person) send(ctx context.Context, method, path, kind string, body []byte) (object, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := p.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Data  object
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, fmt.Errorf("%s %s answered %d with %.100q", method, path, res.StatusCode, raw)
	}
	if res.StatusCode/100 != 2 {
		return nil, &Refusal{Status: res.StatusCode, Code: envelope.Error.Code, Message: envelope.Error.Message}
	}
	return envelope.Data, nil
}

// upload sends a file and waits until it is read.
func (p *Person) upload(ctx context.Context, contextID, name, text string) error {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("context_id", contextID) // a buffer takes everything
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, text)
	}
	if err != nil {
		return err
	}
	_ = w.Close()
	data, err := p.send(ctx, "POST", "/v1/files/upload", w.FormDataContentType(), body.Bytes())
	if err != nil {
		return err
	}
	document, _ := data["document"].(object)
	for {
		now, err := p.call(ctx, "GET", fmt.Sprintf("/v1/documents/%v", document["id"]), nil)
		if err != nil {
			return err
		}
		if now["status"] == "ready" {
			return nil
		}
		if now["status"] == "failed" || !pause(ctx, 100*time.Millisecond) {
			return fmt.Errorf("%s was not read: %v", name, now["error"])
		}
	}
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
