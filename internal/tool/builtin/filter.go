package builtin

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"liminal/internal/model"
	"liminal/internal/safety"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// filter lets an answer through piece by piece, as far as it is judged. What
// else a provider sends keeps its place in the text: a citation comes right
// after the words it is of.
type filter struct {
	screen  *safety.Screen
	call    *tool.Call
	answer  *completion
	yield   func(model.Event, error) bool
	fed     int // bytes the provider has sent
	settled int // bytes of them that are judged
	waiting []waiting
	over    bool // nothing more is to be sent: the answer is replaced, or nobody listens
}

// waiting is an event that comes after so many bytes of text.
type waiting struct {
	at    int
	event model.Event
}

// screened is a model's events without what nobody may see (SAFE-01, SAFE-09).
// When the whole answer is held back, the words that were shown are taken back
// too, a sentence stands for it, and the model is not heard to its end.
func (v completer) screened(ctx context.Context, c *tool.Call, s *completion, events iter.Seq2[model.Event, error]) iter.Seq2[model.Event, error] {
	if v.safety == nil {
		return events
	}
	return func(yield func(model.Event, error) bool) {
		f := &filter{screen: safety.NewScreen(v.safety), call: c, answer: s, yield: yield}
		for event, err := range events {
			if err != nil {
				f.show(f.screen.Close(ctx, safety.Torn))
				f.send(model.Event{}, err)
				return
			}
			if f.feed(ctx, event); f.over {
				return
			}
		}
		e := safety.Whole
		if ctx.Err() != nil {
			e = safety.Torn
		}
		f.show(f.screen.Close(ctx, e))
	}
}

// feed takes in the next event.
func (f *filter) feed(ctx context.Context, e model.Event) {
	switch e.Type {
	case model.TextDelta:
		f.fed += len(e.Text)
		f.show(f.screen.Feed(ctx, e.Text))
	case model.Stop:
		f.show(f.screen.Close(ctx, ending(e.Reason)))
		f.send(e, nil)
	case model.ThinkingDelta, model.UsageReport:
		f.send(e, nil)
	default:
		if f.settled == f.fed {
			f.send(e, nil)
			return
		}
		f.waiting = append(f.waiting, waiting{f.fed, e})
	}
}

func ending(r model.StopReason) safety.Ending {
	if r == model.MaxTokens {
		return safety.Torn
	}
	return safety.Whole
}

// show sends what is settled, with what waited for it.
func (f *filter) show(parts []safety.Part) {
	for _, p := range parts {
		switch {
		case p.Removed != nil && p.Removed.Action == safety.Block:
			f.replace(*p.Removed)
			return
		case p.Removed != nil:
			f.text(f.mark(*p.Removed))
			f.settled += p.Raw
			f.release()
		default:
			f.through(p.Text)
		}
	}
}

// through sends text that is as it was, cut where events belong.
func (f *filter) through(text string) {
	for len(f.waiting) > 0 && f.waiting[0].at < f.settled+len(text) {
		n := f.waiting[0].at - f.settled
		f.text(text[:n])
		f.settled, text = f.settled+n, text[n:]
		f.release()
	}
	f.text(text)
	f.settled += len(text)
	f.release()
}

// release sends the events whose text has been sent.
func (f *filter) release() {
	for len(f.waiting) > 0 && f.waiting[0].at <= f.settled {
		next := f.waiting[0]
		f.waiting = f.waiting[1:]
		f.send(next.event, nil)
	}
}

func (f *filter) text(text string) {
	if text != "" {
		f.send(model.Event{Type: model.TextDelta, Text: text}, nil)
	}
}

func (f *filter) send(e model.Event, err error) {
	if !f.over && !f.yield(e, err) {
		f.over = true
	}
}

// mark is what stands for a span that was removed.
func (f *filter) mark(r safety.Finding) string {
	word := "removed"
	if german(f.call) {
		word = "entfernt"
	}
	text := fmt.Sprintf("[%s: %s]", word, r.Reason)
	f.tell(r, text)
	return text
}

// replace puts a sentence in the place of the whole answer.
func (f *filter) replace(r safety.Finding) {
	text := fmt.Sprintf("This answer is not shown: it holds what this system does not give out (%s).", r.Reason)
	if german(f.call) {
		text = fmt.Sprintf("Diese Antwort wird nicht gezeigt: Sie enthält, was dieses System nicht ausgibt (%s).", r.Reason)
	}
	if f.call.Final {
		f.call.Emit(stream.ResetData{Reason: stream.ResetSafety})
	}
	f.answer.forget()
	f.tell(r, text)
	f.text(text)
	f.send(model.Event{Type: model.Stop, Reason: model.Refusal}, nil)
	f.over = true
}

func (f *filter) tell(r safety.Finding, text string) {
	if f.call.Redacted != nil {
		f.call.Redacted(tool.Redaction{Policy: f.screen.Policy(), Rule: r.Rule, Reason: r.Reason, Text: text, Whole: r.Action == safety.Block})
	}
}

// hides reports whether a structured answer holds, now that it is decoded,
// what nobody may see. The filter has read it as it was written, where each
// letter and each line break may be an escape (SAFE-09).
func (v completer) hides(ctx context.Context, c *tool.Call, written string, value map[string]any) bool {
	if v.safety == nil || !strings.Contains(written, `\`) {
		return false
	}
	verdict, err := v.safety.Classify(ctx, strings.Join(spelled(value), "\n\n"), safety.Output)
	at := slices.IndexFunc(verdict.Findings, func(f safety.Finding) bool { return f.Action != safety.Note })
	if err != nil || at < 0 {
		return false
	}
	if f := verdict.Findings[at]; c.Redacted != nil {
		c.Redacted(tool.Redaction{Policy: verdict.Policy, Rule: f.Rule, Reason: f.Reason, Whole: true})
	}
	return true
}

// spelled are the texts in a value, in the order of their keys.
func spelled(v any) (out []string) {
	switch x := v.(type) {
	case string:
		return []string{x}
	case []any:
		for _, e := range x {
			out = append(out, spelled(e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			out = append(append(out, key), spelled(x[key])...)
		}
	}
	return out
}

// forget drops what was said so far, but for what it cost.
func (s *completion) forget() {
	s.text.Reset()
	s.marked, s.blocks, s.calls, s.quotes, s.records, s.replaced = 0, nil, nil, nil, nil, true
}

func german(c *tool.Call) bool { return strings.HasPrefix(c.Locale, "de") }
