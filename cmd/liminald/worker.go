package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"liminal/internal/tool"
	"liminal/internal/wire"
)

func workerCommand() command {
	return command{
		name:    "worker",
		summary: "work on runs without serving anybody",
		about: `
Works on the runs kept in the Temporal cluster that TEMPORAL_ADDRESS names,
and serves no people. With DATABASE_URL and REDIS_URL any number of workers
run beside any number of servers. Without them it needs the SQLite file of the
data folder to itself: it lets runs finish while the API is down.

With --only it takes calls of one kind and nothing else, such as training on a
machine that is made for that; another worker must take the rest. With --except
it takes all but calls of one kind, which workers with --only must take.

/healthz, /readyz and /metrics are on LIMINAL_OPS_LISTEN when that is set.
Draining and the ready file work as they do for server.`,
		examples: []string{
			"DATABASE_URL=postgres://… REDIS_URL=redis://… TEMPORAL_ADDRESS=temporal:7233 liminald worker",
			"TEMPORAL_ADDRESS=temporal:7233 liminald worker --data /srv/liminal",
			"DATABASE_URL=postgres://… REDIS_URL=redis://… TEMPORAL_ADDRESS=temporal:7233 liminald worker --only training",
			"DATABASE_URL=postgres://… REDIS_URL=redis://… TEMPORAL_ADDRESS=temporal:7233 liminald worker --except tools",
		},
		settings: []string{"data", "log-level"},
		flags: func(fs *flag.FlagSet) any {
			o := &workerFlags{ready: readyFlag(fs).(*string)}
			fs.StringVar(&o.only, "only", "", "take calls of one kind and nothing else: models, tools, ingest or training")
			fs.StringVar(&o.except, "except", "", "leave calls of one kind to other workers: models, tools, ingest or training")
			return o
		},
		run: runWorker,
	}
}

// workerFlags are those of worker.
type workerFlags struct {
	ready *string
	kinds
}

// check refuses kinds of calls there are not.
func (k kinds) check() error {
	for flag, name := range map[string]string{"--only": k.only, "--except": k.except} {
		if name != "" && !slices.Contains([]string{tool.QueueModels, tool.QueueTools, tool.QueueIngest, tool.QueueTraining}, name) {
			return usageError{fmt.Errorf("%s %s: there is no such kind of calls; models, tools, ingest and training there are", flag, name)}
		}
	}
	if k.only != "" && k.except != "" {
		return usageError{fmt.Errorf("--only %s and --except %s exclude each other; give one of them", k.only, k.except)}
	}
	return nil
}

func runWorker(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	log := in.logger(conf.Log)
	own := in.own.(*workerFlags)
	if err := own.check(); err != nil {
		return err
	}
	s, err := open(ctx, conf, *own.ready, false, log)
	if err != nil {
		return err
	}
	defer s.close()
	if err := wire.Reach(ctx, conf); err != nil {
		return unreachableError{err}
	}
	if err := s.serveKinds(ctx, conf, conf.Temporal.Address, own.kinds, log); err != nil {
		return err
	}
	where := ready{Temporal: conf.Temporal.Address, TemporalUI: conf.Temporal.UIURL, Ops: urlOf(s.ops), Version: buildVersion()}
	if err := s.announce(where); err != nil {
		return err
	}
	fmt.Fprintf(in.out, "liminald %s works on the runs in %s\n", where.Version, where.Temporal)
	return s.wait(ctx)
}
