package store

import (
	"context"
	"errors"
	"slices"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ artifacts.MemoryStore = (*Store)(nil)

// Memory implements artifacts.MemoryStore.
func (s *Store) Memory(ctx context.Context, v identity.Viewer, conversationID string) (a artifacts.Artifact, known artifacts.Known, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		var c chat.Conversation
		a, c, known.Path, err = memory(tx, v, conversationID)
		known.UptoSeq, known.Forgotten = c.Summarised(), a.Version <= c.Forgotten()
		return err
	})
	return a, known, err
}

// memory reads the memory of a conversation, if there is one, and of the
// conversation the meta only, and how often something of it was set aside.
func memory(tx Tx, v identity.Viewer, conversationID string) (a artifacts.Artifact, c chat.Conversation, asides int, err error) {
	found, err := first(tx, `SELECT meta, asides FROM conversation WHERE id = @id AND user_id = @user`,
		Args{"id": conversationID, "user": v.UserID}, decode{&c.Meta}, &asides)
	if err == nil && !found {
		err = missing("conversation")
	}
	if err != nil {
		return a, c, 0, err
	}
	list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE id = @id AND owner_user_id = @user`,
		Args{"id": chat.MemoryID(conversationID), "user": v.UserID}, scanArtifact)
	if len(list) > 0 {
		a = list[0]
	}
	return a, c, asides, err
}

// PutMemory implements artifacts.MemoryStore.
func (s *Store) PutMemory(ctx context.Context, v identity.Viewer, conversationID string, upto, path int, a artifacts.Artifact, note string) (put artifacts.Artifact, dropped []int, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		// A turn may be closing, the conversation be deleted, a person change it.
		if err := errors.Join(tx.Lock("conversation:"+conversationID), tx.Lock("artifact:"+chat.MemoryID(conversationID))); err != nil {
			return err
		}
		now, c, asides, err := memory(tx, v, conversationID)
		if err != nil {
			return err
		}
		if asides != path {
			return fault.New(fault.Conflict, "Another version of what was said is shown now than the one this memory was made from.")
		}
		if now.Version != a.Version {
			return fault.New(fault.Conflict, "The memory of the conversation is at version %d; this one was made from version %d.", now.Version, a.Version)
		}
		if put, err = s.putMemory(tx, v, now, a, note); err != nil {
			return err
		}
		if dropped, err = thin(tx, v, put); err != nil {
			return err
		}
		c.Summarise(upto)
		return putMeta(tx, v, conversationID, c.Meta)
	})
	return put, dropped, err
}

// GoneArtifacts implements artifacts.MemoryStore.
func (s *Store) GoneArtifacts(ctx context.Context, ids []string) (gone []string, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		args := Args{}
		there, err := all(tx, `SELECT id FROM artifact WHERE id IN `+args.in("id", ids), args, func(scan Scan) (id string, err error) {
			err = scan(&id)
			return id, err
		})
		gone = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(there, id) })
		return err
	})
	return gone, err
}

func (s *Store) putMemory(tx Tx, v identity.Viewer, now, a artifacts.Artifact, note string) (artifacts.Artifact, error) {
	if now.ID == "" {
		a.OwnerID = v.UserID
		err := s.insertArtifact(tx, &a, note)
		return a, err
	}
	err := s.advance(tx, &now, a.Schema, a.CreatedBy, note)
	return now, err
}

// thin drops the versions of a memory that are too many, but none a person
// wrote.
func thin(tx Tx, v identity.Viewer, a artifacts.Artifact) ([]int, error) {
	args := Args{"id": a.ID, "user": v.UserID, "last": a.Version - artifacts.MemoryVersions}
	const old = ` FROM artifact_version WHERE artifact_id = @id AND version <= @last AND created_by <> 'user'
		AND artifact_id IN (SELECT id FROM artifact WHERE id = @id AND owner_user_id = @user)`
	dropped, err := all(tx, `SELECT version`+old, args, func(scan Scan) (n int, err error) {
		err = scan(&n)
		return n, err
	})
	if err != nil || len(dropped) == 0 {
		return nil, err
	}
	_, err = tx.Exec(`DELETE`+old, args)
	return dropped, err
}

func putMeta(tx Tx, v identity.Viewer, conversationID string, meta map[string]any) error {
	doc, err := encoded(meta, len(meta) == 0)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE conversation SET meta = @meta WHERE id = @id AND user_id = @user`,
		Args{"id": conversationID, "user": v.UserID, "meta": doc})
	return err
}

// forget removes the memory of a conversation that is being deleted, with all
// its versions.
func forget(tx Tx, v identity.Viewer, conversationID string) error {
	memory := chat.MemoryID(conversationID)
	if err := tx.Lock("artifact:" + memory); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM artifact WHERE id = @id AND owner_user_id = @user`, Args{"id": memory, "user": v.UserID})
	return err
}
