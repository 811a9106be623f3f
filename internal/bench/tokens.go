package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"liminal/internal/stream"
)

// word writes a moment as one token of a fixed length.
func word(at time.Time) string {
	return fmt.Sprintf("%0*d ", wordLength-1, at.UnixNano())
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // no number asks for no further words
	return n
}

// speech is what the platform adds to a model's own time.
type speech struct {
	first  spread // from the request to the first token, by a model that answers at once
	tokens spread // from the model's token to the reader's
	count  int
}

// speechOf streams one long answer for the tokens and several short ones for
// the first.
func (h *house) speechOf(ctx context.Context, s sizes) (out speech, err error) {
	var firsts []time.Duration
	for n := range s.resumes {
		first, _, err := h.listen(ctx, n, 0)
		if err != nil {
			return out, err
		}
		firsts = append(firsts, first)
	}
	_, late, err := h.listen(ctx, 0, s.tokens)
	if err != nil {
		return out, err
	}
	if len(late) < s.tokens {
		return out, fmt.Errorf("%d of %d tokens arrived", len(late), s.tokens)
	}
	return speech{distribution(firsts), distribution(late), len(late)}, nil
}

// listen takes a turn with so many further words and tells how late each was.
func (h *house) listen(ctx context.Context, n, words int) (first time.Duration, late []time.Duration, err error) {
	began := time.Now()
	t, err := h.begin(ctx, h.person(n), "", chatWorkflow, streamPrefix+strconv.Itoa(words))
	if err != nil {
		return 0, nil, err
	}
	_, err = t.until(ctx, stream.MessageDone, func(e stream.Event) {
		if e.Kind != stream.Token {
			return
		}
		now := time.Now()
		if first == 0 {
			first = now.Sub(began)
		}
		var text string
		_ = json.Unmarshal(e.Data, &text) // no text holds no words, and they are counted
		for sent := range strings.FieldsSeq(text) {
			if nanos, err := strconv.ParseInt(sent, 10, 64); err == nil {
				late = append(late, now.Sub(time.Unix(0, nanos)))
			}
		}
	})
	return first, late, err
}
