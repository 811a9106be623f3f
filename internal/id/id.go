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

// Derive returns the same UUID for the same parts, always. A step that may
// run twice derives the id of what it writes, and so writes it once (CHAT-28).
func Derive(parts ...string) string {
	return uuid.NewSHA1(space, []byte(strings.Join(parts, "\x00"))).String()
}

// Made is when New made an id, to the millisecond; a derived id does not know.
func Made(s string) (at time.Time, known bool) {
	u, err := uuid.Parse(s)
	if err != nil || u.Version() != 7 {
		return time.Time{}, false
	}
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
