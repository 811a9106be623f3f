package embed

import "context"

// Likeness is how near a text is to a question, as an encoder of tokens sees it.
// Both are cosines, -1 to 1.
type Likeness struct {
	Whole float64 // of the two texts as wholes
	Parts float64 // of each token of the question and the nearest of the text, on average
}

// Comparer compares a question with texts that may answer it. It is asked while
// a person waits, of a few dozen texts at most.
type Comparer interface {
	// Version names the encoder.
	Version() string
	// Compare returns a likeness for each text, in their order.
	Compare(ctx context.Context, question string, texts []string) ([]Likeness, error)
}
