package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"liminal/internal/capture"
)

// exchange is a request on its way, and what its recorder is told of it.
type exchange struct {
	proxy     *Proxy
	head      capture.Request
	recording capture.Recording // nil: nothing is recorded
	body      []byte            // the client's
	sent      *forwarded        // what is sent instead of it; nil: it is
	status    int
	whole     bool  // the response came to its end
	failure   error // why it did not
}

type exchangeKey struct{}

// exchangeOf is the exchange of a request that this proxy forwards.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// safely calls the recorder. Whatever happens in there happens to the recording
// only: the stream goes on.
func (x *exchange) safely(do func()) {
	defer func() {
		if err := recover(); err != nil {
			x.recording = nil
			x.proxy.failopen.Add(1)
			x.proxy.log.Error("an exchange is not recorded further; its stream goes on", "exchange", x.head.ID, "panic", err)
		}
	}()
	do()
}

// guarded does what may change a request. Whatever happens in there, the request goes on.
func (x *exchange) guarded(do func()) (whole bool) {
	defer func() {
		if err := recover(); err != nil {
			x.proxy.failopen.Add(1)
			x.proxy.log.Error("a view failed; the request is sent as it is", "exchange", x.head.ID, "panic", err)
			whole = false
		}
	}()
	do()
	return true
}

// view decides what is sent instead of the body.
func (x *exchange) view(token string) {
	v := x.proxy.viewer
	if v == nil || len(x.body) == 0 {
		return
	}
	if x.guarded(func() { x.sent = v.forward(x.head, hashOf(token), x.body) }) {
		return
	}
	x.sent = nil
	x.guarded(func() { x.sent = v.whole(x.head, x.body) })
}

func (x *exchange) begin() {
	x.safely(func() { x.recording = x.proxy.recorder.Begin(x.head, x.body) })
	if x.sent != nil {
		x.tell()
	}
}

// tell says what is sent.
func (x *exchange) tell() {
	if x.recording != nil {
		x.safely(func() { x.recording.Sent(x.sent.Sent, x.body) })
	}
}

func (x *exchange) answer(status int, header http.Header) {
	x.status = status
	if x.recording != nil {
		x.safely(func() { x.recording.Answer(status, header) })
	}
}

func (x *exchange) chunk(p []byte) {
	if x.recording != nil {
		x.safely(func() { x.recording.Chunk(p) })
	}
}

// end is deferred: ReverseProxy panics to cut a response whose rest did not come,
// or did not get through, and that must go on.
func (x *exchange) end(ctx context.Context) {
	panicked := recover()
	e := capture.Ending{Ended: time.Now(), Complete: x.whole && panicked == nil}
	if !e.Complete {
		x.proxy.cut.Add(1)
		e.CutBy = x.cutBy(ctx)
		if x.status == 0 && x.failure != nil {
			e.Error = x.failure.Error()
		}
	}
	if x.recording != nil {
		x.safely(func() { x.recording.End(e) })
	}
	if panicked != nil {
		panic(panicked)
	}
}

// cutBy is who cut a response that is not whole. Where the client went away, the
// backend's part ends with an error too, which is only the echo of that; and where
// neither says anything, it was the client that took no more.
func (x *exchange) cutBy(ctx context.Context) string {
	if ctx.Err() == nil && x.failure != nil {
		return capture.CutByUpstream
	}
	return capture.CutByClient
}

// tap is the body of a response, told to the recorder as it is read.
type tap struct {
	io.ReadCloser
	x *exchange
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.x.chunk(p[:n])
	}
	switch {
	case errors.Is(err, io.EOF):
		t.x.whole = true
	case err != nil:
		t.x.failure = err
	}
	return n, err
}
