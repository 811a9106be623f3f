package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"liminal/internal/config"
	"liminal/internal/store/postgres"
	"liminal/internal/store/sqlite"
	"liminal/migrations"
)

func migrateCommand() command {
	return command{
		name:    "migrate",
		summary: "bring the store's schema up to date",
		about: `
Applies the migrations the store has not had, each in a transaction, and
refuses a store that was changed behind the program's back: a migration that
was edited after it was applied, or a store newer than the program. Running it
again changes nothing, and several at once wait for each other.

With DATABASE_URL the store is PostgreSQL. LIMINAL_MIGRATE_URL is then the
connection of the owner of the tables; the role of DATABASE_URL is granted
what the program needs, and owns nothing. server and worker do not migrate:
they refuse a database that is behind.

Without it the store is the SQLite file of the data folder, which is copied
beside itself first; dev, server and worker do the same at their start.`,
		examples: []string{
			"LIMINAL_MIGRATE_URL=postgres://owner@… DATABASE_URL=postgres://app@… liminald migrate",
			"liminald migrate --data /srv/liminal", "liminald migrate --json",
		},
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
	migrate := migrateFile
	if conf.DatabaseURL != "" || conf.MigrateURL != "" {
		migrate = migrateDatabase
	}
	m, err := migrate(ctx, in, conf)
	if err != nil {
		return err
	}
	if *in.own.(*bool) {
		return writeJSON(in.out, m)
	}
	_, err = fmt.Fprintf(in.out, "%s is up to date: %s, the last %s\n", m.Store, count(m.Migrations, "migration"), m.Last)
	return err
}

// migrated is the outcome, as --json prints it.
type migrated struct {
	Store      string `json:"store"`
	Migrations int    `json:"migrations"` // it has had
	Last       string `json:"last"`
	Applied    int    `json:"applied"` // now; of a SQLite file not told
}

func outcome(store, dialect string) (migrated, error) {
	all, err := migrations.Of(dialect)
	if err != nil {
		return migrated{}, err
	}
	last := all[len(all)-1]
	return migrated{Store: store, Migrations: len(all), Last: fmt.Sprintf("%04d_%s", last.Number, last.Name)}, nil
}

func migrateFile(ctx context.Context, in *invocation, conf config.Config) (migrated, error) {
	held, err := lockData(conf.Data)
	if err != nil {
		return migrated{}, err
	}
	defer func() { _ = held.release() }() // the process ends with it anyway
	file := conf.StoreFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return migrated{}, err
	}
	db, err := sqlite.Open(ctx, file, sqlite.Options{Logger: in.logger(conf.Log)})
	if err != nil {
		return migrated{}, err
	}
	if err := db.Close(); err != nil {
		return migrated{}, err
	}
	return outcome(file, migrations.SQLite)
}

func migrateDatabase(ctx context.Context, in *invocation, conf config.Config) (migrated, error) {
	owner := cmp.Or(conf.MigrateURL, conf.DatabaseURL)
	role, name := "", "the database"
	if u, err := url.Parse(conf.DatabaseURL); err == nil && conf.MigrateURL != "" && u.User != nil {
		role = u.User.Username()
	}
	if u, err := url.Parse(owner); err == nil {
		name = "postgres://" + u.Host + u.Path
	}
	applied, err := postgres.Migrate(ctx, owner, role, in.logger(conf.Log))
	if err != nil {
		return migrated{}, err
	}
	m, err := outcome(name, migrations.Postgres)
	m.Applied = len(applied)
	return m, err
}
