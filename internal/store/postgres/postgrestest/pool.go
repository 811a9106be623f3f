package postgrestest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"liminal/internal/store/postgres"
	"liminal/internal/store/storetest"
)

// pool is a database that stays open from one test to the next: a connection is
// a process that learns the schema anew and plans each statement again, which
// was most of what a small test took.
type pool struct {
	Database

	db    *postgres.DB
	super *pgx.Conn // empties it
}

var pools finished[*pool] // they go with the process

// Pool returns a migrated, empty database that is open as Open opens one. An
// earlier test may have had it, and its connections: a test that closes it, or
// does harm to either, wants New.
func Pool(t testing.TB) *postgres.DB {
	t.Helper()
	p, ok := pools.take()
	if !ok {
		p = newPool(t)
	}
	t.Cleanup(func() {
		used, _, _ := p.db.Connections()
		if err := p.wipe(); err != nil {
			t.Errorf("the test's database cannot be emptied: %v", err)
			return
		}
		if used > 0 { // something goes on there, so no other test has it
			if err := p.close(); err != nil {
				t.Error(err)
			}
			return
		}
		pools.put(p)
	})
	return p.db
}

func newPool(t testing.TB) *pool {
	t.Helper()
	server := storetest.Server(t, "LANE_POSTGRES")
	ctx := context.WithoutCancel(t.Context())
	p := &pool{Database: create(t, server, "TEMPLATE "+prepared(t, server))}
	p.db = open(t, ctx, p.App, postgres.Options{})
	var err error
	if p.super, err = pgx.Connect(ctx, p.Super); err != nil {
		t.Fatal(err)
	}
	if _, err := p.super.Exec(ctx, wiper); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pool) wipe() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := p.super.Exec(ctx, "SELECT pg_temp.wipe()")
	return err
}

func (p *pool) close() error {
	return errors.Join(Close(p.db), p.super.Close(context.Background()))
}
