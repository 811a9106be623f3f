package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"liminal/internal/fault"
)

// now is the time every write of a transaction carries, to the microsecond
// both databases keep.
func (s *Store) now() time.Time { return stamp(s.clock()) }

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// moment binds a time; the zero time is NULL.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// when scans a time from microseconds or from the database's own type; NULL
// is the zero time.
type when struct{ t *time.Time }

// Scan implements sql.Scanner.
func (w when) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*w.t = time.Time{}
	case int64:
		*w.t = time.UnixMicro(v).UTC()
	case time.Time:
		*w.t = stamp(v)
	default:
		return fmt.Errorf("a %T is no time", src)
	}
	return nil
}

// optional binds a text that may be absent; "" is NULL.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// text scans a text that may be NULL, which is "".
type text struct{ s *string }

// Scan implements sql.Scanner.
func (t text) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t.s = ""
	case string:
		*t.s = v
	case []byte:
		*t.s = string(v)
	default:
		return fmt.Errorf("a %T is no text", src)
	}
	return nil
}

// rawJSON binds a JSON document; nil is NULL.
func rawJSON(d json.RawMessage) any {
	if d == nil {
		return nil
	}
	return string(d)
}

// encoded binds v as JSON; an empty value is NULL.
func encoded[T any](v T, empty bool) (any, error) {
	if empty {
		return nil, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "A value cannot be stored as JSON.")
	}
	return string(unescaped(b)), nil
}

// writable is a text as every database can hold it: UTF-8 without the
// character NUL. What people send is refused with it; what a model writes must
// not keep its turn from ending.
func writable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// unescaped is writable for JSON, which escapes a NUL.
func unescaped(doc []byte) []byte {
	nul := []byte(`\u0000`)
	if !bytes.Contains(doc, nul) {
		return doc
	}
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		switch {
		case bytes.HasPrefix(doc[i:], nul):
			out, i = append(out, `\ufffd`...), i+len(nul)
		case doc[i] == '\\' && i+1 < len(doc):
			out, i = append(out, doc[i:i+2]...), i+2
		default:
			out, i = append(out, doc[i]), i+1
		}
	}
	return out
}

// decode scans a JSON document into v; NULL leaves v as it is.
type decode struct{ v any }

// Scan implements sql.Scanner.
func (d decode) Scan(src any) error {
	var s string
	if err := (text{&s}).Scan(src); err != nil || s == "" {
		return err
	}
	if raw, ok := d.v.(*json.RawMessage); ok {
		*raw = json.RawMessage(s)
		return nil
	}
	return json.Unmarshal([]byte(s), d.v)
}
