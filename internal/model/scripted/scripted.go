// Package scripted is a model that plays a script: for tests of everything
// around a model, in process or, with MODEL_BACKEND=scripted and
// LIMINAL_SCRIPT naming a JSON file, in a program of its own that may be
// killed in the middle of a word.
//
// It may import fault, words and model.
package scripted

import (
	"context"
	"fmt"
	"iter"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/words"
)

// Model plays a Script. It is safe for concurrent use: every request takes
// its answer in the order requests arrive.
type Model struct {
	script Script

	mu       sync.Mutex
	played   []int // how often each answer was given
	requests []model.Request
	signals  map[string]chan struct{}
}

var _ model.Model = (*Model)(nil)

// New returns a model that plays s.
func New(s Script) *Model {
	return &Model{script: s, played: make([]int, len(s.Answers)), signals: map[string]chan struct{}{}}
}

// Say returns a model that answers every request with text, word by word.
func Say(text string) *Model {
	return New(Script{Answers: []Answer{{Steps: []Step{{Text: text, Chunk: 4}}}}})
}

// Name is the script's name.
func (m *Model) Name() string {
	if m.script.Name == "" {
		return "scripted"
	}
	return m.script.Name
}

// Generative is what the script says; true by default.
func (m *Model) Generative() bool { return m.script.Generative == nil || *m.script.Generative }

// OnLoopback is true: nobody is asked.
func (m *Model) OnLoopback() bool { return true }

// Requests returns the requests so far, oldest first.
func (m *Model) Requests() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]model.Request(nil), m.requests...)
}

// Release lets every step that waits for the signal go on, now and later.
func (m *Model) Release(signal string) { m.raise("wait:" + signal) }

// Reached is closed once a step has raised the signal.
func (m *Model) Reached(signal string) <-chan struct{} { return m.signal("reach:" + signal) }

func (m *Model) signal(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.signals[name]
	if !ok {
		c = make(chan struct{})
		m.signals[name] = c
	}
	return c
}

func (m *Model) raise(name string) {
	c := m.signal(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// nextAnswer chooses the answer to req.
func (m *Model) nextAnswer(req model.Request) (Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, req)
	for i, a := range m.script.Answers {
		if (a.Times == 0 || m.played[i] < a.Times) && a.fits(req) {
			m.played[i]++
			return a, nil
		}
	}
	return Answer{}, fault.New(fault.Internal, "The script has no answer left for a request of task %q that ends in %q.", req.Task, lastText(req))
}

// Stream plays the answer that fits req.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		p := player{model: m, ctx: ctx, req: req, yield: yield, reason: model.EndTurn}
		if err := p.play(); err != nil {
			if !p.gone {
				yield(model.Event{}, err)
			}
		}
	}
}

// player plays one answer.
type player struct {
	model  *Model
	ctx    context.Context
	req    model.Request
	yield  func(model.Event, error) bool
	gone   bool
	ended  bool
	calls  int
	output int
	reason model.StopReason
}

func (p *player) play() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	answer, err := p.model.nextAnswer(p.req)
	if err != nil {
		return err
	}
	for _, step := range answer.Steps {
		if err := p.step(step); err != nil {
			return err
		}
		if p.ended {
			break
		}
	}
	usage := model.Usage{Input: inputTokens(p.req), Output: p.output}
	if answer.Usage != nil {
		usage = *answer.Usage
	}
	if err := p.send(model.Event{Type: model.UsageReport, Usage: usage}); err != nil {
		return err
	}
	return p.send(model.Event{Type: model.Stop, Reason: p.reason})
}

func inputTokens(req model.Request) int {
	n := words.Tokens(req.System)
	for _, m := range req.Messages {
		for _, b := range m.Content {
			n += words.Tokens(b.Text)
		}
	}
	return n
}

func (p *player) send(e model.Event) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if !p.yield(e, nil) {
		p.gone = true
		return context.Canceled
	}
	return nil
}

func (p *player) step(s Step) error {
	switch {
	case s.Text != "":
		return p.text(s)
	case s.Echo != "":
		return p.echo(s)
	case s.Thinking != "":
		return p.send(model.Event{Type: model.ThinkingDelta, Text: s.Thinking, Signature: "scripted"})
	case s.Tool != nil:
		return p.tool(*s.Tool)
	case s.Cite != nil:
		return p.cite(*s.Cite)
	case s.Error != nil:
		return s.Error.err()
	case s.Stop != "":
		p.reason, p.ended = model.StopReason(s.Stop), true
		return nil
	case s.Touch != "":
		return os.WriteFile(s.Touch, nil, 0o600)
	case s.Reach != "":
		p.model.raise("reach:" + s.Reach)
		return nil
	}
	return p.rest(s)
}

// rest is the steps that wait.
func (p *player) rest(s Step) error {
	switch {
	case s.Pause != 0:
		return p.wait(time.After(time.Duration(s.Pause)))
	case s.Wait != "":
		select {
		case <-p.model.signal("wait:" + s.Wait):
			return nil
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	case s.Until != "":
		return p.until(s.Until)
	}
	return p.wait(nil) // hang
}

func (p *player) wait(c <-chan time.Time) error {
	select {
	case <-c:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// poll is how often a file is looked for.
const poll = 10 * time.Millisecond

// until waits for a file, which another process creates.
func (p *player) until(path string) error {
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if err := p.wait(time.After(poll)); err != nil {
			return err
		}
	}
}

func (p *player) text(s Step) error {
	p.output += words.Tokens(s.Text)
	size := s.Chunk
	runes := []rune(s.Text)
	if size <= 0 {
		size = len(runes)
	}
	for from := 0; from < len(runes); from += size {
		piece := string(runes[from:min(from+size, len(runes))])
		if err := p.send(model.Event{Type: model.TextDelta, Text: piece}); err != nil {
			return err
		}
	}
	return nil
}

// echo says what the person, or a passage, said: of two requests that one
// script answers, each gets an answer of its own.
func (p *player) echo(s Step) error {
	pattern, err := regexp.Compile(s.Echo)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The script echoes what is no regular expression: %v.", err)
	}
	if n := len(p.req.Messages); n > 0 {
		for _, b := range p.req.Messages[n-1].Content {
			if found := pattern.FindString(b.Text); found != "" {
				return p.text(Step{Text: found, Chunk: s.Chunk})
			}
		}
	}
	return fault.New(fault.Internal, "Nothing in the last message fits %q, which the script echoes.", s.Echo)
}

func (p *player) tool(t ToolStep) error {
	p.calls++
	p.reason = model.ToolCalls
	e := model.Event{Type: model.ToolCall, ID: t.ID, Name: t.Name, Input: t.Input}
	if e.ID == "" {
		e.ID = fmt.Sprintf("call_%d", p.calls)
	}
	if len(e.Input) == 0 {
		e.Input = []byte("{}")
	}
	p.output += words.Tokens(e.Name) + words.Tokens(string(e.Input))
	return p.send(e)
}

// cite quotes a passage of the request.
func (p *player) cite(c CiteStep) error {
	at := 0
	for _, m := range p.req.Messages {
		for _, b := range m.Content {
			if b.Type != model.Passage || b.Source == nil {
				continue
			}
			if at == c.Passage {
				return p.send(citation(b, c.Quote))
			}
			at++
		}
	}
	return fault.New(fault.Internal, "The script cites passage %d of a request that has %d.", c.Passage, at)
}

func citation(b model.Block, quote string) model.Event {
	if quote == "" {
		quote = b.Text
	}
	if at := strings.Index(b.Text, quote); at >= 0 {
		return b.Cite(at, at+len(quote))
	}
	source := *b.Source // a quote that is not there: whoever shows it must find that out
	return model.Event{Type: model.Citation, Source: &source, Quote: quote}
}
