package adaptation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/embed"
	"liminal/internal/identity"
	"liminal/internal/routing"
)

// BenchmarkRoute is what a turn's routing costs: of somebody who taught nothing,
// with what is learnt left out and not, and of somebody with 64 adapters.
func BenchmarkRoute(b *testing.B) {
	for name, n := range map[string]int{"without learning": -1, "nothing learnt": 0, "64 adapters": 64} {
		b.Run(name, func(b *testing.B) {
			h := newHouse(b, options{})
			router := activities.NewRouter(h.library, routing.Backend{}, nil)
			if n >= 0 {
				router.Learn(h.steps)
			}
			for i := range max(n, 0) {
				_, err := h.library.Create(b.Context(), h.ann, artifacts.Draft{Type: "adapter", Name: fmt.Sprint("a", i), Schema: adapterAt(i)})
				if err != nil {
					b.Fatal(err)
				}
			}
			vector, err := embed.Turn(b.Context(), embed.Hash{}, "What is a lemma?", "")
			if err != nil {
				b.Fatal(err)
			}
			v := identity.Viewer{UserID: h.ann.UserID, Role: identity.RoleUser}
			for b.Loop() {
				if _, err := router.Route(b.Context(), v, activities.RouteInput{Vector: vector}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func adapterAt(i int) json.RawMessage {
	centroid := make([]float64, embed.Dim)
	for j := range centroid {
		centroid[j] = math.Sin(float64(i*31 + j))
	}
	doc, _ := json.Marshal(map[string]any{
		"kind": "adapter.lora", "mode": "hybrid", "type": "skill", "applicability": map[string]any{"embedding_centroid": centroid},
	})
	return doc
}
