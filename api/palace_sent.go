package api

import (
	"context"

	"liminal/internal/palace"
)

func (s *server) palaceSentRoutes() {
	s.palaceBody("sent", "The body that reached the backend, to the byte: the request's, or what a view made of it")
	add(s, route("GET /v1/palace/exchanges/{id}/diff", "palaceDiff", "What of a request was sent otherwise", scopeRead), s.palaceDiff)
	add(s, route("GET /v1/palace/epochs", "palaceEpochs", "The epochs of a history, the oldest first: what was set aside, why, and what became of it", scopeRead), s.palaceEpochs)
}

// PalaceDiff is what of a request was sent otherwise.
type PalaceDiff struct {
	Epoch   int             `json:"epoch" doc:"its number; 0: none was in force"`
	Why     string          `json:"why" doc:"view, left or raw; empty: the request was sent as it was"`
	Asked   int64           `json:"request_size"`
	Sent    int64           `json:"sent_size"`
	Changes []palace.Change `json:"changes"`
}

func (s *server) palaceDiff(ctx context.Context, in *ByID) (PalaceDiff, error) {
	e, list, err := s.Palace.Changes(ctx, viewerOf(ctx), in.ID)
	out := PalaceDiff{Asked: e.Asked.Size, Sent: e.Asked.Size, Changes: list}
	if e.Sent != nil {
		out.Epoch, out.Why, out.Sent = e.Sent.Epoch, e.Sent.Why, e.Sent.Size
	}
	return out, err
}

// PalaceEpoch is one of a history, and what became of it.
type PalaceEpoch struct{ palace.Epoch }

type palaceEpochsInput struct {
	Lineage string `query:"lineage" format:"uuid" required:"true" doc:"the id of a history"`
}

func (s *server) palaceEpochs(ctx context.Context, in *palaceEpochsInput) (Page[PalaceEpoch], error) {
	list, err := s.Palace.Epochs(ctx, viewerOf(ctx), in.Lineage)
	return page(list, "", func(e palace.Epoch) PalaceEpoch { return PalaceEpoch{e} }), err
}
