package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

func validateCommand() command {
	return command{
		name:    "validate",
		takes:   "FILE…",
		summary: "check artifact files: schema, graph and references, all faults at once",
		about: `
Checks artifact documents (workflows, routing policies, tool specs and others;
each says what it is in "kind") exactly as the API does when one is written by
an administrator. Documents may refer to the program's defaults and to each
other; one that is given here replaces a default of its name. A workflow or
policy is known by its file's name without .json, a tool by its "name".

Every fault is told, with its place in the document and a hint. Of a workflow
without faults it warns of what it says and hardly means: inputs a tool does
not take, nodes that nothing leads to, and vars that are needed where the node
that sets them was skipped. A warning stops nobody, unless --strict is given.
Nothing is stored and no server is needed.`,
		examples: []string{
			"liminald validate my-workflow.json",
			"liminald validate artifacts/*.json --json",
			"liminald validate artifacts/*.json --strict",
		},
		flags: validateFlags,
		run:   runValidate,
	}
}

type validateOptions struct{ json, strict bool }

func validateFlags(fs *flag.FlagSet) any {
	o := &validateOptions{}
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	fs.BoolVar(&o.strict, "strict", false, "exit 1 for warnings too")
	return o
}

// checked is what became of one file.
type checked struct {
	File     string              `json:"file"`
	Kind     string              `json:"kind,omitempty"`
	OK       bool                `json:"ok"`
	Problems []artifacts.Problem `json:"problems,omitempty"`
	Warnings []artifacts.Problem `json:"warnings,omitempty"` // of one without problems
}

func runValidate(ctx context.Context, in *invocation) error {
	if len(in.args) == 0 {
		return usageError{fmt.Errorf("name at least one FILE to check")}
	}
	found, err := validateFiles(ctx, in.args)
	if err != nil {
		return err
	}
	o := in.own.(*validateOptions)
	if o.json {
		err = writeJSON(in.out, found)
	} else {
		err = printChecked(in.out, found)
	}
	if err != nil {
		return err
	}
	for _, c := range found {
		if !c.OK || o.strict && len(c.Warnings) > 0 {
			return shownError{exitFailed}
		}
	}
	return nil
}

// validateFiles checks every file against the defaults and the others.
func validateFiles(ctx context.Context, files []string) ([]checked, error) {
	specs, err := builtin.Specs()
	if err != nil {
		return nil, err
	}
	here := &memStore{}
	library := artifacts.NewLibrary(here, specs)
	if err := library.Seed(ctx); err != nil {
		return nil, err
	}
	found := make([]checked, len(files))
	docs := make([][]byte, len(files))
	for i, file := range files {
		found[i] = checked{File: file}
		if docs[i], err = os.ReadFile(file); err != nil {
			found[i].fault("", "the file cannot be read: "+withoutPath(err).Error(), "")
			continue
		}
		found[i].Kind = kindOf(docs[i])
		here.put(found[i].Kind, nameOf(file, docs[i]), docs[i])
	}
	for i := range found {
		if len(found[i].Problems) > 0 {
			continue
		}
		if err := found[i].check(ctx, library, docs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", files[i], err)
		}
	}
	return found, nil
}

func (c *checked) check(ctx context.Context, library *artifacts.Library, doc []byte) error {
	if !json.Valid(doc) {
		c.fault("", "the file is not JSON: "+jsonFault(doc), "")
		return nil
	}
	if c.Kind == "" {
		c.fault("/kind", "the document does not say what it is", `write "kind": "workflow.chat" or another kind`)
		return nil
	}
	err := library.Check(ctx, identity.System(), c.Kind, doc)
	c.Problems = artifacts.Problems(err)
	c.OK = err == nil
	if err != nil && len(c.Problems) == 0 {
		c.fault("", err.Error(), "")
	}
	if c.OK {
		if c.Warnings, err = library.Warnings(ctx, identity.System(), c.Kind, doc); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (c *checked) fault(path, message, hint string) {
	c.Problems = append(c.Problems, artifacts.Problem{Path: path, Message: message, Hint: hint})
}

func jsonFault(doc []byte) string {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return err.Error()
	}
	return "it is empty"
}

func kindOf(doc []byte) string {
	var d struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal(doc, &d) // check tells what is wrong with it
	return d.Kind
}

// nameOf is the name others refer to a document by.
func nameOf(file string, doc []byte) string {
	if spec, err := tool.Decode(doc); err == nil && spec.Kind == artifacts.KindTool {
		return spec.Name
	}
	return strings.TrimSuffix(filepath.Base(file), ".json")
}

func printChecked(w io.Writer, found []checked) error {
	var b strings.Builder
	for _, c := range found {
		switch {
		case c.OK && len(c.Warnings) == 0:
			fmt.Fprintf(&b, "%s: ok (%s)", c.File, c.Kind)
		case c.OK:
			fmt.Fprintf(&b, "%s: ok (%s), with %s", c.File, c.Kind, count(len(c.Warnings), "warning"))
		default:
			fmt.Fprintf(&b, "%s: %s", c.File, count(len(c.Problems), "fault"))
		}
		writeProblems(&b, slices.Concat(c.Problems, c.Warnings))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
