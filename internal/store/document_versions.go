package store

import (
	"cmp"
	"context"
	"path"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// versionInUse is the id of the version of d that is searched, or is about to be.
const versionInUse = `(SELECT n.id FROM document n WHERE n.lineage = d.lineage AND n.superseded_at IS NULL
	ORDER BY CASE WHEN n.status = 'ready' THEN 0 ELSE 1 END, n.version_no DESC, n.id LIMIT 1)`

// version is a document among its versions.
type version struct {
	id      string
	lineage string
	no      int
	gone    bool // it was replaced
	ready   bool
}

const documentVersionColumns = `d.id, d.lineage, d.version_no, CASE WHEN d.superseded_at IS NULL THEN 0 ELSE 1 END, CASE WHEN d.status = 'ready' THEN 1 ELSE 0 END`

func scanDocumentVersion(scan Scan) (n version, err error) {
	err = scan(&n.id, text{&n.lineage}, &n.no, &n.gone, &n.ready)
	return n, err
}

// PutVersion implements knowledge.Versions.
func (s *Store) PutVersion(ctx context.Context, v identity.Viewer, d knowledge.Document, apart bool) (stored knowledge.Document, replaced *knowledge.Document, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		replaced = nil
		if err := addable(tx, v, d.ContextID); err != nil {
			return err
		}
		if err := tx.Lock("versions:" + d.ContextID); err != nil {
			return err
		}
		others, err := s.versionsBefore(tx, v, d, apart)
		if err != nil {
			return err
		}
		if err := s.upsertDocument(tx, v, withDefaults(d)); err != nil {
			return err
		}
		if stored, err = documentAt(tx, d.ContextID, d.Path); err != nil {
			return err
		}
		if len(others) > 0 {
			replaced, err = replacedBy(tx, v, others)
		}
		if err == nil && replaced != nil {
			err = keepTitle(tx, stored.ID, replaced.ID)
		}
		if err == nil && (len(others) > 0 || stored.Superseded()) {
			stored.Origin = cmp.Or(d.Origin, stored.Origin)
			err = s.join(tx, v, stored, others)
		}
		if err != nil {
			return err
		}
		stored, err = documentAt(tx, d.ContextID, d.Path)
		return err
	})
	return stored, replaced, err
}

// versionsBefore are the viewer's other documents in use that came from the same
// place into the same context. A document of a program before this one came
// from where its file's name says.
func (s *Store) versionsBefore(tx Tx, v identity.Viewer, d knowledge.Document, apart bool) ([]version, error) {
	if apart {
		return nil, nil
	}
	args := Args{"context": d.ContextID, "user": v.UserID, "path": d.Path}
	same := `d.lineage = (SELECT o.lineage FROM document o WHERE o.context_id = @context AND o.path = @path)`
	if d.Origin != "" {
		same += ` OR d.origin = @origin OR d.origin = '' AND d.path = @named`
		args["origin"], args["named"] = d.Origin, path.Join(path.Dir(d.Path), d.Origin)
	}
	return all(tx, `SELECT `+documentVersionColumns+` FROM document d WHERE d.context_id = @context AND d.user_id = @user AND d.superseded_at IS NULL
		AND d.path <> @path AND (`+same+`) ORDER BY d.version_no, d.created_at, d.id`, args, scanDocumentVersion)
}

// replacedBy is the version that one which comes after others takes the place of:
// the last that has been read, or else the last.
func replacedBy(tx Tx, v identity.Viewer, others []version) (*knowledge.Document, error) {
	last := others[len(others)-1]
	for _, o := range others {
		if o.ready {
			last = o
		}
	}
	list, err := all(tx, `SELECT `+documentColumns+` FROM document d WHERE d.id = @id AND `+DocumentVisible,
		Args{"id": last.id, "user": v.UserID}, scanDocument)
	d, err := only(list, err, "document")
	return &d, err
}

// keepTitle gives a version the title that a person gave to the one before.
func keepTitle(tx Tx, id, before string) error {
	_, err := tx.Exec(`UPDATE document SET title = (SELECT o.title FROM document o WHERE o.id = @before), titled = @yes
		WHERE id = @id AND EXISTS (SELECT 1 FROM document o WHERE o.id = @before AND o.titled)`,
		Args{"id": id, "before": before, "yes": true})
	return err
}

// join makes a document the latest version among others, or with no others one
// by itself. One that was replaced is in use again, and waits to be read.
func (s *Store) join(tx Tx, v identity.Viewer, d knowledge.Document, others []version) error {
	var lineage string
	no := 0
	for _, o := range others {
		no = max(no, o.no)
		if lineage == "" {
			lineage = o.lineage
		}
	}
	if lineage == "" && len(others) > 0 {
		lineage = others[0].id
	}
	for _, o := range others {
		if _, err := tx.Exec(`UPDATE document SET lineage = @lineage WHERE id = @id`, Args{"id": o.id, "lineage": lineage}); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`UPDATE document AS d SET origin = @origin, lineage = @lineage, version_no = @no, superseded_at = NULL, updated_at = @now,
		status = CASE WHEN superseded_at IS NULL THEN status ELSE 'waiting' END WHERE d.id = @id AND `+DocumentWritable,
		Args{"id": d.ID, "origin": d.Origin, "lineage": optional(lineage), "no": no + 1, "now": s.now(), "user": v.UserID, "admin": v.IsAdmin()})
	return err
}

// DocumentVersions implements knowledge.Versions.
func (s *Store) DocumentVersions(ctx context.Context, v identity.Viewer, id string) (list []knowledge.Document, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+documentColumns+` FROM document d WHERE (d.id = @id
			OR d.lineage = (SELECT o.lineage FROM document o WHERE o.id = @id)) AND `+DocumentVisible+`
			ORDER BY d.version_no DESC, d.created_at DESC, d.id`, Args{"id": id, "user": v.UserID}, scanDocument)
		if err == nil && len(list) == 0 {
			err = missing("document")
		}
		return err
	})
	return list, err
}

// formerVersions are the ids of those that go with a document when it is
// deleted: the ones that were replaced, unless another version is in use.
func (s *Store) formerVersions(ctx context.Context, v identity.Viewer, id string) (ids []string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		ids, err = all(tx, `SELECT o.id FROM document d JOIN document o ON o.lineage = d.lineage AND o.superseded_at IS NOT NULL
			WHERE d.id = @id AND d.superseded_at IS NULL AND `+DocumentWritable+` AND NOT EXISTS (SELECT 1 FROM document n
				WHERE n.lineage = d.lineage AND n.id <> d.id AND n.superseded_at IS NULL AND n.status = 'ready')
			ORDER BY o.version_no, o.id`, Args{"id": id, "user": v.UserID, "admin": v.IsAdmin()},
			func(scan Scan) (id string, err error) { return id, scan(&id) })
		return err
	})
	return ids, err
}

// Supersede implements knowledge.Versions.
func (s *Store) Supersede(ctx context.Context, v identity.Viewer, id string) (gone []string, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		gone = nil
		d, err := versionsLocked(tx, v, id)
		if err != nil || d.Lineage == "" {
			return err
		}
		list, err := all(tx, `SELECT `+documentVersionColumns+` FROM document d WHERE d.lineage = @lineage AND d.context_id = @context AND `+DocumentWritable,
			Args{"lineage": d.Lineage, "context": d.ContextID, "user": v.UserID, "admin": v.IsAdmin()}, scanDocumentVersion)
		if err != nil {
			return err
		}
		inUse := latest(list, id)
		for _, n := range list {
			if !n.gone && n.no < inUse.no {
				if err := s.retire(tx, n.id, inUse.id); err != nil {
					return err
				}
			}
		}
		gone, err = leftover(tx, d.Lineage)
		return err
	})
	return gone, err
}

// versionsLocked is a document that v may change, while nobody else changes the
// versions of its context.
func versionsLocked(tx Tx, v identity.Viewer, id string) (d knowledge.Document, err error) {
	for range 2 { // to know what to lock, and behind the lock
		list, err := all(tx, `SELECT `+documentColumns+` FROM document d WHERE d.id = @id AND `+DocumentWritable,
			Args{"id": id, "user": v.UserID, "admin": v.IsAdmin()}, scanDocument)
		if d, err = only(list, err, "document"); err != nil {
			return d, err
		}
		if err := tx.Lock("versions:" + d.ContextID); err != nil {
			return d, err
		}
	}
	return d, nil
}

// latest is the last version that has been read, at least the one of id.
func latest(list []version, id string) (last version) {
	for _, n := range list {
		if (n.id == id || n.ready) && !n.gone && n.no >= last.no {
			last = n
		}
	}
	return last
}

// retire takes a version out of use: it has no passages any more, and sets hold
// the one in its place.
func (s *Store) retire(tx Tx, id, inUse string) error {
	args := Args{"id": id, "new": inUse, "now": s.now()}
	for _, statement := range []string{
		`UPDATE document SET superseded_at = @now, chunks = 0, version = '', updated_at = @now WHERE id = @id`,
		`UPDATE document_set_document SET document_id = @new WHERE document_id = @id
			AND NOT EXISTS (SELECT 1 FROM document_set_document m WHERE m.set_id = document_set_document.set_id AND m.document_id = @new)`,
		`DELETE FROM document_set_document WHERE document_id = @id`,
	} {
		if _, err := tx.Exec(statement, args); err != nil {
			return err
		}
	}
	return nil
}

// leftover are the versions out of use that still have chunks, or were counted
// again by a run that went on reading them.
func leftover(tx Tx, lineage string) ([]string, error) {
	if _, err := tx.Exec(`UPDATE document SET chunks = 0, version = '' WHERE lineage = @lineage AND superseded_at IS NOT NULL AND (chunks <> 0 OR version <> '')`,
		Args{"lineage": lineage}); err != nil {
		return nil, err
	}
	return all(tx, `SELECT d.id FROM document d WHERE d.lineage = @lineage AND d.superseded_at IS NOT NULL
		AND EXISTS (SELECT 1 FROM knowledge_chunk k WHERE k.document_id = d.id) ORDER BY d.id`, Args{"lineage": lineage},
		func(scan Scan) (id string, err error) { return id, scan(&id) })
}
