package proxy

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
)

// proxy.md: P1
//
// Requirements: PAL-02 (captures the request and forwards it)
func TestARequestReachesTheBackendAsItWas(t *testing.T) {
	t.Parallel()
	up := &capturetest.Upstream{}
	r := through(t, up, nil)
	c := plainClient(t)
	paths := []string{"/v1/messages?beta=true&x=%zz;y", "/v1/messages/count_tokens?", "/v1/some%2Fthing//else/../x?q", "/v1/models?limit=1000"}
	for _, path := range paths {
		whole(t, ask(t, c, "POST", r.base+path, []byte(streamed), agentHeader()))
	}
	for i, a := range up.Asked() {
		if a.URI != paths[i] || a.Method != "POST" || string(a.Body) != streamed {
			t.Errorf("%s reached it as %s %s with %q", paths[i], a.Method, a.URI, a.Body)
		}
		want := agentHeader()
		want.Set("Accept-Encoding", "identity")
		want.Del("X-Palace-Agent")
		want.Set("Content-Length", fmt.Sprint(len(streamed)))
		for name, v := range want {
			if fmt.Sprint(a.Header[name]) != fmt.Sprint(v) {
				t.Errorf("%s reached it as %q", name, a.Header[name])
			}
		}
		if len(a.Header) != len(want) {
			t.Errorf("headers %v", a.Header)
		}
	}
	kept := r.kept()
	if len(kept) != len(paths) || string(kept[0].Asked) != streamed || kept[0].Request.Agent != "tester" || kept[0].Request.Path+"?"+kept[0].Request.Query != paths[0] {
		t.Errorf("kept %+v", kept[0])
	}
}

// proxy.md: P2, P8
//
// Requirements: PAL-02 (captures the response and returns it), PAL-03 (bytes as they came)
func TestAResponseComesBackAsItWas(t *testing.T) {
	t.Parallel()
	up := &capturetest.Upstream{}
	r := through(t, up, nil)
	straight := httptest.NewServer(up)
	t.Cleanup(straight.Close)
	c := plainClient(t)
	n := 0
	for _, one := range []struct {
		method, path, body string
		fault              capturetest.Fault
	}{
		{"POST", "/v1/messages", streamed, ""},
		{"POST", "/v1/messages", strings.Replace(streamed, `"stream":true,`, "", 1), ""},
		{"POST", "/v1/messages", "not JSON", ""},
		{"POST", "/v1/messages", streamed, capturetest.Overloaded},
		{"POST", "/v1/messages", streamed, capturetest.ErrorEvent},
		{"POST", "/v1/messages", streamed, capturetest.EndsEarly},
		{"POST", "/v1/messages/count_tokens", streamed, ""},
		{"GET", "/v1/models", "", ""},
		{"HEAD", "/", "", ""},
	} {
		if one.fault != "" {
			up.Fail(one.fault, one.fault)
		}
		want := ask(t, c, one.method, straight.URL+one.path, []byte(one.body), nil)
		got := ask(t, c, one.method, r.base+one.path, []byte(one.body), nil)
		wanted, came := sameNumber(whole(t, want)), sameNumber(whole(t, got))
		n++
		if !bytes.Equal(wanted, came) || got.StatusCode != want.StatusCode {
			t.Errorf("%v: %d %q\ninstead of %d %q", one, got.StatusCode, came, want.StatusCode, wanted)
		}
		want.Header.Del("Request-Id")
		got.Header.Del("Request-Id")
		want.Header.Del("Date")
		got.Header.Del("Date")
		if fmt.Sprint(want.Header) != fmt.Sprint(got.Header) {
			t.Errorf("%v: %v\ninstead of %v", one, got.Header, want.Header)
		}
		r.t.Logf("%s %s: %d bytes", one.method, one.path, len(came))
	}
	kept := r.kept()
	if len(kept) != n || !kept[0].Ending.Complete || kept[3].Response.Status != 529 || kept[3].Response.Header.Get("Retry-After") != "1" {
		t.Errorf("kept %d: %+v", len(kept), kept)
	}
}

// sameNumber is a response without the number of its request.
func sameNumber(b []byte) []byte {
	at := bytes.Index(b, []byte("msg_"))
	if at < 0 {
		return b
	}
	return append(append([]byte{}, b[:at]...), b[at+4+24:]...)
}

// An answer that lacks what servers add does not get it from us.
func TestNothingIsAddedToAnAnswer(t *testing.T) {
	t.Parallel()
	r := through(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
		_, _ = io.WriteString(w, "<html>")
	}), nil)
	resp := ask(t, plainClient(t), "GET", r.base+"/", nil, nil)
	if whole(t, resp); len(resp.Header) != 1 || resp.Header.Get("Content-Length") != "6" {
		t.Errorf("%v", resp.Header)
	}
}

// Each chunk is there before the next is made: the backend waits for it.
//
// Requirements: STREAM-11
func TestEveryChunkComesThroughAtOnce(t *testing.T) {
	t.Parallel()
	seen := make(chan bool)
	r := through(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for n := range 5 {
			fmt.Fprintf(w, "data: %d\n\n", n)
			_ = http.NewResponseController(w).Flush()
			<-seen
		}
	}), nil)
	resp := ask(t, plainClient(t), "POST", r.base+"/v1/messages", []byte(streamed), nil)
	for n := range 5 {
		b := make([]byte, len("data: 0\n\n"))
		if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != fmt.Sprintf("data: %d\n\n", n) {
			t.Fatalf("chunk %d: %q %v", n, b, err)
		}
		seen <- true
	}
	whole(t, resp)
	if marks := r.kept()[0].Response.Marks; len(marks) < 5 || marks[0].End != 9 || marks[1].End != 18 {
		t.Errorf("marks %v", marks)
	}
}

func TestACutStreamIsCutAtTheSameByte(t *testing.T) {
	t.Parallel()
	up := &capturetest.Upstream{}
	r := through(t, up, nil)
	straight := httptest.NewServer(up)
	t.Cleanup(straight.Close)
	c := plainClient(t)
	up.Fail(capturetest.Cut, capturetest.Cut)
	want, wantErr := io.ReadAll(ask(t, c, "POST", straight.URL+"/v1/messages", []byte(streamed), nil).Body)
	got, gotErr := io.ReadAll(ask(t, c, "POST", r.base+"/v1/messages", []byte(streamed), nil).Body)
	if wantErr == nil || gotErr == nil || !bytes.Equal(sameNumber(got), sameNumber(want)) {
		t.Errorf("%q %v\ninstead of %q %v", got, gotErr, want, wantErr)
	}
	e := r.kept()[0]
	if e.Ending.Complete || e.Ending.CutBy != capture.CutByUpstream || !bytes.Equal(e.Answered, got) || r.proxy.Counts().Cut != 1 {
		t.Errorf("%+v %q", e.Ending, e.Answered)
	}
}

// proxy.md: P5
func TestAClientThatGoesAwayEndsTheRequestAtTheBackend(t *testing.T) {
	t.Parallel()
	up := &capturetest.Upstream{}
	up.Fail(capturetest.FallsSilent)
	gone := up.Gone()
	r := through(t, up, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", r.base+"/v1/messages", strings.NewReader(streamed))
	resp, err := plainClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 200)
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	<-gone
	r.stop() // when everything has ended
	e := r.kept()[0]
	if e.Ending == nil || e.Ending.Complete || e.Ending.CutBy != capture.CutByClient || !bytes.HasPrefix(e.Answered, first) {
		t.Errorf("%+v", e.Ending)
	}
}

func TestABackendThatIsNotThereIsTold(t *testing.T) {
	t.Parallel()
	r := through(t, nil, nil)
	r.proxy.upstream, _ = url.Parse("http://127.0.0.1:1") // a port that was freed may be another test's
	resp := ask(t, plainClient(t), "POST", r.base+"/v1/messages", []byte(streamed), agentHeader())
	body := string(whole(t, resp))
	if resp.StatusCode != 502 || !strings.Contains(body, `"type":"api_error"`) || !strings.Contains(body, "PALACE_UPSTREAM") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if e := r.kept()[0]; e.Ending.Error == "" || e.Ending.Complete || string(e.Asked) != streamed {
		t.Errorf("%+v", e)
	}
}

// proxy.md: P7
//
// Requirements: PAL-01 (strangers and pages get nothing)
func TestAStrangerGetsNothing(t *testing.T) {
	t.Parallel()
	up := &capturetest.Upstream{}
	r := through(t, up, nil)
	lasting, err := AddToken(r.dir, Agent{Name: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	c := plainClient(t)
	here := "http://" + r.address
	try := func(url string, change func(*http.Request)) (int, string) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(streamed))
		if change != nil {
			change(req)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode, string(whole(t, resp))
	}
	for name, one := range map[string]struct {
		url    string
		change func(*http.Request)
		status int
	}{
		"no token":       {here + "/v1/messages", nil, 401},
		"another's":      {BaseURL(r.address, NewToken()) + "/v1/messages", nil, 401},
		"part of it":     {strings.TrimSuffix(r.base, r.base[len(r.base)-1:]) + "/v1/messages", nil, 401},
		"no path":        {r.base, nil, 401},
		"escaped":        {strings.Replace(r.base, "plt_", "%70lt_", 1) + "/v1/messages", nil, 401},
		"a page":         {r.base + "/v1/messages", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1") }, 403},
		"a rebound name": {r.base + "/v1/messages", func(r *http.Request) { r.Host = "evil.example:19848" }, 403},
		"a hash":         {here + "/v1/messages", func(r *http.Request) { r.Header.Set(tokenHeader, hashOf(lasting)) }, 401},
	} {
		if status, body := try(one.url, one.change); status != one.status || !strings.Contains(body, `"type":"error"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if n := len(up.Asked()); n != 0 {
		t.Errorf("%d requests got through", n)
	}
	if status, _ := try(here+"/v1/messages", func(r *http.Request) { r.Header.Set(tokenHeader, lasting) }); status != 200 {
		t.Errorf("a token that lasts: %d", status)
	}
	if err := RemoveToken(r.dir, "editor"); err != nil {
		t.Fatal(err)
	}
	if status, _ := try(BaseURL(r.address, lasting)+"/v1/messages", nil); status != 401 {
		t.Errorf("a revoked one: %d", status)
	}
	if err := RemoveToken(r.dir, "editor"); err == nil {
		t.Error("it was revoked twice")
	}
	if got := r.proxy.Counts(); got.Refused != 9 || got.Requests != 1 || len(r.kept()) != 1 {
		t.Errorf("%+v", got)
	}
}

// counter reads what nobody holds.
type counter struct{ n int64 }

func (c *counter) Read(p []byte) (int, error) {
	if c.n <= 0 {
		return 0, io.EOF
	}
	n := int(min(c.n, int64(len(p))))
	c.n -= int64(n)
	return n, nil
}

// proxy.md: P3 (what is too large)
func TestWhatIsTooLargeToHoldPassesUnread(t *testing.T) {
	t.Parallel()
	got := make(chan int64, 1)
	r := through(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got <- n
		_, _ = io.WriteString(w, "taken")
	}), nil)
	const size = mostRead + 1000
	req, _ := http.NewRequestWithContext(t.Context(), "POST", r.base+"/v1/messages", &counter{size})
	req.ContentLength = size
	resp, err := plainClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body := whole(t, resp); string(body) != "taken" || <-got != size {
		t.Errorf("%q", body)
	}
	if e := r.kept()[0]; e.Request.Lost != capture.LostTooLarge || e.Request.Size != size || len(e.Asked) != 0 || string(e.Answered) != "taken" {
		t.Errorf("%+v", e)
	}
}

// What a run leaves on the disk and in the log has no key and no token in it.
//
// proxy.md: P7
func TestNoKeyIsLeftAnywhere(t *testing.T) {
	t.Parallel()
	up := &capturetest.Upstream{}
	r := through(t, up, nil)
	token := r.base[strings.Index(r.base, tokenPrefix):]
	body := []byte(strings.Replace(streamed, "Grüße", key+" "+r.base, 1))
	whole(t, ask(t, plainClient(t), "POST", r.base+"/v1/messages", body, agentHeader()))
	if a := up.Asked()[0]; !bytes.Equal(a.Body, body) || a.Header.Get("X-Api-Key") != key || a.Header.Get("Cookie") == "" {
		t.Error("the backend did not get it as it was")
	}
	r.proxy.upstream, _ = url.Parse("http://127.0.0.1:1")
	whole(t, ask(t, plainClient(t), "POST", r.base+"/v1/messages", body, agentHeader()))
	for _, e := range r.kept() {
		if !e.Masked || len(e.Asked) != len(body) {
			t.Errorf("%+v", e)
		}
		holds(t, "an exchange", fmt.Appendf(nil, "%+v %s", e, e.Asked), key, token)
	}
	holds(t, "the log", r.log.Bytes(), key, token)
	files, err := os.ReadDir(SpoolDir(r.dir))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
}

func holds(t *testing.T, what string, b []byte, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if bytes.Contains(b, []byte(s)) {
			t.Errorf("%s holds %q", what, s)
		}
	}
}

var streams = flag.Int("streams", 1_000, "how many streams TestStreamsComeThroughWhole plays, 64 at once")

// proxy.md: P3
func TestStreamsComeThroughWhole(t *testing.T) {
	t.Parallel()
	r := through(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sum := capturetest.Sum(body)
		for n := range 20 {
			fmt.Fprintf(w, "event: content_block_delta\ndata: {\"n\":%d,\"sum\":%q}\n\n", n, sum)
			_ = http.NewResponseController(w).Flush()
		}
	}), nil)
	c := plainClient(t)
	var group sync.WaitGroup
	next := make(chan int)
	for range 64 {
		group.Go(func() {
			for n := range next {
				if err := one(t.Context(), c, r.base, n); err != nil {
					t.Errorf("stream %d: %v", n, err)
				}
			}
		})
	}
	began := time.Now()
	for n := range *streams {
		next <- n
	}
	close(next)
	group.Wait()
	t.Logf("%d streams in %s, %+v", *streams, time.Since(began).Round(time.Millisecond), r.proxy.Counts())
	kept := map[string]bool{}
	for _, e := range r.kept() {
		want := answerTo(capturetest.Sum(e.Asked))
		if e.Request.Lost+e.Response.Lost == "" && string(e.Answered) != want {
			t.Errorf("%s is not kept as it was", e.Request.ID)
		}
		kept[capturetest.Sum(e.Asked)] = true
	}
	if got := r.proxy.Counts(); got.Cut != 0 || got.FailOpen != 0 || len(kept) != *streams {
		t.Errorf("%+v, %d kept", got, len(kept))
	}
}

func answerTo(sum string) string {
	var b strings.Builder
	for n := range 20 {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"n\":%d,\"sum\":%q}\n\n", n, sum)
	}
	return b.String()
}

// one plays a stream: what came back proves what went there.
func one(ctx context.Context, c *http.Client, base string, n int) error {
	body := fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%d %s"}]}`, n, strings.Repeat("x", n%5000))
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages?beta=true", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	got, err := io.ReadAll(resp.Body)
	if err == nil && string(got) != answerTo(capturetest.Sum(body)) {
		err = errors.New("changed bytes")
	}
	return err
}
