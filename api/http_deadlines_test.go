package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// deadlineRecorder remembers until when the last read of a body might take.
type deadlineRecorder struct {
	http.ResponseWriter
	last time.Time
}

func (d *deadlineRecorder) SetReadDeadline(t time.Time) error {
	d.last = t
	return nil
}

// Storing a file may take longer than its sender may pause.
func TestABodyThatHasArrivedHurriesNobody(t *testing.T) {
	t.Parallel()
	var w deadlineRecorder
	body := defaultDeadlines.body(&w, io.NopCloser(strings.NewReader("a file")))
	if _, err := body.Read(make([]byte, 2)); err != nil || w.last.IsZero() {
		t.Errorf("its first bytes have until %v, %v", w.last, err)
	}
	if rest, err := io.ReadAll(body); err != nil || string(rest) != "file" || !w.last.IsZero() {
		t.Errorf("after its end there is still a deadline, %v: %q, %v", w.last, rest, err)
	}
}
