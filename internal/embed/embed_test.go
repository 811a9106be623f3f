package embed_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"liminal/internal/embed"
)

func vectors(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	vecs, err := embed.Hash{}.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vecs
}

func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// Requirements: EMB-01, EMB-02
func TestHashGivesTheSameUnitVectorForTheSameText(t *testing.T) {
	t.Parallel()
	text := "Session storage is kept in memory and lost when the server restarts."
	first := vectors(t, text)[0]
	if len(first) != 64 {
		t.Fatalf("vector of %d numbers, want 64", len(first))
	}
	if l := length(first); math.Abs(l-1) > 1e-5 {
		t.Errorf("length %f, want 1", l)
	}
	for range 50 {
		if !slices.Equal(vectors(t, text)[0], first) {
			t.Fatal("the same text gave another vector")
		}
	}
}

// The first numbers are frozen: stored vectors would no longer be comparable
// if they moved without a new Version.
//
// Requirements: EMB-02
func TestHashIsFrozen(t *testing.T) {
	t.Parallel()
	got := vectors(t, "a durable conversation engine with retrieval")[0][:4]
	want := frozen
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			t.Fatalf("vector begins %v, want %v: give the encoder a new Version", got, want)
		}
	}
}

// Requirements: EMB-03
func TestEmptyTextHasAFixedUnitVector(t *testing.T) {
	t.Parallel()
	vecs := vectors(t, "", " \n", "…!?")
	for _, v := range vecs {
		if length(v) != 1 || !slices.Equal(v, vecs[0]) {
			t.Errorf("vector %v is not the fixed unit vector", v[:4])
		}
	}
}

func TestSharedWordingLiesCloser(t *testing.T) {
	t.Parallel()
	v := vectors(t, "How are sessions stored on the server?", "The server stores each session in memory.", "Bread is baked from flour, water and salt.")
	if near, far := embed.Cosine(v[0], v[1]), embed.Cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("cosine %0.2f to the related text, %0.2f to the other", near, far)
	}
}

// Requirements: EMB-04, EMB-03
func TestFitCutsPadsAndNormalises(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []float32
	}{
		{"longer", make([]float32, 1536)},
		{"shorter", []float32{3, 4}},
		{"empty", nil},
		{"not finite", []float32{float32(math.NaN()), float32(math.Inf(1)), 2}},
	} {
		if c.name == "longer" {
			c.in[0], c.in[1000] = 5, 9
		}
		got := embed.Fit(c.in, embed.Dim)
		if len(got) != embed.Dim || math.Abs(length(got)-1) > 1e-6 {
			t.Errorf("%s: %d numbers of length %f", c.name, len(got), length(got))
		}
	}
}

// Requirements: EMB-05
func TestTurnLeansTowardsWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	message, before := "and how long is it kept?", "The retention of audit records."
	alone, err := embed.Turn(ctx, embed.Hash{}, message, "")
	if err != nil {
		t.Fatal(err)
	}
	turn, err := embed.Turn(ctx, embed.Hash{}, message, before)
	if err != nil {
		t.Fatal(err)
	}
	v := vectors(t, message, before)
	if embed.Cosine(alone, v[0]) < 0.9999 {
		t.Error("without context the turn is not its message")
	}
	if embed.Cosine(turn, v[1]) <= embed.Cosine(alone, v[1]) {
		t.Error("the context did not move the embedding")
	}
	if embed.Cosine(turn, v[0]) < 0.7 {
		t.Error("the last message no longer leads")
	}
}

var frozen = []float32{-0.22256596, 0.09273581, 0.09273581, 0}

func TestAUnitVectorHasLengthOneAndNothingStaysNothing(t *testing.T) {
	t.Parallel()
	given := []float32{3, 4}
	if v := embed.Unit(given); v[0] != 0.6 || v[1] != 0.8 || given[0] != 3 {
		t.Errorf("unit of (3, 4) is %v, and what was given is %v", v, given)
	}
	if v := embed.Unit([]float32{0, 0}); v[0] != 0 {
		t.Errorf("unit of nothing is %v", v)
	}
}
