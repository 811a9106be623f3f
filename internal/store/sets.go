package store

import (
	"context"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

var _ knowledge.Sets = (*Store)(nil)

const setColumns = `id, user_id, title, created_at, updated_at`

func scanSet(scan Scan) (n knowledge.Set, err error) {
	n.Documents = []string{}
	err = scan(&n.ID, &n.UserID, &n.Title, when{&n.CreatedAt}, when{&n.UpdatedAt})
	return n, err
}

// CreateSet implements knowledge.Sets.
func (s *Store) CreateSet(ctx context.Context, v identity.Viewer, n knowledge.Set) (knowledge.Set, error) {
	if n.ID == "" {
		n.ID = id.New()
	}
	var err error
	if n.Title, err = knowledge.CheckTitle(n.Title); err != nil {
		return n, err
	}
	if n.Documents, err = knowledge.CheckMembers(n.Documents); err != nil {
		return n, err
	}
	n.UserID, n.CreatedAt = v.UserID, s.now()
	n.UpdatedAt = n.CreatedAt
	return n, s.write(ctx, v, func(tx Tx) error {
		if err := setRoom(tx, v); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO document_set (`+setColumns+`) VALUES (@id, @user, @title, @now, @now)`,
			Args{"id": n.ID, "user": v.UserID, "title": n.Title, "now": n.CreatedAt}); err != nil {
			return err
		}
		return putMembers(tx, v, n.ID, n.Documents)
	})
}

// setRoom is a Conflict when a person has all the sets they may have.
func setRoom(tx Tx, v identity.Viewer) error {
	if err := tx.Lock("sets:" + v.UserID); err != nil {
		return err
	}
	var n int
	_, err := first(tx, `SELECT count(*) FROM document_set WHERE user_id = @user`, Args{"user": v.UserID}, &n)
	if err == nil && n >= knowledge.MaxSets {
		err = fault.New(fault.Conflict, "You have %d document sets, which is the most. Delete one first.", n).
			With(map[string]any{"reason": "storage", "sets": n, "max_sets": knowledge.MaxSets})
	}
	return err
}

// putMembers makes ids the documents of a set, in their order.
func putMembers(tx Tx, v identity.Viewer, setID string, ids []string) error {
	if _, err := tx.Exec(`DELETE FROM document_set_document WHERE set_id = @set AND user_id = @user`, Args{"set": setID, "user": v.UserID}); err != nil {
		return err
	}
	own, err := titled(tx, v, ids)
	if err == nil && len(own) < len(ids) {
		err = missing("document")
	}
	if err != nil {
		return err
	}
	for i, one := range ids {
		if _, err := tx.Exec(`INSERT INTO document_set_document (set_id, document_id, user_id, position) VALUES (@set, @document, @user, @at)`,
			Args{"set": setID, "document": one, "user": v.UserID, "at": i}); err != nil {
			return err
		}
	}
	return nil
}

// Set implements knowledge.Sets.
func (s *Store) Set(ctx context.Context, v identity.Viewer, id string) (n knowledge.Set, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := sets(tx, `WHERE id = @id AND `+setVisible, Args{"id": id, "user": v.UserID})
		n, err = only(list, err, "document set")
		return err
	})
	return n, err
}

func oneSet(tx Tx, v identity.Viewer, id string) (knowledge.Set, error) {
	list, err := sets(tx, `WHERE id = @id AND user_id = @user`, Args{"id": id, "user": v.UserID})
	return only(list, err, "document set")
}

// sets reads sets with their documents.
func sets(tx Tx, where string, args Args) ([]knowledge.Set, error) {
	list, err := all(tx, `SELECT `+setColumns+` FROM document_set `+where, args, scanSet)
	if err != nil || len(list) == 0 {
		return list, err
	}
	at := make(map[string]int, len(list))
	for i, n := range list {
		at[n.ID] = i
	}
	members := Args{}
	ids := make([]string, len(list))
	for i, n := range list {
		ids[i] = n.ID
	}
	err = tx.Query(`SELECT set_id, document_id FROM document_set_document WHERE set_id IN `+members.in("id", ids)+`
		ORDER BY set_id, position`, members, func(scan Scan) error {
		var set, document string
		err := scan(&set, &document)
		list[at[set]].Documents = append(list[at[set]].Documents, document)
		return err
	})
	return list, err
}

// SetsByID implements knowledge.Sets.
func (s *Store) SetsByID(ctx context.Context, v identity.Viewer, ids []string) (found []knowledge.Set, err error) {
	ids = distinct(ids, knowledge.MaxSets)
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.read(ctx, v, func(tx Tx) error {
		args := Args{"user": v.UserID}
		list, err := sets(tx, `WHERE `+setVisible+` AND id IN `+args.in("id", ids), args)
		found = inOrder(list, ids, func(n knowledge.Set) string { return n.ID })
		return err
	})
	return found, err
}

// ListSets implements knowledge.Sets.
func (s *Store) ListSets(ctx context.Context, v identity.Viewer, cursor string, limit int) (list []knowledge.Set, next string, err error) {
	after, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = sets(tx, `WHERE `+setVisible+` AND (updated_at, id) < (@at, @id) ORDER BY updated_at DESC, id DESC LIMIT @limit`,
			Args{"user": v.UserID, "at": after.at, "id": orNil(after.id), "limit": size + 1})
		return err
	})
	list, next = cut(list, size, func(n knowledge.Set) place { return place{n.UpdatedAt, n.ID} })
	return list, next, err
}

// UpdateSet implements knowledge.Sets.
func (s *Store) UpdateSet(ctx context.Context, v identity.Viewer, id string, c knowledge.SetChange) (n knowledge.Set, err error) {
	var title string
	if c.Title != nil {
		if title, err = knowledge.CheckTitle(*c.Title); err != nil {
			return n, err
		}
	}
	var members []string
	if c.Documents != nil {
		if members, err = knowledge.CheckMembers(*c.Documents); err != nil {
			return n, err
		}
	}
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("set:" + id); err != nil {
			return err
		}
		if n, err = oneSet(tx, v, id); err != nil {
			return err
		}
		n.UpdatedAt = s.now()
		if c.Title != nil {
			n.Title = title
		}
		if c.Documents != nil {
			n.Documents = members
			if err := putMembers(tx, v, n.ID, members); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`UPDATE document_set SET title = @title, updated_at = @now WHERE id = @id AND user_id = @user`,
			Args{"id": n.ID, "user": v.UserID, "title": n.Title, "now": n.UpdatedAt})
		return err
	})
	return n, err
}

// DeleteSet implements knowledge.Sets.
func (s *Store) DeleteSet(ctx context.Context, v identity.Viewer, id string) error {
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`DELETE FROM document_set WHERE id = @id AND user_id = @user`, Args{"id": id, "user": v.UserID})
		if err == nil && n == 0 {
			err = missing("document set")
		}
		return err
	})
}

// distinct are the first most ids of a list, each once and as the store
// writes them; what is no id is left out.
func distinct(list []string, most int) []string {
	seen, ids := make(map[string]bool, len(list)), make([]string, 0, len(list))
	for _, one := range list {
		if one = strings.ToLower(one); !seen[one] && id.Valid(one) && len(ids) < most {
			seen[one] = true
			ids = append(ids, one)
		}
	}
	return ids
}

// inOrder puts what was found into the order it was asked for.
func inOrder[T any](found []T, ids []string, of func(T) string) []T {
	at := make(map[string]T, len(found))
	for _, t := range found {
		at[of(t)] = t
	}
	list := make([]T, 0, len(found))
	for _, one := range ids {
		if t, ok := at[one]; ok {
			list = append(list, t)
		}
	}
	return list
}
