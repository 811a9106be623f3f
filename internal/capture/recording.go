package capture

import (
	"net/http"
	"time"
)

// A response is handed over in parts: of this size, or of this age when something
// more comes. Whoever kills the recorder loses the last part of what was under
// way, and long streams hold little memory.
const (
	partSize = 32 << 10
	partAge  = time.Second
)

// recording is a Recording of a Spool.
type recording struct {
	spool    *Spool
	id       string
	started  time.Time
	secrets  Secrets
	response Response
	buf      []byte // what came since the last part
	from     int64  // where in the response buf begins
	marks    []Mark
	parted   time.Time
}

// Begin implements Recorder.
func (s *Spool) Begin(r Request, body []byte) Recording {
	s.mu.Lock()
	s.stats.Exchanges++
	s.stats.Bytes += max(0, r.Size)
	s.mu.Unlock()
	if body != nil && !s.hold(len(body)) {
		body, r.Lost = nil, LostMemory
	}
	if r.Lost != "" {
		s.lost(r.Lost)
	}
	out := &recording{spool: s, id: r.ID, started: r.Started, parted: r.Started, secrets: r.Secrets}
	r.Header, r.Query = r.Secrets.header(r.Header), r.Secrets.query(r.Query)
	s.push(&entry{kind: kindRequest, head: &requestRecord{Request: r}, content: body, secrets: r.Secrets})
	return out
}

func (s *Spool) lost(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose(why)
}

// Sent implements Recording. The body is kept already: of what was sent only the edits
// are, and a sum, which is made where records are written.
func (r *recording) Sent(s Sent, body []byte) {
	if !r.spool.hold(len(body)) {
		body = nil
	}
	s.Refused = r.secrets.text(s.Refused)
	r.spool.push(&entry{kind: kindSent, head: &sentRecord{ID: r.id, Sent: s}, content: body, secrets: r.secrets})
}

// Answer implements Recording.
func (r *recording) Answer(status int, header http.Header) {
	r.response.Status, r.response.Header = status, r.secrets.header(header)
}

// Chunk implements Recording.
func (r *recording) Chunk(p []byte) {
	r.response.Size += int64(len(p))
	if r.response.Lost != "" {
		return
	}
	if !r.spool.hold(len(p)) {
		r.response.Lost = LostMemory
		r.spool.lost(LostMemory)
		r.part(true)
		return
	}
	now := time.Now()
	r.buf = append(r.buf, p...)
	r.marks = append(r.marks, Mark{End: r.response.Size, After: now.Sub(r.started).Microseconds()})
	if len(r.buf) >= partSize || now.Sub(r.parted) >= partAge {
		r.parted = now
		r.part(false)
	}
}

// part hands over what came since the last one. Unless it is the last, so much of
// its end stays that a key which has only begun to come is masked when it is there.
func (r *recording) part(last bool) {
	content, masked := r.secrets.mask(r.buf, true)
	var rest []byte
	if keep := r.secrets.longest() - 1; !last && keep > 0 {
		if keep >= len(content) {
			return
		}
		content, rest = content[:len(content)-keep], append(make([]byte, 0, partSize/4), content[len(content)-keep:]...)
	}
	if len(content) == 0 {
		return
	}
	r.spool.push(&entry{kind: kindPart, head: &partRecord{ID: r.id, From: r.from, Marks: r.marks, Masked: masked}, content: content})
	r.from += int64(len(content))
	r.buf, r.marks = rest, nil
}

// End implements Recording.
func (r *recording) End(e Ending) {
	r.part(true)
	r.spool.mu.Lock()
	r.spool.stats.Bytes += r.response.Size
	r.spool.mu.Unlock()
	e.Error = r.secrets.text(e.Error)
	r.spool.push(&entry{kind: kindEnding, head: &endingRecord{ID: r.id, Response: r.response, Ending: e}})
}
