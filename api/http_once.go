package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/quota"
)

// once answers a repeated idempotency key with the first answer, request id
// and all (API-05). Without a key it just works.
func once[T any](ctx context.Context, s *server, k quota.Key, request any, work func(context.Context) (T, error)) (data T, replayed bool, err error) {
	req := requestOf(ctx)
	if k.Key == "" {
		data, err = work(ctx)
		return data, false, err
	}
	asked, err := json.Marshal(request)
	if err != nil {
		return data, false, err
	}
	k.Fingerprint = quota.Fingerprint(asked)
	reply, replayed, err := s.Once.Do(ctx, req.viewer, k, func(ctx context.Context) (quota.Reply, error) {
		data, err := work(ctx)
		if err != nil {
			return quota.Reply{}, err
		}
		body, err := json.Marshal(envelope(ctx, data))
		return quota.Reply{Status: http.StatusOK, Body: body}, err
	})
	if err != nil {
		return data, false, err
	}
	var first Envelope[T]
	if err := json.Unmarshal(reply.Body, &first); err != nil {
		return data, false, err
	}
	req.setID(first.RequestID)
	return first.Data, replayed, nil
}

// schemaOf is the schema of a type, for operations that write their own answer.
func (s *server) schemaOf(v any) *huma.Schema {
	return huma.SchemaFromType(s.huma.OpenAPI().Components.Schemas, typeOf(v))
}
