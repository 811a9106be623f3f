package wire

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"liminal/internal/config"
	"liminal/internal/embed"
	"liminal/internal/embed/bert"
)

func rerankerConfig(t *testing.T, reranker, file string) (config.Config, string) {
	t.Helper()
	c := config.Config{Data: t.TempDir(), Model: config.Model{Backend: "extractive", Reranker: reranker}}
	path, there := RerankerFile(c)
	if there {
		t.Fatalf("%s is there already", path)
	}
	if file != "" {
		if err := os.MkdirAll(c.ModelsDir(), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c, path
}

// Requirements: RAG-12
func TestQuotesAreComparedByMeaningWhereTheModelLies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reranker, file string
		used           bool
		says           string
	}{
		"not there": {"auto", "", false, "by the words of a question alone"},
		"off":       {"off", "something", false, ""},
		"there":     {"auto", "something", bert.Quick(), ""},
	} {
		var said bytes.Buffer
		conf, _ := rerankerConfig(t, c.reranker, c.file)
		m := theReranker(conf, slog.New(slog.NewTextHandler(&said, nil)))
		if r, ok := m.(*reranker); ok {
			<-r.opened // it writes into said until then
		}
		if (m != nil) != c.used || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: used %v, said %s", name, m != nil, said.String())
		}
	}
}

// A broken file costs its opinion, not the answer.
//
// Requirements: RAG-12
func TestABrokenRerankerSaysSo(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	_, path := rerankerConfig(t, "auto", "no model")
	r := &reranker{opened: make(chan struct{}), turn: make(chan struct{}, 1), patience: time.Hour}
	go r.open(path, slog.New(slog.NewTextHandler(&said, nil)))
	_, err := r.Compare(t.Context(), "q", []string{"a"})
	if !errors.Is(err, errNoReranker) || !strings.Contains(said.String(), "another file") {
		t.Errorf("it says %v, and logs %s", err, said.String())
	}
}

// holding compares when it is let.
type holding struct{ in, out chan struct{} }

func (holding) Version() string { return "holding" }

func (h holding) Compare(context.Context, string, []string) ([]embed.Likeness, error) {
	h.in <- struct{}{}
	<-h.out
	return []embed.Likeness{{Whole: 1}}, nil
}

func TestQuestionsAreComparedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	h := holding{in: make(chan struct{}), out: make(chan struct{})}
	r := &reranker{opened: make(chan struct{}), model: h, turn: make(chan struct{}, 1), patience: time.Hour}
	type answer struct {
		likeness []embed.Likeness
		err      error
	}
	ask := func() chan answer {
		to := make(chan answer, 1)
		go func() {
			l, err := r.Compare(t.Context(), "q", []string{"a"})
			to <- answer{l, err}
		}()
		return to
	}
	first := ask()
	close(r.opened)
	<-h.in
	hasty := &reranker{opened: r.opened, model: h, turn: r.turn}
	if _, err := hasty.Compare(t.Context(), "q", nil); !errors.Is(err, errBusy) {
		t.Errorf("who does not wait is told %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Compare(gone, "q", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("who is gone is told %v", err)
	}
	second := ask()
	h.out <- struct{}{}
	if a := <-first; a.err != nil || len(a.likeness) != 1 {
		t.Errorf("the first gets %v", a)
	}
	<-h.in
	h.out <- struct{}{}
	if a := <-second; a.err != nil || len(a.likeness) != 1 {
		t.Errorf("the second gets %v", a)
	}
}
