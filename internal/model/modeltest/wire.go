package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/model"
)

// Key is the secret a provider under test is opened with. It must reach the
// server and may never stand in an error.
const Key = "sk-wire-0123456789abcdef"

// Wire tells the suite about a provider of a wire protocol: how to open it,
// and how a true server of it would play each scenario.
type Wire struct {
	// Open makes a provider for a server, with Key as its key.
	Open func(t *testing.T, baseURL string) model.Model
	// Serve is a server that plays the scenario to every request.
	Serve func(Scenario) http.Handler
	// Signed says that thinking ends with a signature.
	Signed bool
}

// Name is which scenario it is.
type Name string

// The scenarios. What a server does in each is said here; what the provider
// must make of it, in the suite.
const (
	Plain          Name = "plain"            // Text, Usage, an ordinary end
	Tools          Name = "tools"            // Text, then Calls with their arguments in fragments
	Thinking       Name = "thinking"         // Thoughts, then Text
	Structured     Name = "structured"       // Text, which is JSON under the request's schema
	Citations      Name = "citations"        // Text, which repeats Quote and cites the first passage for it
	NoUsage        Name = "no-usage"         // Text; the server never counts tokens
	UnknownEvent   Name = "unknown-event"    // Text, among events, fields and comments nobody knows
	SlowFirstByte  Name = "slow-first-byte"  // headers, at most pings, until Hold is closed or the client leaves; then Text
	Endless        Name = "endless"          // Text again and again until the client leaves
	LongAnswer     Name = "max-tokens"       // Text, cut at the limit of tokens
	Refused        Name = "refusal"          // the model declines
	RateLimited    Name = "rate-limited"     // 429 with Retry-After: RetryAfter in seconds
	Overloaded     Name = "overloaded"       // 529 or 503, as the protocol has it
	ServerError    Name = "server-error"     // 500
	BadKey         Name = "bad-key"          // 401, with the key in the server's sentence
	BadRequest     Name = "bad-request"      // 400
	ContextTooLong Name = "context-too-long" // 400: the prompt is larger than the model's window
	NoSuchModel    Name = "no-such-model"    // 404
	ErrorMidStream Name = "error-mid-stream" // the first of Text, then the protocol's error event
	CutMidStream   Name = "cut-mid-stream"   // the first of Text, then the connection breaks (http.ErrAbortHandler)
	EndsMidStream  Name = "ends-mid-stream"  // the first of Text, then the body ends in good order, without the protocol's end
)

// Scenario is one exchange as the server plays it.
type Scenario struct {
	Name       Name
	Text       []string // the answer in the pieces it is sent in
	Thoughts   []string
	Calls      []Call
	Usage      model.Usage   // Input is without CacheRead, whatever the protocol's own sums are
	Quote      string        // of the first passage, word for word
	Passages   []model.Block // of the request
	RetryAfter time.Duration // whole seconds
	Hold       <-chan struct{}
}

// Call is a tool call as the server makes it.
type Call struct {
	ID, Name string
	Input    string // JSON; empty: the server sends no arguments at all
}

// Fragments cuts the arguments of a call into pieces of a few characters, in
// the middle of names and numbers.
func (c Call) Fragments() []string {
	const size = 5
	var out []string
	rest := []rune(c.Input)
	for len(rest) > 0 {
		n := min(size, len(rest))
		out, rest = append(out, string(rest[:n])), rest[n:]
	}
	return out
}

// RunWire runs the suite of the wire, then Run over the same server.
func RunWire(t *testing.T, w Wire) {
	t.Helper()
	for _, c := range exchanges {
		t.Run(string(c.name), func(t *testing.T) {
			t.Parallel()
			c.check(t, w.stage(t, scenario(c.name)))
		})
	}
	t.Run("unreachable", func(t *testing.T) { w.unreachable(t) })
	t.Run("a reader that leaves", func(t *testing.T) { w.leave(t) })
	t.Run("cancel before the first byte", func(t *testing.T) { w.cancelEarly(t) })
	t.Run("as every model", func(t *testing.T) { w.asEvery(t) })
}

// asEvery is the suite of all models over one server that plays, to each
// request, the scenario it names.
func (w Wire) asEvery(t *testing.T) {
	Run(t, Setup{
		Open: func(t *testing.T) model.Model {
			server := httptest.NewServer(w.any())
			t.Cleanup(server.Close)
			return w.Open(t, server.URL)
		},
		Text: ask(Plain), Tools: ask(Tools), Passages: ask(Citations), JSON: ask(Structured), Endless: ask(Endless),
	})
}

// any plays the scenario a request names in its text.
func (w Wire) any() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		for _, n := range []Name{Plain, Tools, Citations, Structured, Endless} {
			if strings.Contains(string(body), sentence(n)) {
				w.Serve(scenario(n)).ServeHTTP(rw, r)
				return
			}
		}
		http.Error(rw, "no scenario is named", http.StatusTeapot)
	})
}

// stage is a scenario with its server, its client, and what they said.
type stage struct {
	Scenario
	model   model.Model
	signed  bool
	arrived chan struct{} // one for each request
	left    chan struct{} // one for each request that is over
	release func()        // closes Hold

	mu    sync.Mutex
	asked []exchange
}

type exchange struct {
	header http.Header
	body   string
}

func (w Wire) stage(t *testing.T, s Scenario) *stage {
	t.Helper()
	hold := make(chan struct{})
	s.Hold = hold
	release := sync.OnceFunc(func() { close(hold) })
	if s.Name != SlowFirstByte {
		release()
	}
	st := &stage{
		Scenario: s, release: release, signed: w.Signed,
		arrived: make(chan struct{}, 16), left: make(chan struct{}, 16),
	}
	server := httptest.NewServer(st.watch(w.Serve(s)))
	t.Cleanup(server.Close)
	t.Cleanup(release)
	st.model = w.Open(t, server.URL)
	return st
}

// watch keeps what was asked and tells when.
func (st *stage) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		st.mu.Lock()
		st.asked = append(st.asked, exchange{r.Header.Clone(), string(body)})
		st.mu.Unlock()
		st.arrived <- struct{}{}
		defer func() { st.left <- struct{}{} }()
		h.ServeHTTP(rw, r)
	})
}

// exchanges gives what the server was asked so far.
func (st *stage) exchanges() []exchange {
	st.mu.Lock()
	defer st.mu.Unlock()
	return append([]exchange(nil), st.asked...)
}

// once fails unless the server was asked exactly once: providers never retry.
func (st *stage) once(t *testing.T) exchange {
	t.Helper()
	asked := st.exchanges()
	if len(asked) != 1 {
		t.Fatalf("the server was asked %d times, want once", len(asked))
	}
	return asked[0]
}
