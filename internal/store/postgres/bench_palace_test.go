package postgres_test

import (
	"testing"

	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/storetest"
)

// BenchmarkIntake takes in what the capture proxy kept; internal/store/sqlite has the
// same.
func BenchmarkIntake(b *testing.B) {
	storetest.PalaceIntake(b, store.New(postgrestest.Open(b, postgrestest.New(b).App, postgres.Options{}), store.Options{}))
}
