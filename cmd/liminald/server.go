package main

import (
	"context"
	"flag"
	"fmt"

	"liminal/internal/wire"
)

func serverCommand() command {
	return command{
		name:    "server",
		summary: "run API, client and worker against a Temporal cluster",
		about: `
Serves the API and the web client and works on runs, as dev does, but keeps
the runs in the Temporal cluster that TEMPORAL_ADDRESS names. The namespace
must exist there; the search attributes of runs are made if they are missing
and this program may make them.

With DATABASE_URL and REDIS_URL any number of servers and workers share
everything; the database must have had liminald migrate. Without them a server
has the SQLite file of its data folder to itself. With --no-worker it only
serves, and leaves the work to liminald worker.

/healthz, /readyz and /metrics are also on LIMINAL_OPS_LISTEN when that is
set. Draining and the ready file work as they do for dev.`,
		examples: []string{
			"TEMPORAL_ADDRESS=temporal:7233 liminald server --listen 0.0.0.0:8080",
			"DATABASE_URL=postgres://… REDIS_URL=redis://… TEMPORAL_ADDRESS=temporal:7233 liminald server --no-worker",
		},
		settings: []string{"data", "listen", "log-level"},
		flags: func(fs *flag.FlagSet) any {
			o := &serverFlags{ready: readyFlag(fs).(*string)}
			fs.BoolVar(&o.noWorker, "no-worker", false, "only serve; liminald worker does the work")
			return o
		},
		run: runServer,
	}
}

type serverFlags struct {
	ready    *string
	noWorker bool
}

func runServer(ctx context.Context, in *invocation) error {
	o := in.own.(*serverFlags)
	conf, err := in.config()
	if err != nil {
		return err
	}
	log := in.logger(conf.Log)
	s, err := open(ctx, conf, *o.ready, true, log)
	if err != nil {
		return err
	}
	defer s.close()
	if err := wire.Reach(ctx, conf); err != nil {
		return unreachableError{err}
	}
	if err := s.serve(ctx, conf, conf.Temporal.Address, !o.noWorker, log); err != nil {
		return err
	}
	where := ready{
		HTTP: s.url(), Temporal: conf.Temporal.Address, TemporalUI: conf.Temporal.UIURL,
		Ops: urlOf(s.ops), Version: buildVersion(),
	}
	if err := s.announce(where); err != nil {
		return err
	}
	fmt.Fprintf(in.out, "liminald %s serves %s, runs in %s\n%s", where.Version, where.HTTP, where.Temporal, setupLine(s.setup))
	return s.wait(ctx)
}
