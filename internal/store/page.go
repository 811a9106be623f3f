package store

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// Limits of a list (API-09 leaves them to us).
const (
	pageDefault = 20
	pageMost    = 100
)

func pageSize(limit int) int {
	if limit <= 0 {
		return pageDefault
	}
	return min(limit, pageMost)
}

// place is a position in a list that is ordered by a time and then an id, both
// falling. The zero place is the beginning.
type place struct {
	at time.Time
	id string
}

// far lies after every time a row can have.
var far = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// cursor is the opaque text of a position; only parse reads it.
func (p place) cursor() string {
	return opaque(strconv.FormatInt(p.at.UnixMicro(), 36), p.id)
}

// begin is the place a list of rows with UUIDs starts after.
func begin(cursor string) (place, error) { return beginOf(cursor, id.Valid) }

// beginOf is begin for rows whose second key is something else. A cursor comes
// from outside: what no row can have is refused before a database sees it.
func beginOf(cursor string, valid func(key string) bool) (place, error) {
	if cursor == "" {
		return place{at: far}, nil
	}
	at, key, err := parse(cursor)
	if err != nil {
		return place{}, err
	}
	us, err := strconv.ParseInt(at, 36, 64)
	if err != nil || us < 0 || us > far.UnixMicro() || !valid(key) {
		return place{}, badCursor()
	}
	return place{at: time.UnixMicro(us).UTC(), id: key}, nil
}

// plainText reports whether every database can hold s as a text.
func plainText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// cut takes the row beyond the page off, and returns the cursor to it.
func cut[T any](list []T, size int, at func(T) place) ([]T, string) {
	if len(list) <= size {
		return list, ""
	}
	list = list[:size]
	return list, at(list[size-1]).cursor()
}

func opaque(a, b string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(a + "\x00" + b))
}

func parse(cursor string) (a, b string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", "", badCursor()
	}
	a, b, ok := strings.Cut(string(raw), "\x00")
	if !ok {
		return "", "", badCursor()
	}
	return a, b, nil
}

func badCursor() error {
	return fault.New(fault.Invalid, "The cursor is not one this list gave out; leave it away to begin at the start.").
		With(map[string]any{"field": "cursor"})
}

// nobody is the lowest id there can be: it stands where a list has no place.
const nobody = "00000000-0000-0000-0000-000000000000"

func orNil(id string) string {
	if id == "" {
		return nobody
	}
	return id
}
