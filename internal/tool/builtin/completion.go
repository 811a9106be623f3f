package builtin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/safety"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// handover is kept free at the end of a call's time, so that a truncated
// answer still reaches the caller.
const handover = 500 * time.Millisecond

// completer is a model as the tools use it: the conversation before, the words
// as they come, and the completion when it is over, however it ends.
type completer struct {
	model   model.Model
	history History
	// memories keeps summaries of conversations; nil: there are none
	memories Memories
	limit    func(plan string) time.Duration
	silence  time.Duration // 0: as long as the call may take
	tokens   int           // of an answer whose request names no number; 0: no bound
	safety   safety.Holder // nil: answers go out as they are
	gate     *gate         // of this answer; nil: nobody asks whether it stands in results
}

func newCompleter(p Parts) completer {
	return completer{
		model: p.Model, history: p.History, memories: p.Memories,
		limit: p.MaxDecode, silence: p.Silence, tokens: p.MaxTokens, safety: p.Safety,
	}
}

// on is the completer of a call, which may name another model than the
// environment's.
func (v completer) on(c *tool.Call) completer {
	if c.Model != nil {
		v.model = c.Model
	}
	return v
}

// completion is an answer of a model, whole or not.
type completion struct {
	cited
	asked     string // the model's name
	read      int    // what the request says, in tokens, about
	heard     int    // what the provider has sent, in characters
	unsaid    int    // what it has sent that is part of no event yet, in bytes
	most      int    // of both together; 0: no bound
	text      strings.Builder
	marked    int           // bytes of the text up to the last citation
	blocks    []model.Block // the same with thinking and tool uses, in order
	calls     []model.Event // of type ToolCall
	records   []model.Record
	replaced  bool // something else stands in the place of all that was said
	usage     model.Usage
	reason    model.StopReason
	truncated bool // stopped by its length, silence or time (STREAM-09)
	partial   bool // stopped by the person
}

// speak asks the model and gathers its answer. The words are streamed when
// the call's text is the answer of the turn; whoever calls again takes the
// earlier attempt's words back first. An answer cut short by time or by the person is
// no error as long as there is some of it.
func (v completer) speak(ctx context.Context, c *tool.Call, req model.Request) (*completion, error) {
	v = v.on(c)
	req = inRole(c, req)
	s := &completion{cited: cited{passages: passagesOf(req.Messages)}, asked: cmp.Or(req.Model, v.model.Name()), read: sizeOf(req)}
	if v.tokens > 0 {
		req.MaxTokens = min(req.MaxTokens, v.tokens)
	}
	s.most = longestToken * lesser(req.MaxTokens, v.tokens)
	if c.Afford != nil {
		if err := c.Afford(ctx); err != nil {
			return nil, err
		}
	}
	defer v.settle(c, s)
	within, cancel := v.within(ctx, c.Viewer.Plan)
	defer cancel()
	within, ear := listening(within, time.Duration(lesser(int(v.silence), shortened(c.Silence))), s)
	ear.alive = c.Alive
	defer ear.stop()
	s.goOn(c)
	for event, err := range v.screened(within, c, s, v.gate.through(within, ear.listen(v.model.Stream(within, req)))) {
		if err != nil {
			return s.cut(ctx, within, err)
		}
		if piece := s.add(event); c.Final && piece != "" {
			c.Emit(stream.TokenData(piece))
		}
		if event.Type == model.Linked && event.Record != nil && c.Final {
			c.Emit(chat.Chip(*event.Record))
		}
	}
	if s.reason == "" && within.Err() != nil {
		return s.cut(ctx, within, within.Err())
	}
	s.truncated = s.reason == model.MaxTokens
	if c.Final && strings.TrimSpace(s.text.String()) == "" && len(s.calls) == 0 && s.reason != model.Ungrounded && v.model.Generative() {
		c.Emit(stream.TokenData(s.write(wordless(s.reason, german(c)))))
	}
	return s, nil
}

// goOn begins with what an earlier step of the same answer has shown.
func (s *completion) goOn(c *tool.Call) {
	if said, ok := graph.Said(c.Inputs); ok {
		s.text.WriteString(said)
		s.marked = s.text.Len()
	}
}

// wordless stands for an answer of the turn that has no word. It is no
// failure: that would be tried again, and tell of the tool that it is broken,
// as often as anybody asks for nothing.
func wordless(r model.StopReason, german bool) string {
	switch {
	case r == model.Refusal && german:
		return "Das Modell lehnt es ab, darauf zu antworten. Frag mit anderen Worten."
	case r == model.Refusal:
		return "The model declines to answer this. Put it in other words."
	case german:
		return "Das Modell hat nichts geantwortet. Frag noch einmal."
	}
	return "The model gave no answer. Ask again."
}

// inRole is a request as the run's policies of models have it: the role is
// the tool's input of that name, else what the request is for (LORA-26). What
// the request says itself goes before, but for the longest answer, which no
// one raises above the plan's. The tool's input most_tokens only lowers that.
func inRole(c *tool.Call, req model.Request) model.Request {
	req = asChosen(c, req)
	if most := number(c, "most_tokens", 0); most > 0 && (req.MaxTokens == 0 || req.MaxTokens > most) {
		req.MaxTokens = most
	}
	return req
}

func asChosen(c *tool.Call, req model.Request) model.Request {
	req.Adapters, req.Locale, req.User = c.Adapters, c.Locale, pseudonym(c.Viewer.UserID)
	if c.Bounds != nil {
		req = atSurface(*c.Bounds, c.Final, req)
	}
	if c.Choose == nil {
		return req
	}
	choice := c.Choose(cmp.Or(words(c, "role"), req.Task))
	req.Model = cmp.Or(req.Model, choice.Model)
	req.MaxTokens = cmp.Or(req.MaxTokens, choice.MaxTokens)
	if req.Temperature == nil {
		req.Temperature = choice.Temperature
	}
	if choice.Most > 0 && (req.MaxTokens == 0 || req.MaxTokens > choice.Most) {
		req.MaxTokens = choice.Most
	}
	return req
}

// atSurface is a request as the surface of its turn has it: the operator says which
// model answers there, and how long an answer may be, and goes before the graph.
func atSurface(b model.TurnBounds, final bool, req model.Request) model.Request {
	req.Model = cmp.Or(b.Model, req.Model)
	if b.OutputTokens > 0 && (final || req.MaxTokens == 0 || req.MaxTokens > b.OutputTokens) {
		req.MaxTokens = b.OutputTokens
	}
	return req
}

// pseudonym tells a provider that two requests are one person's, and not whose.
func pseudonym(userID string) string {
	if userID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("liminal user " + userID))
	return hex.EncodeToString(sum[:16])
}

// within bounds the time the model may speak.
func (v completer) within(ctx context.Context, plan string) (context.Context, context.CancelFunc) {
	var limit time.Duration
	if v.limit != nil {
		limit = v.limit(plan)
	}
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - handover; left > 0 && (limit <= 0 || left < limit) {
			limit = left
		}
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// cut decides what an answer that broke off is worth.
func (s *completion) cut(ctx, within context.Context, err error) (*completion, error) {
	stopped := errors.Is(ctx.Err(), context.Canceled)
	late := within.Err() != nil && !stopped
	switch cause := context.Cause(within); {
	case stopped:
		s.partial = true
		return s, nil
	case late && s.text.Len() > 0:
		s.truncated = true
		return s, nil
	case errors.Is(cause, errLong):
		return nil, fault.Wrap(fault.Invalid, cause, "The model wrote more than an answer may have, and had not come to the point. Ask for less at once.")
	case late:
		return nil, fault.Wrap(fault.Internal, err, "The model did not answer in time.").
			With(map[string]any{"reason": graph.CodeTimeout})
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return nil, err
	}
	return nil, fault.Wrap(fault.Internal, err, "The model's answer broke off.")
}

// settle says what a call has used. Models tell it at the end: of an answer
// that was not heard to its end, what was sent by then is to be paid all the
// same, and is estimated.
func (v completer) settle(c *tool.Call, s *completion) {
	if s.usage.Tokens() == 0 && s.heard > 0 {
		s.usage = model.Usage{Input: s.read, Output: s.heard/4 + 1, Estimated: true}
		if priced, ok := v.model.(interface {
			Cost(name string, u model.Usage) *float64
		}); ok {
			s.usage.CostUSD = priced.Cost(s.asked, s.usage)
		}
	}
	if c.Spent != nil {
		c.Spent(s.asked, s.usage)
	}
}

func sizeOf(req model.Request) int {
	size := tokens(req.System)
	for _, m := range req.Messages {
		for _, b := range m.Content {
			size += tokens(b.Text)
		}
	}
	return size
}

// add takes an event in and gives the text it adds to the answer.
func (s *completion) add(e model.Event) string {
	switch e.Type {
	case model.TextDelta:
		return s.write(e.Text)
	case model.ThinkingDelta:
		s.grow(model.Thinking, e.Text, e.Signature)
	case model.ToolCall:
		s.calls = append(s.calls, e)
		s.blocks = append(s.blocks, model.Block{Type: model.ToolUse, ID: e.ID, Name: e.Name, Input: e.Input})
	case model.Citation:
		return s.mark(s.cite(e))
	case model.Linked:
		if e.Record != nil && !slices.Contains(s.records, *e.Record) {
			s.records = append(s.records, *e.Record)
		}
	case model.UsageReport:
		s.usage = s.usage.Add(e.Usage)
	case model.Stop:
		s.reason = e.Reason
	}
	return ""
}

// mark puts the number of a citation behind the text it belongs to, unless
// the model has written it there itself.
func (s *completion) mark(n int, ok bool) (written string) {
	since := s.text.String()[s.marked:]
	if ok && !strings.Contains(prose(since), marker(n)) {
		written = s.write(marker(n))
	}
	s.marked = s.text.Len()
	return written
}

func (s *completion) write(text string) string {
	s.text.WriteString(text)
	s.grow(model.Text, text, "")
	return text
}

// append adds a paragraph that is not the model's to an answer.
func (s *completion) append(c *tool.Call, paragraph string) {
	if s.text.Len() > 0 {
		paragraph = "\n\n" + paragraph
	}
	if s.write(paragraph); c.Final {
		c.Emit(stream.TokenData(paragraph))
	}
}

// grow adds to the last block, or begins one: of another type, or behind a
// thought that is signed and must be sent back as it is.
func (s *completion) grow(t model.BlockType, text, signature string) {
	if last := len(s.blocks) - 1; last >= 0 && s.blocks[last].Type == t && s.blocks[last].Signature == "" {
		s.blocks[last].Text += text
		if signature != "" {
			s.blocks[last].Signature = signature
		}
		return
	}
	s.blocks = append(s.blocks, model.Block{Type: t, Text: text, Signature: signature})
}

// result is what every model tool returns of an answer.
func (s *completion) result(m model.Model) map[string]any {
	out := map[string]any{
		"answer": s.text.String(),
		"model":  cmp.Or(s.asked, m.Name()),
		"stop":   string(s.reason),
		"usage":  usage(s.usage),
	}
	if s.truncated {
		out["truncated"] = true
	}
	if s.partial {
		out["partial"] = true
	}
	return out
}

func usage(u model.Usage) map[string]any {
	out := map[string]any{"input_tokens": float64(u.Input), "output_tokens": float64(u.Output)}
	if u.CacheRead > 0 {
		out["cache_read_tokens"] = float64(u.CacheRead)
	}
	if u.CacheWrite > 0 {
		out["cache_write_tokens"] = float64(u.CacheWrite)
	}
	if u.CostUSD != nil {
		out["cost_usd"] = *u.CostUSD
	}
	return out
}
