package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"liminal/internal/config"
)

// dialLimit bounds how long a cluster may take to say hello.
const dialLimit = 10 * time.Second

func serverCommand() command {
	return command{
		name:    "server",
		summary: "run API, client and worker against a Temporal cluster",
		about: `
Serves the API and the web client and works on runs, as dev does, but keeps
the runs in the Temporal cluster that TEMPORAL_ADDRESS names. The namespace
must exist there, with the search attributes liminal_user,
liminal_conversation, liminal_status, liminal_artifact (Keyword) and
liminal_version (Int).

Draining and the ready file work as they do for dev.`,
		examples: []string{"TEMPORAL_ADDRESS=temporal:7233 liminald server --listen 0.0.0.0:8080"},
		settings: []string{"data", "listen", "log-level"},
		flags:    readyFlag,
		run:      runServer,
	}
}

func runServer(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	if err := reachTemporal(ctx, conf.Temporal); err != nil {
		return err
	}
	log := in.logger(conf.Log)
	s, err := open(ctx, conf, *in.own.(*string), log)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.serve(ctx, conf, conf.Temporal.Address, log); err != nil {
		return err
	}
	where := ready{HTTP: s.url(), Temporal: conf.Temporal.Address, TemporalUI: conf.Temporal.UIURL, Version: buildVersion()}
	if err := s.announce(where); err != nil {
		return err
	}
	fmt.Fprintf(in.out, "liminald %s serves %s, runs in %s\n", where.Version, where.HTTP, where.Temporal)
	return s.wait(ctx)
}

// reachTemporal says in one sentence whether the cluster answers.
func reachTemporal(ctx context.Context, t config.Temporal) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: t.Address, Namespace: t.Namespace, Logger: silent{}})
	if err != nil {
		return unreachableError{fmt.Errorf("Temporal on %s does not answer; start it, or name another with TEMPORAL_ADDRESS", t.Address)}
	}
	c.Close()
	return nil
}

// silent is a Temporal client's logger that says nothing: our sentence does.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
