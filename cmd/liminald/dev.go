package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"

	"liminal/internal/config"
	"liminal/internal/wire/devserver"
)

func devCommand() command {
	return command{
		name:    "dev",
		summary: "run everything on this machine: API, client, worker, store, Temporal",
		about: `
Starts the whole platform in this one process: a Temporal server with its web
UI, the store, the worker, the API and the web client. It needs nothing else:
no database, no key, no network. All data lives in one folder; a second start
on the same folder goes on where the first one stopped, however it ended.

The first SIGINT or SIGTERM drains (no new requests, running steps finish or
are handed over, streams close) within 20 seconds; the second ends it at once.
Neither loses what was acknowledged.

It serves the capture proxy of liminald palace as well, on PALACE_ADDR, unless
that is off or taken; what agents behind it say is taken into the store, also
what was kept while nothing of this ran.

The ready file is written once everything answers:
  {"http":"http://…","temporal":"host:port","temporal_ui":"http://…","palace":"http://…","version":"…"}`,
		examples: []string{
			"liminald dev",
			"liminald dev --data /srv/liminal --listen 0.0.0.0:8080",
			"liminald dev --listen 127.0.0.1:0 --temporal 127.0.0.1:0 --temporal-ui 127.0.0.1:0 --ready-file ready.json",
		},
		settings: []string{"data", "listen", "temporal", "temporal-ui", "log-level"},
		defaults: []string{"LIMINAL_LOG_LEVEL=warn", "LIMINAL_EXAMPLES=true"}, // a terminal in front of a person, who tries it
		flags:    readyFlag,
		run:      runDev,
	}
}

// readyFlag is the flag set of the commands that serve.
func readyFlag(fs *flag.FlagSet) any {
	return fs.String("ready-file", "", "write where everything listens to this file, once all of it answers")
}

func runDev(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	log := in.logger(conf.Log)
	s, err := open(ctx, conf, *in.own.(*string), true, log)
	if err != nil {
		return err
	}
	defer s.close()
	s.local = true
	temporal, err := startTemporal(ctx, conf, log)
	if err != nil {
		return err
	}
	s.onClose("the embedded Temporal server", func(context.Context) error { return temporal.Stop() })
	if conf.Temporal.UIURL == "" {
		conf.Temporal.UIURL = "http://" + temporal.UIAddress()
	}
	conf.Temporal.Namespace = temporal.Namespace()
	// What opens a cluster elsewhere means nothing to this one.
	conf.Temporal.TLS, conf.Temporal.APIKey, conf.Temporal.ServerName = false, "", ""
	conf.Temporal.CertPath, conf.Temporal.KeyPath, conf.Temporal.CAPath = "", "", ""
	if err := s.serve(ctx, conf, temporal.Address(), true, log); err != nil {
		return err
	}
	proxy, why := s.servePalace(conf, log)
	where := ready{HTTP: s.url(), Temporal: temporal.Address(), TemporalUI: conf.Temporal.UIURL, Ops: urlOf(s.ops), Palace: proxy, Version: buildVersion()}
	if err := s.announce(where); err != nil {
		return err
	}
	fmt.Fprintf(in.out, `
  Liminal %s is ready.

  Chat         %s
  Temporal UI  %s
  Data         %s
  Palace       %s
%s
  Ctrl-C stops it.

`, where.Version, where.HTTP, where.TemporalUI, conf.Data, cmp.Or(proxy, why), setupLine(s.setup))
	return s.wait(ctx)
}

// setupLine tells the setup word, while the first account is still to be made.
func setupLine(word string) string {
	if word == "" {
		return ""
	}
	return "  Setup word   " + word + "  (the first account asks for it, unless it is made on this machine)\n"
}

func startTemporal(ctx context.Context, conf config.Config, log *slog.Logger) (*devserver.Server, error) {
	return devserver.Start(ctx, devserver.Options{
		Dir:      conf.TemporalDir(),
		Frontend: conf.Temporal.Listen,
		UI:       conf.Temporal.UI,
		UIURLs:   []string{conf.Temporal.UIURL},
		UIHosts:  conf.AllowedHosts,
		Logger:   log,
	})
}
