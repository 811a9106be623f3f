package api

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/gorilla/websocket"

	"liminal/internal/fault"
)

// Bounds of what one socket may send. Whoever sends more is cut.
const (
	maxFrame     = 512 << 10 // bytes of one frame, with all its fragments
	frameBurst   = 60        // frames at once, pings and pongs too
	frameRate    = 20        // frames a second after that
	closeTooMany = websocket.ClosePolicyViolation
)

// limitControlFrames handles pings and pongs. They count as frames, so that
// nobody keeps us busy with them; a client's own pings are answered.
func (k *socket) limitControlFrames() {
	pong := k.conn.PingHandler()
	k.conn.SetPingHandler(func(data string) error {
		if !k.frames.take(time.Now()) {
			return errTooMany
		}
		return pong(data)
	})
	k.conn.SetPongHandler(func(string) error {
		if !k.frames.take(time.Now()) {
			return errTooMany
		}
		if k.viewer.UserID != "" { // a stranger does not buy time with pongs
			k.expect()
		}
		return nil
	})
}

// errTooMany ends the reading loop.
var errTooMany = errors.New("too many control frames")

// tokenBucket bounds how often one goroutine does something.
type tokenBucket struct {
	burst, rate, left float64
	at                time.Time
}

func (b *tokenBucket) take(now time.Time) bool {
	b.left = min(b.burst, b.left+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// mayGoOn reports whether the person may go on after what has failed.
func (k *socket) mayGoOn() bool {
	if k.tooManyErrors(k.viewer.UserID) == nil {
		return true
	}
	k.close(closeTooMany, "Too many of your requests have failed. Come back in a while.")
	return false
}

// readFrame reads what a client sent.
func readFrame(data []byte) (f inFrame, err error) {
	if err := checkJSON(data); err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fault.New(fault.Invalid, "A frame must be a JSON object.")
	}
	return f, nil
}
