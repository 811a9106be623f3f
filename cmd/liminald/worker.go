package main

import (
	"context"
	"fmt"

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

/healthz, /readyz and /metrics are on LIMINAL_OPS_LISTEN when that is set.
Draining and the ready file work as they do for server.`,
		examples: []string{
			"DATABASE_URL=postgres://… REDIS_URL=redis://… TEMPORAL_ADDRESS=temporal:7233 liminald worker",
			"TEMPORAL_ADDRESS=temporal:7233 liminald worker --data /srv/liminal",
		},
		settings: []string{"data", "log-level"},
		flags:    readyFlag,
		run:      runWorker,
	}
}

func runWorker(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	log := in.logger(conf.Log)
	s, err := open(ctx, conf, *in.own.(*string), false, log)
	if err != nil {
		return err
	}
	defer s.close()
	if err := wire.Reach(ctx, conf); err != nil {
		return unreachableError{err}
	}
	if err := s.serve(ctx, conf, conf.Temporal.Address, true, log); err != nil {
		return err
	}
	where := ready{Temporal: conf.Temporal.Address, TemporalUI: conf.Temporal.UIURL, Ops: urlOf(s.ops), Version: buildVersion()}
	if err := s.announce(where); err != nil {
		return err
	}
	fmt.Fprintf(in.out, "liminald %s works on the runs in %s\n", where.Version, where.Temporal)
	return s.wait(ctx)
}
