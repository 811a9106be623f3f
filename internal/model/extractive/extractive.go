// Package extractive is the model for when there is none: it quotes and looks
// up, and never pretends to write.
//
// Deterministic, without network and weights, it answers a request by its
// Task: "intent" and "documents" decide by rules; "answer", "summary",
// "compare" and "check" quote the request's passages verbatim, each quote with
// a Citation event: what answers, what the whole comes back to, what documents
// say about the same, what comes closest to each sentence of another text;
// "memory" quotes a conversation; "chat" and "agent" call at most one obviously
// matching read-only tool at a time and quote what it returned. Tools that say
// what people ask of them are found by that, their inputs filled from the words,
// and their records told line by line.
// An answer has citations exactly when something was found. Where it may be no
// answer, it begins by saying so; passages shown below "Nothing in your
// documents answers this" carry none. The directives of adapters say how much is
// quoted and how it is set out.
//
// It may import fault, words, embed, model, learning and knowledge.
package extractive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/model"
	"liminal/internal/words"
)

// Name is the model's name in traces and in the client.
const Name = "extractive"

// The tasks it knows; any other is treated as TaskChat.
const (
	TaskIntent    = "intent"
	TaskDocuments = "documents"
	TaskAnswer    = "answer"
	TaskSummary   = "summary"
	TaskCompare   = "compare"
	TaskCheck     = "check"
	TaskMemory    = "memory"
	TaskChat      = "chat"
	TaskAgent     = "agent"
)

// Model implements model.Model. The zero value is ready.
type Model struct {
	// Meaning tells how near quotes are to a question, so that an answer in other
	// words is found; nil: the words of the question decide alone.
	Meaning embed.Comparer
}

var _ model.Model = Model{}

// Name returns Name.
func (Model) Name() string { return Name }

// Generative is false: every sentence about the world is a quote.
func (Model) Generative() bool { return false }

// InProcess is true: it reads what the request brings, and nothing else.
func (Model) InProcess() bool { return true }

// Stream answers req. The only errors are those of ctx.
func (m Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		w := &writer{ctx: ctx, yield: yield, limit: req.MaxTokens}
		reason := model.EndTurn
		err := ctx.Err()
		if err == nil {
			reason, err = m.respond(w, req)
		}
		if errors.Is(err, errTruncated) {
			reason, err = model.MaxTokens, nil
		}
		if errors.Is(err, errGone) {
			return
		}
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		usage := model.Usage{Input: inputTokens(req), Output: w.tokens}
		if yield(model.Event{Type: model.UsageReport, Usage: usage}, nil) {
			yield(model.Event{Type: model.Stop, Reason: reason}, nil)
		}
	}
}

// respond chooses what to do by the task.
func (m Model) respond(w *writer, req model.Request) (model.StopReason, error) {
	t := newTurn(req)
	t.meaning = m.Meaning
	switch req.Task {
	case TaskIntent:
		return model.EndTurn, w.json(filled(req.Schema, t.intent()))
	case TaskDocuments:
		return model.EndTurn, w.json(filled(req.Schema, t.references()))
	default:
	}
	if req.Schema != nil {
		plain := &writer{ctx: w.ctx, quiet: true}
		if _, err := t.reply(plain); err != nil {
			return "", err
		}
		return model.EndTurn, w.json(filled(req.Schema, map[string]any{"answer": plain.text.String(), "text": plain.text.String()}))
	}
	return t.reply(w)
}

// turn is the part of a request that matters: what is asked, what may be
// quoted, and what tools have said already.
type turn struct {
	req      model.Request
	say      phrases
	locale   string // it is answered in
	manner   manner
	question string            // without what is framed
	material map[string]string // frames of the last message: source_text, web_results, documents
	passages []passage
	results  []result
	meaning  embed.Comparer // nil: there is none
}

type result struct {
	call  model.Block // the tool use, when the dialogue holds it
	block model.Block
}

func newTurn(req model.Request) turn {
	m := mannerOf(req.Adapters)
	t := turn{req: req, manner: m}
	uses := map[string]model.Block{}
	for _, m := range req.Messages {
		text := ""
		for _, b := range m.Content {
			switch b.Type {
			case model.Text:
				text += b.Text + "\n"
			case model.Passage:
				t.passages = append(t.passages, passageOf(b))
			case model.ToolUse:
				uses[b.ID] = b
			case model.ToolResult:
				t.results = append(t.results, result{call: uses[b.ID], block: b})
			case model.Thinking:
			}
		}
		if text = strings.TrimSpace(text); m.Role == model.User && text != "" {
			t.question, t.material = model.Unframe(text)
			t.results = nil // results of earlier turns are past
		}
	}
	t.locale = cmp.Or(m.language, t.asked(), req.Locale)
	t.say = speak(t.locale)
	return t
}

// asked is the language of a question about records, whose labels are told in it:
// whoever asks in German reads German, whatever language their page has. Empty:
// the question does not say, or quotes answer it, which have a language already.
func (t turn) asked() string {
	if l, known := words.Hinted(t.question); known && t.spoken() {
		return string(l)
	}
	return ""
}

// reply answers in prose, or calls a tool.
func (t turn) reply(w *writer) (model.StopReason, error) {
	switch {
	case len(t.results) > 0:
		return t.afterTools(w)
	case t.req.Task == TaskSummary:
		return model.EndTurn, t.summary(w)
	case t.req.Task == TaskCompare:
		return model.EndTurn, t.compare(w)
	case t.req.Task == TaskCheck:
		return model.EndTurn, t.check(w)
	case t.req.Task == TaskMemory:
		return model.EndTurn, t.highlights(w)
	case t.req.Task == TaskAnswer || len(t.passages) > 0:
		return model.EndTurn, t.answerAndWeb(w)
	}
	if t.spoken() {
		done, reason, err := t.callMeant(w)
		if !done {
			reason, err = model.EndTurn, t.suggest(w)
		}
		return reason, err
	}
	if call, ok := t.pick(); ok {
		return model.ToolCalls, w.call(call)
	}
	return model.EndTurn, t.unable(w)
}

// writer sends events, counts tokens, and ends when nobody listens.
type writer struct {
	ctx    context.Context
	yield  func(model.Event, error) bool
	limit  int // of tokens; 0: none
	tokens int
	text   strings.Builder
	quiet  bool
}

var (
	errGone      = errors.New("the reader is gone")
	errTruncated = errors.New("the token limit is reached")
)

func (w *writer) send(e model.Event) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if !w.quiet && !w.yield(e, nil) {
		return errGone
	}
	return nil
}

// say sends text word by word.
func (w *writer) say(text string) error {
	for text != "" {
		n := strings.IndexAny(text[1:], " \n")
		if n++; n == 0 {
			n = len(text)
		}
		piece := text[:n]
		cost := words.Tokens(piece)
		if w.limit > 0 && w.tokens+cost > w.limit {
			return errTruncated
		}
		w.tokens += cost
		w.text.WriteString(piece)
		if err := w.send(model.Event{Type: model.TextDelta, Text: piece}); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func (w *writer) json(v map[string]any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.tokens += words.Tokens(string(raw))
	return w.send(model.Event{Type: model.TextDelta, Text: string(raw)})
}

func (w *writer) call(e model.Event) error {
	w.tokens += words.Tokens(e.Name) + words.Tokens(string(e.Input))
	return w.send(e)
}

// inputTokens estimates what the request would have cost a real model.
func inputTokens(req model.Request) int {
	n := words.Tokens(req.System)
	for _, m := range req.Messages {
		for _, b := range m.Content {
			n += words.Tokens(b.Text) + words.Tokens(string(b.Input))
		}
	}
	for _, t := range req.Tools {
		n += words.Tokens(t.Description) + words.Tokens(string(t.InputSchema))
	}
	return n
}
