package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/stream"
)

const (
	closeUnauthorized = 4401             // STREAM-05
	authTime          = 10 * time.Second // from the upgrade to the auth frame
	silence           = time.Minute      // without even a pong: the client is gone
	maxStrangers      = 64               // sockets of one address at once that have not signed in
)

// inFrame is what a client sends. Type says what it is; a cancel may say so
// in event, as 001 §18 has it.
type inFrame struct {
	Type      string `json:"type"`
	Event     string `json:"event"`
	Session   string `json:"session"`
	RunID     string `json:"run_id"`
	RequestID string `json:"request_id"`
	After     int64  `json:"after"`
}

// reply is what a client gets for a frame that is no event of a run.
type reply struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Data      any    `json:"data,omitempty"`
}

// socket is one client that speaks and listens over one connection. Its
// reading loop runs in the handler; every run it follows has a goroutine.
type socket struct {
	*server
	conn   *websocket.Conn
	base   *request
	viewer identity.Viewer // zero until the auth frame; the reading loop's
	hold   func()          // its place among the person's sockets, or before among its address's
	frames tokenBucket

	writing sync.Mutex
	mu      sync.Mutex // guards what follows
	token   string     // checked again with every ping
	follows map[string]context.CancelFunc
	running sync.WaitGroup
}

// socket upgrades to a WebSocket. A page of another origin was refused before
// (addressed); a valid Authorization header counts as the auth frame (C-06).
func (s *server) socket(w http.ResponseWriter, r *http.Request) {
	k := &socket{server: s, base: requestOf(r.Context()), follows: map[string]context.CancelFunc{}}
	if token := credential(r.Header.Get); token != "" {
		v, err := s.authenticate(r.Context(), requestOf(r.Context()), "", token)
		if err == nil {
			err = k.admit(r.Context(), v, token)
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
	}
	defer k.leave()
	if k.hold == nil {
		release, err := s.Limits.Hold(r.Context(), "strangers", k.base.origin(), maxStrangers)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		k.hold = release
	}
	anywhere := func(*http.Request) bool { return true }
	upgrader := websocket.Upgrader{HandshakeTimeout: authTime, CheckOrigin: anywhere, Error: func(w http.ResponseWriter, r *http.Request, _ int, reason error) {
		s.refuse(w, r, fault.Wrap(fault.Invalid, reason, "This is a WebSocket; a plain request cannot use it."))
	}}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // answered by the upgrader
	}
	k.conn = conn
	k.serve(r.Context())
}

// admit makes the socket one person's: it takes a place among theirs and gives
// up the one it had as a stranger's.
func (k *socket) admit(ctx context.Context, v identity.Viewer, token string) error {
	if err := cmp.Or(k.tooManyErrors(v.UserID), v.Allows(scopeChat)); err != nil {
		return err
	}
	if k.viewer.UserID == "" {
		release, err := k.Limits.Hold(ctx, "sockets", v.UserID, k.Plans.Of(v).Sockets)
		if err != nil {
			return err
		}
		k.leave()
		k.hold = release
	}
	k.viewer, k.base.viewer = v, v
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token = token
	return nil
}

func (k *socket) leave() {
	if k.hold != nil {
		k.hold()
	}
}

func (k *socket) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer k.running.Wait()
	defer cancel()
	defer func() { _ = k.conn.Close() }()
	context.AfterFunc(ctx, func() { _ = k.conn.Close() })
	k.conn.SetReadLimit(maxFrame)
	k.frames = tokenBucket{burst: frameBurst, rate: frameRate, left: frameBurst, at: time.Now()}
	k.limitControlFrames()
	k.expect()
	k.running.Go(func() { k.keepOpen(ctx, cancel) })
	for {
		_, data, err := k.conn.ReadMessage()
		if err != nil {
			if k.viewer.UserID == "" {
				k.close(closeUnauthorized, "The first frame must sign in.")
			}
			return
		}
		if !k.frames.take(time.Now()) {
			k.close(closeTooMany, "Too many frames at once. Open the socket again and send fewer.")
			return
		}
		if !k.handle(ctx, data) {
			return
		}
	}
}

// expect sets how long the next frame may take.
func (k *socket) expect() {
	wait := silence
	if k.viewer.UserID == "" {
		wait = authTime
	}
	_ = k.conn.SetReadDeadline(time.Now().Add(wait)) // fails only when closed, and then so does the read
}

// handle does what a frame says and reports whether to go on.
func (k *socket) handle(ctx context.Context, data []byte) bool {
	f, err := readFrame(data)
	if err != nil {
		if k.viewer.UserID == "" {
			k.close(closeUnauthorized, "The first frame must sign in.")
			return false
		}
		k.complain(ctx, "", err)
		return k.mayGoOn()
	}
	if f.Type == "" {
		f.Type = f.Event
	}
	if f.Type == "auth" {
		return k.auth(ctx, f, data)
	}
	if k.viewer.UserID == "" {
		k.close(closeUnauthorized, "Sign in first: send {\"type\":\"auth\",\"session\":token}.")
		return false
	}
	k.expect()
	k.dispatch(ctx, f, data)
	return k.mayGoOn()
}

// auth signs in; a message in the same frame is said at once (STREAM-06).
func (k *socket) auth(ctx context.Context, f inFrame, data []byte) bool {
	if err := k.signIn(ctx, f.Session); err != nil {
		code := closeUnauthorized
		if c := fault.CodeOf(err); c == fault.RateLimited || c == fault.Conflict { // a new token helps nobody
			code = closeTooMany
		}
		k.close(code, fault.From(err).Message)
		return false
	}
	k.expect()
	k.send(reply{Type: "auth_ok", RequestID: k.base.id})
	var with struct {
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(data, &with) == nil && with.Message != nil {
		k.dispatch(ctx, inFrame{Type: "chat_start", RequestID: f.RequestID}, data)
	}
	return true
}

// signIn takes an access token; or the session id, when a header has brought
// the token of that same session. Another session is refused (STREAM-07).
func (k *socket) signIn(ctx context.Context, session string) error {
	if k.viewer.SessionID != "" && session == k.viewer.SessionID {
		return nil
	}
	v, err := k.authenticate(ctx, k.base, "", session)
	if err != nil {
		return err
	}
	if k.viewer.UserID != "" && (v.SessionID != k.viewer.SessionID || v.KeyID() != k.viewer.KeyID()) {
		return fault.New(fault.Unauthorized, "This socket belongs to another session. Open a new one.")
	}
	return k.admit(ctx, v, session)
}

// renew looks who the viewer is now, so that a session that ended, a role that
// was taken and an address that was confirmed count with the next frame.
func (k *socket) renew(ctx context.Context) error {
	k.mu.Lock()
	token := k.token
	k.mu.Unlock()
	v, err := k.authenticate(ctx, k.base, "", token)
	if err == nil {
		k.viewer = v
	}
	return err
}

// ended reports whether err says that a session may be used no more.
func ended(err error) bool {
	return errors.Is(err, fault.Unauthorized) || errors.Is(err, fault.Forbidden)
}

// dispatch does one frame of a signed-in client. Errors go back as error
// events of that request; they do not end the socket.
func (k *socket) dispatch(ctx context.Context, f inFrame, data []byte) {
	err := k.renew(ctx)
	if ended(err) {
		k.close(closeUnauthorized, fault.From(err).Message)
		return
	}
	req := &request{id: f.RequestID, raw: k.base.raw, header: http.Header{}, viewer: k.viewer}
	if !id.Valid(req.id) {
		req.id = id.New()
	}
	ctx = context.WithValue(ctx, requestKey{}, req)
	if err != nil {
		k.complain(ctx, f.RunID, err)
		return
	}
	switch f.Type {
	case "chat_start":
		err = k.start(ctx, data)
	case "follow":
		err = k.followRun(ctx, f.RunID, f.After)
	case "unfollow":
		k.unfollow(f.RunID)
	case "resume":
		err = k.resumeRun(ctx, f, data)
	case "cancel":
		err = k.cancelRun(ctx, f)
	case "ping":
		k.send(Frame{Event: "pong", Data: json.RawMessage("{}"), RequestID: req.id})
	default:
		err = fault.New(fault.Invalid, "There is no frame of the type %q. There are auth, chat_start, follow, unfollow, resume, cancel and ping.", f.Type)
	}
	if err != nil {
		k.complain(ctx, f.RunID, err)
	}
}

// start says something and follows the run.
func (k *socket) start(ctx context.Context, data []byte) error {
	var in chatInput
	if err := json.Unmarshal(data, &in.Body); err != nil {
		return fault.Wrap(fault.Invalid, err, "This chat_start cannot be read.")
	}
	in.Body.Stream = true
	answer, err := k.begin(ctx, &in)
	if err != nil {
		return err
	}
	k.send(reply{Type: "chat_started", RequestID: requestOf(ctx).id, Data: answer})
	return k.followRun(ctx, answer.RunID, 0)
}

func (k *socket) resumeRun(ctx context.Context, f inFrame, data []byte) error {
	var in ResumeRequest
	if err := json.Unmarshal(data, &in); err != nil {
		return fault.Wrap(fault.Invalid, err, "This resume cannot be read.")
	}
	got, err := k.answer(ctx, k.viewer, in)
	if err != nil {
		return err
	}
	k.send(reply{Type: "resumed", RequestID: requestOf(ctx).id, Data: got})
	if k.following(got.RunID) {
		return nil
	}
	return k.followRun(ctx, got.RunID, f.After)
}

// cancelRun stops a run; its cancel_ack comes with the run's events.
func (k *socket) cancelRun(ctx context.Context, f inFrame) error {
	target := f.RunID
	if target == "" {
		target = f.RequestID
	}
	_, err := k.cancel(ctx, k.viewer, target)
	return err
}

// keepOpen pings, and ends the socket when its session has ended.
func (k *socket) keepOpen(ctx context.Context, end context.CancelFunc) {
	defer end()
	tick := time.NewTicker(k.keepAlive.ping)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !k.alive(ctx) || k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(k.keepAlive.write)) != nil {
			return
		}
	}
}

func (k *socket) alive(ctx context.Context) bool {
	k.mu.Lock()
	token := k.token
	k.mu.Unlock()
	if token == "" {
		return true // the auth deadline is running
	}
	if _, err := k.SignIns.Authenticate(ctx, token); ended(err) {
		k.close(closeUnauthorized, fault.From(err).Message)
		return false
	}
	return k.send(Frame{Event: pingKind, Data: json.RawMessage("{}"), RequestID: k.base.id})
}

func (k *socket) complain(ctx context.Context, runID string, err error) {
	f := k.fail(ctx, err)
	k.countError(ctx, requestOf(ctx), f.code)
	data, _ := json.Marshal(f.Reason) // of what was JSON before
	k.send(Frame{Event: stream.Error, Data: data, RequestID: f.RequestID, RunID: runID})
}

// send writes a frame, or closes a socket that does not take it in time.
func (k *socket) send(frame any) bool {
	k.writing.Lock()
	defer k.writing.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(k.keepAlive.write)) // cannot fail before a write does
	if err := k.conn.WriteJSON(frame); err != nil {
		_ = k.conn.Close() // ends the reading loop
		return false
	}
	return true
}

// close says why, in at most the 123 bytes a close frame has for it.
func (k *socket) close(code int, reason string) {
	if len(reason) > 123 {
		reason = strings.ToValidUTF8(reason[:123], "")
	}
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Second))
}
