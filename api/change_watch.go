package api

import (
	"context"

	"liminal/internal/changes"
)

// Watch is how runs of an applied version went, beside those of the version
// before, with how sure the figures are.
type Watch changes.Watched

func (s *server) watchPatch(ctx context.Context, in *PatchByID) (Watch, error) {
	w, err := s.Proposals.Watch(ctx, viewerOf(ctx), in.ID)
	w.Rows, w.Rules = orList(w.Rows), orList(w.Rules)
	return Watch(w), err
}
