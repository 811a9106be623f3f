// Package embed turns text into vectors.
//
// It holds the port, the deterministic hashing embedder that needs no model
// (EMB-02), and the arithmetic both sides share. It imports the standard
// library and words only.
package embed

import "context"

// Dim is the default dimension of every stored vector (EMB-01).
const Dim = 64

// Embedder turns texts into unit vectors of Dim() numbers. Equal texts give
// equal vectors; an empty text gives a fixed unit vector, never zero (EMB-03).
type Embedder interface {
	// Version names the encoder; a change of it means re-embedding (RAG-09).
	Version() string
	Dim() int
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
