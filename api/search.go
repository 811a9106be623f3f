package api

import (
	"context"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
)

func (s *server) searchRoutes() {
	add(s, route("GET /v1/conversations/search", "searchMessages", "What was said in my conversations, by its words; latest first", scopeRead), s.searchMessages)
}

type searchInput struct {
	Q string `query:"q" required:"true" minLength:"1" maxLength:"500" doc:"words, each of which a message must have, or one that begins so (a single letter is a word of its own); capitals and accents do not matter"`
	Paged
}

// FoundMessage is a message that a search found.
type FoundMessage struct {
	ConversationID string       `json:"conversation_id" format:"uuid"`
	Title          string       `json:"title" doc:"of the conversation"`
	MessageID      string       `json:"message_id" format:"uuid"`
	Role           string       `json:"role" enum:"user,assistant"`
	CreatedAt      time.Time    `json:"created_at"`
	Excerpt        []chat.Piece `json:"excerpt" doc:"what it says around the first word that was found, in pieces; hit: a word that was searched for"`
}

// searchMessages finds only what is shown to the caller: nothing of anybody
// else's, of a conversation that was deleted, or of a version that was set aside.
func (s *server) searchMessages(ctx context.Context, in *searchInput) (Page[FoundMessage], error) {
	terms := chat.Terms(in.Q)
	if len(terms) == 0 {
		return Page[FoundMessage]{}, fault.New(fault.Invalid, "There is no word to search for in %q: write letters or numbers.", in.Q).With(map[string]any{"field": "q"})
	}
	list, next, err := s.Messages.SearchMessages(ctx, viewerOf(ctx), terms, in.Cursor, in.Limit)
	return page(list, next, func(m chat.FoundMessage) FoundMessage {
		found := FoundMessage{
			ConversationID: m.ConversationID, Title: m.Title, MessageID: m.ID, Role: m.Role,
			CreatedAt: m.CreatedAt.UTC(), Excerpt: chat.Excerpt(m.Content, terms),
		}
		if found.Excerpt == nil {
			found.Excerpt = []chat.Piece{}
		}
		return found
	}), err
}
