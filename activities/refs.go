package activities

import (
	"context"
	"encoding/json"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// The sizes above which a value travels by reference, in bytes of JSON
// (PLAT-14). A node's text may be larger: the machine reads it.
const (
	maxValue = 64 << 10
	maxText  = 256 << 10
	maxTotal = 512 << 10
)

// refKey marks an object that stands for a stored value: {"$ref": "blob:…"}.
const refKey = "$ref"

func isText(key string) bool {
	return key == "answer" || key == "response" || key == "content" || key == "text"
}

// externalise stores the large values of an object and leaves references.
func (s *Set) externalise(ctx context.Context, in RunInput, prefix string, object map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(object))
	sizes, total := map[string][]byte{}, 0
	for key, value := range object {
		raw, err := sized(value)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "The result's %q cannot be stored.", key)
		}
		out[key], sizes[key] = value, raw
		total += len(raw)
	}
	for key, raw := range sizes {
		_, text := object[key].(string)
		limit := maxValue
		if text && isText(key) {
			limit = maxText
		}
		if total > maxTotal {
			limit = maxValue / 16
		}
		if len(raw) <= limit {
			continue
		}
		ref, err := s.Blobs.PutBlob(ctx, in.Viewer, in.RunID, prefix+"/"+key, raw)
		if err != nil {
			return nil, err
		}
		out[key] = map[string]any{refKey: ref}
	}
	return out, nil
}

// sized is the JSON of a value; small scalars, which most values are, are not
// worth encoding to be measured.
func sized(value any) ([]byte, error) {
	switch v := value.(type) {
	case nil, bool, float64, int:
		return nil, nil
	case string:
		if len(v) < 1<<10 {
			return nil, nil
		}
	}
	return json.Marshal(value)
}

// resolve replaces references by what they stand for.
func (s *Set) resolve(ctx context.Context, v identity.Viewer, value any) (any, error) {
	switch x := value.(type) {
	case map[string]any:
		if ref, ok := reference(x); ok {
			return s.blob(ctx, v, ref)
		}
		out := make(map[string]any, len(x))
		for key, item := range x {
			got, err := s.resolve(ctx, v, item)
			if err != nil {
				return nil, err
			}
			out[key] = got
		}
		return out, nil
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			got, err := s.resolve(ctx, v, item)
			if err != nil {
				return nil, err
			}
			out[i] = got
		}
		return out, nil
	}
	return value, nil
}

func reference(x map[string]any) (string, bool) {
	ref, ok := x[refKey].(string)
	return ref, ok && len(x) == 1 && strings.HasPrefix(ref, "blob:")
}

func (s *Set) blob(ctx context.Context, v identity.Viewer, ref string) (any, error) {
	raw, err := s.Blobs.Blob(ctx, v, ref)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "A stored value of this run is damaged.")
	}
	return value, nil
}
