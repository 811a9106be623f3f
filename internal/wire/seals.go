package wire

import (
	"context"
	"fmt"
	"time"

	"liminal/activities"
)

// unsealed is how long after an update processes of a version that makes no
// seals may still be at work beside those that do: workers are replaced first,
// and the servers that begin runs after them.
const unsealed = time.Hour

// seals are made of a secret in the store, which every process of an
// installation shares, whatever it stands on.
func (p *Platform) seals(ctx context.Context) (*activities.Seals, error) {
	key, err := p.store.Secret(ctx, "runs")
	if err != nil {
		return nil, fmt.Errorf("the key of runs: %w", err)
	}
	since, err := p.store.Since(ctx, "runs are sealed", unsealed)
	if err != nil {
		return nil, fmt.Errorf("since when runs are sealed: %w", err)
	}
	return activities.NewSeals(key, since)
}
