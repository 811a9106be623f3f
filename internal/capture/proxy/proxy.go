package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/capture"
	"liminal/internal/id"
	"liminal/internal/vault"
)

const (
	// mostRead is what of a request's body is read before it is passed on, in
	// bytes. Larger ones are passed while they come, and not kept.
	mostRead = 64 << 20
	// copyBuffer is how much of a response is passed on at once, in bytes.
	copyBuffer = 32 << 10
	// idleUpstream is how long a connection to the backend waits for the next
	// request of an agent: the time of a slow tool.
	idleUpstream = 90 * time.Second
)

// Proxy is the handler. Make one with New.
type Proxy struct {
	upstream *url.URL
	openAI   *url.URL // of what lies below OpenAIPath; nil: that is upstream's too
	recorder capture.Recorder
	tokens   *Tokens
	log      *slog.Logger
	forward  *httputil.ReverseProxy
	own      *http.ServeMux // what the operator's token is answered here; nil: nothing
	viewer   *viewer        // nil: nothing is ever changed
	recall   http.Handler   // as above

	active, requests, refused, cut, failopen atomic.Int64
}

// Counts is what passed since the start.
type Counts struct {
	Active   int64 `json:"active"`
	Requests int64 `json:"requests"`
	// Refused had no token, or came from a page.
	Refused int64 `json:"refused"`
	// Cut did not reach the client whole, whoever cut them.
	Cut int64 `json:"cut"`
	// FailOpen went on without a recorder or a view that failed.
	FailOpen int64      `json:"failopen_total"`
	Views    ViewCounts `json:"views"`
}

// ViewCounts is what views did since the start.
type ViewCounts struct {
	// Opened are epochs that began, Changed requests that were sent in a view.
	Opened  int64 `json:"epochs_opened"`
	Changed int64 `json:"requests_changed"`
	// Invalid would have been no valid requests, Unread could not be read for certain:
	// both were sent as they were.
	Invalid int64 `json:"invalid"`
	Unread  int64 `json:"unread"`
	// Refused are epochs that ended because the backend refused a request, Suspended
	// those of agents that turned in a circle, Lost those whose file was lost.
	Refused   int64 `json:"refused"`
	Suspended int64 `json:"suspended"`
	Lost      int64 `json:"lost"`
	// Recalls are results that agents asked back.
	Recalls int64 `json:"recalls"`
}

// New makes a proxy to one backend.
func New(upstream *url.URL, recorder capture.Recorder, tokens *Tokens, log *slog.Logger) *Proxy {
	p := &Proxy{upstream: upstream, recorder: recorder, tokens: tokens, log: log}
	// One connection for each stream, as the clients themselves have it: streams
	// that share one are cut and held back together.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	p.forward = &httputil.ReverseProxy{
		Transport: again{&http.Transport{
			Proxy: http.ProxyFromEnvironment, Protocols: &protocols, DisableCompression: true,
			MaxIdleConnsPerHost: 256, IdleConnTimeout: idleUpstream, ReadBufferSize: copyBuffer,
		}},
		FlushInterval:  -1, // each chunk as it comes
		BufferPool:     &buffers{},
		Rewrite:        p.rewrite,
		ModifyResponse: p.answered,
		ErrorHandler:   p.unanswered,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return p
}

// Counts is a copy of the counters.
func (p *Proxy) Counts() Counts {
	c := Counts{Active: p.active.Load(), Requests: p.requests.Load(), Refused: p.refused.Load(), Cut: p.cut.Load(), FailOpen: p.failopen.Load()}
	if p.viewer != nil {
		v := &p.viewer.counts
		c.Views = ViewCounts{v.opened.Load(), v.spliced.Load(), v.invalid.Load(), v.unread.Load(), v.refused.Load(), v.suspended.Load(), v.lost.Load(), v.recalls.Load()}
	}
	return c
}

// View has the proxy follow the plans that lie in a palace folder, and answer agents
// that ask back what those set aside. keys are those that its files are sealed with.
func (p *Proxy) View(dir string, keys *vault.Ring) {
	p.viewer = newViewer(dir, p.upstream.Redacted(), keys, p.log)
	p.recall = p.recalls()
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	agent, token, refusal := p.tokens.admit(r)
	if refusal != nil {
		p.refused.Add(1)
		refusal.of(r.URL.Path).write(w)
		return
	}
	if agent.operator && p.own != nil {
		if h, pattern := p.own.Handler(r); pattern != "" {
			h.ServeHTTP(w, r)
			return
		}
	}
	if p.recall != nil && r.URL.Path == recallPath {
		p.recall.ServeHTTP(w, asking(r, token))
		return
	}
	p.requests.Add(1)
	p.active.Add(1)
	defer p.active.Add(-1)
	x := &exchange{proxy: p, head: capture.Request{
		ID: id.New(), Agent: agent.Name, Project: agent.Project, Run: agent.run, Started: time.Now(), Method: r.Method,
		Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header,
		Secrets: capture.SecretsOf(r.Header, r.URL.RawQuery).With(token),
	}}
	if err := p.read(w, r, x); err != nil { // the client went while it was still asking, or asks what cannot be read
		panic(http.ErrAbortHandler)
	}
	// Without these two an answer that lacks them would get ours.
	w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
	if x.view(token); x.sent != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(x.sent.body)), int64(len(x.sent.body))
	}
	x.begin()
	defer x.end(r.Context())
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// read takes the whole body into memory before anything is passed on: the server
// cuts streams whose request is still being read (golang/go#40747). A body that is
// too large for that is passed as it comes, which the server has to be told.
func (p *Proxy) read(w http.ResponseWriter, r *http.Request, x *exchange) (err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	var body []byte
	if size := r.ContentLength; size >= 0 && size <= mostRead {
		body = make([]byte, size)
		_, err = io.ReadFull(r.Body, body)
	} else if body, err = io.ReadAll(io.LimitReader(r.Body, mostRead+1)); len(body) > mostRead {
		x.head.Size, x.head.Lost = r.ContentLength, capture.LostTooLarge
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			return err
		}
		rest := r.Body
		r.Body = passing{io.MultiReader(bytes.NewReader(body), rest), rest}
		return nil
	}
	if err != nil {
		return err
	}
	x.body = body
	x.head.Size, r.ContentLength = int64(len(body)), int64(len(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// passing reads from one and closes another.
type passing struct {
	io.Reader
	io.Closer
}

// rewrite addresses a request to the backend, and leaves the rest of it alone.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	out := r.Out
	upstream, asked := p.backend(r.In.URL)
	out.URL.Scheme, out.URL.Host, out.Host = upstream.Scheme, upstream.Host, upstream.Host
	out.URL.Path, out.URL.RawPath = upstream.Path+asked.Path, upstream.EscapedPath()+asked.EscapedPath()
	// ReverseProxy takes these for its own business.
	out.URL.RawQuery = r.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			out.Header[name] = v
		}
	}
	for name := range out.Header {
		if strings.HasPrefix(name, "X-Palace-") {
			delete(out.Header, name)
		}
	}
	if x := exchangeOf(r.In.Context()); x.sent != nil && x.sent.beta {
		withBeta(out.Header)
	}
	if _, ok := out.Header["Accept-Encoding"]; ok { // what is kept can be read
		out.Header.Set("Accept-Encoding", "identity")
	}
}

// answered taps a response.
func (p *Proxy) answered(resp *http.Response) error {
	x := exchangeOf(resp.Request.Context())
	x.answer(resp.StatusCode, resp.Header)
	if x.whole = resp.StatusCode == http.StatusSwitchingProtocols; !x.whole {
		resp.Body = &tap{resp.Body, x}
	} // else it is a connection, which passes and is not kept
	return nil
}

// unanswered answers where the backend did not.
func (p *Proxy) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	x.failure = err
	if r.Context().Err() != nil {
		return // whoever asked is gone
	}
	upstream, named := p.upstream, "PALACE_UPSTREAM"
	if p.openAI != nil && speaksOpenAI(x.head.Path) {
		upstream, named = p.openAI, "PALACE_OPENAI_UPSTREAM"
	}
	p.log.Warn("the backend cannot be reached", "upstream", upstream.Redacted(), "error", err.Error())
	refuse(http.StatusBadGateway, "api_error", fmt.Sprintf("liminald palace: the backend %s cannot be reached (%v); %s names it", upstream.Redacted(), err, named)).of(x.head.Path).write(w)
}

// refusal is an answer of our own, in the backend's form.
type refusal struct {
	status        int
	kind, message string
	openAI        bool
}

func refuse(status int, kind, message string) *refusal {
	return &refusal{status: status, kind: kind, message: message}
}

func (r *refusal) write(w http.ResponseWriter) {
	body, err := json.Marshal(r.body())
	if err != nil {
		panic(err) // two strings
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(body) // whoever is refused may be gone
}

// buffers lends what responses are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copyBuffer)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
