package proxy

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"liminal/internal/capture"
)

const key = "sk-ant-api03-an-invented-key-of-nobody"

// rig is a proxy before an upstream, with a spool and a token.
type rig struct {
	t       *testing.T
	proxy   *Proxy
	tokens  *Tokens
	dir     string
	base    string // with the token
	address string
	log     *bytes.Buffer
	close   func() // the spool, so that it can be read
	stop    func() // the server, when its requests have ended
}

// through puts a proxy before a backend. recorder nil: a spool.
func through(t *testing.T, backend http.Handler, recorder capture.Recorder) *rig {
	t.Helper()
	up := httptest.NewServer(backend)
	t.Cleanup(up.Close)
	r := &rig{t: t, dir: t.TempDir(), log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(&locked{w: r.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if recorder == nil {
		spool, err := capture.Open(capture.Options{Dir: SpoolDir(r.dir), Memory: 64 << 20, Disk: 1 << 30, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		r.close = sync.OnceFunc(func() {
			if err := spool.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(r.close)
		recorder = spool
	}
	to, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.tokens = NewTokens(r.dir)
	token := NewToken()
	r.tokens.grant(hashOf(token), Agent{Name: "tester", Project: "liminal"})
	r.proxy = New(to, recorder, r.tokens, log)
	r.proxy.View(r.dir, nil)
	s := httptest.NewServer(r.proxy)
	r.stop = sync.OnceFunc(s.Close)
	t.Cleanup(r.stop)
	r.address = strings.TrimPrefix(s.URL, "http://")
	r.base = BaseURL(r.address, token)
	return r
}

// locked is a log that several write to.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// kept are the exchanges of the rig; the spool is closed.
func (r *rig) kept() (all []*capture.Exchange) {
	r.t.Helper()
	r.stop()
	r.close()
	for e, err := range capture.Exchanges(SpoolDir(r.dir), nil, func(capture.Request) bool { return true }) {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// plainClient changes nothing of what it gets.
func plainClient(t *testing.T) *http.Client {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func ask(t *testing.T, c *http.Client, method, url string, body []byte, header http.Header) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header.Clone()
	if header == nil {
		req.Header = http.Header{}
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func whole(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const streamed = `{"model":"m","max_tokens":9, "unknown_field":{"b":1,"a":2},"stream":true,"messages":[{"role":"user","content":"Grüße \u00e9"}]}`

func agentHeader() http.Header {
	return http.Header{
		"X-Api-Key": {key}, "Authorization": {"Bearer " + key}, "Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"a-2026-01-01,b", "c"},
		"User-Agent": {"claude-cli/2"}, "Accept-Encoding": {"gzip, br"}, "X-Forwarded-For": {"10.1.2.3"}, "X-Stainless-Retry-Count": {"0"},
		"X-Palace-Agent": {"7"}, "X-Claude-Code-Session-Id": {"s"}, "Content-Type": {"application/json"}, "Cookie": {"a=0123456789"},
	}
}
