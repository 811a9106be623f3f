package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"liminal/internal/config"
	"liminal/internal/redis"
	"liminal/internal/store/postgres"
	"liminal/internal/wire"
)

const (
	// probeLimit bounds how long each service may take to answer.
	probeLimit = 5 * time.Second
	// littleSpace is where a person should begin to look, in bytes.
	littleSpace = 1 << 30
)

func checkData(dir string) finding {
	f := finding{Check: "data folder", Health: well, Says: dir + " can be written to"}
	at := existing(dir)
	probe, err := os.CreateTemp(at, ".doctor-*")
	if err != nil {
		f.Health, f.Says = ill, fmt.Sprintf("%s cannot be written to: %v", at, withoutPath(err))
		f.Hint = "choose another folder with --data or SHARED_FS_ROOT, or change its owner"
		return f
	}
	_, _ = probe.Close(), os.Remove(probe.Name()) // a leftover is harmless
	if at != dir {
		f.Says = dir + " will be made at the first start"
	}
	return f
}

func checkSpace(dir string) finding {
	f := finding{Check: "free space", Health: well}
	free, err := freeSpace(existing(dir))
	if err != nil {
		f.Health, f.Says = warning, fmt.Sprintf("cannot be told: %v", err)
		return f
	}
	f.Says = fmt.Sprintf("%.1f GiB", float64(free)/(1<<30))
	if free < littleSpace {
		f.Health = warning
		f.Hint = "a full disk stops every run; make room or choose another folder with --data"
	}
	return f
}

// existing is the nearest folder upwards that is there already.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func checkPort(ctx context.Context, what, address, flag string) finding {
	l, err := listenHTTP(ctx, address, flag)
	if err != nil {
		return finding{
			Check: what, Health: warning, Says: address + " cannot be listened on now",
			Hint: "fine if liminald is running; otherwise choose another with " + flag,
		}
	}
	_ = l.Close() // never used
	return finding{Check: what, Health: well, Says: address + " is free"}
}

// checkServices asks everything that listens elsewhere.
func checkServices(ctx context.Context, conf config.Config, t temporals) []finding {
	return append(checkTemporal(ctx, conf, t),
		checkPostgres(ctx, conf.DatabaseURL, conf.AllowOldVector),
		checkRedis(ctx, conf.RedisURL),
	)
}

// temporals says which addresses of Temporal somebody named.
type temporals struct{ cluster, embedded bool }

func (in *invocation) temporals() temporals {
	named := func(variable string) bool {
		return slices.ContainsFunc(in.environ, func(set string) bool {
			text, ok := strings.CutPrefix(set, variable+"=")
			return ok && text != ""
		})
	}
	return temporals{cluster: named("TEMPORAL_ADDRESS"), embedded: in.given["temporal"] != "" || named("LIMINAL_TEMPORAL_LISTEN")}
}

// checkTemporal asks the cluster of TEMPORAL_ADDRESS where one was named, and
// the one that dev has where that was, or neither.
func checkTemporal(ctx context.Context, conf config.Config, t temporals) []finding {
	var found []finding
	if t.cluster {
		f := finding{Check: "Temporal", Health: well, Says: "a cluster answers at " + conf.Temporal.Address}
		if err := reachTemporal(ctx, conf); err != nil {
			f.Health, f.Says, f.unreachable = ill, err.Error(), true
			f.Hint = "server and worker need it: check TEMPORAL_ADDRESS. dev brings its own"
		}
		found = append(found, f)
	}
	_, port, _ := net.SplitHostPort(conf.Temporal.Listen)
	if t.cluster && !t.embedded || port == "0" { // which is whichever is free: nobody knows it before
		return found
	}
	f := finding{Check: "embedded Temporal", Health: well, Says: "it answers at " + conf.Temporal.Listen}
	own := conf
	own.Temporal = config.Temporal{Address: conf.Temporal.Listen, Namespace: conf.Temporal.Namespace}
	if err := reachTemporal(ctx, own); err != nil {
		f.Health, f.Says = off, "nothing answers at "+conf.Temporal.Listen
		f.Hint = "dev starts its own there; server and worker need one, named by TEMPORAL_ADDRESS"
	}
	return append(found, f)
}

func reachTemporal(ctx context.Context, conf config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return wire.Reach(ctx, conf)
}

func checkPostgres(ctx context.Context, url string, allowOld bool) finding {
	f := finding{Check: "PostgreSQL", Health: off, Says: "not configured: the store is a SQLite file"}
	if url == "" {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	r, err := postgres.Probe(ctx, url)
	f.Health = ill
	switch {
	case err != nil:
		f.Says, f.unreachable = err.Error(), true
		f.Hint = "check DATABASE_URL, and that the server accepts connections from here"
	case r.Vector == "":
		f.Says = "PostgreSQL " + r.Server + " has no pgvector"
		f.Hint = "install it on the server: the package postgresql-N-pgvector, or github.com/pgvector/pgvector"
	case !r.Created:
		f.Health, f.Says = warning, fmt.Sprintf("PostgreSQL %s has pgvector %s, not yet created in this database", r.Server, r.Vector)
		f.Hint = "as its owner: CREATE EXTENSION vector"
	case !r.RoundTrip:
		f.Says = fmt.Sprintf("pgvector %s changed a vector on its way there and back", r.Vector)
	default:
		f.Health, f.Says = well, fmt.Sprintf("PostgreSQL %s with pgvector %s; a vector came back unchanged", r.Server, r.Vector)
	}
	if r.VectorIsOld() {
		if f.Health = ill; allowOld {
			f.Health = warning
		}
		f.Says += "; pgvector before " + postgres.MinVector + " can leak or crash while it builds an index (CVE-2026-3172)"
		f.Hint = "update it to " + postgres.MinVector + " or newer, then ALTER EXTENSION vector UPDATE"
	}
	return f
}

func checkRedis(ctx context.Context, url string) finding {
	f := finding{Check: "Redis", Health: off, Says: "not configured: hot state stays in process"}
	if url == "" {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	r, err := redis.Probe(ctx, url)
	if err != nil {
		f.Health, f.Says, f.unreachable = ill, err.Error(), true
		f.Hint = "check REDIS_URL, and that the server accepts connections from here"
		return f
	}
	f.Health, f.Says = well, "answers PING"
	if r.Server != "" {
		f.Says = "Redis " + r.Server + " answers PING"
	}
	return f
}
