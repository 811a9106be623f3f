package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// How an honest client behaves towards a platform that has trouble.
const (
	requestLimit = 20 * time.Second       // one request without an answer is of unknown fate
	again        = 250 * time.Millisecond // before a request is sent once more
	mostAgain    = 2 * time.Second        //
	mostTrouble  = 20                     // answers that it is the platform's fault, until it is believed
)

// object is JSON as a client reads and writes it.
type object = map[string]any

// Refusal is a no for good: sending the same again cannot help.
type Refusal struct {
	Status        int
	Code, Message string
	Details       object
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// reason is the word for programs in a refusal.
func (r *Refusal) reason() string {
	s, _ := r.Details["reason"].(string)
	return s
}

// Client is one person's program.
type Client struct {
	base, name, email string
	http              *http.Client
	tally             *Tally

	mu    sync.Mutex
	token string
}

// Tally counts what happened to clients; it is shared by all of them.
type Tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (t *Tally) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[what]++
}

const password = "correct horse battery staple"

// request is one thing to send; body is JSON unless kind says otherwise.
type request struct {
	method, path, key, kind string
	body                    []byte
	tries                   *int // counts how often it was sent
}

func asJSON(method, path, key string, body any) request {
	raw, err := json.Marshal(body)
	if err != nil || body == nil {
		raw = nil
	}
	return request{method: method, path: path, key: key, kind: "application/json", body: raw}
}

func (c *Client) bearer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

func (c *Client) build(ctx context.Context, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // the transport must not send it again by itself: we count
	if len(r.body) > 0 {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if token := c.bearer(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// once sends a request. An error means that its fate is unknown.
func (c *Client) once(ctx context.Context, r request) (object, *Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	req, err := c.build(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if r.tries != nil {
		*r.tries++
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, err
	}
	return open(res.StatusCode, raw)
}

// open reads the envelope of an answer.
func open(status int, raw []byte) (object, *Refusal, error) {
	var envelope struct {
		Data  object
		Error struct {
			Code, Message string
			Details       json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, nil, fmt.Errorf("%d with %q: %w", status, short(string(raw)), err)
	}
	if status/100 == 2 {
		return envelope.Data, nil, nil
	}
	refused := &Refusal{Status: status, Code: envelope.Error.Code, Message: envelope.Error.Message}
	_ = json.Unmarshal(envelope.Error.Details, &refused.Details) // a list of problems is none of ours
	return nil, refused, nil
}

// insist sends a request until it is answered for good, however often its fate
// is unknown, the platform is in trouble or asks to wait.
func (c *Client) insist(ctx context.Context, r request) (object, error) {
	wait, trouble := again, 0
	for {
		data, refused, err := c.once(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			c.tally.count("requests of unknown fate")
		case refused == nil:
			return data, nil
		case refused.Status == http.StatusUnauthorized && r.path != "/v1/auth/login":
			c.tally.count("sign-ins again")
			if err := c.logIn(ctx); err != nil {
				return nil, err
			}
		case refused.Status >= 500 && trouble < mostTrouble:
			trouble++
			c.tally.count("requests answered with 5xx")
		case refused.Status == http.StatusTooManyRequests:
			c.tally.count("requests told to wait")
			wait = max(wait, retryAfter(refused))
		default:
			return nil, refused
		}
		if !pause(ctx, wait) {
			return nil, ctx.Err()
		}
		wait = min(2*wait, mostAgain)
	}
}

func retryAfter(r *Refusal) time.Duration {
	seconds, _ := r.Details["retry_after"].(float64)
	return time.Duration(seconds) * time.Second
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

func (c *Client) signUp(ctx context.Context) error {
	body := object{"email": c.email, "password": password}
	data, err := c.insist(ctx, asJSON("POST", "/v1/auth/signup", "", body))
	if refused := (*Refusal)(nil); errors.As(err, &refused) {
		return c.logIn(ctx) // an earlier try made the account and its answer was lost
	}
	return c.signedIn(data, err)
}

func (c *Client) logIn(ctx context.Context) error {
	c.mu.Lock()
	c.token = ""
	c.mu.Unlock()
	return c.signedIn(c.insist(ctx, asJSON("POST", "/v1/auth/login", "", object{"email": c.email, "password": password})))
}

func (c *Client) signedIn(data object, err error) error {
	if err != nil {
		return fmt.Errorf("%s cannot sign in: %w", c.name, err)
	}
	token, _ := data["access_token"].(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
	return nil
}

// list reads all pages of a list.
func (c *Client) list(ctx context.Context, path string, each func(object) error) error {
	for cursor := ""; ; {
		at := path + "?limit=100"
		if cursor != "" {
			at += "&cursor=" + cursor
		}
		data, err := c.insist(ctx, asJSON("GET", at, "", nil))
		if err != nil {
			return fmt.Errorf("%s lists %s: %w", c.name, path, err)
		}
		items, _ := data["data"].([]any)
		for _, item := range items {
			one, _ := item.(object)
			if err := each(one); err != nil {
				return err
			}
		}
		if cursor, _ = data["next_cursor"].(string); cursor == "" {
			return nil
		}
	}
}

// into reads an object as a type of ours.
func into(from any, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}

// form is an upload.
func form(name string, content []byte, fields object) request {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for key, value := range fields {
		_ = w.WriteField(key, fmt.Sprint(value)) // a buffer takes everything
	}
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, _ = part.Write(content)
	}
	_ = w.Close()
	return request{method: "POST", path: "/v1/files/upload", kind: w.FormDataContentType(), body: body.Bytes()}
}

// uuid is a random id from a seeded source, so that a seed names its keys.
func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(a), uint16(a>>32), a>>52, b>>52, b&(1<<48-1)) //nolint:gosec // cut on purpose
}

func ordinal(n int) string { return strconv.Itoa(n) }
