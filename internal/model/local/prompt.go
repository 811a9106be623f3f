package local

import (
	"context"
	"strings"

	"liminal/internal/model"
	"liminal/internal/tokens"
)

// prompt is a request in the model's tokens, at most most of them. What does
// not fit is left out, the least of it first: turns before the last, oldest
// first; then the end of the system's words; then the beginning of what the
// person said, whose question stands at its end.
func (m *Model) prompt(ctx context.Context, req model.Request, more []string, most int) ([]int, error) {
	turns := dialogue(req, more)
	whole := m.encoded(turns)
	if len(whole) <= most {
		return whole, nil
	}
	system := 0
	if turns[0].Role == "system" {
		system = 1
	}
	ids := whole
	for len(turns) > system+1 {
		turns = append(turns[:system:system], turns[system+1:]...)
		if ids = m.encoded(turns); len(ids) <= most && turns[system].Role == "user" {
			break
		}
	}
	if system == 1 && len(ids) > most {
		turns[0].Text = m.cut(turns[0].Text, most/4, true)
		ids = m.encoded(turns)
	}
	if last := len(turns) - 1; len(ids) > most {
		if rest := m.count(turns[last].Text) - (len(ids) - most) - 4; rest > 0 {
			turns[last].Text = m.cut(turns[last].Text, rest, false)
			ids = m.encoded(turns)
		}
	}
	m.Logger.WarnContext(ctx, "prompt_cut", "model", m.Name(), "tokens", len(whole), "read", len(ids), "turns", len(turns)-system)
	return ids, nil // what is still too long the engine refuses
}

func (m *Model) encoded(turns []tokens.Turn) []int {
	return m.folder.Template.Prompt(m.folder.Tokens, turns)
}

func (m *Model) count(text string) int { return len(m.folder.Tokens.EncodeText(text)) }

// cut is the first, or the last, n tokens of a text.
func (m *Model) cut(text string, n int, first bool) string {
	ids := m.folder.Tokens.EncodeText(text)
	switch {
	case len(ids) <= n:
		return text
	case first:
		return m.folder.Tokens.Decode(ids[:n])
	}
	return m.folder.Tokens.Decode(ids[len(ids)-n:])
}

// dialogue is a request as turns.
func dialogue(req model.Request, more []string) []tokens.Turn {
	system := append([]string{req.System}, more...)
	if len(model.Passages(req.Messages)) > 0 {
		system = append(system, model.CiteByNumber)
	}
	var turns []tokens.Turn
	if text := joined(system); text != "" {
		turns = append(turns, tokens.Turn{Role: "system", Text: text})
	}
	n := 0
	for _, msg := range req.Messages {
		var texts []string
		for _, b := range msg.Content {
			switch b.Type {
			case model.Text:
				texts = append(texts, b.Text)
			case model.Passage:
				n++
				texts = append(texts, model.Numbered(n, b))
			case model.ToolResult:
				texts = append(texts, model.Frame("tool_result", b.Text))
			default: // thoughts and calls of tools are not shown to small models
			}
		}
		if text := joined(texts); text != "" {
			turns = append(turns, tokens.Turn{Role: string(msg.Role), Text: text})
		}
	}
	if len(turns) == 0 || turns[len(turns)-1].Role == "system" {
		turns = append(turns, tokens.Turn{Role: "user", Text: "…"})
	}
	return turns
}

func joined(texts []string) string {
	var out []string
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n\n")
}
