package builtin

import (
	"context"
	"errors"
	"iter"
	"time"
	"unicode/utf8"

	"liminal/internal/model"
	"liminal/internal/tool"
)

// longestToken is how many characters one token stands for at most, on the
// average of a text. A provider is told how many tokens an answer may have and
// keeps to that; one that does not is stopped where no count of tokens could
// call it shorter.
const longestToken = 8

// Why an answer was ended before its own end.
var (
	errSilent = errors.New("nothing came from the model for too long")
	errLong   = errors.New("the model wrote more than an answer may have")
)

// shortened is the silence a call allows where its node asks for less than the
// most a node may; 0 otherwise: then only the setting counts.
func shortened(silence time.Duration) int {
	if silence >= tool.ChatCap {
		return 0
	}
	return int(silence)
}

// lesser is the smaller of two bounds, of which 0 is none.
func lesser(a, b int) int {
	if a <= 0 || b > 0 && b < a {
		return max(0, b)
	}
	return a
}

// ear hears a model out: what ends an answer that is still being written is that
// nothing more of it comes, or that it is longer than it may be, and no clock
// (STREAM-09).
type ear struct {
	answer  *completion
	silence time.Duration // 0: any
	timer   *time.Timer   // nil without silence
	end     context.CancelCauseFunc
	alive   func() // nil: nobody wants to know
}

// listening is ctx as long as the model is neither silent nor says too much.
func listening(ctx context.Context, silence time.Duration, s *completion) (context.Context, *ear) {
	ctx, end := context.WithCancelCause(ctx)
	e := &ear{answer: s, silence: silence, end: end}
	if silence > 0 {
		e.timer = time.AfterFunc(silence, func() { end(errSilent) })
	}
	return model.WithHearing(ctx, func(bytes int) {
		s.unsaid += bytes
		e.await()
		if e.full() {
			end(errLong)
		}
	}), e
}

// listen passes events on, and notes how much the provider sends, whatever
// becomes of it. The time their reader takes is no silence of the model.
func (e *ear) listen(events iter.Seq2[model.Event, error]) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for event, err := range events {
			e.pause()
			if err == nil && e.alive != nil {
				e.alive()
			}
			s := e.answer
			s.heard += utf8.RuneCountInString(event.Text) + len(event.Input)
			if event.Type == model.ToolCall {
				s.unsaid = 0
			}
			if !yield(event, err) {
				return
			}
			if err == nil && event.Type != model.Stop && event.Type != model.UsageReport && e.full() {
				yield(model.Event{Type: model.Stop, Reason: model.MaxTokens}, nil)
				return
			}
			e.await()
		}
	}
}

// full reports whether the provider has sent more than an answer may have.
func (e *ear) full() bool {
	s := e.answer
	return s.most > 0 && s.heard+s.unsaid > s.most
}

func (e *ear) await() {
	if e.timer != nil {
		e.timer.Reset(e.silence)
	}
}

func (e *ear) pause() {
	if e.timer != nil {
		e.timer.Stop()
	}
}

func (e *ear) stop() {
	e.pause()
	e.end(nil)
}
