package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"liminal/internal/config"
	"liminal/internal/telemetry"
)

// The exit codes, as help documents them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
)

// command is one subcommand. Its texts are what help prints.
type command struct {
	name     string
	takes    string   // after the name, as in "FILE…"
	summary  string   // one line
	about    string   // paragraphs
	examples []string // whole lines
	settings []string // flags shared with the environment, by flag name
	defaults []string // of this command alone, as in the environment: NAME=text
	flags    func(fs *flag.FlagSet) any
	run      func(ctx context.Context, in *invocation) error
}

// invocation is one call of a command.
type invocation struct {
	terminal
	args   []string // after the flags
	own    any      // what command.flags returned
	given  map[string]string
	preset []string // command.defaults
}

// commands lists every subcommand in the order help shows them.
func commands() []command {
	return []command{
		devCommand(), serverCommand(), workerCommand(), migrateCommand(),
		validateCommand(), loginCommand(), logoutCommand(), keyCommand(), artifactsCommand(), patchCommand(), runsCommand(), learnCommand(), adaptersCommand(), sourceCommand(), mcpCommand(), toolsCommand(), modelsCommand(), trainCommand(), replayCommand(), palaceCommand(), benchCommand(), evalCommand(), doctorCommand(), healthcheckCommand(), versionCommand(),
	}
}

// run finds the subcommand, runs it and turns its error into an exit code.
func run(ctx context.Context, t terminal, args []string) int {
	if len(args) == 0 {
		overview(t.err)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case readersCommand:
		return read(t, rest)
	case mcpProgramCommand:
		return becomeMCPProgram(t, rest)
	case trainersCommand:
		return trainInCell(t)
	case palaceProxyCommand:
		return becomePalace(ctx, t)
	case "help", "-h", "-help", "--help":
		return help(ctx, t, rest)
	case "-version", "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			return c.call(ctx, t, rest)
		}
	}
	fmt.Fprintf(t.err, "liminald: there is no subcommand %q; liminald help lists them\n", name)
	return exitUsage
}

func (c command) call(ctx context.Context, t terminal, args []string) int {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	in := &invocation{terminal: t, preset: c.defaults}
	if c.flags != nil {
		in.own = c.flags(fs)
	}
	shared := c.declare(fs)
	positional, err := parse(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		c.help(t.out, fs)
		return exitOK
	}
	if err == nil && c.takes == "" && len(positional) > 0 {
		err = fmt.Errorf("unexpected argument %q", positional[0])
	}
	if err != nil {
		return c.fail(t, usageError{err})
	}
	in.args, in.given = positional, shared()
	return c.fail(t, c.run(ctx, in))
}

// parse lets flags stand after arguments too, where people write them. What
// follows a lone -- is arguments only.
func parse(fs *flag.FlagSet, args []string) (positional []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		rest := fs.Args()
		if consumed := len(args) - len(rest); len(rest) == 0 || consumed > 0 && args[consumed-1] == "--" {
			return append(positional, rest...), nil
		}
		positional, args = append(positional, rest[0]), rest[1:]
	}
}

// declare adds the flags that share a name and a meaning with a variable of
// the environment. The function it returns tells which were given.
func (c command) declare(fs *flag.FlagSet) func() map[string]string {
	for _, v := range config.Variables() {
		for _, want := range c.settings {
			if v.Flag == want {
				fs.String(v.Flag, c.defaultOf(v), v.Doc+" (also "+v.Name+")")
			}
		}
	}
	return func() map[string]string {
		given := map[string]string{}
		fs.Visit(func(f *flag.Flag) {
			for _, want := range c.settings {
				if f.Name == want {
					given[f.Name] = f.Value.String()
				}
			}
		})
		return given
	}
}

func (c command) defaultOf(v config.Variable) string {
	for _, own := range c.defaults {
		if text, ok := strings.CutPrefix(own, v.Name+"="); ok {
			return text
		}
	}
	return v.Default
}

// config reads the settings; its error carries every mistake in them. The
// command's own defaults stand first, so that the environment overrides them.
func (in *invocation) config() (config.Config, error) {
	c, err := config.Load(slices.Concat(in.preset, in.environ), in.given)
	if err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// logger writes to standard error as the settings say.
func (in *invocation) logger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // config has checked it
	return telemetry.NewLogger(in.err, telemetry.LogOptions{Level: level, JSON: c.Format == "json"})
}

// usageError is a mistake of whoever typed the command line.
type usageError struct{ error }

// unreachableError is something configured that does not answer.
type unreachableError struct{ error }

// shownError is a failure the command has already described on its output.
type shownError struct{ code int }

func (e shownError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// fail prints err, if any, and returns its exit code.
func (c command) fail(t terminal, err error) int {
	var (
		usage       usageError
		unreachable unreachableError
		told        shownError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &told):
		return told.code
	case errors.As(err, &usage):
		fmt.Fprintf(t.err, "liminald %s: %s\nliminald %s --help tells more\n", c.name, sentence(err), c.name)
		return exitUsage
	case errors.As(err, &unreachable):
		fmt.Fprintf(t.err, "liminald %s: %s\n", c.name, sentence(err))
		return exitUnreachable
	default:
		fmt.Fprintf(t.err, "liminald %s: %s\n", c.name, sentence(err))
		return exitFailed
	}
}

func sentence(err error) string { return strings.TrimSpace(err.Error()) }
