package api

import (
	"context"
	"slices"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/quota"
)

func (s *server) versionRoutes() {
	add(s, route("POST /v1/conversations/{id}/version", "showVersion", "Show another version of a question, with what followed it; answers what is then said last", scopeChat, scopeWrite), s.showVersion)
	add(s, route("POST /v1/conversations/{id}/branch", "branchConversation", "A new conversation with copies of what was said up to an answer", scopeChat, scopeWrite), s.branchConversation)
}

// Versions are what a person asked in the same place of a conversation.
type Versions struct {
	IDs []string `json:"ids" doc:"of the messages, oldest first" minItems:"2"`
	At  int      `json:"at" minimum:"0" doc:"which of them this one is, from 0"`
}

func versionsView(m chat.Message) Nullable[Versions] {
	if len(m.Versions) < 2 {
		return Nullable[Versions]{}
	}
	return Nullable[Versions]{&Versions{IDs: m.Versions, At: max(0, slices.Index(m.Versions, m.ID))}}
}

// Branched is what a conversation is a copy of; both may have been deleted
// since.
type Branched struct {
	ConversationID string `json:"conversation_id" format:"uuid"`
	MessageID      string `json:"message_id" format:"uuid" doc:"the message up to whose turn it is one"`
}

type showVersionInput struct {
	ByID
	Body struct {
		MessageID string `json:"message_id" format:"uuid" doc:"one of a message's versions"`
	}
}

// showVersion answers what a client asks for next: the end of the path.
func (s *server) showVersion(ctx context.Context, in *showVersionInput) (Thread, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil { // it rewrites as much as a turn, and more
		return Thread{}, err
	}
	if err := s.Conversations.ShowVersion(ctx, v, in.ID, id.Canonical(in.Body.MessageID)); err != nil {
		return Thread{}, err
	}
	return s.thread(ctx, in.ID, chat.MessageRange{Latest: true, Limit: maxPage})
}

// maxPage is how many entries a list gives at most.
const maxPage = 100

type branchInput struct {
	Key string `header:"Idempotency-Key"`
	ByID
	Body struct {
		MessageID string `json:"message_id" format:"uuid" doc:"the last message to copy, and with it the rest of its turn"`
	}
}

func (s *server) branchConversation(ctx context.Context, in *branchInput) (OneConversation, error) {
	v, message := viewerOf(ctx), id.Canonical(in.Body.MessageID)
	asked := struct{ ID, MessageID string }{in.ID, message}
	to := id.New()
	if in.Key != "" { // the same one, should the program die before it has kept its answer
		to = id.Derive("branch", v.UserID, in.ID, message, in.Key)
	}
	made, _, err := once(ctx, s, quota.Key{Route: "POST /v1/conversations/{id}/branch", Key: in.Key}, asked, func(ctx context.Context) (OneConversation, error) {
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return OneConversation{}, err
		}
		c, err := s.Conversations.Branch(ctx, v, in.ID, message, to)
		return OneConversation{Conversation: s.conversationView(ctx, c, false)}, err
	})
	return made, err
}
