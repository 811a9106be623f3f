// Package capture keeps what an agent and its model said to each other, byte for
// byte: exchanges of HTTP in a spool of segments on disk.
//
// Whoever records never waits. Contents are handed over in memory and written by
// one goroutine; where the disk is slow, full or gone, contents are dropped, the
// exchange says so, and so does Stats. Keys are never written: what the headers of
// a request open it with is withheld, and masked wherever else it stands.
//
// The package knows no store, no engine and no platform, so that an agent goes on
// while those are dead. It may import internal/filelock, internal/id, internal/vault, internal/view, the
// standard library and klauspost/compress.
package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"liminal/internal/view"
)

// Recorder is told of each exchange as it passes. No method of it or of a
// Recording waits for anything.
type Recorder interface {
	// Begin is told of a request. body is not changed afterwards by either side;
	// nil where r.Lost says why there is none.
	Begin(r Request, body []byte) Recording
}

// Recording is one exchange under way. It is used by one goroutine.
type Recording interface {
	// Sent is told where something other than the body reached the backend, the last
	// time where it is told twice. body is the client's.
	Sent(s Sent, body []byte)
	// Answer is told of the head of the response.
	Answer(status int, header http.Header)
	// Chunk is told of bytes of the response as they came; they are copied.
	Chunk(p []byte)
	// End is told that nothing more comes.
	End(e Ending)
}

// Request is the head of an exchange.
type Request struct {
	ID    string `json:"id"`    // UUIDv7
	Agent string `json:"agent"` // whose token it came with
	// Run tells commands apart that were run under the same name; "" for a token
	// that lasts.
	Run     string      `json:"run,omitempty"`
	Project string      `json:"project,omitempty"`
	Started time.Time   `json:"started"`
	Method  string      `json:"method"`
	Path    string      `json:"path"` // as it was sent, without a token
	Query   string      `json:"query,omitempty"`
	Header  http.Header `json:"header"`
	Size    int64       `json:"size"` // bytes of the body; -1 where nobody counted
	// Lost is why the body is not kept: one of the Lost constants.
	Lost string `json:"lost,omitempty"`
	// Secrets are what must never be written; they are not.
	Secrets Secrets `json:"-"`
}

// Why contents are not kept.
const (
	LostTooLarge = "too_large" // beyond what is read before it is passed on
	LostMemory   = "memory"    // more was under way than may be held in memory
	LostDisk     = "disk"      // the spool could not be written
	LostFault    = "fault"     // the recorder failed
	LostErased   = "erased"    // they were kept, and were erased since
)

// Sent is what reached the backend where that is not what the client sent: what is kept
// of its body, with edits.
type Sent struct {
	// Epoch is the number of the one that was in force; 0: none was.
	Epoch  int         `json:"epoch"`
	Client string      `json:"client"` // the key of the history
	Edits  []view.Edit `json:"edits"`
	// Why is one of the Sent constants.
	Why string `json:"why"`
	// Opens tells that the epoch began with this request.
	Opens bool `json:"opens,omitempty"`
	// Refused is what the backend said to another body before it got this one.
	Refused string `json:"refused,omitempty"`
	// Set by whoever keeps it: of the body that the edits make. Sum is empty where the
	// client's body was not kept.
	Size int64  `json:"size"`
	Sum  string `json:"sha256,omitempty"`
}

// Why another body was sent.
const (
	SentView = "view" // what is in force
	// SentLeft is the client's own body after a view was left: thinking that is bound to
	// the view is to be dropped.
	SentLeft = "left"
	SentRaw  = "raw" // the client's own body, after the backend refused another
)

// Ending is how an exchange ended.
type Ending struct {
	Ended    time.Time `json:"ended"`
	Complete bool      `json:"complete"` // the response came whole, and reached the client
	// CutBy is upstream or client where the response did not come whole.
	CutBy string `json:"cut_by,omitempty"`
	// Error is why there was no response at all.
	Error string `json:"error,omitempty"`
}

// Who cut a response.
const (
	CutByUpstream = "upstream"
	CutByClient   = "client"
)

// Mark says when bytes of a response came: those before End, and behind the mark
// before it, After so many microseconds since the request began.
type Mark struct {
	End   int64 `json:"e"`
	After int64 `json:"t"`
}

// Response is what came back.
type Response struct {
	Status int         `json:"status,omitempty"` // 0: nothing came
	Header http.Header `json:"header,omitempty"`
	Size   int64       `json:"size"` // bytes that passed, kept or not
	Marks  []Mark      `json:"marks,omitempty"`
	// Lost is why bytes are missing in Exchange.Answered.
	Lost string `json:"lost,omitempty"`
}

// Exchange is one request and its response as they are found in a spool.
type Exchange struct {
	Request  Request  `json:"request"`
	Response Response `json:"response"`
	// Sent is nil where the body reached the backend as it was.
	Sent *Sent `json:"sent,omitempty"`
	// Ending is nil for what had not ended, or whose recorder was killed.
	Ending *Ending `json:"ending,omitempty"`
	// Masked tells that a key stood in the contents: the bytes differ there, and
	// there only.
	Masked bool `json:"masked,omitempty"`
	// Asked and Answered are the bodies; only where they were asked for.
	Asked    []byte `json:"-"`
	Answered []byte `json:"-"`

	writer string // in which a Tail found it
}

// Of is the body that reached the backend, made of the client's.
func (s Sent) Of(asked []byte) ([]byte, error) {
	body, err := view.Edited(asked, s.Edits)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != s.Sum {
		return nil, errors.New("what is kept does not make the body that was sent")
	}
	return body, nil
}
