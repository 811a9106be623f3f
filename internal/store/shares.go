package store

import (
	"context"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/sharing"
)

var _ sharing.Shares = (*Store)(nil)

// columnOf is the column of what is shared.
var columnOf = map[sharing.Kind]string{sharing.Context: "context_id", sharing.Set: "set_id", sharing.Artifact: "artifact_id"}

const shareColumns = `h.id, h.owner_user_id, h.context_id, h.set_id, h.artifact_id, h.grantee_user_id, h.tenant_id, h.may_write, h.created_at`

func scanShare(scan Scan) (h sharing.Share, err error) {
	var context, set, artifact string
	err = scan(&h.ID, &h.OwnerID, text{&context}, text{&set}, text{&artifact}, text{&h.GranteeID}, text{&h.TenantID}, &h.Write, when{&h.CreatedAt})
	switch {
	case context != "":
		h.Kind, h.ObjectID = sharing.Context, context
	case set != "":
		h.Kind, h.ObjectID = sharing.Set, set
	case artifact != "":
		h.Kind, h.ObjectID = sharing.Artifact, artifact
	}
	return h, err
}

// ownOf reads what a person may share of a kind: its name, and for an artifact
// its type.
var ownOf = map[sharing.Kind]string{
	sharing.Context:  `SELECT name, '' FROM knowledge_context WHERE id = @id AND owner_user_id = @user`,
	sharing.Set:      `SELECT title, '' FROM document_set WHERE id = @id AND user_id = @user`,
	sharing.Artifact: `SELECT name, type FROM artifact WHERE id = @id AND owner_user_id = @user`,
}

// own fails with NotFound unless something is the viewer's own.
func own(tx Tx, v identity.Viewer, kind sharing.Kind, objectID string) (name, of string, err error) {
	query, known := ownOf[kind]
	if !known {
		return "", "", fault.New(fault.Invalid, "A share is of a context, a document set or an artifact.")
	}
	found, err := first(tx, query, Args{"id": objectID, "user": v.UserID}, &name, &of)
	if err == nil && !found {
		err = missing(string(kind))
	}
	return name, of, err
}

// MayShare implements sharing.Shares.
func (s *Store) MayShare(ctx context.Context, v identity.Viewer, kind sharing.Kind, objectID string) error {
	return s.read(ctx, v, func(tx Tx) error {
		_, _, err := own(tx, v, kind, objectID)
		return err
	})
}

// PutShare implements sharing.Shares.
func (s *Store) PutShare(ctx context.Context, v identity.Viewer, h sharing.Share) (put sharing.Share, err error) {
	h.OwnerID = v.UserID
	err = s.write(ctx, v, func(tx Tx) error {
		put = h
		if err := tx.Lock("share:" + h.ObjectID); err != nil {
			return err
		}
		_, of, err := own(tx, v, h.Kind, h.ObjectID)
		if err != nil {
			return err
		}
		if h.Kind == sharing.Artifact && !sharing.Shareable(of) {
			return fault.New(fault.Invalid, "A %s is about its person and is not shared.", of).With(map[string]any{"field": "artifact_id"})
		}
		column := columnOf[h.Kind]
		args := Args{"object": h.ObjectID, "grantee": optional(h.GranteeID), "tenant": optional(h.TenantID), "write": h.Write, "user": v.UserID}
		var before string
		found, err := first(tx, `SELECT h.id FROM share h WHERE h.`+column+` = @object AND h.owner_user_id = @user
			AND coalesce(CAST(h.grantee_user_id AS text), '') = @who AND coalesce(h.tenant_id, '') = @all`,
			Args{"object": h.ObjectID, "user": v.UserID, "who": h.GranteeID, "all": h.TenantID}, &before)
		if err != nil {
			return err
		}
		if found {
			args["id"] = before
			if _, err := tx.Exec(`UPDATE share SET may_write = @write WHERE id = @id AND owner_user_id = @user`, Args{"id": before, "write": h.Write, "user": v.UserID}); err != nil {
				return err
			}
		} else {
			var n int
			if _, err := first(tx, `SELECT count(*) FROM share h WHERE h.`+column+` = @object AND h.owner_user_id = @user`, Args{"object": h.ObjectID, "user": v.UserID}, &n); err != nil {
				return err
			}
			if n >= sharing.MaxShares {
				return fault.New(fault.Conflict, "This is shared with %d people, which is the most. Share it with everybody of the tenant, or take one back.", n).With(map[string]any{"reason": "too_many_shares"})
			}
			args["id"], args["now"] = id.New(), s.now()
			if _, err := tx.Exec(`INSERT INTO share (id, owner_user_id, `+column+`, grantee_user_id, tenant_id, may_write, created_at)
				VALUES (@id, @user, @object, @grantee, @tenant, @write, @now)`, args); err != nil {
				return err
			}
		}
		if err := s.visibly(tx, v.UserID, h.Kind, h.ObjectID); err != nil {
			return err
		}
		list, err := all(tx, `SELECT `+shareColumns+` FROM share h WHERE h.id = @id AND h.owner_user_id = @user`, Args{"id": args["id"], "user": v.UserID}, scanShare)
		put, err = only(list, err, "share")
		return err
	})
	return put, err
}

// visibly makes the visibility of an artifact say whether it is shared (ISO-06).
func (s *Store) visibly(tx Tx, ownerID string, kind sharing.Kind, objectID string) error {
	if kind != sharing.Artifact { // of a context it is worked out when it is read; a set has none
		return nil
	}
	_, err := tx.Exec(`UPDATE artifact SET visibility = CASE WHEN EXISTS (SELECT 1 FROM share h WHERE h.artifact_id = @id) THEN 'shared' ELSE 'private' END
		WHERE id = @id AND owner_user_id = @user AND visibility <> 'global'`, Args{"id": objectID, "user": ownerID})
	return err
}

// DropShare implements sharing.Shares. Whom a share reached reads nothing more
// with the transaction's end; what they were adding is marked as failed, for
// nobody reads it on.
func (s *Store) DropShare(ctx context.Context, v identity.Viewer, shareID string) (gone sharing.Share, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+shareColumns+` FROM share h WHERE h.id = @id AND (h.owner_user_id = @user OR h.grantee_user_id = @user)`,
			Args{"id": shareID, "user": v.UserID}, scanShare)
		if gone, err = only(list, err, "share"); err != nil {
			return err
		}
		if err := tx.Lock("share:" + gone.ObjectID); err != nil {
			return err
		}
		n, err := tx.Exec(`DELETE FROM share WHERE id = @id AND (owner_user_id = @user OR grantee_user_id = @user)`, Args{"id": shareID, "user": v.UserID})
		if err == nil && n == 0 {
			err = missing("share")
		}
		return err
	})
	if err != nil {
		return gone, err
	}
	// As the system, on what is its owner's: who leaves may not touch what was
	// shared with them, and the owner does not see who others are.
	return gone, s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock("share:" + gone.ObjectID); err != nil {
			return err
		}
		if err := s.visibly(tx, gone.OwnerID, gone.Kind, gone.ObjectID); err != nil || gone.Kind != sharing.Context {
			return err
		}
		// An error, though nobody is given it: so its sentence is held to have a German one.
		why := fault.New(fault.Conflict, "The context was taken back from who added this while it was being read.").Message
		_, err := tx.Exec(`UPDATE document SET status = 'failed', error = @why, updated_at = @now WHERE context_id = @context AND status IN ('waiting', 'reading')
			AND user_id <> @user AND NOT EXISTS (SELECT 1 FROM share h JOIN app_user r ON r.id = document.user_id
				WHERE h.context_id = document.context_id AND h.may_write AND (h.grantee_user_id = r.id OR h.tenant_id = r.tenant_id))`,
			Args{"context": gone.ObjectID, "user": gone.OwnerID, "now": s.now(), "why": why})
		return err
	})
}

// ListShares implements sharing.Shares.
func (s *Store) ListShares(ctx context.Context, v identity.Viewer, f sharing.Filter) (list []sharing.Named, next string, err error) {
	after, err := begin(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(f.Limit)
	args := Args{"user": v.UserID, "at": after.at, "id": orNil(after.id), "limit": size + 1}
	where := `h.owner_user_id = @user`
	if f.Received {
		where = reaches + ` AND NOT h.owner_user_id = @user`
	}
	if f.ObjectID != "" {
		column, known := columnOf[f.Kind]
		if !known || !id.Valid(f.ObjectID) {
			return nil, "", fault.New(fault.Invalid, "A share is of a context, a document set or an artifact.")
		}
		where += ` AND h.` + column + ` = @object`
		args["object"] = strings.ToLower(f.ObjectID)
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+shareColumns+`, coalesce(
				(SELECT c.name FROM knowledge_context c WHERE c.id = h.context_id),
				(SELECT d.title FROM document_set d WHERE d.id = h.set_id),
				(SELECT a.name FROM artifact a WHERE a.id = h.artifact_id), '')
			FROM share h WHERE `+where+` AND (h.created_at, h.id) < (@at, @id) ORDER BY h.created_at DESC, h.id DESC LIMIT @limit`, args,
			func(scan Scan) (n sharing.Named, err error) {
				var name string
				n.Share, err = scanShare(func(dest ...any) error { return scan(append(dest, &name)...) })
				n.Name = name
				return n, err
			})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	list, next = cut(list, size, func(n sharing.Named) place { return place{n.CreatedAt, n.ID} })
	return list, next, s.people(ctx, list)
}

// people fills in who shares are from and with: of those they name and nobody else.
func (s *Store) people(ctx context.Context, list []sharing.Named) error {
	if len(list) == 0 {
		return nil
	}
	ids := map[string]bool{}
	for _, n := range list {
		ids[n.OwnerID] = true
		if n.GranteeID != "" {
			ids[n.GranteeID] = true
		}
	}
	named := make([]string, 0, len(ids))
	for one := range ids {
		named = append(named, one)
	}
	who := map[string]sharing.Person{}
	err := s.read(ctx, identity.System(), func(tx Tx) error {
		args := Args{}
		return tx.Query(`SELECT u.id, u.email, u.handle FROM app_user u WHERE u.id IN `+args.in("id", named), args, func(scan Scan) error {
			var p sharing.Person
			err := scan(&p.ID, &p.Email, &p.Handle)
			who[p.ID] = p
			return err
		})
	})
	for i := range list {
		list[i].Owner, list[i].Grantee = who[list[i].OwnerID], who[list[i].GranteeID]
	}
	return err
}

// FindPerson implements sharing.Shares. Somebody of another tenant, or who is not
// active, is nobody here; a name that several have is nobody's.
func (s *Store) FindPerson(ctx context.Context, v identity.Viewer, exact string) (p sharing.Person, err error) {
	exact = strings.TrimSpace(exact)
	column := `u.handle = @exact`
	if strings.Contains(exact, "@") {
		column, exact = `u.email = @exact`, strings.ToLower(exact)
	}
	var found []sharing.Person
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err = all(tx, `SELECT u.id, u.email, u.handle FROM app_user u JOIN app_user me ON me.tenant_id = u.tenant_id
			WHERE me.id = @me AND u.id <> @steward AND u.is_active = @yes AND `+column+` ORDER BY u.id LIMIT 2`,
			Args{"me": v.UserID, "steward": identity.SystemAccount, "yes": true, "exact": exact}, func(scan Scan) (p sharing.Person, err error) {
				err = scan(&p.ID, &p.Email, &p.Handle)
				return p, err
			})
		return err
	})
	if err == nil && (len(found) != 1 || exact == "") {
		err = fault.New(fault.NotFound, "There is nobody here of exactly this address or name. Ask them for the address they sign in with.").With(map[string]any{"field": "with"})
	}
	if err != nil {
		return p, err
	}
	return found[0], nil
}
