package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"liminal/internal/bench"
)

func benchCommand() command {
	return command{
		name:    "bench",
		summary: "measure this platform on this machine, against the bare engine",
		about: `
Starts a platform of its own on a scratch folder, in this process, and prints
one table: processor time and duration of turns, alone and many at once,
beside the bare engine's empty workflow, token delays, resume latency, bytes a turn leaves behind, what
paused runs cost, ingestion and search. Each figure names its target, where it
has one, and whether it was met. It takes some minutes, and nothing else
should run beside it.

With DATABASE_URL, REDIS_URL and TEMPORAL_ADDRESS it measures what stands on
those instead, beside that cluster's empty workflow; the database must be
fresh from liminald migrate, and keeps what was written. There are no targets
then.

The exit code does not depend on the targets: they are for one machine, and
this may be another.`,
		examples: []string{"liminald bench", "liminald bench --quick", "liminald bench --only turn,chat --profile cpu.pprof", "liminald bench --json > bench.json"},
		flags: func(fs *flag.FlagSet) any {
			o := &benchFlags{}
			fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of the table")
			fs.BoolVar(&o.quick, "quick", false, "measure little of everything, in about a minute")
			fs.StringVar(&o.only, "only", "", "measure only these, with commas between, beside the floor, which is always measured and profiled where it is named: "+strings.Join(bench.Names(), ", "))
			fs.StringVar(&o.profile, "profile", "", "write a profile of the processors to this file, for go tool pprof")
			fs.StringVar(&o.dir, "scratch", "", "folder to make the scratch folder in; its disk is measured too; default the system's")
			return o
		},
		run: runBench,
	}
}

type benchFlags struct {
	json, quick        bool
	dir, only, profile string
}

func runBench(ctx context.Context, in *invocation) error {
	o := in.own.(*benchFlags)
	conf, err := in.config()
	if err != nil {
		return err
	}
	options := bench.Options{Config: conf, Quick: o.quick, Version: buildVersion(), Dir: o.dir, Progress: in.err}
	if self, err := os.Executable(); err == nil { // else that is not measured
		options.Proxy = func(data string) *exec.Cmd {
			cmd := exec.Command(self, palaceProxyCommand)
			cmd.Env = []string{"SHARED_FS_ROOT=" + data, "PALACE_ADDR=127.0.0.1:0"}
			return cmd
		}
	}
	if o.only != "" {
		options.Only = strings.Split(o.only, ",")
	}
	var profile *os.File
	if o.profile != "" {
		if profile, err = os.Create(o.profile); err != nil {
			return fmt.Errorf("the profile cannot be written: %w", err)
		}
		options.Profile = profile
	}
	r, err := bench.Run(ctx, options)
	if profile != nil {
		err = errors.Join(err, profile.Close())
	}
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, r)
	}
	if err := r.Print(in.out); err != nil {
		return err
	}
	return summary(in.out, r)
}

func summary(w io.Writer, r bench.Report) error {
	met := 0
	for _, row := range r.Rows {
		if row.Met != nil && *row.Met {
			met++
		}
	}
	_, err := fmt.Fprintf(w, "\n%s met, %d missed.\n", count(met, "target"), r.Missed())
	return err
}
