package local

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
)

// errGone ends an answer whose reader left.
var errGone = errors.New("the reader is gone")

// answer is one answer on its way.
type answer struct {
	m     *Model
	ctx   context.Context
	req   model.Request
	yield func(model.Event, error) bool

	citer *model.Citer
	until holder
	made  int
}

// write lets the model answer.
func (a *answer) write() error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	m := a.m
	applied := model.Apply(known(), a.req.Adapters)
	for _, lost := range applied.Dropped {
		m.Logger.InfoContext(a.ctx, "adapter_dropped", "adapter", lost.ID, "reason", lost.Reason, "weight", lost.Weight, "backend", backend, "model", m.Name())
	}
	gated, texts, refused, release := a.loaded(applied.Local)
	defer release()
	model.TellApplied(a.ctx, applied.Without(model.DroppedRefused, refused...))
	passages := model.Passages(a.req.Messages)
	a.citer = model.NewCiter(passages)
	a.until = holder{ends: m.folder.Template.Until}
	most := m.answerTokens(a.req.MaxTokens)
	ids, err := m.prompt(a.ctx, a.req, append([]string{applied.System}, texts...), m.engine.Context()-most)
	if err != nil {
		return err
	}
	req := serve.Request{
		Prompt: ids, MaxTokens: most, Stops: m.folder.Stops, Adapters: gated, Owner: a.req.User,
		Temperature: m.folder.Temperature, TopP: m.folder.TopP, TopK: m.folder.TopK, Penalty: m.folder.Penalty, Seed: m.Seed(),
	}
	if a.req.Temperature != nil {
		req.Temperature = *a.req.Temperature
	}
	if a.req.TopP != nil {
		req.TopP = *a.req.TopP
	}
	return a.relay(req)
}

// known is our row in the capability registry.
func known() model.Backend {
	b, _ := model.BackendOf(backend)
	return b
}

// loaded are the adapters whose weights are at hand, with their gates, and the
// instructions of hybrid ones whose weights cannot be used here: those are
// refused, logged and told of, and the answer goes on without (LORA-16).
func (a *answer) loaded(list []model.Adapter) (gated []llm.Gated, texts []string, refused []model.Adapter, release func()) {
	var releases []func()
	for _, one := range list {
		adapter, done, err := a.load(one)
		if err != nil {
			a.m.Logger.WarnContext(a.ctx, "adapter_refused", "adapter", one.ID, "folder", one.Dir, "error", err.Error(), "model", a.m.Name())
			refused = append(refused, one)
			if one.Mode != model.ModeLocal {
				texts = append(texts, one.Instructions)
			}
			continue
		}
		gated = append(gated, llm.Gated{Adapter: adapter, Gate: float32(min(one.Weight, 1))})
		releases = append(releases, done)
	}
	return gated, texts, refused, func() {
		for _, done := range releases {
			done()
		}
	}
}

func (a *answer) load(one model.Adapter) (*llm.Adapter, func(), error) {
	at, err := serve.At(a.m.Root, one.Dir, one.Version)
	if err != nil {
		return nil, nil, err
	}
	return a.m.adapters.Use(serve.AdapterKey{ID: one.ID, Version: at + "\x00" + one.Checksum}, one.Persona)
}

// relay passes the engine's tokens on as text.
func (a *answer) relay(req serve.Request) error {
	decoder := a.m.folder.Tokens.Decoder()
	for e, err := range a.m.engine.Answer(a.ctx, req) {
		switch {
		case err != nil:
			return err
		case e.End == serve.Reading:
			model.Heard(a.ctx, e.Read) // a long prompt is read: the model is not silent
		case e.End == serve.Going:
			a.made++
			text, over := a.until.add(decoder.Next(e.Token))
			if err := a.say(text); err != nil {
				return err
			}
			if over {
				return a.finish(req, model.EndTurn, e.Reused)
			}
		default:
			text, _ := a.until.add(decoder.Rest())
			if err := a.say(text + a.until.rest()); err != nil {
				return err
			}
			reason := model.EndTurn
			if e.End == serve.Full {
				reason = model.MaxTokens
			}
			return a.finish(req, reason, e.Reused)
		}
	}
	return fault.New(fault.Internal, "The language model stopped without a word. Try again.")
}

// say sends text, with markers of passages as citations.
func (a *answer) say(text string) error {
	if text == "" {
		return nil
	}
	return a.send(a.citer.Add(text)...)
}

func (a *answer) finish(req serve.Request, reason model.StopReason, reused int) error {
	usage := model.Usage{Input: len(req.Prompt) - reused, Output: a.made, CacheRead: reused}
	return a.send(append(a.citer.End(), model.Event{Type: model.UsageReport, Usage: usage}, model.Event{Type: model.Stop, Reason: reason})...)
}

func (a *answer) send(events ...model.Event) error {
	for _, e := range events {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if !a.yield(e, nil) {
			return errGone
		}
	}
	return nil
}

// holder ends a text before the first of some ends, and holds back what may be
// the beginning of one.
type holder struct {
	ends []string
	held string
}

// add gives what is decided by more text; over says that an end stood in it.
func (h *holder) add(text string) (decided string, over bool) {
	h.held += text
	first := -1
	for _, end := range h.ends {
		if at := strings.Index(h.held, end); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first >= 0 {
		decided, h.held = h.held[:first], ""
		return decided, true
	}
	keep := 0
	for _, end := range h.ends {
		for n := min(len(end)-1, len(h.held)); n > keep; n-- {
			if strings.HasSuffix(h.held, end[:n]) {
				keep = n
			}
		}
	}
	decided, h.held = h.held[:len(h.held)-keep], h.held[len(h.held)-keep:]
	return decided, false
}

// rest is what was held back when no more text comes.
func (h *holder) rest() string {
	text := h.held
	h.held = ""
	return text
}

// answerTokens is how long an answer may be: half of what the model reads at
// most, so that there is room for a question.
func (m *Model) answerTokens(wanted int) int {
	return min(cmp.Or(wanted, 1024), max(m.engine.Context()/2, 1))
}
