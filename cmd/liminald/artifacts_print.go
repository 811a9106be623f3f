package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"liminal/artifacts"
	"liminal/internal/fault"
)

// refusalOf is what a server said, with every problem it found.
func refusalOf(err error) string {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return sentence(err)
	}
	var problems []artifacts.Problem
	raw, _ := refused.Details.(json.RawMessage)
	if json.Unmarshal(raw, &problems) != nil || len(problems) == 0 {
		return refused.Message
	}
	var b strings.Builder
	b.WriteString(refused.Message)
	writeProblems(&b, problems)
	return b.String()
}

// writeProblems lists what is wrong with a document, each at its place.
func writeProblems(b *strings.Builder, problems []artifacts.Problem) {
	for _, p := range problems {
		place := p.Path
		if place == "" {
			place = "(document)"
		}
		fmt.Fprintf(b, "\n  %s  %s", place, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(b, "\n      → %s", p.Hint)
		}
	}
}

// writeOps shows a JSON Patch, one operation a line, with what was there and,
// where it is about an item that has an id, such as a node, with the id: its
// place is another with every item before it.
func writeOps(b *strings.Builder, before, patch json.RawMessage) {
	var ops []json.RawMessage
	if json.Unmarshal(patch, &ops) != nil {
		return
	}
	for _, raw := range ops {
		var op struct {
			Op    string          `json:"op"`
			Path  string          `json:"path"`
			From  string          `json:"from"`
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(raw, &op) != nil {
			continue
		}
		fmt.Fprintf(b, "  %-7s %s", op.Op, op.Path)
		switch {
		case op.From != "":
			fmt.Fprintf(b, " from %s", op.From)
		case op.Op == "replace":
			fmt.Fprintf(b, "  %s → %s", short(at(before, op.Path)), short(op.Value))
		case op.Value != nil:
			fmt.Fprintf(b, "  %s", short(op.Value))
		default:
		}
		if id := itemOf(before, cmp.Or(op.From, op.Path), op.Op == "add"); id != "" {
			fmt.Fprintf(b, "  (%s)", id)
		}
		b.WriteByte('\n')
		if after, err := artifacts.Applied(before, json.RawMessage("["+string(raw)+"]")); err == nil {
			before = after // the places of the next operation are in this one
		}
	}
}

// itemOf is the id of the innermost item of a list that a pointer leads into;
// empty where it has none. What is added is no item yet.
func itemOf(doc json.RawMessage, pointer string, added bool) string {
	steps := strings.Split(pointer, "/")
	for n := len(steps); n > 1; n-- {
		if added && n == len(steps) {
			continue
		}
		if _, err := strconv.Atoi(steps[n-1]); err != nil {
			continue
		}
		var item struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(at(doc, strings.Join(steps[:n], "/")), &item) == nil && item.ID != "" {
			return item.ID
		}
	}
	return ""
}

// at is the value a JSON pointer names; nothing where there is none.
func at(doc json.RawMessage, pointer string) json.RawMessage {
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		var object map[string]json.RawMessage
		var list []json.RawMessage
		switch n, err := strconv.Atoi(step); {
		case json.Unmarshal(doc, &object) == nil:
			doc = object[step]
		case err == nil && json.Unmarshal(doc, &list) == nil && n >= 0 && n < len(list):
			doc = list[n]
		default:
			return nil
		}
	}
	return doc
}

// maxShort bounds a value in a line, in bytes.
const maxShort = 72

func short(value json.RawMessage) string {
	s := strings.Join(strings.Fields(string(value)), " ")
	if len(s) > maxShort {
		return strings.ToValidUTF8(s[:maxShort], "") + "…"
	}
	return s
}
