// Command temporal is the separate Temporal server of the test stack: one
// process that keeps its runs in PostgreSQL, as a cluster does. It ends on
// SIGTERM, and goes on where it was when it is started again on the same
// databases, also after kill -9.
//
// It is no part of the product: production brings its own cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"liminal/internal/wire/devserver"
)

func main() {
	if err := untilStopped(); err != nil {
		fmt.Fprintln(os.Stderr, "temporal:", err)
		os.Exit(1)
	}
}

func untilStopped() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:])
}

// choices are the flags.
type choices struct {
	postgres, listen, ui, namespace, ready string
}

func parse(args []string) (choices, error) {
	var c choices
	flags := flag.NewFlagSet("temporal", flag.ContinueOnError)
	flags.StringVar(&c.postgres, "postgres", "", "URL of a PostgreSQL superuser; the databases temporal and temporal_visibility are made there")
	flags.StringVar(&c.listen, "listen", "127.0.0.1:0", "host:port of the frontend; port 0 finds a free one")
	flags.StringVar(&c.ui, "ui", "127.0.0.1:0", "host:port of the web UI")
	flags.StringVar(&c.namespace, "namespace", devserver.Namespace, "namespace to register when it is missing")
	flags.StringVar(&c.ready, "ready-file", "", "file that gets the frontend's host:port once it answers")
	err := flags.Parse(args)
	if err == nil && c.postgres == "" {
		err = errors.New("--postgres is missing: where shall the runs be kept?")
	}
	return c, err
}

// run serves until ctx ends.
func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	server, err := devserver.Start(ctx, devserver.Options{
		Frontend: c.listen, UI: c.ui,
		Databases: func(context.Context) (devserver.Databases, error) { return databases(c.postgres) },
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	if err := serve(ctx, server, c); err != nil {
		return errors.Join(err, server.Stop())
	}
	return server.Stop()
}

func serve(ctx context.Context, server *devserver.Server, c choices) error {
	if err := register(ctx, server.Address(), c.namespace); err != nil {
		return fmt.Errorf("registering the namespace %s: %w", c.namespace, err)
	}
	if c.ready != "" {
		if err := announce(c.ready, server.Address()); err != nil {
			return err
		}
		defer func() { _ = os.Remove(c.ready) }() // it says that the server answers
	}
	<-ctx.Done()
	return nil
}

// announce writes the ready file whole or not at all.
func announce(path, address string) error {
	unfinished := filepath.Clean(path) + ".new"
	if err := os.WriteFile(unfinished, []byte(address+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}
