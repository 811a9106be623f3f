package store

import (
	"cmp"
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

var _ knowledge.SweepStore = (*Store)(nil)

// AddSource implements knowledge.SweepStore.
func (s *Store) AddSource(ctx context.Context, v identity.Viewer, src knowledge.Source) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := changeable(tx, v, src.ContextID); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO context_source (id, context_id, fs_path, recursive) VALUES (@id, @context, @path, @recursive)
			ON CONFLICT (context_id, fs_path) DO UPDATE SET recursive = excluded.recursive`,
			Args{"id": id.New(), "context": src.ContextID, "path": src.Path, "recursive": src.Recursive})
		return err
	})
}

// everybodys runs f as the system, and for nobody else.
func (s *Store) everybodys(ctx context.Context, v identity.Viewer, f func(tx Tx) error) error {
	if !v.IsSystem() {
		return fault.New(fault.Forbidden, "Only the system looks through what belongs to everybody.")
	}
	return s.read(ctx, v, f)
}

// Sources implements knowledge.SweepStore.
func (s *Store) Sources(ctx context.Context, v identity.Viewer) (list []knowledge.Source, err error) {
	err = s.everybodys(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT s.context_id, c.owner_user_id, s.fs_path, s.recursive FROM context_source s
			JOIN knowledge_context c ON c.id = s.context_id WHERE c.owner_user_id IS NOT NULL ORDER BY s.context_id, s.fs_path`, nil,
			func(scan Scan) (src knowledge.Source, err error) {
				return src, scan(&src.ContextID, &src.UserID, &src.Path, &src.Recursive)
			})
		return err
	})
	return list, err
}

// SourcesOf implements knowledge.SweepStore.
func (s *Store) SourcesOf(ctx context.Context, v identity.Viewer, contextID string) (list []knowledge.Source, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT s.context_id, c.owner_user_id, s.fs_path, s.recursive FROM context_source s
			JOIN knowledge_context c ON c.id = s.context_id WHERE s.context_id = @context AND `+contextWritable+` ORDER BY s.fs_path`,
			Args{"context": contextID, "user": v.UserID, "admin": v.IsAdmin()},
			func(scan Scan) (src knowledge.Source, err error) {
				return src, scan(&src.ContextID, text{&src.UserID}, &src.Path, &src.Recursive)
			})
		return err
	})
	return list, err
}

// ContextsAfter implements knowledge.SweepStore.
func (s *Store) ContextsAfter(ctx context.Context, v identity.Viewer, after string, limit int) (list []knowledge.Context, err error) {
	err = s.everybodys(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+contextColumns+` FROM knowledge_context c WHERE c.id > @after ORDER BY c.id LIMIT @limit`,
			Args{"user": v.UserID, "after": cmp.Or(after, "00000000-0000-0000-0000-000000000000"), "limit": limit}, scanContext)
		return err
	})
	return list, err
}

// Holdings implements knowledge.SweepStore.
func (s *Store) Holdings(ctx context.Context, v identity.Viewer, contextID, encoder string) (list []knowledge.Holding, err error) {
	err = s.everybodys(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT d.id, d.user_id, d.version,
			CASE WHEN EXISTS (SELECT 1 FROM knowledge_chunk k WHERE k.document_id = d.id AND k.encoder <> @encoder) THEN 1 ELSE 0 END
			FROM document d WHERE d.context_id = @context AND d.status = 'ready' AND d.superseded_at IS NULL ORDER BY d.id`,
			Args{"context": contextID, "encoder": encoder},
			func(scan Scan) (h knowledge.Holding, err error) {
				return h, scan(&h.DocumentID, &h.UserID, &h.Version, &h.Leftover)
			})
		return err
	})
	return list, err
}

// SetEncoder implements knowledge.SweepStore; meta.embedding_model follows (RAG-09).
func (s *Store) SetEncoder(ctx context.Context, v identity.Viewer, contextID, encoder string) error {
	if !v.IsSystem() {
		return fault.New(fault.Forbidden, "Only the system changes what a context is read with.")
	}
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("context:" + contextID); err != nil {
			return err
		}
		meta := map[string]any{}
		found, err := first(tx, `SELECT meta FROM knowledge_context WHERE id = @id`, Args{"id": contextID}, decode{&meta})
		if err != nil || !found {
			return err
		}
		meta["embedding_model"] = encoder
		doc, err := encoded(meta, false)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE knowledge_context SET encoder = @encoder, meta = @meta, revision = revision + 1, updated_at = @now WHERE id = @id`,
			Args{"id": contextID, "encoder": encoder, "meta": doc, "now": s.now()})
		return err
	})
}

// OldestWaiting is since when the document that has waited longest waits to
// be taken in; zero when none does (RAG-17).
func (s *Store) OldestWaiting(ctx context.Context) (since time.Time, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		_, err := first(tx, `SELECT updated_at FROM document WHERE status IN ('waiting', 'reading') AND superseded_at IS NULL ORDER BY updated_at, id LIMIT 1`, nil, when{&since})
		return err
	})
	return since, err
}
