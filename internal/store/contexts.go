package store

import (
	"context"
	"errors"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

var _ knowledge.Contexts = (*Store)(nil)

const contextColumns = `c.id, c.owner_user_id, c.name, c.description,
	CASE WHEN EXISTS (SELECT 1 FROM share h WHERE h.context_id = c.id) THEN 'shared' ELSE c.visibility END, c.created_at, c.updated_at, c.meta, c.encoder,
	(SELECT count(*) FROM document d WHERE d.context_id = c.id AND d.superseded_at IS NULL),
	(SELECT count(*) FROM document d WHERE d.context_id = c.id AND d.status IN ('waiting', 'reading') AND d.superseded_at IS NULL),
	(SELECT coalesce(sum(d.chunks), 0) FROM document d WHERE d.context_id = c.id AND d.superseded_at IS NULL),
	CASE WHEN ` + contextOpened + ` THEN 1 ELSE 0 END`

func scanContext(scan Scan) (c knowledge.Context, err error) {
	err = scan(&c.ID, text{&c.UserID}, &c.Name, &c.Description, &c.Visibility, when{&c.CreatedAt}, when{&c.UpdatedAt}, decode{&c.Meta}, &c.Encoder,
		&c.Documents, &c.Unread, &c.Chunks, &c.Opened)
	return c, err
}

// CreateContext implements knowledge.Contexts.
func (s *Store) CreateContext(ctx context.Context, v identity.Viewer, c knowledge.Context) (knowledge.Context, error) {
	if c.ID == "" {
		c.ID = id.New()
	}
	if c.Visibility == "" {
		c.Visibility = "private"
	}
	if c.Visibility == "global" && !v.IsAdmin() {
		return c, fault.New(fault.Forbidden, "Only an administrator creates global contexts.")
	}
	c.UserID = v.UserID
	if c.Visibility == "global" {
		c.UserID = ""
	}
	c.CreatedAt = s.now()
	c.UpdatedAt, c.Documents, c.Chunks = c.CreatedAt, 0, 0
	meta, err := encoded(c.Meta, len(c.Meta) == 0)
	if err != nil {
		return c, err
	}
	return c, s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO knowledge_context (id, owner_user_id, name, description, visibility, created_at, updated_at, meta, encoder)
			VALUES (@id, @owner, @name, @description, @visibility, @now, @now, @meta, @encoder)`,
			Args{
				"id": c.ID, "owner": optional(c.UserID), "name": c.Name, "description": c.Description,
				"visibility": c.Visibility, "now": c.CreatedAt, "meta": meta, "encoder": c.Encoder,
			})
		return err
	})
}

// Context implements knowledge.Contexts.
func (s *Store) Context(ctx context.Context, v identity.Viewer, id string) (c knowledge.Context, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+contextColumns+` FROM knowledge_context c WHERE c.id = @id AND `+ContextVisible,
			Args{"id": id, "user": v.UserID}, scanContext)
		c, err = only(list, err, "context")
		return err
	})
	return c, err
}

// ListContexts implements knowledge.Contexts: the newest first.
func (s *Store) ListContexts(ctx context.Context, v identity.Viewer, owner, cursor string, limit int) (list []knowledge.Context, next string, err error) {
	whose, ok := map[string]string{"": ContextVisible, "me": `c.owner_user_id = @user`, "shared": contextShared, "global": `c.visibility = 'global'`}[owner]
	if !ok {
		return nil, "", fault.New(fault.Invalid, "owner is me, shared or global, not %q.", owner).With(map[string]any{"field": "owner"})
	}
	after, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+contextColumns+` FROM knowledge_context c
			WHERE `+whose+` AND (c.created_at, c.id) < (@at, @id) ORDER BY c.created_at DESC, c.id DESC LIMIT @limit`,
			Args{"user": v.UserID, "at": after.at, "id": orNil(after.id), "limit": size + 1}, scanContext)
		return err
	})
	list, next = cut(list, size, func(c knowledge.Context) place { return place{c.CreatedAt, c.ID} })
	return list, next, err
}

// UpdateContext implements knowledge.Contexts.
func (s *Store) UpdateContext(ctx context.Context, v identity.Viewer, id string, change knowledge.ContextChange) (c knowledge.Context, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE knowledge_context AS c SET name = coalesce(@name, c.name), description = coalesce(@description, c.description), updated_at = @now
			WHERE c.id = @id AND `+contextWritable,
			Args{"id": id, "user": v.UserID, "admin": v.IsAdmin(), "name": change.Name, "description": change.Description, "now": s.now()})
		if err == nil && n == 0 {
			err = missing("context")
		}
		if err != nil {
			return err
		}
		list, err := all(tx, `SELECT `+contextColumns+` FROM knowledge_context c WHERE c.id = @id`, Args{"id": id, "user": v.UserID}, scanContext)
		c, err = only(list, err, "context")
		return err
	})
	return c, err
}

// DeleteContext implements knowledge.Contexts: its documents, their texts and
// their chunks go with it. The documents go one transaction each, so that a
// large context holds nobody up; a deletion that is cut off is taken up again
// by repeating it.
func (s *Store) DeleteContext(ctx context.Context, v identity.Viewer, id string) error {
	documents, err := s.documentsToDelete(ctx, v, id)
	if err != nil {
		return err
	}
	for _, d := range documents {
		if err := s.deleteDocument(ctx, v, d); err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`DELETE FROM knowledge_context AS c WHERE c.id = @id AND `+contextWritable,
			Args{"id": id, "user": v.UserID, "admin": v.IsAdmin()})
		if err == nil && n == 0 {
			err = missing("context")
		}
		return err
	})
}

func (s *Store) documentsToDelete(ctx context.Context, v identity.Viewer, contextID string) (ids []string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		if err := changeable(tx, v, contextID); err != nil {
			return err
		}
		ids, err = all(tx, `SELECT id FROM document WHERE context_id = @context`, Args{"context": contextID},
			func(scan Scan) (id string, err error) { return id, scan(&id) })
		return err
	})
	return ids, err
}

// changeable fails unless v may change the context: Forbidden when they may
// at least see it.
func changeable(tx Tx, v identity.Viewer, contextID string) error {
	var mine bool
	found, err := first(tx, `SELECT CASE WHEN `+contextWritable+` THEN 1 ELSE 0 END FROM knowledge_context c WHERE c.id = @id AND `+ContextVisible,
		Args{"id": contextID, "user": v.UserID, "admin": v.IsAdmin()}, &mine)
	switch {
	case err != nil:
		return err
	case !found:
		return missing("context")
	case !mine:
		return errNotYours()
	}
	return nil
}

// addable fails unless v may add documents to the context: Forbidden when they
// may at least see it.
func addable(tx Tx, v identity.Viewer, contextID string) error {
	var may bool
	found, err := first(tx, `SELECT CASE WHEN `+contextAddable+` THEN 1 ELSE 0 END FROM knowledge_context c WHERE c.id = @id AND `+ContextVisible,
		Args{"id": contextID, "user": v.UserID, "admin": v.IsAdmin()}, &may)
	switch {
	case err != nil:
		return err
	case !found:
		return missing("context")
	case !may:
		return errNotYours()
	}
	return nil
}

func errNotYours() error {
	return fault.New(fault.Forbidden, "This context is not yours: its owner changes it, or where it is global an administrator.")
}

// FindContexts implements knowledge.ContextFinder. Names are compared here and not
// by the database: neither folds case and accents as the other does.
func (s *Store) FindContexts(ctx context.Context, v identity.Viewer, q, cursor string, limit int) (list []knowledge.Context, next string, err error) {
	after, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	wanted, size := strings.Fields(unaccented(q)), pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		var ids []string
		var found []place
		err := tx.Query(`SELECT c.id, c.name, c.created_at FROM knowledge_context c WHERE `+ContextVisible+` AND (c.created_at, c.id) < (@at, @id)
			ORDER BY c.created_at DESC, c.id DESC`, Args{"user": v.UserID, "at": after.at, "id": orNil(after.id)}, func(scan Scan) error {
			var at place
			var name string
			if err := scan(&at.id, &name, when{&at.at}); err != nil || !holds(name, wanted) {
				return err
			}
			found, ids = append(found, at), append(ids, at.id)
			if len(found) > size {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) || len(ids) == 0 {
			list, next = nil, ""
			return err
		}
		if found, next = cut(found, size, func(p place) place { return p }); len(found) < len(ids) {
			ids = ids[:len(found)]
		}
		args := Args{"user": v.UserID}
		whole, err := all(tx, `SELECT `+contextColumns+` FROM knowledge_context c WHERE c.id IN `+args.in("id", ids), args, scanContext)
		list = inOrder(whole, ids, func(c knowledge.Context) string { return c.ID })
		return err
	})
	return list, next, err
}
