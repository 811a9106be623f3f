package store

import (
	"fmt"
	"strings"
	"sync"
)

// bulkSizes are how many rows a statement writes: few sizes, so that a database has few
// statements to prepare.
var bulkSizes = []int{64, 8, 1}

// bulk are rows of one INSERT that wait, to be written many by a statement.
type bulk struct {
	text string // INSERT … VALUES (…) …, of one row
	rows []Args
}

// flush writes what waits.
func (b *bulk) flush(tx Tx) error {
	rows := b.rows
	b.rows = nil
	for _, size := range bulkSizes {
		for len(rows) >= size {
			s := bulkOf(b.text, size)
			args := make(Args, size*len(s.names))
			for i, row := range rows[:size] {
				for _, name := range s.names {
					v, ok := row[name]
					if !ok {
						return fmt.Errorf("the row of a statement has no @%s: %s", name, b.text)
					}
					args[nameOf(name, i)] = v
				}
			}
			if _, err := tx.Exec(s.text, args); err != nil {
				return err
			}
			rows = rows[size:]
		}
	}
	return nil
}

// nameOf is the parameter of a row; the person is one for all.
func nameOf(name string, row int) string {
	if name == "user" || row == 0 {
		return name
	}
	return fmt.Sprint(name, "_", row)
}

type bulkText struct {
	text  string
	names []string
}

var bulkTexts sync.Map

// bulkOf is the text of so many rows.
func bulkOf(text string, rows int) bulkText {
	type key struct {
		text string
		rows int
	}
	if s, ok := bulkTexts.Load(key{text, rows}); ok {
		return s.(bulkText)
	}
	_, names := Positional(text, '?')
	const values = "VALUES ("
	from := strings.Index(text, values) + len(values) - 1
	to := from + strings.IndexByte(text[from:], ')') + 1 // no function is in it
	var out strings.Builder
	out.WriteString(text[:from])
	for i := range rows {
		if i > 0 {
			out.WriteString(", ")
		}
		columns := strings.Split(text[from+1:to-1], ",")
		for n, c := range columns {
			if name, is := strings.CutPrefix(strings.TrimSpace(c), "@"); is {
				columns[n] = "@" + nameOf(name, i)
			}
		}
		out.WriteString("(" + strings.Join(columns, ", ") + ")")
	}
	out.WriteString(text[to:])
	s, _ := bulkTexts.LoadOrStore(key{text, rows}, bulkText{out.String(), names})
	return s.(bulkText)
}
