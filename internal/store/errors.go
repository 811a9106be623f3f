package store

import (
	"errors"
	"strings"

	"liminal/internal/fault"
)

// fields names what a person gave for each constraint they can break; for the
// rest the column says it.
var fields = map[string]string{
	"artifact_name": "name",
	"run_request":   "request_id",
	"run_workflow":  "workflow_id",
	"message_path":  "seq",
	"document_path": "path",
}

// convert is the border from drivers to faults: what a person may see leaves
// as a fault, a broken constraint as a Conflict naming the field and never the
// database (API-04), and the rest as it is, for From to hide.
func convert(err error) error {
	var broken *Violation
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &broken):
		return err
	case broken.Unique:
		field := fieldOf(broken.Name)
		return fault.Wrap(fault.Conflict, broken, "Another entry has the same %s.", field).
			With(map[string]any{"field": field, "reason": "taken"})
	default:
		return fault.Wrap(fault.Conflict, broken, "Something this refers to does not exist any more.").
			With(map[string]any{"field": fieldOf(broken.Name), "reason": "missing_reference"})
	}
}

func fieldOf(constraint string) string {
	if f, ok := fields[constraint]; ok {
		return f
	}
	if constraint == "" {
		return "reference"
	}
	return constraint[strings.LastIndexByte(constraint, '.')+1:]
}

// missing is the answer for what does not exist and for what is another
// person's alike, so that an id tells nothing (ISO-01).
func missing(what string) error {
	return fault.New(fault.NotFound, "There is no such %s, or it is not yours.", what)
}
