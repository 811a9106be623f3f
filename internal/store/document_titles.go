package store

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/words"
)

var _ knowledge.DocumentTitles = (*Store)(nil)

// A document is a person's own when they put it there and may still see it.
const (
	titledColumns = `d.id, d.context_id, d.title, d.path, d.status, d.error, d.updated_at, d.created_at`
	documentOwn   = `d.user_id = @user AND ` + DocumentVisible
	documentNear  = `(` + documentOwn + ` OR ` + documentShared + `)`
)

// placed is a title and where it stands in the list.
type placed struct {
	knowledge.Titled
	created time.Time
}

func scanTitled(scan Scan) (t placed, err error) {
	err = scan(&t.ID, &t.ContextID, &t.Title, &t.Path, &t.Status, &t.Error, when{&t.UpdatedAt}, when{&t.created})
	t.Title = knowledge.TitleOf(t.Title, t.Path)
	return t, err
}

func titlesOf(list []placed) []knowledge.Titled {
	out := make([]knowledge.Titled, len(list))
	for i, t := range list {
		out[i] = t.Titled
	}
	return out
}

// OwnDocuments implements knowledge.DocumentTitles.
func (s *Store) OwnDocuments(ctx context.Context, v identity.Viewer, limit int) (list []knowledge.Titled, err error) {
	if limit <= 0 || limit > knowledge.MaxTitles {
		limit = knowledge.MaxTitles
	}
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := all(tx, `SELECT `+titledColumns+` FROM document d WHERE d.superseded_at IS NULL AND `+documentOwn+`
			ORDER BY d.created_at DESC, d.id DESC LIMIT @limit`, Args{"user": v.UserID, "limit": limit}, scanTitled)
		list = titlesOf(found)
		return err
	})
	return list, err
}

// DocumentsByID implements knowledge.DocumentTitles.
func (s *Store) DocumentsByID(ctx context.Context, v identity.Viewer, ids []string) (list []knowledge.Titled, err error) {
	ids = distinct(ids, knowledge.MaxTitles)
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := near(tx, v, ids)
		list = inOrder(titlesOf(found), ids, func(t knowledge.Titled) string { return t.ID })
		return err
	})
	return list, err
}

// titled finds those of ids that are the viewer's own.
func titled(tx Tx, v identity.Viewer, ids []string) ([]placed, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := Args{"user": v.UserID}
	return all(tx, `SELECT `+titledColumns+` FROM document d WHERE d.id IN `+args.in("id", ids)+` AND `+documentOwn, args, scanTitled)
}

// near finds those of ids that are the viewer's own, or shared with them.
func near(tx Tx, v identity.Viewer, ids []string) ([]placed, error) {
	args := Args{"user": v.UserID}
	return all(tx, `SELECT `+titledColumns+` FROM document d WHERE d.id IN `+args.in("id", ids)+` AND `+documentNear, args, scanTitled)
}

// FindDocuments implements knowledge.DocumentTitles. Titles are compared here
// and not by the database: neither folds case and accents as the other does.
func (s *Store) FindDocuments(ctx context.Context, v identity.Viewer, q, cursor string, limit int) (list []knowledge.Titled, next string, err error) {
	after, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	wanted, size := strings.Fields(unaccented(q)), pageSize(limit)
	var found []placed
	err = s.read(ctx, v, func(tx Tx) error {
		found = nil
		err := tx.Query(`SELECT `+titledColumns+` FROM document d WHERE d.superseded_at IS NULL AND `+documentNear+` AND (d.created_at, d.id) < (@at, @id)
			ORDER BY d.created_at DESC, d.id DESC`, Args{"user": v.UserID, "at": after.at, "id": orNil(after.id)}, func(scan Scan) error {
			t, err := scanTitled(scan)
			if err != nil || !holds(t.Title+" "+path.Base(t.Path), wanted) {
				return err
			}
			if found = append(found, t); len(found) > size {
				return errStop
			}
			return nil
		})
		if errors.Is(err, errStop) {
			err = nil
		}
		return err
	})
	found, next = cut(found, size, func(t placed) place { return place{t.created, t.ID} })
	return titlesOf(found), next, err
}

// holds reports whether a name has every one of the folded words in it.
func holds(name string, wanted []string) bool {
	folded := unaccented(name)
	for _, w := range wanted {
		if !strings.Contains(folded, w) {
			return false
		}
	}
	return true
}

// unaccented is the form titles are compared in.
func unaccented(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(words.Fold(s)))
}

// RenameDocument implements knowledge.DocumentTitles.
func (s *Store) RenameDocument(ctx context.Context, v identity.Viewer, id, title string) (d knowledge.Document, err error) {
	if title, err = knowledge.CheckTitle(title); err != nil {
		return d, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE document AS d SET title = @title, titled = @yes, updated_at = @now WHERE d.id = @id AND `+documentOwn,
			Args{"id": id, "user": v.UserID, "title": title, "yes": true, "now": s.now()})
		if err == nil && n == 0 {
			err = missing("document")
		}
		if err != nil {
			return err
		}
		list, err := all(tx, `SELECT `+documentColumns+` FROM document d WHERE d.id = @id AND `+documentOwn,
			Args{"id": id, "user": v.UserID}, scanDocument)
		d, err = only(list, err, "document")
		return err
	})
	return d, err
}
