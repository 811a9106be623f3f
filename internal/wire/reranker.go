package wire

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"liminal/internal/config"
	"liminal/internal/embed"
	"liminal/internal/embed/bert"
)

// RerankerFile is where the model lies that compares quotes with questions by
// meaning, and whether it is there. It is not looked into.
func RerankerFile(c config.Config) (path string, there bool) {
	path = filepath.Join(c.ModelsDir(), bert.MiniLM.File())
	_, err := os.Stat(path)
	return path, !errors.Is(err, fs.ErrNotExist)
}

// theReranker is what compares quotes with questions by meaning; nil: nothing
// does, and the words decide (RAG-12).
func theReranker(c config.Config, log *slog.Logger) embed.Comparer {
	path, there := RerankerFile(c)
	switch {
	case c.Model.Reranker == "off":
		return nil
	case !there:
		log.Info("quotes are found by the words of a question alone: liminald doctor says what finds them by meaning", "missing", path)
		return nil
	}
	if !bert.Quick() {
		log.Warn("quotes are found by the words of a question alone: this processor has no AVX2, without which comparing them by meaning takes seconds")
		return nil
	}
	r := &reranker{opened: make(chan struct{}), turn: make(chan struct{}, 1), patience: patience}
	go r.open(path, log)
	return r
}

// patience is how long a question waits for those before it. One comparison takes
// all processors, so that they go one after the other.
const patience = 2 * time.Second

var (
	errNoReranker = errors.New("the model that compares by meaning could not be opened")
	errBusy       = errors.New("too many questions are being compared by meaning")
)

// reranker opens its model beside the start of the program, which takes a second,
// and lets one question at a time use it. Who has waited too long, or finds the
// model broken, is told so by an error and goes by the words.
type reranker struct {
	opened   chan struct{} // closed when model is set, or will not be
	model    embed.Comparer
	turn     chan struct{}
	patience time.Duration
}

func (r *reranker) open(path string, log *slog.Logger) {
	defer close(r.opened)
	m, err := bert.MiniLM.Open(path)
	if err != nil {
		log.Error("quotes are found by the words of a question alone: the model for their meaning cannot be read", "cause", err)
		return
	}
	log.Info("quotes are compared with questions by meaning", "model", m.Version())
	r.model = m
}

// Version names the model.
func (r *reranker) Version() string { return "bert:" + bert.MiniLM.Name }

// Compare waits for the model and for a turn.
func (r *reranker) Compare(ctx context.Context, question string, texts []string) ([]embed.Likeness, error) {
	late := time.NewTimer(r.patience)
	defer late.Stop()
	for _, wait := range []func() error{
		func() error { return received(ctx, r.opened, late.C) },
		func() error { return sent(ctx, r.turn, late.C) },
	} {
		if err := wait(); err != nil {
			return nil, err
		}
	}
	defer func() { <-r.turn }()
	if r.model == nil {
		return nil, errNoReranker
	}
	return r.model.Compare(ctx, question, texts)
}

func received(ctx context.Context, from <-chan struct{}, late <-chan time.Time) error {
	select {
	case <-from:
		return nil
	case <-late:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

func sent(ctx context.Context, to chan<- struct{}, late <-chan time.Time) error {
	select {
	case to <- struct{}{}:
		return nil
	case <-late:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}
