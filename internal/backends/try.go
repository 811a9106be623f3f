package backends

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// testTime bounds a test, in which a server may have to load its model first.
const testTime = 45 * time.Second

// maxHeard is how much of a test's answer is shown, in characters.
const maxHeard = 200

// Test asks a backend whether it is there, as `liminald doctor` does, and then
// for two words. Neither stands in anybody's conversation or budget.
func (r *Registry) Test(ctx context.Context, v identity.Viewer, name string) (Answered, error) {
	if err := mayManage(v); err != nil {
		return Answered{}, err
	}
	if err := r.Refresh(ctx); err != nil {
		return Answered{}, err
	}
	now := r.now.Load()
	s, there := now.served[name]
	if !there {
		return Answered{}, fault.New(fault.NotFound, "There is no such model backend.")
	}
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	var out Answered
	if b := now.rows[name]; r.o.Probe != nil && name != Environment {
		key, err := r.keyOf(b)
		if err != nil {
			return Answered{Says: fault.From(err).Message}, nil
		}
		b.URL = cmp.Or(b.URL, r.protocol(b.Protocol).URL)
		if out = r.o.Probe(ctx, b, key); !out.OK {
			return out, nil
		}
	}
	return r.speak(ctx, s, out), nil
}

// speak asks for two words and notes who said them.
func (r *Registry) speak(ctx context.Context, s *Served, out Answered) Answered {
	began := r.o.Now()
	choice := s.Choose(nil, "", "chat")
	req := model.Request{
		Model: choice.Model, Task: "chat", MaxTokens: 1000, // a model that thinks needs some before its first word
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "Reply with the words: it works"}}}},
	}
	var said strings.Builder
	out.OK, out.Model = true, cmp.Or(choice.Model, s.Model.Name())
	for e, err := range s.Model.Stream(ctx, req) {
		if err != nil {
			out.OK, out.Says = false, sentence(ctx, err)
			break
		}
		if e.Type == model.TextDelta && said.Len() < maxHeard {
			said.WriteString(e.Text)
		}
	}
	out.Took = r.o.Now().Sub(began)
	if !out.OK {
		return out
	}
	out.Text = cut(strings.TrimSpace(said.String()))
	if out.Says == "" {
		out.Says = fmt.Sprintf("%s answers.", out.Model)
	}
	return out
}

func sentence(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "It did not answer in time."
	}
	return fault.From(err).Message
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxHeard {
		return string(runes[:maxHeard])
	}
	return text
}

// broken is a backend that cannot be asked; it says why.
type broken struct {
	name string
	err  error
}

// Name implements model.Model.
func (b broken) Name() string { return b.name }

// Generative implements model.Model.
func (broken) Generative() bool { return true }

// OnLoopback is true: nobody is asked.
func (broken) OnLoopback() bool { return true }

// Stream implements model.Model.
func (b broken) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { yield(model.Event{}, b.err) }
}
