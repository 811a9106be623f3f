package artifacts

import (
	"context"
	"fmt"
	"hash/fnv"

	"liminal/internal/identity"
)

// ResolveVersion gives the version of an artifact that a new run takes: the
// current one, or, while that is being rolled out, the one before it for all but
// the rollout's share of keys. A key is a conversation, whose turns do not flip
// between two versions, or else a run. The rollout's patch is part of the draw,
// so that it is not always the same conversations that try what is new.
func (l *Library) ResolveVersion(ctx context.Context, v identity.Viewer, a Artifact, key string) (Artifact, error) {
	r := a.Rollout
	if r == nil || r.Share <= 0 || r.Share >= 100 || r.From <= 0 || r.From >= a.Version {
		return a, nil
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", r.Patch, key) // a hash takes everything in
	if int(mixed(h.Sum64())%100) < r.Share {
		return a, nil
	}
	return l.At(ctx, v, a.ID, r.From)
}

// mixed spreads what a hash of near-equal keys leaves in its high bits over all
// of them.
func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// SupportsRollout reports whether versions of a kind can be rolled out to a
// share of the runs: runs follow them.
func SupportsRollout(kind string) bool { return kind == KindWorkflow || kind == KindPolicy }
