package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/tool/reference"
)

func toolsCommand() command {
	return command{
		name:    "tools",
		takes:   "[NAME]",
		summary: "list the tools workflows may call, with their inputs and outputs",
		about: `
Lists the program's own tools; with NAME, what one takes, gives and fails with.
The beginning of a NAME lists all tools that begin so. No server is needed: a
server may have more, made of workflows, which "liminald artifacts export"
writes to files.`,
		examples: []string{"liminald tools", "liminald tools rag", "liminald tools rag.search_v1", "liminald tools rag.search_v1 --json"},
		flags:    jsonFlag,
		run:      runTools,
	}
}

func runTools(_ context.Context, in *invocation) error {
	if len(in.args) > 1 {
		return usageError{fmt.Errorf("name one tool, or the beginning of some; %q is another", in.args[1])}
	}
	specs, err := builtin.Specs()
	if err != nil {
		return err
	}
	named := strings.Join(in.args, "")
	specs = slices.DeleteFunc(specs, func(s tool.Spec) bool { return !strings.HasPrefix(s.Name, named) })
	if at := slices.IndexFunc(specs, func(s tool.Spec) bool { return s.Name == named }); at >= 0 {
		specs = specs[at : at+1]
	}
	slices.SortFunc(specs, func(a, b tool.Spec) int { return cmp.Compare(a.Name, b.Name) })
	switch asJSON := *in.own.(*bool); {
	case len(specs) == 0:
		return fmt.Errorf("the program has no tool %s; liminald tools lists them", named)
	case asJSON:
		return writeJSON(in.out, specs)
	case len(specs) == 1:
		return printTool(in, specs[0])
	}
	return printTools(in, specs)
}

// printTools lists tools, a line each.
func printTools(in *invocation, specs []tool.Spec) error {
	tab := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
	for _, s := range specs {
		about, _, _ := strings.Cut(s.Description, ". ")
		fmt.Fprintf(tab, "%s\t%s\n", s.Name, strings.TrimSuffix(about, "."))
	}
	return tab.Flush()
}

// depthOfTools is how far members of members are shown.
const depthOfTools = 2

func printTool(in *invocation, s tool.Spec) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n", s.Name, wrapped(s.Description), callsOf(s))
	for _, part := range []struct {
		name, must string
		doc        json.RawMessage
	}{{"Inputs", "required", s.InputSchema}, {"Outputs", "always there", s.OutputSchema}} {
		o, err := reference.Read(part.doc, depthOfTools)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		fmt.Fprintf(&b, "\n%s:\n", part.name)
		printFields(&b, o, part.must)
	}
	remarks, err := builtin.Remarks(s.Name)
	if err != nil {
		return err
	}
	failures := slices.DeleteFunc(slices.Clone(remarks), func(r builtin.Remark) bool { return r.Code == "" })
	if len(failures) > 0 {
		b.WriteString("\nFails, beside what every tool may fail with:\n")
	}
	for _, r := range failures {
		fmt.Fprintf(&b, "  %s  %s\n", r.Code, r.When)
	}
	for _, r := range remarks {
		if r.Code == "" {
			fmt.Fprintf(&b, "\nNeeds %s.\n", r.When)
		}
	}
	_, err = fmt.Fprint(in.out, b.String())
	return err
}

// printFields lists members; must is what is said of those that have to be there.
func printFields(b *strings.Builder, o reference.Object, must string) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, f := range o.Fields {
		is := f.Type
		if len(f.Allowed) > 0 {
			is = strings.Join(f.Allowed, " | ")
		}
		var notes []string
		if f.Required {
			notes = append(notes, must)
		}
		for _, note := range []string{f.Bounds, f.About} {
			if note != "" {
				notes = append(notes, note)
			}
		}
		if f.Default != "" {
			notes = append(notes, "without it: "+f.Default)
		}
		fmt.Fprintf(tab, "  %s\t%s\t%s\n", f.Name, is, strings.Join(notes, "; "))
	}
	_ = tab.Flush() // into memory
	if len(o.Fields) == 0 && o.Others {
		fmt.Fprintf(b, "  any object\n")
	}
}

// callsOf says where calls of a tool run and what they may do.
func callsOf(s tool.Spec) string {
	words := []string{"runs on the queue " + s.On(), "takes " + s.Timeout().String() + " at most"}
	switch {
	case s.Workflow != "":
		words = []string{"runs as the workflow " + s.Workflow}
	case s.Where() == tool.Inline:
		words[0] = "runs inline"
	}
	for _, one := range []struct {
		is   bool
		word string
	}{
		{s.ReadOnly, "changes nothing"}, {!s.IsIdempotent(), "tried once"},
		{s.Confirm.Asks, "an agent asks first"}, {s.Privileged, "for workflows of administrators"},
	} {
		if one.is {
			words = append(words, one.word)
		}
	}
	return strings.Join(words, ", ")
}

// wrapped breaks a text into lines a terminal shows whole.
func wrapped(text string) string {
	const width = 78
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		switch {
		case at > 0 && at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		case at > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
