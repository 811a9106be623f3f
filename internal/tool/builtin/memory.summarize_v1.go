package builtin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// Bounds of the part of a conversation that is summarised at once, and of what
// is remembered of it.
const (
	maxRemembered = 200   // messages
	maxLine       = 1500  // characters of one
	maxTranscript = 24000 // bytes of all; the oldest are left out
	maxMemory     = 6000  // characters of the summary
)

// summarize summarises what a conversation's summary does not cover yet. It
// returns nothing of what was said: the trace of its run is kept elsewhere
// than the conversation, and would outlive it.
type summarize struct{ completer }

func (summarize) Name() string { return "memory.summarize_v1" }

func (t summarize) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	id, upto := words(c, "conversation_id"), number(c, "upto_seq", 0)
	m, err := t.memories.Memory(ctx, c.Viewer, id)
	if err != nil {
		return nil, err
	}
	if upto <= m.UptoSeq {
		return map[string]any{"upto_seq": float64(m.UptoSeq)}, nil
	}
	messages, err := t.history.History(ctx, c.Viewer, id, upto+1, min(upto-m.UptoSeq, maxRemembered))
	if err != nil {
		return nil, err
	}
	messages = slices.DeleteFunc(messages, func(said chat.Message) bool { return said.Seq <= m.UptoSeq })
	if len(messages) == 0 {
		return map[string]any{"upto_seq": float64(m.UptoSeq)}, nil
	}
	upto = min(upto, messages[len(messages)-1].Seq) // what is said later is not covered, whatever was asked for
	s, err := t.notes(ctx, c, m, transcript(messages))
	if err != nil {
		return nil, err
	}
	next := chat.Memory{Summary: clipped(strings.TrimSpace(s.text.String()), maxMemory), UptoSeq: upto, Version: m.Version, Path: m.Path}
	switch err := t.memories.Remember(ctx, c.Viewer, id, next); {
	case errors.Is(err, fault.Conflict): // what somebody wrote or shows meanwhile stays; a later turn goes on from it
		upto = m.UptoSeq
	case err != nil:
		return nil, err
	}
	return map[string]any{"upto_seq": float64(upto), "model": s.asked, "usage": usage(s.usage)}, nil
}

// notes are what the model makes of the notes so far and what was said since.
func (t summarize) notes(ctx context.Context, c *tool.Call, m chat.Memory, text string) (*completion, error) {
	var parts []string
	if m.Summary != "" {
		parts = append(parts, model.Frame("notes", clipped(m.Summary, maxMemory)))
	}
	if text != "" {
		parts = append(parts, model.Frame("conversation", text))
	}
	quiet := *c
	quiet.Final = false // nobody reads along
	s, err := t.speak(ctx, &quiet, model.Request{
		Task: "memory", System: words(c, "instructions"), MaxTokens: number(c, "max_tokens", 0),
		Messages: []model.Message{says(model.User, paragraphs(parts...))},
	})
	if err == nil && s.reason == model.Refusal {
		return nil, fault.New(fault.Invalid, "The model declines to summarise this conversation.")
	}
	if err == nil && (s.partial || strings.TrimSpace(s.text.String()) == "") {
		return nil, fault.New(fault.Internal, "The model gave no summary of the conversation.")
	}
	return s, err
}

// transcript is messages one a line, each with who said it; the latest, when
// they are too long.
func transcript(messages []chat.Message) string {
	var lines []string
	total := 0
	for _, m := range slices.Backward(messages) {
		spoke := m.Role == string(model.User) || m.Role == string(model.Assistant)
		if !spoke || m.Content == "" || m.Meta["suppressed"] == true {
			continue
		}
		line := m.Role + ": " + inShort(m)
		if total += len(line); total > maxTranscript {
			break
		}
		lines = append([]string{line}, lines...)
	}
	return strings.Join(lines, "\n")
}

// inShort is a message on one line. Of one that is too long, its beginning
// stands there and, where it has some, its highlights.
func inShort(m chat.Message) string {
	text := knowledge.Fold(m.Content)
	if m.Struct == nil || m.Struct.Summary == nil || utf8.RuneCountInString(text) <= maxLine {
		return clipped(text, maxLine)
	}
	highlights := clipped(m.Struct.Summary.Highlights, maxLine/2)
	return clipped(text, maxLine-utf8.RuneCountInString(highlights)) + " " + highlights
}
