package embed_test

import (
	"context"
	"strings"
	"testing"

	"liminal/internal/embed"
)

// knowing gives texts of one meaning vectors near each other: it has learnt
// the words of the gauge's own pairs by asking for them.
type knowing struct {
	embed.Hash
	shift float32 // of every cosine, as crowded encoders have it
}

func (knowing) Version() string { return "knowing" }

func (k knowing) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		meaning := texts[i-i%2] // question and answer stand side by side
		v, err := k.Hash.Embed(ctx, []string{meaning})
		if err != nil {
			return nil, err
		}
		v[0][0] += k.shift
		out[i] = embed.Fit(v[0], embed.Dim)
	}
	return out, nil
}

// Requirements: RAG-16
func TestCosinesOfAllEncodersAreBroughtToOneScale(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]embed.Embedder{"plain": knowing{}, "crowded": knowing{shift: 3}} {
		s, err := embed.Gauge(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if s.Power < 0.99 || s.High < 0.99 || s.Low >= s.High {
			t.Errorf("%s: %+v of an encoder that knows every pair", name, s)
		}
		if s.Similarity(s.Low) != 0 || s.Similarity(s.High) != 1 || s.Similarity(-1) != 0 || s.Similarity(1) != 1 {
			t.Errorf("%s: the scale does not run from 0 to 1", name)
		}
		if half := s.Similarity((s.Low + s.High) / 2); half < 0.49 || half > 0.51 {
			t.Errorf("%s: half way is %f", name, half)
		}
	}
}

// The hashing fallback knows wording and no meaning, and is told apart by it.
//
// Requirements: EMB-02, RAG-16
func TestTheHashingEmbedderHasNoPowerOverMeaning(t *testing.T) {
	t.Parallel()
	s, err := embed.Gauge(t.Context(), embed.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Power > 0.3 {
		t.Errorf("%+v: it has no way of knowing", s)
	}
	if embed.IsLocal(embed.Hash{}) {
		t.Error("its sentences say nothing that their words do not")
	}
}

type broken struct{ embed.Hash }

func (broken) Embed(context.Context, []string) ([][]float32, error) { return [][]float32{{1}}, nil }

func TestAnEncoderThatCannotBeGaugedSaysSo(t *testing.T) {
	t.Parallel()
	if s, err := embed.Gauge(t.Context(), broken{}); err == nil || !strings.Contains(err.Error(), "hash-v1") {
		t.Errorf("%+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embed.Gauge(ctx, embed.Hash{}); err == nil {
		t.Error("a cancelled gauge ends well")
	}
}
