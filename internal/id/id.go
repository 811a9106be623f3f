// Package id makes the identifiers of everything Liminal stores.
//
// It imports the standard library and google/uuid only.
package id

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

// space is the UUIDv5 namespace of derived identifiers.
var space = uuid.MustParse("6f2b1c0e-3f6e-5d4b-9a43-1c6d0f9e7a55")

// New returns a UUIDv7 in its text form: unique, and ordered by time.
func New() string { return uuid.Must(uuid.NewV7()).String() }

// NewUnkept returns a UUIDv8 in its text form: unique and ordered by time as those
// of New are, and told apart from them by its version. It is the id of a run of
// which nothing is kept, so that whoever writes something of the run knows it by
// the id alone and asks no store.
func NewUnkept() string {
	u := uuid.Must(uuid.NewV7())
	u[6] = 0x80 | u[6]&0x0f
	return u.String()
}

// Unkept reports whether NewUnkept made an id.
func Unkept(s string) bool { return len(s) == 36 && s[14] == '8' && Valid(s) }

// UnkeptIn is the run that the id of a workflow names, of a turn or of what it
// spawned, where nothing is kept of it; else empty.
func UnkeptIn(workflowID string) string {
	_, rest, _ := strings.Cut(workflowID, ":")
	if len(rest) < 36 || !Unkept(rest[:36]) {
		return ""
	}
	return rest[:36]
}

// Derive returns the same UUID for the same parts, always. A step that may
// run twice derives the id of what it writes, and so writes it once (CHAT-28).
func Derive(parts ...string) string {
	return uuid.NewSHA1(space, []byte(strings.Join(parts, "\x00"))).String()
}

// Made is when New or NewUnkept made an id, to the millisecond; a derived id does
// not know.
func Made(s string) (at time.Time, known bool) {
	u, err := uuid.Parse(s)
	if err != nil || u.Version() != 7 && u.Version() != 8 {
		return time.Time{}, false
	}
	u[6] = 0x70 | u[6]&0x0f // the time of both stands in the same place
	return time.Unix(u.Time().UnixTime()), true
}

// Canonical is an id as New and Derive write it: keys of locks and caches, and
// databases that keep ids as text, know no other spelling. What is no UUID
// stays as it is.
func Canonical(s string) string {
	u, err := uuid.Parse(s)
	if err != nil {
		return s
	}
	return u.String()
}

// Valid reports whether s is a UUID in its canonical text form.
func Valid(s string) bool {
	u, err := uuid.Parse(s)
	return err == nil && len(s) == 36 && strings.EqualFold(u.String(), s)
}
