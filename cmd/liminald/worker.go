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
on the data in the data folder, and serves no HTTP: to let runs finish while
the API is down. One process holds a data folder at a time, so it does not run
beside server or dev on the same one.`,
		examples: []string{"TEMPORAL_ADDRESS=temporal:7233 liminald worker --data /srv/liminal"},
		settings: []string{"data", "log-level"},
		run:      runWorker,
	}
}

func runWorker(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	if err := reachTemporal(ctx, conf.Temporal); err != nil {
		return err
	}
	log := in.logger(conf.Log)
	held, err := lockData(conf.Data)
	if err != nil {
		return err
	}
	defer func() { _ = held.release() }() // the process ends with it anyway
	p, err := wire.Open(ctx, wire.Options{Config: conf, Logger: log, Temporal: conf.Temporal.Address, Version: buildVersion()})
	if err != nil {
		return err
	}
	err = p.StartWorker(ctx)
	if err == nil {
		fmt.Fprintf(in.out, "liminald %s works on the runs in %s\n", buildVersion(), conf.Temporal.Address)
		<-ctx.Done()
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	if closeErr := p.Close(drain); closeErr != nil {
		log.Warn("closing was not clean", "part", "the platform", "error", closeErr)
	}
	return err
}
