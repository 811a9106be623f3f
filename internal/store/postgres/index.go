package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// What one search may cost; 0003_production.sql says what they mean.
const (
	exactUpTo = 20_000 // chunks of the asked contexts that are all compared: 10 ms
	rankUpTo  = 20_000 // chunks with one of the words that are ranked: 60 ms
)

// IndexOptions of an index; the zero value is the defaults.
type IndexOptions struct {
	// Exact is up to how many chunks of the asked contexts all vectors are
	// compared; above, HNSW answers. 0: 20,000. Negative: HNSW always.
	Exact int
}

// Index finds chunks by words (tsvector) and by meaning (pgvector). It
// implements knowledge.Index and is safe for concurrent use.
type Index struct {
	db    *DB
	exact int
}

var _ knowledge.Index = (*Index)(nil)

// NewIndex returns the index of db's chunks.
func NewIndex(db *DB, o IndexOptions) *Index {
	if o.Exact == 0 {
		o.Exact = exactUpTo
	}
	return &Index{db: db, exact: o.Exact}
}

const chunkColumns = `k.number, k.id::text, k.document_id::text, k.context_id::text, k.chunk_index, k.content, k.heading,
	k.page, k.start_offset, k.end_offset, k.encoder`

// These repeat the store's rule: the index decides no access, and does not depend
// on its caller for the isolation of people.
const (
	contextVisible  = `(c.owner_user_id = app_person() OR c.visibility = 'global' OR app_system() OR c.id IN (SELECT search_shared_contexts(false)))`
	contextWritable = `(c.owner_user_id = app_person() OR (c.visibility = 'global' AND app_admin())
		OR d.user_id = app_person() AND c.id IN (SELECT search_shared_contexts(true)))`
	chunkVisible = `(` + contextVisible + ` OR k.document_id IN (SELECT search_shared_documents()))`
)

// numbered is a chunk with its row.
type numbered struct {
	number int64
	knowledge.Chunk
}

func scanChunk(row pgx.CollectableRow) (n numbered, err error) {
	err = row.Scan(&n.number, &n.ID, &n.DocumentID, &n.ContextID, &n.Index, &n.Content, &n.Heading, &n.Page, &n.Start, &n.End, &n.Encoder)
	return n, err
}

func chunks(ctx context.Context, c *pgx.Conn, query string, args ...any) ([]numbered, error) {
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanChunk)
}

// Search implements knowledge.Index: both lists, merged, the best rank first.
// The two searches travel in one message; the texts are read after them, under
// the person's own policies.
func (x *Index) Search(ctx context.Context, v identity.Viewer, q knowledge.Query) (hits []knowledge.Hit, err error) {
	asked := ids(q.ContextIDs)
	documents := ids(q.DocumentIDs)
	if len(asked) == 0 || len(q.DocumentIDs) > 0 && len(documents) == 0 {
		return nil, nil
	}
	if q.Limit <= 0 {
		q.Limit = 20
	}
	err = x.db.within(ctx, beginRead, v, func(ctx context.Context, c *pgx.Conn) error {
		found := map[int64]*knowledge.Hit{}
		if err := x.match(ctx, c, q, asked, documents, found); err != nil {
			return err
		}
		hits, err = fetch(ctx, c, found)
		return err
	})
	return hits, err
}

// match fills in the ranks and scores of what was found, by row.
func (x *Index) match(ctx context.Context, c *pgx.Conn, q knowledge.Query, asked, documents []string, found map[int64]*knowledge.Hit) error {
	batch := &pgx.Batch{}
	if anyWord, everyWord := lookedFor(q); anyWord != "" {
		batch.Queue(`SELECT number, score::float8 FROM search_words($1::text[]::uuid[], $2::text[]::uuid[], $3, $4, $5, $6)`,
			asked, documents, anyWord, everyWord, q.Limit, rankUpTo).Query(each(func(rank int, number int64, score float64) {
			hit := at(found, number)
			hit.TextRank, hit.TextScore = rank, score
		}))
	}
	if len(q.Vector) > 0 {
		batch.Queue(`SELECT number, distance FROM search_vectors($1::text[]::uuid[], $2::text[]::uuid[], $3::text::vector, $4, $5)`,
			asked, documents, vectorText(embed.Unit(q.Vector)), q.Limit, x.exact).Query(each(func(rank int, number int64, distance float64) {
			hit := at(found, number)
			hit.VectorRank, hit.Cosine = rank, 1-distance*distance/2 // both have length 1
		}))
	}
	if batch.Len() == 0 {
		return nil
	}
	return c.SendBatch(ctx, batch).Close()
}

// lookedFor is what a chunk has to hold some of, and what rather all of it, in
// the server's language; empty for no words.
func lookedFor(q knowledge.Query) (anyWord, everyWord string) {
	if q.Begins != "" {
		start := strings.Fields(fold(q.Begins))
		if len(start) == 0 {
			return "", ""
		}
		first := anyOf(start[:1]) + ":*"
		return first, first
	}
	if told := telling(q.Text); len(told) > 0 {
		return anyOf(told), allOf(told)
	}
	return "", ""
}

// each reads a ranked list of rows and their scores.
func each(found func(rank int, number int64, score float64)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var number int64
		var score float64
		rank := 0
		_, err := pgx.ForEachRow(rows, []any{&number, &score}, func() error {
			rank++
			found(rank, number, score)
			return nil
		})
		return err
	}
}

func at(found map[int64]*knowledge.Hit, number int64) *knowledge.Hit {
	hit, ok := found[number]
	if !ok {
		hit = &knowledge.Hit{}
		found[number] = hit
	}
	return hit
}

func fetch(ctx context.Context, c *pgx.Conn, found map[int64]*knowledge.Hit) ([]knowledge.Hit, error) {
	numbers := make([]int64, 0, len(found))
	for n := range found {
		numbers = append(numbers, n)
	}
	list, err := chunks(ctx, c, `SELECT `+chunkColumns+` FROM knowledge_chunk k WHERE k.number = ANY ($1)`, numbers)
	if err != nil {
		return nil, err
	}
	hits := make([]knowledge.Hit, 0, len(list))
	for _, n := range list {
		hit := found[n.number]
		hit.Chunk = n.Chunk
		hits = append(hits, *hit)
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

// Chunks implements knowledge.Index.
func (x *Index) Chunks(ctx context.Context, v identity.Viewer, contextID string, limit int) ([]knowledge.Chunk, error) {
	if limit <= 0 {
		limit = 20
	}
	var list []knowledge.Chunk
	err := x.db.within(ctx, beginRead, v, func(ctx context.Context, c *pgx.Conn) error {
		var seen bool
		err := c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = $1 AND `+contextVisible+`)`, contextID).Scan(&seen)
		switch {
		case err != nil:
			return err
		case !seen:
			return fault.New(fault.NotFound, "There is no such context, or it is not yours.")
		}
		found, err := chunks(ctx, c, `SELECT `+chunkColumns+` FROM knowledge_chunk k WHERE k.context_id = $1 ORDER BY k.number DESC LIMIT $2`,
			contextID, min(limit, 1000))
		list = list[:0]
		for _, n := range found {
			list = append(list, n.Chunk)
		}
		return err
	})
	return list, err
}

// Chunk implements knowledge.Index.
func (x *Index) Chunk(ctx context.Context, v identity.Viewer, id string) (chunk knowledge.Chunk, err error) {
	err = x.db.within(ctx, beginRead, v, func(ctx context.Context, c *pgx.Conn) error {
		found, err := chunks(ctx, c, `SELECT `+chunkColumns+` FROM knowledge_chunk k LEFT JOIN knowledge_context c ON c.id = k.context_id
			WHERE k.id = $1 AND `+chunkVisible, id)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fault.New(fault.NotFound, "There is no such passage, or it is not yours.")
		}
		chunk = found[0].Chunk
		return nil
	})
	return chunk, err
}
