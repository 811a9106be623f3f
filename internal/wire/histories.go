package wire

import (
	"context"
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"

	"liminal/internal/config"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/sqlite"
	"liminal/worker"
)

// Histories connects to the engine of an installation that another program
// runs, to read what its runs recorded: large values come from its store, which
// is opened for reading whatever its version. Nothing is changed.
func Histories(ctx context.Context, c config.Config, log *slog.Logger) (engine client.Client, done func(), err error) {
	values, release, err := payloads(ctx, c, log)
	if err != nil {
		return nil, nil, err
	}
	o := temporalOf(c)
	if o.Codec, err = worker.NewCodec(c.Temporal.PayloadKeys, values); err != nil {
		release()
		return nil, nil, fmt.Errorf("LIMINAL_PAYLOAD_KEYS: %w", err)
	}
	engine, err = worker.Dial(ctx, o)
	if err != nil {
		release()
		return nil, nil, err
	}
	return engine, func() { engine.Close(); release() }, nil
}

func payloads(ctx context.Context, c config.Config, log *slog.Logger) (worker.Values, func(), error) {
	if c.DatabaseURL == "" {
		p, err := sqlite.OpenPayloads(c.StoreFile())
		if err != nil {
			return nil, nil, err
		}
		return p, func() { _ = p.Close() }, nil // it was only read
	}
	db, err := postgres.Open(ctx, c.DatabaseURL, postgres.Options{Logger: log, AnyVersion: true, Connections: 2, AllowOldVector: true})
	if err != nil {
		return nil, nil, err
	}
	return store.New(db, store.Options{}), func() { _ = db.Close() }, nil // it was only read
}
