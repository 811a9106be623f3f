package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"liminal/internal/identity"
)

// Args are a statement's named parameters: @name in the text, name here.
// Values are strings, integers, booleans, byte slices, time.Time (in
// microseconds) and nil.
type Args map[string]any

// DB is the seam between the body and a database. An adapter is about two
// hundred lines; the body above it is the same for all.
type DB interface {
	// Read runs f on one snapshot that f cannot change.
	Read(ctx context.Context, v identity.Viewer, f func(Tx) error) error
	// Write runs f in a transaction: all of it is durable when Write returns
	// nil, and none of it otherwise. f may be run again, so it assigns what it
	// found and does not add to it.
	Write(ctx context.Context, v identity.Viewer, f func(Tx) error) error
}

// Looker is a DB for which one statement needs no transaction, and one that finds
// rows by their ids nobody who could cut it off: both cost more than it does.
type Looker interface {
	// Look runs f, which runs one statement that takes microseconds
	// however much there is. A second one is an error.
	Look(ctx context.Context, v identity.Viewer, f func(Tx) error) error
}

// Tx is a transaction. The viewer it was begun for is known to the database
// where that can be a second lock (row-level security); the predicate is in
// the SQL all the same.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(query string, args Args) (int64, error)
	// Query calls each once a row; scan is good until each returns.
	Query(query string, args Args, each func(scan Scan) error) error
	// Lock waits until no other transaction holds key, and holds it until this
	// one ends. Every read that decides a later write stands behind a Lock: a
	// single writer would hide the race, other databases would not.
	Lock(key string) error
}

// Scan copies the columns of the current row.
type Scan func(dest ...any) error

// Violation is a constraint that a write broke, as an adapter reports it.
type Violation struct {
	Unique bool   // else: a reference to a row that does not exist
	Name   string // of the index, or "table.column" ("" when the database does not say)
	Cause  error
}

func (v *Violation) Error() string { return fmt.Sprintf("constraint %q: %v", v.Name, v.Cause) }

func (v *Violation) Unwrap() error { return v.Cause }

// errStop ends a Query early.
var errStop = errors.New("stop")

// first scans the first row into dest; found is false when there is none.
func first(tx Tx, query string, args Args, dest ...any) (found bool, err error) {
	err = tx.Query(query, args, func(scan Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		found = true
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// all collects one T a row.
func all[T any](tx Tx, query string, args Args, read func(Scan) (T, error)) ([]T, error) {
	var list []T
	err := tx.Query(query, args, func(scan Scan) error {
		t, err := read(scan)
		if err == nil {
			list = append(list, t)
		}
		return err
	})
	return list, err
}

// in adds one parameter per value to args and returns the text of the list
// for an IN: "(@id0, @id1)". An empty list is "(NULL)", which nothing equals.
func (a Args) in(name string, values []string) string {
	if len(values) == 0 {
		return "(NULL)"
	}
	names := make([]string, len(values))
	for i, v := range values {
		p := fmt.Sprintf("%s%d", name, i)
		a[p], names[i] = v, p
	}
	return listed(names)
}

// numbers is in for numbers.
func (a Args) numbers(name string, values []int64) string {
	if len(values) == 0 {
		return "(NULL)"
	}
	names := make([]string, len(values))
	for i, n := range values {
		p := fmt.Sprintf("%s%d", name, i)
		a[p], names[i] = n, p
	}
	return listed(names)
}

// listed are parameters as the text of a list.
func listed(names []string) string { return "(@" + strings.Join(names, ", @") + ")" }
