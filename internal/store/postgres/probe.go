package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pgvector/pgvector-go"
)

// MinVector is the oldest pgvector to trust: the ones before it overflow a
// buffer while they build an index in parallel (CVE-2026-3172).
const MinVector = "0.8.2"

// dim is the length of the vector that makes the round trip: that of every
// stored one (EMB-01).
const dim = 64

// Report is what a database said about itself.
type Report struct {
	Server string // its version, as in "15.8"
	Vector string // pgvector's version; empty when it cannot be had there
	// Created says whether the extension is created in this database, and not
	// only installed on its server.
	Created bool
	// RoundTrip says whether a vector came back as it went.
	RoundTrip bool
}

// VectorIsOld reports whether pgvector is there but older than MinVector.
func (r Report) VectorIsOld() bool { return r.Vector != "" && older(r.Vector, MinVector) }

// Probe connects to the database of a connection string, reads its versions,
// and sends a vector there and back. It writes nothing that outlives it. An
// error says in one sentence what did not answer; it never holds the password.
func Probe(ctx context.Context, url string) (Report, error) {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return Report{}, errors.New("the connection string of the database cannot be read")
	}
	// A transaction pooler hands each query another session, where a
	// statement prepared before is unknown (OPS-13).
	conf.DefaultQueryExecMode = pgx.QueryExecModeExec
	at := fmt.Sprintf("%s:%d", conf.Host, conf.Port)
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return Report{}, fmt.Errorf("PostgreSQL on %s does not let us in: %s", at, cause(err))
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing to lose
	r, err := inspect(ctx, conn)
	if err != nil {
		return r, fmt.Errorf("PostgreSQL on %s: %s", at, cause(err))
	}
	return r, nil
}

func inspect(ctx context.Context, conn *pgx.Conn) (Report, error) {
	var (
		r                  Report
		available, created *string
	)
	err := conn.QueryRow(ctx, `SELECT current_setting('server_version'),
		(SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
		(SELECT extversion FROM pg_extension WHERE extname = 'vector')`).Scan(&r.Server, &available, &created)
	if err != nil {
		return r, err
	}
	switch {
	case created != nil:
		r.Vector, r.Created = *created, true
	case available != nil:
		r.Vector = *available
	}
	if !r.Created {
		return r, nil
	}
	r.RoundTrip, err = roundTrip(ctx, conn)
	return r, err
}

// roundTrip asks the database for a vector we send it, through the type the
// store will use.
func roundTrip(ctx context.Context, conn *pgx.Conn) (bool, error) {
	sent := make([]float32, dim)
	for i := range sent {
		sent[i] = float32(i) / dim
	}
	var back pgvector.Vector
	var distance float64
	err := conn.QueryRow(ctx, `SELECT $1::text::vector::text, $1::text::vector <-> $1::text::vector`,
		pgvector.NewVector(sent).String()).Scan(&back, &distance)
	if err != nil {
		return false, err
	}
	return distance == 0 && slices.Equal(sent, back.Slice()), nil
}

// cause is the server's or the network's own words, without our connection
// parameters around them.
func cause(err error) string {
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return server.Message
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network.Err.Error()
	}
	return err.Error()
}

// older compares dotted version numbers; a part that is no number counts as 0.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if x, y := part(as, i), part(bs, i); x != y {
			return x < y
		}
	}
	return false
}

func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i]) // 0 is the meaning of no number
	return n
}
