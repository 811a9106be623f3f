package api

import (
	"bytes"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
)

// newPostgresWorld is a world on PostgreSQL, behind row-level security, whose
// accounts may have second factors.
func newPostgresWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	db := postgrestest.Open(t, postgrestest.New(t).App, postgres.Options{})
	accounts := func(o *Options) {
		s, _ := o.Conversations.(*store.Store)
		a, err := identity.NewAccounts(s, identity.Options{
			Key: bytes.Repeat([]byte("k"), 32), Cost: identity.Cost{Memory: 64, Passes: 1, Threads: 1},
			Cache: inproc.NewCache(0), Factors: s, FactorKey: bytes.Repeat([]byte("f"), 32), Providers: s, Administration: s, Keys: s, Grants: s,
		})
		if err != nil {
			t.Fatal(err)
		}
		o.sign(a)
		o.Factors, o.Elsewhere = a, a
	}
	return newWorldOver(t, db, postgres.NewIndex(db, postgres.IndexOptions{}), append([]func(*Options){accounts}, change...)...)
}

// Requirements: ISO-01, ISO-02, ISO-07, ISO-11
func TestTheWallOnPostgreSQL(t *testing.T) {
	t.Parallel()
	newPostgresWorld(t).walk(t)
}

// What a driver would stumble over is refused before it gets there.
//
// Requirements: API-07
func TestGarbageIsRefusedOnPostgreSQLToo(t *testing.T) {
	t.Parallel()
	newPostgresWorld(t).outOfBounds()
	newPostgresWorld(t).wrongCursors()
}

// Requirements: API-05, API-06, ISO-08 (a fourth run is 409 busy), SAFE-04
func TestACrowdOnPostgreSQL(t *testing.T) {
	t.Parallel()
	newPostgresWorld(t).crowdWithOneKey()
	newPostgresWorld(t).crowdOfMany()
}

// Requirements: CFG-05, CFG-06, ISO-01, ISO-02
func TestChangesOnPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*house){
		"from proposal to version and back": (*house).takesAChangeAndItsReturn,
		"only on the base":                  (*house).appliesOnlyOnTheBase,
		"questions":                         (*house).asksAdministrators,
		"the way of a run":                  (*house).showsOnlyTheWay,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(settle(newPostgresWorld(t)))
		})
	}
}
