// Package migrations is the numbered SQL of every dialect, and the plan that
// brings a database up to date or refuses to touch it.
//
// A file that has been applied is history: it is never edited, renamed or
// removed. The ledger in the database holds its checksum, and a difference
// stops the program before it reads a row. It imports the standard library
// only; the drivers that execute a plan live in their adapters.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// Dialects with a folder here. The folders have the same numbers and make the
// same tables and columns.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

//go:embed sqlite/*.sql postgres/*.sql
var folders embed.FS

// Migration is one file: "0001_kernel.sql" has Number 1 and Name "kernel".
type Migration struct {
	Number int
	Name   string
	SQL    string
	Sum    string // sha256 of the file, hex
}

// Entry is a row of the ledger: a migration the database has had.
type Entry struct {
	Number int
	Name   string
	Sum    string
}

// Of returns a dialect's migrations in order.
func Of(dialect string) ([]Migration, error) {
	dir, err := fs.Sub(folders, dialect)
	if err != nil {
		return nil, err
	}
	return Read(dir)
}

var fileName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// Read returns the migrations of a folder in order. Names must be
// NNNN_words.sql, numbered from 0001 without a gap.
func Read(dir fs.FS) ([]Migration, error) {
	paths, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	all := make([]Migration, 0, len(paths))
	for i, p := range paths {
		m, err := read(dir, p)
		if err != nil {
			return nil, err
		}
		if m.Number != i+1 {
			return nil, fmt.Errorf("migrations: %s stands where number %04d is expected; number the files from 0001 without a gap", p, i+1)
		}
		all = append(all, m)
	}
	return all, nil
}

func read(dir fs.FS, file string) (Migration, error) {
	parts := fileName.FindStringSubmatch(path.Base(file))
	if parts == nil {
		return Migration{}, fmt.Errorf("migrations: %s is not named NNNN_words.sql", file)
	}
	text, err := fs.ReadFile(dir, file)
	if err != nil {
		return Migration{}, err
	}
	sum := sha256.Sum256(text)
	m := Migration{Name: parts[2], SQL: string(text), Sum: hex.EncodeToString(sum[:])}
	m.Number, err = strconv.Atoi(parts[1])
	return m, err
}

// Plan compares what the program has with what the database has had, and
// returns what is still to be applied, in order. The ledger must be the
// beginning of the program's list: anything else is refused with a sentence
// that says what to do, because going on could destroy data.
func Plan(have []Migration, applied []Entry) ([]Migration, error) {
	if len(applied) > len(have) {
		newest := applied[len(applied)-1]
		return nil, fmt.Errorf("the database is newer than this program: it has had migration %04d_%s and the program ends at %04d; start the newer program, or restore the copy made before that migration", newest.Number, newest.Name, len(have))
	}
	for i, done := range applied {
		if err := same(have[i], done); err != nil {
			return nil, err
		}
	}
	return have[len(applied):], nil
}

func same(m Migration, done Entry) error {
	switch {
	case done.Number != m.Number || done.Name != m.Name:
		return fmt.Errorf("the database has had migration %04d_%s where this program has %04d_%s; a file was renamed, removed or inserted before the last one applied: restore the files as they were", done.Number, done.Name, m.Number, m.Name)
	case done.Sum != m.Sum:
		return fmt.Errorf("migration %04d_%s was edited after it was applied (sha256 %.12s in the database, %.12s in the program); restore the file and put the change into a new migration", m.Number, m.Name, done.Sum, m.Sum)
	}
	return nil
}
