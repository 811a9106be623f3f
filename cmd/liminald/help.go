package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"liminal/internal/config"
)

const exitCodes = `Exit codes:
  0  all is well
  1  it failed, or found faults; the output says which
  2  the command line or the settings are wrong
  3  something that was configured does not answer
`

// overview is what `liminald` alone and `liminald help` print.
func overview(w io.Writer) {
	fmt.Fprint(w, `liminald runs Liminal: a chat platform whose behaviour is data, run durably.

Usage: liminald SUBCOMMAND [flags] [arguments]

`)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(tab, "  %s\t%s\n", c.name, c.summary)
	}
	_ = tab.Flush() // a terminal that cannot be written to cannot be told so
	fmt.Fprint(w, `
  liminald dev                  starts everything on this machine
  liminald SUBCOMMAND --help    tells more about one of them
  liminald help environment     lists every setting

`, exitCodes)
}

// help prints the overview, a topic or a subcommand's own help.
func help(ctx context.Context, t terminal, topic []string) int {
	if len(topic) == 0 {
		overview(t.out)
		return exitOK
	}
	if topic[0] == "environment" {
		environment(t.out)
		return exitOK
	}
	for _, c := range commands() {
		if c.name == topic[0] {
			return c.call(ctx, t, []string{"--help"})
		}
	}
	fmt.Fprintf(t.err, "liminald: there is no help on %q; try liminald help\n", topic[0])
	return exitUsage
}

func (c command) help(w io.Writer, fs *flag.FlagSet) {
	takes := c.takes
	if takes != "" {
		takes = " " + takes
	}
	fmt.Fprintf(w, "liminald %s: %s\n\nUsage: liminald %s [flags]%s\n\n%s\n", c.name, c.summary, c.name, takes, strings.TrimSpace(c.about))
	var flags []*flag.Flag
	fs.VisitAll(func(f *flag.Flag) { flags = append(flags, f) })
	if len(flags) > 0 {
		fmt.Fprint(w, "\nFlags:\n")
		tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, f := range flags {
			fmt.Fprintf(tab, "  --%s\t%s%s\n", f.Name, f.Usage, defaultOf(f))
		}
		_ = tab.Flush() // as above
	}
	if len(c.examples) > 0 {
		fmt.Fprintf(w, "\nExamples:\n  %s\n", strings.Join(c.examples, "\n  "))
	}
	fmt.Fprintf(w, "\nEvery other setting comes from the environment: liminald help environment.\n\n%s", exitCodes)
}

func defaultOf(f *flag.Flag) string {
	if f.DefValue == "" || f.DefValue == "false" || f.DefValue == "0" {
		return ""
	}
	return "; default " + f.DefValue
}

// environment lists every variable with its default.
func environment(w io.Writer) {
	fmt.Fprint(w, "Settings from the environment; a flag, where there is one, wins.\n\n")
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range config.Variables() {
		name := v.Name
		if v.Flag != "" {
			name += ", --" + v.Flag
		}
		value := v.Default
		if value == "" {
			value = "(unset)"
		}
		fmt.Fprintf(tab, "  %s\t%s\t%s\n", name, value, v.Doc)
	}
	_ = tab.Flush() // as above
	fmt.Fprint(w, "\nOf each assistant with a page of its own, {PATH} being that page's path in capitals:\n\n")
	for _, s := range config.SurfaceHelp() {
		fmt.Fprintf(tab, "  %s\t%s\n", s[0], s[1])
	}
	_ = tab.Flush()
}
