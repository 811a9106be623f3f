package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"liminal/internal/sqlite"
	"liminal/migrations"
)

func migrateCommand() command {
	return command{
		name:    "migrate",
		summary: "bring the store's schema up to date",
		about: `
Applies the migrations the store has not had, each in a transaction, and
refuses a store that was changed behind the program's back: a migration that
was edited after it was applied, or a store newer than the program. A SQLite
file is copied beside itself first. Running it again changes nothing.

dev, server and worker do the same at their start; this is for doing it in a
maintenance window of its own.`,
		examples: []string{"liminald migrate --data /srv/liminal", "liminald migrate --json"},
		settings: []string{"data"},
		flags:    jsonFlag,
		run:      runMigrate,
	}
}

func runMigrate(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	held, err := lockData(conf.Data)
	if err != nil {
		return err
	}
	defer func() { _ = held.release() }() // the process ends with it anyway
	all, err := migrations.Of(migrations.SQLite)
	if err != nil {
		return err
	}
	file := conf.StoreFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, file, sqlite.Options{Logger: in.logger(conf.Log)})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	last := all[len(all)-1]
	if *in.own.(*bool) {
		return writeJSON(in.out, map[string]any{"store": file, "migrations": len(all), "last": last.Name})
	}
	_, err = fmt.Fprintf(in.out, "%s is up to date: %s, the last %04d_%s\n", file, count(len(all), "migration"), last.Number, last.Name)
	return err
}
