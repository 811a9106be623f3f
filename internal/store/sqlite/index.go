package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// IndexOptions of an index; the zero value is the defaults.
type IndexOptions struct {
	// VectorBytes bounds the vectors kept in memory, over all contexts; those
	// used longest ago go first. 0: 512 MiB.
	VectorBytes int64
}

// Index finds chunks by words (FTS5, BM25) and by meaning (exact cosine over
// vectors in memory). It implements knowledge.Index and is safe for
// concurrent use.
type Index struct {
	db      *DB
	words   words
	vectors *vectors
}

var _ knowledge.Index = (*Index)(nil)

// NewIndex returns the index of db's chunks.
func NewIndex(db *DB, o IndexOptions) *Index {
	if o.VectorBytes <= 0 {
		o.VectorBytes = 512 << 20
	}
	return &Index{db: db, words: words{common}, vectors: newVectors(o.VectorBytes)}
}

const chunkColumns = `k.number, k.id, k.document_id, k.context_id, k.chunk_index, k.content, k.heading, k.page, k.start_offset, k.end_offset, k.encoder`

// The index decides no access, and does not depend on its caller for the
// isolation of people: it asks for what the store does.
const (
	contextVisible   = store.ContextVisible
	documentVisible  = store.DocumentVisible
	documentWritable = store.DocumentWritable
)

// numbered is a chunk with its row.
type numbered struct {
	number int64
	knowledge.Chunk
}

func scanChunk(scan store.Scan) (n numbered, err error) {
	err = scan(&n.number, &n.ID, &n.DocumentID, &n.ContextID, &n.Index, &n.Content, &n.Heading, &n.Page, &n.Start, &n.End, &n.Encoder)
	return n, err
}

func chunks(t store.Tx, query string, args store.Args) ([]numbered, error) {
	var list []numbered
	err := t.Query(query, args, func(scan store.Scan) error {
		n, err := scanChunk(scan)
		list = append(list, n)
		return err
	})
	return list, err
}

// Search implements knowledge.Index: both lists, merged, the best rank first.
func (x *Index) Search(ctx context.Context, v identity.Viewer, q knowledge.Query) (hits []knowledge.Hit, err error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	err = x.db.Read(ctx, v, func(t store.Tx) error {
		q, err := readable(t, v, q)
		if err != nil {
			return err
		}
		contexts, err := searchable(t, v, q)
		if err != nil || len(contexts) == 0 {
			return err
		}
		found := map[int64]*knowledge.Hit{}
		if err := x.words.match(t, contexts, q, found); err != nil {
			return err
		}
		if err := x.vectors.match(t, contexts, q, found); err != nil {
			return err
		}
		hits, err = fetch(t, contexts, q.DocumentIDs, found)
		return err
	})
	return hits, err
}

// searched is a context, the count of changes to its chunks, and the encoder
// whose chunks are read; "" is all. Rolling says that there are others as well.
type searched struct {
	id       string
	revision int64
	encoder  string
	rolling  bool
}

// current reports whether a search reads the chunk.
func (s searched) current(c knowledge.Chunk) bool {
	return s.id == c.ContextID && (s.encoder == "" || s.encoder == c.Encoder)
}

// readable is a question with those of its documents that v may read; when it
// named some and none is left, it is for nothing.
func readable(t store.Tx, v identity.Viewer, q knowledge.Query) (knowledge.Query, error) {
	if len(q.DocumentIDs) == 0 || v.IsSystem() {
		return q, nil
	}
	var ids []string
	err := t.Query(`SELECT d.id FROM document d WHERE d.id IN (SELECT value FROM json_each(@ids)) AND `+documentVisible,
		store.Args{"ids": asJSON(q.DocumentIDs), "user": v.UserID}, func(scan store.Scan) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	if q.DocumentIDs = ids; len(ids) == 0 {
		q.ContextIDs = nil
	}
	return q, err
}

// searchable are those of the contexts that v may see, and those of the documents
// that the question names, which are v's to read.
func searchable(t store.Tx, v identity.Viewer, q knowledge.Query) ([]searched, error) {
	var list []searched
	if len(q.ContextIDs) == 0 {
		return nil, nil
	}
	err := t.Query(`SELECT c.id, c.revision, c.encoder, c.encoder <> '' AND
		(SELECT min(encoder) FROM chunk_vector WHERE context_id = c.id) <> (SELECT max(encoder) FROM chunk_vector WHERE context_id = c.id)
		FROM knowledge_context c WHERE c.id IN (SELECT value FROM json_each(@ids)) AND (`+contextVisible+` OR @system
			OR c.id IN (SELECT d.context_id FROM document d WHERE d.id IN (SELECT value FROM json_each(@documents))))`,
		store.Args{"ids": asJSON(q.ContextIDs), "documents": asJSON(q.DocumentIDs), "user": v.UserID, "system": v.IsSystem()},
		func(scan store.Scan) error {
			var s searched
			var rolling sql.NullBool // of a context without vectors
			err := scan(&s.id, &s.revision, &s.encoder, &rolling)
			s.rolling = rolling.Bool
			list = append(list, s)
			return err
		})
	return list, err
}

// asJSON is for json_each. A nil list is an empty one: null would be a row.
func asJSON[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	b, _ := json.Marshal(list) // strings and numbers always encode
	return string(b)
}

// fetch reads the chunks that were found. A word index could, at worst, name
// a chunk outside the asked contexts; it would be dropped here.
func fetch(t store.Tx, contexts []searched, documents []string, found map[int64]*knowledge.Hit) ([]knowledge.Hit, error) {
	numbers := make([]int64, 0, len(found))
	for n := range found {
		numbers = append(numbers, n)
	}
	list, err := chunks(t, `SELECT `+chunkColumns+` FROM json_each(@numbers) j JOIN knowledge_chunk k ON k.number = j.value`,
		store.Args{"numbers": asJSON(numbers)})
	if err != nil {
		return nil, err
	}
	hits := make([]knowledge.Hit, 0, len(list))
	for _, n := range list {
		inside := slices.ContainsFunc(contexts, func(s searched) bool { return s.current(n.Chunk) })
		if inside && (len(documents) == 0 || slices.Contains(documents, n.DocumentID)) {
			hit := found[n.number]
			hit.Chunk = n.Chunk
			hits = append(hits, *hit)
		}
	}
	slices.SortFunc(hits, func(a, b knowledge.Hit) int {
		return cmp.Or(cmp.Compare(best(a), best(b)), cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Chunk.ID, b.Chunk.ID))
	})
	return hits, nil
}

// best is the better of a hit's ranks.
func best(h knowledge.Hit) int {
	switch {
	case h.TextRank == 0:
		return h.VectorRank
	case h.VectorRank == 0:
		return h.TextRank
	}
	return min(h.TextRank, h.VectorRank)
}

// upsertBatch is how many chunks one transaction writes: some 15 ms, so that
// reading a book holds up nobody's turn.
const upsertBatch = 50

// Upsert implements knowledge.Index.
func (x *Index) Upsert(ctx context.Context, v identity.Viewer, list []knowledge.Chunk) error {
	for batch := range slices.Chunk(list, upsertBatch) {
		err := x.db.Write(ctx, v, func(t store.Tx) error { return upsert(t, v, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

func upsert(t store.Tx, v identity.Viewer, batch []knowledge.Chunk) error {
	owners := map[string]owner{}
	contexts := map[string]bool{}
	now := time.Now()
	for _, c := range batch {
		o, ok := owners[c.DocumentID]
		if !ok {
			var err error
			if o, err = ownerOf(t, v, c.DocumentID); err != nil {
				return err
			}
			owners[c.DocumentID] = o
		}
		if c.ContextID != o.context {
			return fault.New(fault.Invalid, "The chunk %s names another context than its document's.", c.ID)
		}
		contexts[c.ContextID] = true
		if err := put(t, c, o, now); err != nil {
			return err
		}
	}
	for id := range contexts {
		if err := revise(t, id); err != nil {
			return err
		}
	}
	return nil
}

// owner is what a chunk takes from its document.
type owner struct{ context, user, title string }

func ownerOf(t store.Tx, v identity.Viewer, documentID string) (o owner, err error) {
	found := false
	err = t.Query(`SELECT d.context_id, d.user_id, d.title FROM document d
		WHERE d.id = @id AND `+documentWritable, store.Args{"id": documentID, "user": v.UserID, "admin": v.IsAdmin()},
		func(scan store.Scan) error {
			found = true
			return scan(&o.context, &o.user, &o.title)
		})
	if err == nil && !found {
		err = fault.New(fault.NotFound, "There is no such document, or it is not yours.")
	}
	return o, err
}

// put writes a chunk, its words and its vector. One that says the same stays;
// one that changed gets a new row, because rows in memory never change.
func put(t store.Tx, c knowledge.Chunk, o owner, now time.Time) error {
	before, err := chunks(t, `SELECT `+chunkColumns+` FROM knowledge_chunk k WHERE k.id = @id`, store.Args{"id": c.ID})
	if err != nil {
		return err
	}
	if len(before) == 1 {
		if same(before[0].Chunk, c) {
			return nil
		}
		if _, err := t.Exec(`DELETE FROM knowledge_chunk WHERE number = @number`, store.Args{"number": before[0].number}); err != nil {
			return err
		}
	}
	number, err := insertChunk(t, c, o, now)
	if err != nil {
		return err
	}
	if _, err := t.Exec(`INSERT INTO chunk_words (rowid, scope, heading, content) VALUES (@number, @scope, @heading, @content)`,
		store.Args{"number": number, "scope": token(c.ContextID) + " " + token(c.DocumentID), "heading": o.title + "\n" + c.Heading, "content": c.Content}); err != nil {
		return err
	}
	if len(c.Vector) == 0 {
		return nil
	}
	_, err = t.Exec(`INSERT INTO chunk_vector (number, context_id, document_id, dim, encoder, embedding) VALUES (@number, @context, @document, @dim, @encoder, @embedding)`,
		store.Args{"number": number, "context": c.ContextID, "document": c.DocumentID, "dim": len(c.Vector), "encoder": c.Encoder, "embedding": pack(embed.Unit(c.Vector))})
	return err
}

// same compares all but the vector, which follows from the rest: the id is of
// one encoder version.
func same(a, b knowledge.Chunk) bool {
	return a.Encoder == b.Encoder && a.Content == b.Content && a.Heading == b.Heading && a.Index == b.Index && a.Page == b.Page && a.Start == b.Start && a.End == b.End
}

func insertChunk(t store.Tx, c knowledge.Chunk, o owner, now time.Time) (number int64, err error) {
	err = t.Query(`INSERT INTO knowledge_chunk (id, context_id, document_id, user_id, chunk_index, content, heading, page, start_offset, end_offset, encoder, created_at)
		VALUES (@id, @context, @document, @user, @index, @content, @heading, @page, @start, @end, @encoder, @now) RETURNING number`,
		store.Args{
			"id": c.ID, "context": c.ContextID, "document": c.DocumentID, "user": o.user, "index": c.Index, "content": c.Content,
			"heading": c.Heading, "page": c.Page, "start": c.Start, "end": c.End, "encoder": c.Encoder, "now": now,
		},
		func(scan store.Scan) error { return scan(&number) })
	return number, err
}

// revise counts a change of a context's chunks.
func revise(t store.Tx, contextID string) error {
	_, err := t.Exec(`UPDATE knowledge_context SET revision = revision + 1 WHERE id = @id`, store.Args{"id": contextID})
	return err
}

// Prune implements knowledge.Index: it removes the document's chunks that are
// not in keep.
func (x *Index) Prune(ctx context.Context, v identity.Viewer, documentID string, keep []string) error {
	for more := true; more; {
		err := x.db.Write(ctx, v, func(t store.Tx) error {
			o, err := ownerOf(t, v, documentID)
			if err != nil {
				return err
			}
			n, err := t.Exec(`DELETE FROM knowledge_chunk WHERE number IN (SELECT number FROM knowledge_chunk
				WHERE document_id = @document AND id NOT IN (SELECT value FROM json_each(@keep)) LIMIT @batch)`,
				store.Args{"document": documentID, "keep": asJSON(keep), "batch": upsertBatch})
			if err != nil || n == 0 {
				more = false
				return err
			}
			more = n == upsertBatch
			return revise(t, o.context)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Chunks implements knowledge.Index.
func (x *Index) Chunks(ctx context.Context, v identity.Viewer, contextID string, limit int) ([]knowledge.Chunk, error) {
	if limit <= 0 {
		limit = 20
	}
	var list []knowledge.Chunk
	err := x.db.Read(ctx, v, func(t store.Tx) error {
		contexts, err := searchable(t, v, knowledge.Query{ContextIDs: []string{contextID}})
		if err != nil {
			return err
		}
		if len(contexts) == 0 {
			return fault.New(fault.NotFound, "There is no such context, or it is not yours.")
		}
		found, err := chunks(t, `SELECT `+chunkColumns+` FROM knowledge_chunk k WHERE k.context_id = @context ORDER BY k.number DESC LIMIT @limit`,
			store.Args{"context": contextID, "limit": min(limit, 1000)})
		for _, n := range found {
			list = append(list, n.Chunk)
		}
		return err
	})
	return list, err
}

// Chunk implements knowledge.Index.
func (x *Index) Chunk(ctx context.Context, v identity.Viewer, id string) (c knowledge.Chunk, err error) {
	err = x.db.Read(ctx, v, func(t store.Tx) error {
		found, err := chunks(t, `SELECT `+chunkColumns+` FROM knowledge_chunk k JOIN document d ON d.id = k.document_id
			WHERE k.id = @id AND (`+documentVisible+` OR @system)`, store.Args{"id": id, "user": v.UserID, "system": v.IsSystem()})
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fault.New(fault.NotFound, "There is no such passage, or it is not yours.")
		}
		c = found[0].Chunk
		return nil
	})
	return c, err
}
