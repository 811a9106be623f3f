package store

import (
	"cmp"
	"context"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/quota"
)

var _ knowledge.Documents = (*Store)(nil)

const documentColumns = `d.id, d.context_id, d.user_id, d.path, d.title, d.mime, d.size, d.sha256, d.status, d.error,
	d.pages, d.length, d.chunks, CASE WHEN d.status IN ('reading', 'failed')
	THEN (SELECT count(*) FROM knowledge_chunk k WHERE k.document_id = d.id) ELSE d.chunks END, d.chunk_size, d.run_id, d.version, d.created_at, d.updated_at,
	d.origin, d.lineage, d.superseded_at, CASE WHEN d.superseded_at IS NOT NULL THEN ` + versionInUse + ` END,
	CASE WHEN d.lineage IS NULL OR d.superseded_at IS NOT NULL THEN 0
		ELSE (SELECT count(*) FROM document o WHERE o.lineage = d.lineage AND o.superseded_at IS NOT NULL) END`

func scanDocument(scan Scan) (d knowledge.Document, err error) {
	err = scan(&d.ID, &d.ContextID, &d.UserID, &d.Path, &d.Title, &d.MIME, &d.Size, &d.SHA256, &d.Status, &d.Error,
		&d.Pages, &d.Length, &d.Chunks, &d.Indexed, &d.ChunkSize, text{&d.RunID}, &d.Version, when{&d.CreatedAt}, when{&d.UpdatedAt},
		&d.Origin, text{&d.Lineage}, when{&d.SupersededAt}, text{&d.CurrentID}, &d.Former)
	return d, err
}

// PutDocument implements knowledge.Documents. What is known about the reading
// of the document (status, chunks, …) stays as it is: SetDocument changes it.
// So does its title where the file is the same, for that may have been read in
// it.
func (s *Store) PutDocument(ctx context.Context, v identity.Viewer, d knowledge.Document) (stored knowledge.Document, err error) {
	d = withDefaults(d)
	err = s.write(ctx, v, func(tx Tx) error {
		if err := addable(tx, v, d.ContextID); err != nil {
			return err
		}
		if err := s.upsertDocument(tx, v, d); err != nil {
			return err
		}
		stored, err = documentAt(tx, d.ContextID, d.Path)
		return err
	})
	return stored, err
}

func withDefaults(d knowledge.Document) knowledge.Document {
	if d.ID == "" {
		d.ID = id.New()
	}
	d.Status = cmp.Or(d.Status, knowledge.Waiting)
	return d
}

func documentAt(tx Tx, contextID, path string) (knowledge.Document, error) {
	list, err := all(tx, `SELECT `+documentColumns+` FROM document d WHERE d.context_id = @context AND d.path = @path`,
		Args{"context": contextID, "path": path}, scanDocument)
	return only(list, err, "document")
}

// upsertDocument puts a document to its place in a context. Where several people
// add to one, a place may be another's: theirs stays.
func (s *Store) upsertDocument(tx Tx, v identity.Viewer, d knowledge.Document) error {
	if err := tx.Lock("versions:" + d.ContextID); err != nil {
		return err
	}
	var whose string
	taken, err := first(tx, `SELECT d.user_id FROM document d JOIN knowledge_context c ON c.id = d.context_id
		WHERE d.context_id = @context AND d.path = @path AND c.visibility <> 'global'`, Args{"context": d.ContextID, "path": d.Path}, &whose)
	if err != nil {
		return err
	}
	if taken && whose != v.UserID && !v.IsSystem() {
		return fault.New(fault.Conflict, "Another person's document stands at %q in this context. Give your file another name.", d.Path).With(map[string]any{"reason": "path_taken"})
	}
	_, err = tx.Exec(`INSERT INTO document (id, context_id, user_id, path, title, mime, size, sha256, status, chunk_size, run_id, version, origin, created_at, updated_at)
		VALUES (@id, @context, @user, @path, @title, @mime, @size, @sum, @status, @chunk, @run, @version, @origin, @now, @now)
		ON CONFLICT (context_id, path) DO UPDATE SET
		title = CASE WHEN excluded.title = '' OR document.titled OR document.sha256 <> '' AND document.sha256 = excluded.sha256
			THEN document.title ELSE excluded.title END, mime = excluded.mime, size = excluded.size,
		sha256 = excluded.sha256, chunk_size = excluded.chunk_size, updated_at = excluded.updated_at,
		origin = CASE WHEN excluded.origin = '' THEN document.origin ELSE excluded.origin END
		WHERE document.superseded_at IS NULL`,
		Args{
			"id": d.ID, "context": d.ContextID, "user": v.UserID, "path": d.Path, "title": d.Title, "mime": d.MIME, "size": d.Size,
			"sum": d.SHA256, "status": string(d.Status), "chunk": d.ChunkSize, "run": optional(d.RunID), "version": d.Version, "origin": d.Origin, "now": s.now(),
		})
	return err
}

// UnderWay is what of the viewer's documents is being read, or waits for it:
// the runs that read them, also those that find nothing changed, and the bytes
// of the documents that are not read yet (FILE-08).
func (s *Store) UnderWay(ctx context.Context, v identity.Viewer) (u quota.UnderWay, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		of := Args{"user": v.UserID}
		if _, err := first(tx, `SELECT count(*) FROM run WHERE user_id = @user AND kind = 'ingest' AND status = 'running'`, of, &u.Documents); err != nil {
			return err
		}
		_, err := first(tx, `SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM document
			WHERE user_id = @user AND status IN ('waiting', 'reading') AND superseded_at IS NULL`, of, &u.Bytes)
		return err
	})
	return u, err
}

// Document implements knowledge.Documents.
func (s *Store) Document(ctx context.Context, v identity.Viewer, id string) (d knowledge.Document, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+documentColumns+` FROM document d WHERE d.id = @id AND `+DocumentVisible,
			Args{"id": id, "user": v.UserID}, scanDocument)
		d, err = only(list, err, "document")
		return err
	})
	return d, err
}

// ListDocuments implements knowledge.Documents: the newest first.
func (s *Store) ListDocuments(ctx context.Context, v identity.Viewer, contextID, cursor string, limit int) (list []knowledge.Document, next string, err error) {
	after, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		if err := readable(tx, v, contextID); err != nil {
			return err
		}
		list, err = all(tx, `SELECT `+documentColumns+` FROM document d
			WHERE d.context_id = @context AND d.superseded_at IS NULL AND (d.created_at, d.id) < (@at, @id) ORDER BY d.created_at DESC, d.id DESC LIMIT @limit`,
			Args{"context": contextID, "at": after.at, "id": orNil(after.id), "limit": size + 1}, scanDocument)
		return err
	})
	list, next = cut(list, size, func(d knowledge.Document) place { return place{d.CreatedAt, d.ID} })
	return list, next, err
}

// Unread implements knowledge.Documents.
func (s *Store) Unread(ctx context.Context, v identity.Viewer, contextIDs []string, limit int) (list []knowledge.Document, err error) {
	contextIDs = distinct(contextIDs, maxUnreadContexts)
	if len(contextIDs) == 0 {
		return nil, nil
	}
	err = s.read(ctx, v, func(tx Tx) error {
		args := Args{"user": v.UserID, "limit": pageSize(limit)}
		list, err = all(tx, `SELECT `+documentColumns+` FROM document d
			WHERE d.context_id IN `+args.in("id", contextIDs)+` AND d.status IN ('waiting', 'reading') AND d.superseded_at IS NULL AND `+DocumentVisible+`
			ORDER BY d.created_at, d.id LIMIT @limit`, args, scanDocument)
		return err
	})
	return list, err
}

// maxUnreadContexts bounds the contexts that Unread looks into.
const maxUnreadContexts = 100

// readable fails unless v may see the context.
func readable(tx Tx, v identity.Viewer, contextID string) error {
	var it string
	found, err := first(tx, `SELECT c.id FROM knowledge_context c WHERE c.id = @id AND `+ContextVisible,
		Args{"id": contextID, "user": v.UserID}, &it)
	if err == nil && !found {
		err = missing("context")
	}
	return err
}

// DeleteDocument implements knowledge.Documents (RAG-20). The versions it has
// replaced go before it: a deletion that is cut off is taken up by repeating it.
func (s *Store) DeleteDocument(ctx context.Context, v identity.Viewer, id string) error {
	former, err := s.formerVersions(ctx, v, id)
	if err != nil {
		return err
	}
	for _, one := range former {
		if err := s.deleteDocument(ctx, v, one); err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	return s.deleteDocument(ctx, v, id)
}

// deleteBatch is how many chunks one transaction removes: some 20 ms.
const deleteBatch = 500

// deleteDocument removes chunks in batches, then the document: a book must
// not hold up everybody's turns while its words leave the index.
func (s *Store) deleteDocument(ctx context.Context, v identity.Viewer, id string) error {
	for more := true; more; {
		err := s.write(ctx, v, func(tx Tx) error {
			n, err := tx.Exec(`DELETE FROM knowledge_chunk WHERE id IN (SELECT k.id FROM knowledge_chunk k
				JOIN document d ON d.id = k.document_id WHERE k.document_id = @id AND `+DocumentWritable+` LIMIT @batch)`,
				Args{"id": id, "user": v.UserID, "admin": v.IsAdmin(), "batch": deleteBatch})
			if err != nil {
				return err
			}
			if more = n == deleteBatch; more {
				return bump(tx, id)
			}
			return dropDocument(tx, v, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func dropDocument(tx Tx, v identity.Viewer, id string) error {
	if err := bump(tx, id); err != nil {
		return err
	}
	n, err := tx.Exec(`DELETE FROM document AS d WHERE d.id = @id AND `+DocumentWritable,
		Args{"id": id, "user": v.UserID, "admin": v.IsAdmin()})
	if err == nil && n == 0 {
		err = missing("document")
	}
	return err
}

// bump tells the index that chunks of the document's context have changed.
func bump(tx Tx, documentID string) error {
	_, err := tx.Exec(`UPDATE knowledge_context SET revision = revision + 1
		WHERE id = (SELECT context_id FROM document WHERE id = @id)`, Args{"id": documentID})
	return err
}

// chunkRoom is a Conflict when a document would take more of the index than
// its person has room for. What is there already stays. Versions of it do not
// count: it will take their place.
func (s *Store) chunkRoom(tx Tx, v identity.Viewer, d knowledge.Document) error {
	if d.Chunks == 0 || v.IsSystem() {
		return nil
	}
	if err := tx.Lock("chunks:" + v.UserID); err != nil {
		return err
	}
	var now, others int
	if _, err := first(tx, `SELECT CAST(coalesce(sum(CASE WHEN id = @id THEN chunks ELSE 0 END), 0) AS BIGINT),
		CAST(coalesce(sum(CASE WHEN id = @id THEN 0 ELSE chunks END), 0) AS BIGINT) FROM document d WHERE user_id = @user
		AND NOT EXISTS (SELECT 1 FROM document n WHERE n.id = @id AND n.id <> d.id AND n.lineage = d.lineage)`,
		Args{"id": d.ID, "user": v.UserID}, &now, &others); err != nil {
		return err
	}
	most := s.passages(v)
	if d.Chunks <= now || others+d.Chunks <= most {
		return nil
	}
	return fault.New(fault.Conflict, "Your documents may be %d passages together. %d are there, and this one would be %d more. Delete some documents or contexts first.", most, others, d.Chunks).
		With(map[string]any{"reason": "storage", "chunks": others, "max_chunks": most})
}

// SetDocument implements knowledge.Documents. An empty run, version or title
// leaves the one there is, and without a checksum the file's facts stay.
func (s *Store) SetDocument(ctx context.Context, v identity.Viewer, d knowledge.Document) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := s.chunkRoom(tx, v, d); err != nil {
			return err
		}
		n, err := tx.Exec(`UPDATE document AS d SET status = @status, error = @error, pages = @pages, length = @length, chunks = @chunks,
			run_id = coalesce(@run, run_id), version = CASE WHEN @version = '' THEN version ELSE @version END,
			title = CASE WHEN @title = '' OR titled THEN title ELSE @title END, size = CASE WHEN @sum = '' THEN size ELSE @size END,
			sha256 = CASE WHEN @sum = '' THEN sha256 ELSE @sum END, updated_at = @now WHERE d.id = @id AND `+DocumentWritable,
			Args{
				"id": d.ID, "user": v.UserID, "admin": v.IsAdmin(), "status": string(d.Status), "error": d.Error, "pages": d.Pages,
				"length": d.Length, "chunks": d.Chunks, "run": optional(d.RunID), "version": d.Version, "title": d.Title, "size": d.Size, "sum": d.SHA256, "now": s.now(),
			})
		if err == nil && n == 0 {
			err = missing("document")
		}
		return err
	})
}

// PutText implements knowledge.Documents: a text put again replaces the old.
func (s *Store) PutText(ctx context.Context, v identity.Viewer, id string, t extract.Document) error {
	if strings.ContainsRune(t.Text, 0) {
		return fault.New(fault.Invalid, "The text of the document contains a zero byte; it is not text.")
	}
	blocks, err := encoded(t.Blocks, false)
	if err != nil {
		return err
	}
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`INSERT INTO document_text (document_id, user_id, title, pages, content, blocks)
			SELECT d.id, d.user_id, @title, @pages, @content, @blocks FROM document d WHERE d.id = @id AND `+DocumentWritable+`
			ON CONFLICT (document_id) DO UPDATE SET title = excluded.title, pages = excluded.pages,
			content = excluded.content, blocks = excluded.blocks`,
			Args{"id": id, "user": v.UserID, "admin": v.IsAdmin(), "title": t.Title, "pages": t.Pages, "content": t.Text, "blocks": blocks})
		if err == nil && n == 0 {
			err = missing("document")
		}
		return err
	})
}

// Text implements knowledge.Documents.
func (s *Store) Text(ctx context.Context, v identity.Viewer, id string) (t extract.Document, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := first(tx, `SELECT x.title, x.pages, x.content, x.blocks FROM document_text x JOIN document d ON d.id = x.document_id
			WHERE d.id = @id AND `+DocumentVisible, Args{"id": id, "user": v.UserID}, &t.Title, &t.Pages, &t.Text, decode{&t.Blocks})
		if err == nil && !found {
			err = missing("text of a document")
		}
		return err
	})
	return t, err
}
