package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"

	"liminal/schemas"
)

// maxStarts bounds the places of a text at which an object is looked for.
const maxStarts = 32

// structured reads an answer that was asked for as JSON (LORA-27): the first
// object in the text that is valid under schema, by itself or wrapped in
// another, with what it leaves out taken from defaults. Where there is none, the value is the defaults and valid is
// false: a graph then takes its default way instead of failing. Without a
// schema any object is valid; with one that cannot be compiled none is, and
// after one whose check is too much work nothing is looked for any more.
func structured(ctx context.Context, text string, schema json.RawMessage, defaults map[string]any) (value map[string]any, valid bool) {
	value = make(map[string]any, len(defaults))
	maps.Copy(value, defaults)
	var check *schemas.Schema
	if len(schema) > 0 {
		var err error
		if check, err = schemas.Compile(schema); err != nil {
			return value, false
		}
	}
	spent := false
	fits := func(object map[string]any) bool {
		if check == nil {
			return true
		}
		faults, err := check.Check(ctx, object)
		spent = err != nil || schemas.Refused(faults)
		return err == nil && len(faults) == 0
	}
	for range maxStarts {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		text = text[at:]
		var object map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		err := d.Decode(&object)
		switch {
		case err == nil && fits(object):
			maps.Copy(value, object)
			return value, true
		case errors.Is(err, io.ErrUnexpectedEOF), spent:
			return value, false // cut off: what is in it is a part
		case err == nil && attempts(schema, object):
			text = text[d.InputOffset():]
		default:
			text = text[1:]
		}
	}
	return value, false
}

// attempts reports whether an object that is not valid was meant to be: it has
// something the schema names. Another may be wrapped around the answer.
func attempts(schema json.RawMessage, object map[string]any) bool {
	var named struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &named) != nil {
		return false
	}
	for name := range object {
		if _, ok := named.Properties[name]; ok {
			return true
		}
	}
	return false
}
