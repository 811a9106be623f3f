package chat

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"time"

	"liminal/internal/cache"
	"liminal/internal/id"
	"liminal/internal/identity"
)

const (
	cachedMessages = 64        // of a conversation that are remembered
	cachedBytes    = 512 << 10 // a conversation whose latest messages are longer is not remembered
	cachedFor      = 15 * time.Minute
)

// HistoryCache remembers the latest messages of conversations that go on, so
// that a turn's steps need not read them from the store again and again
// (DATA-12).
//
// What is remembered is used only when it is proved current, twice over. It is
// the messages below a seq, and seqs are dense: a reader that asks for the
// messages below the same seq finds none missing. And it carries the life of
// its conversation, a random word that ends with every write that does more
// than add at the end: turns that close and make room, versions that are said
// or shown, deletes, and whatever calls Forget. A reader takes the life before
// it reads the store, so what it read before such a write is never used after
// it. When the cache is lost or does not answer, the store is read.
type HistoryCache struct {
	Messages
	cache cache.Cache
	log   *slog.Logger
}

var _ Messages = (*HistoryCache)(nil)

// NewHistoryCache remembers in c what is read from m. A nil log is silent.
func NewHistoryCache(m Messages, c cache.Cache, log *slog.Logger) *HistoryCache {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &HistoryCache{Messages: m, cache: c, log: log}
}

// remembered is the value of a conversation's key.
type remembered struct {
	Life   string    `json:"life"`
	UserID string    `json:"user_id"`
	Upto   int       `json:"upto"` // the messages have a lower seq
	Last   []Message `json:"last"` // oldest first; the latest cachedMessages of them
}

func keyOf(conversationID string) string  { return "chat:summary:" + conversationID }
func lifeOf(conversationID string) string { return keyOf(conversationID) + ":life" }

// History implements Messages.
func (h *HistoryCache) History(ctx context.Context, v identity.Viewer, conversationID string, upto, limit int) ([]Message, error) {
	if limit <= 0 || limit > cachedMessages || id.Unkept(conversationID) {
		return h.Messages.History(ctx, v, conversationID, upto, limit)
	}
	life, err := h.life(ctx, conversationID)
	if err != nil {
		h.log.WarnContext(ctx, "the latest messages are read from the store: the cache does not answer", "error", err)
		return h.Messages.History(ctx, v, conversationID, upto, limit)
	}
	was := h.held(ctx, v, conversationID, life)
	if was.Upto == upto {
		return latest(was.Last, limit), nil
	}
	list, err := h.Messages.History(ctx, v, conversationID, upto, cachedMessages)
	if err != nil {
		return nil, err
	}
	if was.Upto < upto { // who reads of earlier leaves the next turn what it will ask for
		h.keep(ctx, conversationID, remembered{Life: life, UserID: v.UserID, Upto: upto, Last: list})
	}
	return latest(list, limit), nil
}

func latest(list []Message, limit int) []Message { return list[max(0, len(list)-limit):] }

// life is the conversation's, which begins when nobody knows one.
func (h *HistoryCache) life(ctx context.Context, conversationID string) (string, error) {
	for {
		if life, ok, err := h.cache.Get(ctx, lifeOf(conversationID)); ok || err != nil {
			return string(life), err
		}
		begun := rand.Text()
		if added, err := h.cache.Add(ctx, lifeOf(conversationID), []byte(begun), 2*cachedFor); added || err != nil {
			return begun, err
		}
	}
}

// held is what is remembered of a conversation in its life; the zero value when
// nothing is.
func (h *HistoryCache) held(ctx context.Context, v identity.Viewer, conversationID, life string) (was remembered) {
	raw, ok, err := h.cache.Get(ctx, keyOf(conversationID))
	if err != nil || !ok || json.Unmarshal(raw, &was) != nil || was.Life != life || was.UserID != v.UserID {
		return remembered{}
	}
	return was
}

func (h *HistoryCache) keep(ctx context.Context, conversationID string, now remembered) {
	raw, err := json.Marshal(now)
	if err == nil && len(raw) <= cachedBytes {
		err = h.cache.Set(ctx, keyOf(conversationID), raw, cachedFor)
	}
	if err != nil {
		h.log.WarnContext(ctx, "the latest messages are not remembered", "conversation", conversationID, "error", err)
	}
}

// Forget ends a conversation's life: who changes messages that are there calls
// it once that is committed. A cache that does not answer forgets by itself in
// a quarter of an hour.
func (h *HistoryCache) Forget(ctx context.Context, conversationID string) {
	ctx = context.WithoutCancel(ctx)
	if err := h.cache.Delete(ctx, lifeOf(conversationID), keyOf(conversationID)); err != nil {
		h.log.WarnContext(ctx, "the latest messages are not forgotten", "conversation", conversationID, "error", err)
	}
}

// Turns are t with what they change forgotten, and what a turn has said
// remembered for the next one.
func (h *HistoryCache) Turns(t Turns) Turns { return cachedTurns{t, h} }

type cachedTurns struct {
	Turns
	history *HistoryCache
}

func (t cachedTurns) Accept(ctx context.Context, v identity.Viewer, n NewTurn) (Accepted, error) {
	if n.Replaces == "" {
		return t.Turns.Accept(ctx, v, n)
	}
	defer t.history.turned(ctx, n.ConversationID)()
	return t.Turns.Accept(ctx, v, n)
}

// turned forgets a conversation whose path is about to change, and is called
// once more when it has: before, so that a program that dies right after has
// left nothing; after, because of who read in between.
func (h *HistoryCache) turned(ctx context.Context, conversationID string) func() {
	h.Forget(ctx, conversationID)
	return func() { h.Forget(ctx, conversationID) }
}

func (t cachedTurns) CloseTurn(ctx context.Context, v identity.Viewer, c Close) (Closed, error) {
	closed, err := t.Turns.CloseTurn(ctx, v, c)
	if err != nil || closed.ConversationID == "" {
		return closed, err
	}
	t.history.Forget(ctx, closed.ConversationID)
	if closed.Seq > 0 && !id.Unkept(closed.ConversationID) { // the next question will stand right behind the answer
		if _, err := t.history.History(ctx, v, closed.ConversationID, closed.Seq+1, cachedMessages); err != nil {
			t.history.log.WarnContext(ctx, "a closed turn is not remembered", "conversation", closed.ConversationID, "error", err)
		}
	}
	return closed, nil
}

// Conversations are c with the messages forgotten of those that are deleted or
// show another version.
func (h *HistoryCache) Conversations(c Conversations) Conversations { return cachedConversations{c, h} }

type cachedConversations struct {
	Conversations
	history *HistoryCache
}

func (c cachedConversations) ShowVersion(ctx context.Context, v identity.Viewer, conversationID, messageID string) error {
	defer c.history.turned(ctx, conversationID)()
	return c.Conversations.ShowVersion(ctx, v, conversationID, messageID)
}

func (c cachedConversations) DeleteConversation(ctx context.Context, v identity.Viewer, id string) error {
	err := c.Conversations.DeleteConversation(ctx, v, id)
	if err == nil {
		c.history.Forget(ctx, id)
	}
	return err
}
