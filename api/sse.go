package api

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// keepAlive is the rhythm of a stream with nothing to say: comments keep
// proxies from closing it, pings tell clients it lives (STREAM-23), and a
// reader that takes longer than write for one event is cut.
type keepAlive struct{ comment, ping, write time.Duration }

var defaultKeepAlive = keepAlive{comment: 15 * time.Second, ping: 25 * time.Second, write: 30 * time.Second}

// Frame is one event on its way out (STREAM-03).
type Frame struct {
	Event     stream.Kind     `json:"event"`
	Data      json.RawMessage `json:"data"`
	RequestID string          `json:"request_id"`
	ID        int64           `json:"id,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	Node      string          `json:"node,omitempty"`
	RunID     string          `json:"run_id,omitempty"`
}

// frameOf shapes an event; data is never absent.
func frameOf(e stream.Event, r run.Run) Frame {
	if len(e.Data) == 0 {
		e.Data = json.RawMessage("null")
	}
	return Frame{Event: e.Kind, Data: e.Data, RequestID: r.RequestID, ID: e.Seq, Attempt: e.Attempt, Node: e.Node, RunID: r.ID}
}

const pingKind stream.Kind = "ping" // of the connection, not of the run

// encoder puts one run's events into the words of an endpoint family: one
// log, several vocabularies (STREAM-28).
type encoder interface {
	// encode returns what to send for an event, piece by piece; often nothing.
	// errOver: nothing comes after these.
	encode(e stream.Event) ([][]byte, error)
	// ping is what to send every now and then to say that the stream lives.
	ping() []byte
}

// errOver is what an encoder gives with the last of its pieces where the run's own
// end is not it.
var errOver = errors.New("the stream is over")

// stream returns the writer of a run's events as /v1 has them.
func (s *server) stream(ctx context.Context, v identity.Viewer, r run.Run, after int64) (func(http.ResponseWriter, *http.Request), error) {
	return s.streaming(ctx, v, r, after, frames{r})
}

// carrier is how the pieces of an encoder travel: what their stream is, what is
// sent when it is opened, and now and then to keep it open. Empty: nothing is.
type carrier struct {
	kind, open, beat string
	keepAlive        keepAlive
}

// serverSent is the carrier of server-sent events.
func (s *server) serverSent() carrier {
	return carrier{kind: "text/event-stream", open: ": open\n\n", beat: ": beat\n\n", keepAlive: s.keepAlive}
}

// streaming returns the writer of a run's events as server-sent events.
func (s *server) streaming(ctx context.Context, v identity.Viewer, r run.Run, after int64, words encoder) (func(http.ResponseWriter, *http.Request), error) {
	return s.carrying(ctx, v, r, after, words, s.serverSent())
}

// carrying returns the writer of a run's events. It ends after one terminal
// event, or where the encoder is over. That the reader goes away ends nothing
// but the reading (STREAM-29).
func (s *server) carrying(ctx context.Context, v identity.Viewer, r run.Run, after int64, words encoder, by carrier) (func(http.ResponseWriter, *http.Request), error) {
	release, err := s.Limits.Hold(ctx, "streams", v.UserID, s.Plans.Of(v).Streams)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, req *http.Request) {
		defer release()
		defer s.Metrics.Follow("sse")()
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel()
		out := &eventWriter{w: w, control: http.NewResponseController(w), carrier: by, cut: cancel}
		out.open()
		defer out.close()
		stop := out.keepOpen(ctx, words.ping(), func() bool { return s.stillOpen(ctx, v, req) })
		defer stop()
		if err := out.copy(words, s.tail.events(ctx, v, r, after)); err != nil && ctx.Err() == nil {
			// Without a terminal event the reader comes back with Last-Event-ID.
			s.Logger.WarnContext(ctx, "stream broke", "run_id", r.ID, "error", err)
		}
	}, nil
}

// stillOpen reports whether the session that asked for a stream is open. That
// its token has run out meanwhile does not end what it began.
func (s *server) stillOpen(ctx context.Context, v identity.Viewer, r *http.Request) bool {
	if _, err := s.SignIns.Authenticate(ctx, credential(r.Header.Get)); !ended(err) {
		return true
	}
	_, err := s.SignIns.Who(ctx, v)
	return !ended(err)
}

// frames is the encoder of /v1.
type frames struct{ run run.Run }

func (f frames) encode(e stream.Event) ([][]byte, error) {
	data, err := json.Marshal(frameOf(e, f.run))
	if err != nil {
		return nil, err
	}
	line := make([]byte, 0, len(data)+64)
	if e.Seq > 0 {
		line = strconv.AppendInt(append(line, "id: "...), e.Seq, 10)
		line = append(line, '\n')
	}
	line = append(append(append(line, "event: "...), e.Kind...), "\ndata: "...)
	return [][]byte{append(append(line, data...), "\n\n"...)}, nil
}

func (f frames) ping() []byte {
	pieces, err := f.encode(stream.Event{Kind: pingKind, Data: json.RawMessage("{}")})
	if err != nil {
		return nil
	}
	return pieces[0]
}

// eventWriter writes frames one by one, each flushed (STREAM-11).
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	carrier
	cut context.CancelFunc

	mu sync.Mutex
}

// open sends the headers (STREAM-10).
func (o *eventWriter) open() {
	h := o.w.Header()
	h.Set("Content-Type", o.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Content-Encoding", "none")
	o.w.WriteHeader(http.StatusOK)
	_ = o.write([]byte(o.carrier.open)) // a reader that is gone already is noticed with the first event
}

// close lifts the deadline of the last write: the connection may serve another
// request, and net/http keeps what a handler has set.
func (o *eventWriter) close() { _ = o.control.SetWriteDeadline(time.Time{}) }

// copy writes events until they end or the reader does.
func (o *eventWriter) copy(words encoder, events iter.Seq2[stream.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		pieces, err := words.encode(e)
		over := errors.Is(err, errOver)
		if err != nil && !over {
			return err
		}
		for _, piece := range pieces {
			if err := o.write(piece); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
	}
	return nil
}

// write sends bytes now or cuts the reader off.
func (o *eventWriter) write(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.control.SetWriteDeadline(time.Now().Add(o.keepAlive.write)) // a writer without deadlines has none to overrun
	if _, err := o.w.Write(b); err != nil {
		o.cut()
		return err
	}
	if err := o.control.Flush(); err != nil {
		o.cut()
		return err
	}
	return nil
}

// keepOpen writes comments and pings until stop is called, which waits for it:
// a handler must not return while somebody may still write. It cuts a stream
// whose reader is no longer open to them (AUTH-05).
func (o *eventWriter) keepOpen(ctx context.Context, pinged []byte, open func() bool) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		ping := time.NewTicker(o.keepAlive.ping)
		defer ping.Stop()
		var comment <-chan time.Time // never, where there are none
		if o.beat != "" {
			t := time.NewTicker(o.keepAlive.comment)
			defer t.Stop()
			comment = t.C
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-ping.C:
				if !open() {
					o.cut()
					return
				}
				_ = o.write(pinged)
			case <-comment:
				_ = o.write([]byte(o.beat)) // a failed write has cut the stream
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// lastSeen is where a reader says it was: Last-Event-ID, or after in the query.
func lastSeen(header string, after int64) (int64, error) {
	if header == "" {
		return after, nil
	}
	seq, err := strconv.ParseInt(header, 10, 64)
	if err != nil || seq < 0 {
		return 0, fault.New(fault.Invalid, "Last-Event-ID must be the id of an event.")
	}
	return seq, nil
}
