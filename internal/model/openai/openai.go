// Package openai is the model behind every server that speaks OpenAI's chat
// completions: OpenAI itself, Azure, vLLM, LoRAX, Together, Ollama, llama.cpp
// and whatever else has the endpoint.
//
// It reads the stream itself instead of through OpenAI's SDK. The SDK is
// generated for OpenAI's own answers; what makes this provider worth having is
// what the other servers do differently, and the SDK decides most of that
// before one sees it: an index it takes for 0 when it is missing, arguments
// that are an object, an error with HTTP status 200, one JSON document in
// place of a stream, a last event without its blank line. The protocol is one
// POST and lines of JSON; the tolerance is the work. It stands in chunk.go
// (fields), calls.go (tools), answer.go (ends) and lacks.go (what a server
// refuses to be asked).
//
// Thinking is never sent back: these servers make no use of it, and some
// refuse it.
//
// It may import model, words, fault and the standard library.
package openai

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
)

// Options of a provider. BaseURL is needed; all else is optional.
type Options struct {
	// BaseURL is the server's address up to and with /v1, or without any path.
	// Azure's is the resource's (https://NAME.openai.azure.com).
	BaseURL    string
	APIKey     string        // empty: none is sent
	Model      string        // asked where a request names none; empty: the server's choice
	APIVersion string        // Azure's api-version
	Header     http.Header   // sent with every request, over our own
	Backend    model.Backend // how adapters reach the server; the zero one is openai's
	// AdapterParam is the parameter adapter ids travel in; empty: the backend's
	// usual one, adapter_id (LORA-08).
	AdapterParam string
	HTTP         *http.Client // nil: one that connects within 10 s (LORA-24) and follows no redirect
	Logger       *slog.Logger // told of each adapter_dropped; nil: silent
}

// provider is a server of the protocol.
type provider struct {
	Options
	base  *url.URL
	lacks *lacks
}

// New returns the model behind a server. It fails with Invalid for an address
// that is none and for a backend that loads weights itself.
func New(o Options) (model.Model, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fault.New(fault.Invalid, "The address of the model's server is not an http or https URL.")
	}
	if o.Backend.Name == "" {
		o.Backend, _ = model.BackendOf("openai")
	}
	if o.Backend.Local() {
		return nil, fault.New(fault.Invalid, "The backend %s loads weights from disk: it is not a server.", o.Backend.Name)
	}
	if o.HTTP == nil {
		o.HTTP = client()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &provider{Options: o, base: base, lacks: newLacks()}, nil
}

// connect is how long a server may take to accept a connection (LORA-24).
// Everything after that is bounded by the caller's context.
const connect = 10 * time.Second

func client() *http.Client {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: connect,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		},
		// A redirect would carry the request's text, and Azure's key, elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Name implements model.Model.
func (p *provider) Name() string { return cmp.Or(p.Model, p.Backend.Name) }

// Generative implements model.Model.
func (p *provider) Generative() bool { return true }

// OnLoopback says whether the server is on this machine.
func (p *provider) OnLoopback() bool { return model.IsLoopback(p.base) }

// Stream implements model.Model.
func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		r := reader{ctx: ctx, yield: yield}
		err := p.stream(ctx, req, &r)
		if err == nil || r.left {
			return
		}
		if ctx.Err() != nil {
			err = ctx.Err() // what a cancelled request fails with says nothing
		}
		yield(model.Event{}, err)
	}
}

// reader is who an answer is told to.
type reader struct {
	ctx   context.Context
	yield func(model.Event, error) bool
	left  bool
}

var errLeft = errors.New("the reader has left")

// tell gives events to the reader; it fails when nobody wants more.
func (r *reader) tell(events []model.Event) error {
	for _, e := range events {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if !r.yield(e, nil) {
			r.left = true
			return errLeft
		}
	}
	return nil
}

// patience is how long a server may take from the end of its answer to the
// end of its stream, with the usage in between.
const patience = 2 * time.Second

func (p *provider) stream(ctx context.Context, req model.Request, r *reader) error {
	q := p.question(ctx, req)
	sent, leave := context.WithCancel(ctx)
	defer leave()
	resp, err := p.ask(sent, q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	defer drain(resp.Body, leave)
	a := newAnswer(q)
	var late *time.Timer
	for c, err := range chunks(resp) {
		if err != nil && a.finished {
			break // what becomes of the connection behind an answer is nothing to us
		}
		if err != nil {
			return p.broken(err)
		}
		events, err := a.add(c)
		if len(events) == 0 {
			model.Heard(ctx, c.size())
		}
		if err := r.tell(events); err != nil {
			return err
		}
		if err != nil {
			return p.broken(err)
		}
		if c.done {
			break
		}
		if a.finished && late == nil {
			late = time.AfterFunc(patience, leave)
			defer late.Stop()
		}
	}
	events, err := a.end()
	if err != nil {
		return p.broken(err)
	}
	return r.tell(events)
}

// drain reads the few bytes behind an answer, so that its connection can be
// used again; a connection that has more to say is given up.
func drain(body io.Reader, leave func()) {
	late := time.AfterFunc(20*time.Millisecond, leave)
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10) // nobody wants to know
}

// ask sends the question, and once more without each thing the server refuses
// to be asked.
func (p *provider) ask(ctx context.Context, q *question) (*http.Response, error) {
	for {
		resp, err := p.post(ctx, q)
		if err != nil {
			return nil, p.unreachable(err)
		}
		if resp.StatusCode/100 == 2 {
			return resp, nil
		}
		r := read(resp)
		_ = resp.Body.Close()
		if what := q.refused(r); what != "" {
			p.lacks.learn(q.model, what)
			continue
		}
		return nil, p.failure(q, r)
	}
}

func (p *provider) post(ctx context.Context, q *question) (*http.Response, error) {
	body, err := q.body()
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.endpoint(q.model), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Accept-Encoding", "identity") // compressed, a stream comes in lumps
	r.Header.Set("User-Agent", "liminal")
	if p.APIKey != "" && p.Backend.Name == azure {
		r.Header.Set("Api-Key", p.APIKey)
	} else if p.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+p.APIKey)
	}
	for name, values := range p.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return p.HTTP.Do(r)
}

const azure = "azure"

// own reports whether the server is OpenAI's own: its name is used for many
// others.
func (p *provider) own() bool {
	host := p.base.Hostname()
	return p.Backend.Name == azure || host == "openai.com" || strings.HasSuffix(host, ".openai.com")
}

// endpoint is where a model is asked. Azure's older form has the model, which
// it calls a deployment, in the path.
func (p *provider) endpoint(name string) string {
	const chat = "chat/completions"
	u := *p.base
	path := strings.TrimRight(u.Path, "/")
	switch {
	case strings.HasSuffix(path, "/"+chat):
		return u.String()
	case p.Backend.Name == azure && !strings.HasSuffix(path, "/v1"):
		if !strings.Contains(path, "/deployments/") {
			path = strings.TrimSuffix(path, "/openai") + "/openai/deployments/" + url.PathEscape(name)
		}
		query := u.Query()
		if p.APIVersion != "" {
			query.Set("api-version", p.APIVersion)
		}
		u.RawQuery = query.Encode()
	case path == "":
		path = "/v1"
	}
	u.Path, u.RawPath = "", ""
	return u.JoinPath(path, chat).String()
}
