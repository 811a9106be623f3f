// Package process asks a language model that is a program on this machine: one is
// started for each request, reads the request on standard input and writes its
// answer on standard output, as lines of JSON in the form that agents in a terminal
// call stream-json. While one answers, another is started that waits for the next
// request, so that a conversation pays for one start and not for each of its turns.
//
// The program is the operator's, never an artifact's. It runs in a group of
// processes and an empty folder of its own, knows of the environment only where
// programs and its person's home are, and is ended with all it started when nobody
// waits any more. What people wrote reaches it by standard input alone: arguments
// can be read by everybody on the machine.
//
// The program calls its own tools. What it says of them is its word: a graph's
// ground lets no figure of it through (internal/grounding).
//
// It may import fault and model.
package process

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
)

const (
	// atOnce is how many programs run at the same time; who comes later waits. One
	// of them may take some hundred megabytes.
	atOnce = 8

	maxLine   = 4 << 20 // bytes of one line
	maxAnswer = 1 << 20 // bytes of an answer's text
	maxStderr = 2 << 10 // bytes that are kept of what it says on standard error

	// waitsFor is how long one waits that was started ahead: it takes memory, and
	// what day it is it knows from its start.
	waitsFor = 10 * time.Minute
)

// Options name the program.
type Options struct {
	Program string   // its path
	Args    []string // the operator's script has its own; tests use these
}

// Model is the program. It is safe for concurrent use.
type Model struct {
	o    Options
	room chan struct{}

	mu     sync.Mutex
	ahead  *program // waits for a request; nil: none does
	closed bool
}

var (
	_ model.Model = (*Model)(nil)
	_ io.Closer   = (*Model)(nil)
)

// New makes one; nothing is started yet.
func New(o Options) *Model { return &Model{o: o, room: make(chan struct{}, atOnce)} }

// Name implements model.Model.
func (*Model) Name() string { return "process" }

// Generative implements model.Model.
func (*Model) Generative() bool { return true }

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := m.stream(ctx, req, yield); err != nil && !errors.Is(err, errGone) {
			yield(model.Event{}, err)
		}
	}
}

// errGone says that the reader has left.
var errGone = errors.New("process: the reader has left")

func (m *Model) stream(ctx context.Context, req model.Request, yield func(model.Event, error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case m.room <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-m.room }()
	question, err := json.Marshal(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": model.Written(req)}}},
	})
	if err != nil {
		return err
	}
	if p := m.takeAhead(); p != nil {
		if heard, err := m.answered(ctx, p, question, yield); heard || ctx.Err() != nil {
			return err
		}
	} // it ended without a word, as one does that died while it waited
	p, err := m.start()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The program of the language model cannot be started: the operator looks at LIMINAL_MODEL_PROGRAM.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	_, err = m.answered(ctx, p, question, yield)
	return err
}

// answered asks a program and tells what it says, to its end. heard: it said
// something.
func (m *Model) answered(ctx context.Context, p *program, question []byte, yield func(model.Event, error) bool) (heard bool, err error) {
	defer p.stop()
	go p.ask(question) // it may read only after it has said something
	a := answer{send: func(e model.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(e, nil) {
			return errGone
		}
		return nil
	}}
	for {
		select {
		case <-ctx.Done():
			return heard, ctx.Err()
		case raw, more := <-p.lines:
			if !more {
				if err := ctx.Err(); err != nil {
					return heard, err
				}
				return heard, upstream(<-p.ended, "The program of the language model ended without an answer.")
			}
			if !heard { // not sooner: the two would start beside one another
				heard = true
				go m.startAhead()
			}
			model.Heard(ctx, len(raw))
			if over, err := a.take(raw); err != nil || over {
				return heard, err
			}
		}
	}
}

// takeAhead is the program that was started ahead; nil: none was.
func (m *Model) takeAhead() *program {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.ahead
	m.ahead = nil
	return p
}

// startAhead has a program wait for the next request, unless one does. What is wrong
// with it the request says that starts its own.
func (m *Model) startAhead() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ahead != nil || m.closed {
		return
	}
	p, err := m.start()
	if err != nil {
		return
	}
	m.ahead = p
	time.AfterFunc(waitsFor, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ahead == p {
			m.ahead = nil
			p.stop()
		}
	})
}

// Close ends the program that waits. What answers goes on to its end.
func (m *Model) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	if p := m.takeAhead(); p != nil {
		p.stop()
		for range p.lines { // what it said unasked
		}
		<-p.ended
	}
	return nil
}

func upstream(err error, format string, args ...any) error {
	return fault.Wrap(fault.Internal, err, format, args...).With(map[string]any{"reason": fault.Upstream})
}

// program is one that was started.
type program struct {
	in    io.WriteCloser
	lines <-chan []byte
	ended <-chan error // one: how it ended, after the last line
	stop  func()
}

// ask tells it the question, which is all it is told. One that has ended is told
// nothing, and says so by its end.
func (p *program) ask(question []byte) {
	_, _ = p.in.Write(append(question, '\n'))
	_ = p.in.Close()
}

func (m *Model) start() (*program, error) {
	path, err := filepath.Abs(m.o.Program) // it is looked for from here, and not from its own folder
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "liminal-model-")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background()) // it may be of no request yet
	cmd := exec.CommandContext(ctx, path, m.o.Args...)    //nolint:gosec // the operator names it
	cmd.Dir, cmd.Env = home, few(os.Environ())
	said := &tail{}
	cmd.Stderr = said
	cmd.WaitDelay = time.Second
	apart(cmd)
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	// What it started and let go of may hold its output open.
	context.AfterFunc(ctx, func() { _ = out.Close() })
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			select {
			case lines <- append([]byte(nil), scan.Bytes()...):
			case <-ctx.Done():
			}
		}
		if scan.Err() != nil { // it goes on, and nobody reads
			stop()
		}
		err := errors.Join(scan.Err(), cmd.Wait(), os.RemoveAll(home))
		ended <- fmt.Errorf("%s: %w; it said %q", m.o.Program, errors.Join(err, errors.New("no result")), said.text())
	}()
	return &program{in: in, lines: lines, ended: ended, stop: stop}, nil
}

// few is what a program is told of the environment: the rest is settings and keys of
// the platform.
func few(environ []string) (list []string) {
	for _, e := range environ {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT":
			list = append(list, e)
		}
	}
	return list
}

// line is one of stream-json, as far as it is read.
type line struct {
	Type   string `json:"type"`
	Parent string `json:"parent_tool_use_id"` // of what a helper of the program says
	Event  struct {
		Type  string `json:"type"`
		Delta struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
	} `json:"event"`
	Message struct {
		Content json.RawMessage `json:"content"` // of what is told to the program: a text, maybe
	} `json:"message"`
	Subtype string   `json:"subtype"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Cost    *float64 `json:"total_cost_usd"`
	Usage   struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

// answer is what a program has said so far.
type answer struct {
	send  func(model.Event) error
	bytes int
	piece bool // the message it says was told in pieces
	apart bool // what follows is another message than what was said
}

// take tells what a line says; over: it was the last.
func (a *answer) take(raw []byte) (over bool, err error) {
	if len(strings.TrimSpace(string(raw))) == 0 {
		return false, nil
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return false, upstream(err, "The program of the language model said what is no line of stream-json.")
	}
	switch {
	case l.Parent != "":
	case l.Type == "stream_event" && l.Event.Type == "message_start":
		a.piece, a.apart = false, a.bytes > 0
	case l.Type == "stream_event" && l.Event.Delta.Type == "text_delta":
		a.piece = true
		return false, a.say(l.Event.Delta.Text)
	case l.Type == "stream_event" && l.Event.Delta.Type == "thinking_delta":
		return false, a.send(model.Event{Type: model.ThinkingDelta, Text: l.Event.Delta.Thinking})
	case l.Type == "assistant" && !a.piece:
		return false, a.whole(l.Message.Content)
	case l.Type == "result":
		return true, a.end(l)
	}
	return false, nil
}

// whole tells a message that did not come in pieces.
func (a *answer) whole(content json.RawMessage) error {
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return upstream(err, "The program of the language model said a message that cannot be read.")
	}
	a.apart = a.bytes > 0
	for _, b := range blocks {
		if b.Type != "text" {
			continue
		}
		if err := a.say(b.Text); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) say(text string) error {
	if text == "" {
		return nil
	}
	if a.apart {
		text, a.apart = "\n\n"+text, false
	}
	if a.bytes += len(text); a.bytes > maxAnswer {
		return upstream(nil, "The program of the language model has written more than %d bytes.", maxAnswer)
	}
	return a.send(model.Event{Type: model.TextDelta, Text: text})
}

func (a *answer) end(l line) error {
	if l.IsError {
		return upstream(fmt.Errorf("%s: %s", l.Subtype, l.Result), "The program of the language model gave up.")
	}
	if a.bytes == 0 {
		if err := a.say(l.Result); err != nil {
			return err
		}
	}
	u := model.Usage{Input: l.Usage.Input, Output: l.Usage.Output, CacheRead: l.Usage.CacheRead, CacheWrite: l.Usage.CacheWrite, CostUSD: l.Cost}
	if err := a.send(model.Event{Type: model.UsageReport, Usage: u}); err != nil {
		return err
	}
	return a.send(model.Event{Type: model.Stop, Reason: model.EndTurn})
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	all []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, p...)
	if over := len(t.all) - maxStderr; over > 0 {
		t.all = append([]byte(nil), t.all[over:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.all), ""))
}
