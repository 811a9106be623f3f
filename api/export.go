package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

func (s *server) exportRoutes() {
	op := route("GET /v1/conversations/{id}/export", "exportConversation", "What is shown of a conversation as a file: Markdown to read, JSON with everything", scopeRead)
	op.Parameters = []*huma.Param{
		{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: "string", Format: "uuid"}},
		{Name: "format", In: "query", Schema: &huma.Schema{Type: "string", Enum: []any{"markdown", "json"}, Default: "markdown"}},
	}
	s.handleHTTP(op, s.export)
	s.answers(op, 200, "text/markdown", "The conversation, as an attachment", &huma.Schema{Type: "string"})
	s.answers(op, 200, "application/json", "The conversation with its messages, as an attachment", s.schemaOf(Exported{}))
}

// Exported is a conversation as a file.
type Exported struct {
	Conversation Conversation `json:"conversation"`
	ExportedAt   time.Time    `json:"exported_at"`
	Messages     []Message    `json:"messages" doc:"those that are shown, in order"`
}

// export writes a conversation of the caller's as a file.
func (s *server) export(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	v := viewerOf(ctx)
	format := cmp.Or(r.URL.Query().Get("format"), "markdown")
	if format != "markdown" && format != "json" {
		s.refuse(w, r, fault.New(fault.Invalid, "A conversation is exported as markdown or json, not as %q.", format).With(map[string]any{"field": "format"}))
		return
	}
	e, err := s.exported(ctx, v, id.Canonical(r.PathValue("id")))
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	kind, ending, body := "text/markdown; charset=utf-8", ".md", []byte(markdown(e, v.Locale))
	if format == "json" {
		kind, ending = "application/json", ".json"
		if body, err = json.MarshalIndent(e, "", "  "); err != nil {
			s.refuse(w, r, err)
			return
		}
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(exportName(e.Conversation.Title)+ending))
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // who is gone needs no answer
}

// exported reads all that is shown of a conversation. It costs as much as a
// turn, and counts as one.
func (s *server) exported(ctx context.Context, v identity.Viewer, conversationID string) (Exported, error) {
	if !id.Valid(conversationID) {
		return Exported{}, fault.New(fault.Invalid, "The id of the conversation is no UUID.").With(map[string]any{"field": "id"})
	}
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return Exported{}, err
	}
	c, err := s.Conversations.Conversation(ctx, v, conversationID)
	if err != nil {
		return Exported{}, err
	}
	e := Exported{Conversation: s.conversationView(ctx, c, false), ExportedAt: s.Now().UTC().Truncate(time.Second), Messages: []Message{}}
	for cursor := ""; ; {
		seen, err := s.Messages.MessagePage(ctx, v, conversationID, chat.MessageRange{After: cursor, Limit: maxPage})
		if err != nil {
			return Exported{}, err
		}
		part := page(seen.Messages, "", messageView).Data
		if err := errors.Join(s.rated(ctx, part), s.followed(ctx, part)); err != nil {
			return Exported{}, err
		}
		e.Messages = append(e.Messages, part...)
		if cursor = seen.Next; cursor == "" {
			return e, nil
		}
	}
}

// exportName is a title as the name of a file on any system.
func exportName(title string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return ' '
		}
		return r
	}, title)
	return cmp.Or(strings.Trim(strings.Join(strings.Fields(name), " "), "."), "Liminal")
}

// headings are the words of an exported conversation in a language.
type headings struct{ untitled, exported, you, sources, page string }

func headingsOf(locale string) headings {
	if strings.HasPrefix(strings.ToLower(locale), "de") {
		return headings{"Ohne Titel", "Exportiert am %s", "Du", "Quellen", "S. %d"}
	}
	return headings{"Untitled", "Exported on %s", "You", "Sources", "p. %d"}
}

const exportTime = "2006-01-02 15:04 UTC"

// markdown is a conversation to read. What was suppressed is not shown, and not
// written either.
func markdown(e Exported, locale string) string {
	words := headingsOf(locale)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n*%s*\n", cmp.Or(oneLine(e.Conversation.Title), words.untitled), fmt.Sprintf(words.exported, e.ExportedAt.Format(exportTime)))
	for _, m := range e.Messages {
		if hidden, _ := m.Meta["suppressed"].(bool); hidden {
			continue
		}
		switch m.Role {
		case "user":
			fmt.Fprintf(&b, "\n## %s · %s\n\n%s\n", words.you, m.CreatedAt.Format(exportTime), strings.TrimSpace(m.Content))
		case "assistant":
			fmt.Fprintf(&b, "\n## Liminal · %s\n\n%s\n", m.CreatedAt.Format(exportTime), strings.TrimSpace(m.Content))
			b.WriteString(sources(m, words))
		default:
			fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(strings.TrimSpace(m.Content), "\n", "\n> "))
		}
	}
	return b.String()
}

// sources are what an answer cites, under the numbers it has in the text.
func sources(m Message, words headings) string {
	if m.ContentStruct.V == nil {
		return ""
	}
	var b strings.Builder
	for i, c := range m.ContentStruct.V.Citations() {
		if i == 0 {
			fmt.Fprintf(&b, "\n**%s**\n\n", words.sources)
		}
		fmt.Fprintf(&b, "%d. *%s*", c.N, oneLine(c.Title))
		if c.Page > 0 {
			b.WriteString(", " + fmt.Sprintf(words.page, c.Page))
		}
		if c.Text != "" {
			fmt.Fprintf(&b, ": “%s”", oneLine(c.Text))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
