package postgres

import (
	"fmt"
	"sync"

	"liminal/internal/store"
)

// statement is a text of the body with @names replaced by positions.
type statement struct {
	text  string
	names []string
}

// statements are the texts a database has been asked, by text. The body has
// some two hundred; those with lists of ids are one more for each length.
type statements struct{ seen sync.Map }

// bind returns the text and the values in its order. An empty @user is NULL,
// which nothing equals: the system and a stranger have no id.
func (all *statements) bind(text string, args store.Args) (string, []any, error) {
	known, ok := all.seen.Load(text)
	if !ok {
		positional, names := store.Positional(text, '$')
		known, _ = all.seen.LoadOrStore(text, statement{positional, names})
	}
	s := known.(statement)
	values := make([]any, len(s.names))
	for i, name := range s.names {
		v, ok := args[name]
		if !ok {
			return "", nil, fmt.Errorf("the statement's parameter @%s is not given", name)
		}
		if name == "user" && v == "" {
			v = nil
		}
		values[i] = v
	}
	return s.text, values, nil
}
