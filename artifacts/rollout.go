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
	if a.Takes(key) {
		return a, nil
	}
	return l.At(ctx, v, a.ID, a.Rollout.From)
}

// Takes reports whether the runs of a key take the current version of an
// artifact; the others take its rollout's From.
func (a Artifact) Takes(key string) bool {
	r := a.Rollout
	return r == nil || r.From <= 0 || r.From >= a.Version || r.takes(key)
}

// takes draws for a key; the same each time.
func (r Rollout) takes(key string) bool {
	if r.Share <= 0 || r.Share >= 100 {
		return true
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", r.Patch, key) // a hash takes everything in
	return int(mixed(h.Sum64())%100) < r.Share
}

// mixed spreads what a hash of near-equal keys leaves in its high bits over all
// of them.
func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// SupportsRollout reports whether versions of a kind can be rolled out to a
// share of the runs, or of the histories of agents: these follow them.
func SupportsRollout(kind string) bool {
	return kind == KindWorkflow || kind == KindPolicy || kind == KindAdapter || kind == KindPalace
}
