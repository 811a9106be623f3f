package sqlite

import (
	"errors"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"liminal/internal/fault"
	"liminal/internal/store"
)

// report turns the driver's constraint errors into the seam's, and those that
// only the server's operator can mend into sentences that say so.
func report(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return &store.Violation{Unique: true, Name: constraint(e.Error()), Cause: err}
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return &store.Violation{Cause: err}
	case sqlite3.SQLITE_FULL:
		return fault.Wrap(fault.Internal, err, "The server's disk is full; nothing was stored. Whoever runs this server must free some space.")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(fault.Internal, err, "The server's database is damaged; nothing was stored. Whoever runs this server must restore a copy of it.")
	}
	return err
}

// constraint reads the name out of "…UNIQUE constraint failed: app_user.email (2067)"
// or "…failed: index 'artifact_name' (2067)"; of several columns it takes the last.
func constraint(message string) string {
	_, name, ok := strings.Cut(message, "constraint failed: ")
	if !ok {
		return ""
	}
	if i := strings.LastIndex(name, " ("); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "constraint failed: "); i >= 0 { // the driver says it twice
		name = name[i+len("constraint failed: "):]
	}
	if i := strings.LastIndex(name, ", "); i >= 0 {
		name = name[i+2:]
	}
	return strings.Trim(strings.TrimPrefix(name, "index "), "'")
}

// busy reports whether another program holds the file.
func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
