package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// upsertBatch is how many chunks one transaction writes: some 80 ms, most of it
// in the index of vectors.
const upsertBatch = 200

// Upsert implements knowledge.Index. Rows go in by INSERT from arrays, one
// statement a table; COPY does not work under row-level security.
func (x *Index) Upsert(ctx context.Context, v identity.Viewer, list []knowledge.Chunk) error {
	for batch := range slices.Chunk(list, upsertBatch) {
		err := x.db.within(ctx, beginWrite, v, func(ctx context.Context, c *pgx.Conn) error { return upsert(ctx, c, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

func upsert(ctx context.Context, c *pgx.Conn, batch []knowledge.Chunk) error {
	owners, err := ownersOf(ctx, c, batch)
	if err != nil {
		return err
	}
	fresh, err := changed(ctx, c, batch)
	if err != nil || len(fresh) == 0 {
		return err
	}
	numbers, err := insertChunks(ctx, c, fresh, owners)
	if err != nil {
		return err
	}
	return insertIndex(ctx, c, fresh, owners, numbers)
}

// owner is what a chunk takes from its document.
type owner struct{ context, user, title string }

// ownersOf reads the documents of a batch behind their locks, in one order, so
// that two writers of the same chunks neither deadlock nor collide.
func ownersOf(ctx context.Context, c *pgx.Conn, batch []knowledge.Chunk) (map[string]owner, error) {
	owners := map[string]owner{}
	for _, k := range batch {
		owners[k.DocumentID] = owner{}
	}
	for _, document := range slices.Sorted(maps.Keys(owners)) {
		o, err := ownerOf(ctx, c, document)
		if err != nil {
			return nil, err
		}
		owners[document] = o
	}
	for _, k := range batch {
		if k.ContextID != owners[k.DocumentID].context {
			return nil, fault.New(fault.Invalid, "The chunk %s names another context than its document's.", k.ID)
		}
	}
	return owners, nil
}

func ownerOf(ctx context.Context, c *pgx.Conn, documentID string) (o owner, err error) {
	if err := lock(ctx, c, "chunks:"+documentID); err != nil {
		return o, err
	}
	err = c.QueryRow(ctx, `SELECT d.context_id::text, d.user_id::text, d.title FROM document d JOIN knowledge_context c ON c.id = d.context_id
		WHERE d.id = $1 AND `+contextWritable, documentID).Scan(&o.context, &o.user, &o.title)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fault.New(fault.NotFound, "There is no such document, or it is not yours.")
	}
	return o, err
}

// changed are the chunks of a batch that do not stand there as they are. Those
// that say something else make room: a changed chunk is a new row.
func changed(ctx context.Context, c *pgx.Conn, batch []knowledge.Chunk) ([]knowledge.Chunk, error) {
	wanted := map[string]knowledge.Chunk{} // the last of an id counts
	for _, k := range batch {
		wanted[k.ID] = k
	}
	before, err := chunks(ctx, c, `SELECT `+chunkColumns+` FROM knowledge_chunk k WHERE k.id = ANY ($1::text[]::uuid[])`, slices.Collect(maps.Keys(wanted)))
	if err != nil {
		return nil, err
	}
	var gone []int64
	for _, n := range before {
		if same(n.Chunk, wanted[n.ID]) {
			delete(wanted, n.ID)
		} else {
			gone = append(gone, n.number)
		}
	}
	if len(gone) > 0 {
		if _, err := c.Exec(ctx, `DELETE FROM knowledge_chunk WHERE number = ANY ($1)`, gone); err != nil {
			return nil, err
		}
	}
	fresh := make([]knowledge.Chunk, 0, len(wanted))
	for _, k := range batch { // in their order: the newest has the highest number
		if _, ok := wanted[k.ID]; ok {
			fresh = append(fresh, wanted[k.ID])
			delete(wanted, k.ID)
		}
	}
	return fresh, nil
}

// same compares all but the vector, which follows from the rest: the id is of
// one encoder version.
func same(a, b knowledge.Chunk) bool {
	a.Vector, b.Vector = nil, nil
	return a.Encoder == b.Encoder && a.Content == b.Content && a.Heading == b.Heading && a.Index == b.Index && a.Page == b.Page && a.Start == b.Start && a.End == b.End
}

// column collects one value of each chunk.
func column[T any](list []knowledge.Chunk, value func(knowledge.Chunk) T) []T {
	out := make([]T, len(list))
	for i, k := range list {
		out[i] = value(k)
	}
	return out
}

func contextOf(k knowledge.Chunk) string  { return k.ContextID }
func documentOf(k knowledge.Chunk) string { return k.DocumentID }
func encoderOf(k knowledge.Chunk) string  { return k.Encoder }

// insertChunks returns the rows' numbers by id.
func insertChunks(ctx context.Context, c *pgx.Conn, list []knowledge.Chunk, owners map[string]owner) (map[string]int64, error) {
	rows, err := c.Query(ctx, `INSERT INTO knowledge_chunk (id, context_id, document_id, user_id, chunk_index, content, heading, page, start_offset, end_offset, encoder)
		SELECT n.id::uuid, n.context::uuid, n.document::uuid, n.person::uuid, n.at, n.content, n.heading, n.page, n.opens, n.ends, n.encoder
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
		WITH ORDINALITY AS n (id, context, document, person, at, content, heading, page, opens, ends, encoder, place) ORDER BY n.place
		RETURNING id::text, number`,
		column(list, func(k knowledge.Chunk) string { return k.ID }), column(list, contextOf), column(list, documentOf),
		column(list, func(k knowledge.Chunk) string { return owners[k.DocumentID].user }),
		column(list, func(k knowledge.Chunk) int64 { return int64(k.Index) }),
		column(list, func(k knowledge.Chunk) string { return k.Content }), column(list, func(k knowledge.Chunk) string { return k.Heading }),
		column(list, func(k knowledge.Chunk) int64 { return int64(k.Page) }),
		column(list, func(k knowledge.Chunk) int64 { return int64(k.Start) }), column(list, func(k knowledge.Chunk) int64 { return int64(k.End) }),
		column(list, encoderOf))
	if err != nil {
		return nil, err
	}
	numbers := map[string]int64{}
	var id string
	var number int64
	_, err = pgx.ForEachRow(rows, []any{&id, &number}, func() error {
		numbers[id] = number
		return nil
	})
	return numbers, violation(err)
}

// insertIndex writes the words and the vectors of new chunks in one message.
func insertIndex(ctx context.Context, c *pgx.Conn, list []knowledge.Chunk, owners map[string]owner, numbers map[string]int64) error {
	number := func(k knowledge.Chunk) int64 { return numbers[k.ID] }
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO chunk_words (number, context_id, document_id, encoder, words)
		SELECT n.number, n.context::uuid, n.document::uuid, n.encoder,
			setweight(to_tsvector('chunk_words', n.heading), 'A') || setweight(to_tsvector('chunk_words', n.content), 'D')
			|| array_to_tsvector(ARRAY['c' || n.context, 'd' || n.document])
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS n (number, context, document, encoder, heading, content)`,
		column(list, number), column(list, contextOf), column(list, documentOf), column(list, encoderOf),
		column(list, func(k knowledge.Chunk) string { return fold(owners[k.DocumentID].title + "\n" + k.Heading) }),
		column(list, func(k knowledge.Chunk) string { return fold(k.Content) }))
	if embedded := slices.DeleteFunc(slices.Clone(list), func(k knowledge.Chunk) bool { return len(k.Vector) == 0 }); len(embedded) > 0 {
		batch.Queue(`INSERT INTO chunk_vector (number, context_id, document_id, dim, encoder, embedding)
			SELECT n.number, n.context::uuid, n.document::uuid, vector_dims(n.embedding::vector), n.encoder, n.embedding::vector
			FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS n (number, context, document, encoder, embedding)`,
			column(embedded, number), column(embedded, contextOf), column(embedded, documentOf), column(embedded, encoderOf),
			column(embedded, func(k knowledge.Chunk) string { return vectorText(embed.Unit(k.Vector)) }))
	}
	return c.SendBatch(ctx, batch).Close()
}

// Prune implements knowledge.Index: it removes the document's chunks that are
// not in keep, some at a time.
func (x *Index) Prune(ctx context.Context, v identity.Viewer, documentID string, keep []string) error {
	if keep = ids(keep); keep == nil {
		keep = []string{} // NULL would keep everything
	}
	for more := true; more; {
		err := x.db.within(ctx, beginWrite, v, func(ctx context.Context, c *pgx.Conn) error {
			if _, err := ownerOf(ctx, c, documentID); err != nil {
				return err
			}
			tag, err := c.Exec(ctx, `DELETE FROM knowledge_chunk WHERE number IN (SELECT number FROM knowledge_chunk
				WHERE document_id = $1 AND id <> ALL ($2::text[]::uuid[]) LIMIT $3)`, documentID, keep, upsertBatch)
			more = err == nil && tag.RowsAffected() == upsertBatch
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
