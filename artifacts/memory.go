package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// MemoryVersions is how many of the latest versions of a conversation's memory
// are kept. Older ones that a person wrote are kept as well; those the program
// wrote say less than the ones after them.
const MemoryVersions = 8

// memoryPrefix begins the names of conversations' memories; what follows is
// the conversation's id.
const memoryPrefix = "conversation."

// MemoryStore keeps the memories of conversations as artifacts.
type MemoryStore interface {
	// Memory gives the artifact of a conversation of the viewer's, and what the
	// conversation knows of it; without an id when there is none.
	Memory(ctx context.Context, v identity.Viewer, conversationID string) (Artifact, Known, error)
	// PutMemory writes a's document as the version after a.Version, and into
	// the conversation that its messages up to upto are summarised, or neither.
	// It gives the versions it dropped for being too many. An a.Version that is
	// no longer the current one is a Conflict, and so is a path that is not:
	// what was summarised may have been set aside.
	PutMemory(ctx context.Context, v identity.Viewer, conversationID string, upto, path int, a Artifact, note string) (Artifact, []int, error)
	// GoneArtifacts picks those of at most 500 ids that no artifact has.
	GoneArtifacts(ctx context.Context, ids []string) ([]string, error)
}

// Known is what a conversation knows of its memory.
type Known struct {
	UptoSeq   int  // the last message of the path that was ever summarised
	Path      int  // see chat.Memory
	Forgotten bool // the artifact tells of messages that are set aside
}

// Memories is what is remembered of conversations: each an artifact of kind
// memory.summary, private to the person whose conversation it is (ART-11).
// People change one as they change any artifact, and it goes with its
// conversation.
type Memories struct {
	library *Library
	store   MemoryStore
}

// NewMemories keeps memories in store, which is the library's own.
func NewMemories(l *Library, store MemoryStore) *Memories { return &Memories{l, store} }

// Memory gives what is remembered of a conversation of the viewer's, as its
// artifact says now (CHAT-19).
func (m *Memories) Memory(ctx context.Context, v identity.Viewer, conversationID string) (chat.Memory, error) {
	a, known, err := m.store.Memory(ctx, v, conversationID)
	if err != nil || a.ID == "" || known.Forgotten {
		return chat.Memory{Version: a.Version, Path: known.Path}, err
	}
	var said struct {
		Summary string  `json:"summary"`
		UptoSeq float64 `json:"upto_seq"` // an integer of any size, which may be written 10.0
	}
	if err := json.Unmarshal(a.Schema, &said); err != nil {
		return chat.Memory{}, fault.Wrap(fault.Internal, err, "The memory %s of the conversation cannot be read.", a.ID)
	}
	// A version a person went back to covers less than was ever summarised;
	// none covers more, whatever it says.
	covered := int(min(said.UptoSeq, float64(known.UptoSeq)))
	return chat.Memory{Summary: strings.TrimSpace(said.Summary), UptoSeq: covered, Version: a.Version, Path: known.Path}, nil
}

// Remember makes next the memory of a conversation: the version after the one
// it was made from, next.Version. A Conflict when that is no longer current:
// somebody changed it meanwhile, and what they wrote stays (ART-09); and when
// another version of a question is shown than the one it was made with.
func (m *Memories) Remember(ctx context.Context, v identity.Viewer, conversationID string, next chat.Memory) error {
	a, _, err := m.store.Memory(ctx, v, conversationID)
	if err != nil {
		return err
	}
	if a.Version != next.Version {
		return moved(a, next.Version)
	}
	if a.ID == "" {
		a = Artifact{
			ID: chat.MemoryID(conversationID), Type: KindSummary, Name: memoryPrefix + conversationID, Visibility: Private,
			Description: "What is remembered of the older messages of a conversation. Later turns are told it as it stands here.",
		}
	}
	a.CreatedBy = author(v, "llm")
	if a.Schema, err = extended(a.Schema, conversationID, next); err != nil {
		return err
	}
	if err := m.library.check(ctx, v, a.Type, a.Name, a.Schema); err != nil {
		return err
	}
	a, dropped, err := m.store.PutMemory(ctx, v, conversationID, next.UptoSeq, next.Path, a, fmt.Sprintf("covers the messages up to %d", next.UptoSeq))
	if err != nil {
		return err
	}
	m.library.mirror(ctx, a)
	m.library.drop(ctx, a.ID, dropped)
	return nil
}

// extended is the document with another summary. What else a person has put
// into it stays, but for what was true of the former summary only.
func extended(before json.RawMessage, conversationID string, next chat.Memory) (json.RawMessage, error) {
	doc := map[string]any{}
	if len(before) > 0 {
		if err := json.Unmarshal(before, &doc); err != nil {
			return nil, err
		}
	}
	delete(doc, "embedding")
	doc["kind"], doc["subject"], doc["conversation_id"] = KindSummary, "conversation", conversationID
	doc["summary"], doc["upto_seq"] = next.Summary, next.UptoSeq
	return json.Marshal(doc)
}

// reserved refuses a name that only a conversation's memory has.
func reserved(kind, name string) error {
	if kind == KindSummary && strings.HasPrefix(name, memoryPrefix) {
		return fault.New(fault.Invalid, "Names of memories that begin with %q are those of conversations, which the program makes. Choose another name.", memoryPrefix).
			With(map[string]any{"field": "name"})
	}
	return nil
}

// Conversations are c with the memory of a deleted one removed wherever it was
// written.
func (m *Memories) Conversations(c chat.Conversations) chat.Conversations { return remembering{c, m} }

type remembering struct {
	chat.Conversations
	memories *Memories
}

// DeleteConversation implements chat.Conversations. The files go first, so
// that a deleted conversation has left none even if the program dies in
// between; when they cannot be removed nothing is.
func (r remembering) DeleteConversation(ctx context.Context, v identity.Viewer, id string) error {
	a, _, err := r.memories.store.Memory(ctx, v, id)
	if err != nil {
		return err
	}
	library := r.memories.library
	if a.ID != "" && library.payloads != nil {
		if err := library.payloads.DropPayloads(ctx, a.ID); err != nil {
			return fault.Wrap(fault.Internal, err, "The files of what is remembered of the conversation cannot be removed, so it was not deleted. Try again.")
		}
	}
	if err := r.Conversations.DeleteConversation(ctx, v, id); err != nil {
		return err
	}
	library.dropAll(context.WithoutCancel(ctx), chat.MemoryID(id)) // one was being written
	return nil
}

// sweepBatch is how many artifacts are asked for at once.
const sweepBatch = 500

// Sweep removes the files of artifacts that are gone, and counts the
// artifacts: those of a deleted account, and what a program left that died at
// the wrong moment. A version is in the store before it is a file, so that
// nobody's new one is taken for gone.
func (m *Memories) Sweep(ctx context.Context) (removed int, err error) {
	payloads := m.library.payloads
	if payloads == nil {
		return 0, nil
	}
	held, err := payloads.Held(ctx)
	if err != nil {
		return 0, err
	}
	for ids := range slices.Chunk(held, sweepBatch) {
		gone, err := m.store.GoneArtifacts(ctx, ids)
		if err != nil {
			return removed, err
		}
		for _, id := range gone {
			if err := payloads.DropPayloads(ctx, id); err != nil {
				return removed, err
			}
			removed++
		}
	}
	return removed, nil
}

// gone removes the files of a version that was written while its artifact was
// deleted. Of all kinds only memories are.
func (l *Library) gone(ctx context.Context, a Artifact) {
	if a.Type != KindSummary || a.OwnerID == "" {
		return
	}
	if _, err := l.store.Artifact(ctx, identity.Viewer{UserID: a.OwnerID}, a.ID); errors.Is(err, fault.NotFound) {
		l.dropAll(ctx, a.ID)
	}
}

func (l *Library) dropAll(ctx context.Context, artifactID string) {
	if l.payloads == nil {
		return
	}
	if err := l.payloads.DropPayloads(ctx, artifactID); err != nil {
		l.log.ErrorContext(ctx, "the payload files of a deleted artifact are still there", "artifact", artifactID, "error", err)
	}
}

func (l *Library) drop(ctx context.Context, artifactID string, versions []int) {
	for _, version := range versions {
		if l.payloads == nil {
			return
		}
		if err := l.payloads.DropPayload(ctx, artifactID, version); err != nil {
			l.log.WarnContext(ctx, "the payload file of a dropped version is still there", "artifact", artifactID, "version", version, "error", err)
		}
	}
}
