package sqlite

import (
	"container/heap"
	"container/list"
	"encoding/binary"
	"math"
	"sync"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// vectors keeps the vectors of contexts in memory, up to a number of bytes.
// Exact and flat: 100,000 of 64 numbers take 3 ms, and no answer is missed.
type vectors struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	entries map[vectorKey]*list.Element // of *flat
	used    *list.List                  // the latest used first
}

// shelfKey: a context may hold vectors of two encoders while it is read anew.
type vectorKey struct {
	context, encoder string // encoder "" is all of them
	dim              int
}

const shelved = `context_id = @context AND dim = @dim AND (@encoder = '' OR encoder = @encoder)`

func (k vectorKey) args() store.Args {
	return store.Args{"context": k.context, "dim": k.dim, "encoder": k.encoder}
}

// flat is one context's vectors, one after the other. Rows are only added:
// a row that goes makes a new flat, so a reader may keep the one it has.
type flat struct {
	key      vectorKey
	loading  sync.Mutex // one loads, others wait for it
	mu       sync.Mutex // guards what follows; held for copying the view only
	revision int64      // of the context, when this was read; -1: never
	view     view
	counted  int64 // bytes counted in vectors.bytes
}

// view is a flat at a revision.
type view struct {
	numbers   []int64
	documents []string // of each row; the strings are shared
	data      []float32
}

func newVectors(limit int64) *vectors {
	return &vectors{limit: limit, entries: map[vectorKey]*list.Element{}, used: list.New()}
}

// match fills in the vector side of found.
func (vs *vectors) match(t store.Tx, contexts []searched, q knowledge.Query, found map[int64]*knowledge.Hit) error {
	if len(q.Vector) == 0 {
		return nil
	}
	only := map[string]bool{}
	for _, d := range q.DocumentIDs {
		only[d] = true
	}
	query := embed.Unit(q.Vector)
	top := &nearest{limit: q.Limit}
	for _, c := range contexts {
		v, err := vs.current(t, c, len(query))
		if err != nil {
			return err
		}
		v.scan(query, only, top)
	}
	for rank := len(top.rows); rank > 0; rank-- {
		row := heap.Pop(top).(scored)
		hit := at(found, row.number)
		hit.VectorRank, hit.Cosine = rank, float64(row.cosine)
	}
	return nil
}

// current returns the vectors of a context at the revision the transaction sees.
func (vs *vectors) current(t store.Tx, c searched, dim int) (view, error) {
	f := vs.take(vectorKey{c.id, c.encoder, dim})
	f.loading.Lock()
	defer f.loading.Unlock()
	if v, ok := f.at(c.revision); ok {
		return v, nil
	}
	v, err := f.read(t)
	if err != nil {
		return view{}, err
	}
	f.mu.Lock()
	f.view, f.revision = v, c.revision
	f.mu.Unlock()
	vs.count(f, v.bytes())
	return v, nil
}

// take finds the context's flat and marks it as used last.
func (vs *vectors) take(key vectorKey) *flat {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if e, ok := vs.entries[key]; ok {
		vs.used.MoveToFront(e)
		return e.Value.(*flat)
	}
	f := &flat{key: key, revision: -1}
	vs.entries[key] = vs.used.PushFront(f)
	return f
}

// count brings the sum up to date and drops what was used longest ago. A
// context that is larger than the limit alone is read anew each time.
func (vs *vectors) count(f *flat, bytes int64) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if e, ok := vs.entries[f.key]; !ok || e.Value.(*flat) != f {
		return // dropped while it was read; it lives as long as its readers
	}
	vs.bytes += bytes - f.counted
	f.counted = bytes
	for vs.bytes > vs.limit && vs.used.Len() > 0 {
		e := vs.used.Back()
		old := vs.used.Remove(e).(*flat)
		delete(vs.entries, old.key)
		vs.bytes -= old.counted
	}
}

func (f *flat) at(revision int64) (view, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view, f.revision == revision
}

// read takes what was added since; when rows have gone as well, everything
// anew. Numbers are never used twice, so one count tells.
func (f *flat) read(t store.Tx) (view, error) {
	f.mu.Lock()
	v := f.view
	f.mu.Unlock()
	v, err := f.readAfter(t, v)
	if err != nil {
		return v, err
	}
	var rows int
	err = t.Query(`SELECT count(*) FROM chunk_vector WHERE `+shelved, f.key.args(), func(scan store.Scan) error { return scan(&rows) })
	if err != nil || rows == len(v.numbers) {
		return v, err
	}
	return f.readAfter(t, view{})
}

func (f *flat) readAfter(t store.Tx, v view) (view, error) {
	after := int64(0)
	if len(v.numbers) > 0 {
		after = v.numbers[len(v.numbers)-1]
	}
	shared := map[string]string{}
	args := f.key.args()
	args["after"] = after
	err := t.Query(`SELECT number, document_id, embedding FROM chunk_vector
		WHERE `+shelved+` AND number > @after ORDER BY number`, args, func(scan store.Scan) error {
		var number int64
		var document string
		var embedding []byte
		if err := scan(&number, &document, &embedding); err != nil {
			return err
		}
		if _, ok := shared[document]; !ok {
			shared[document] = document
		}
		v.numbers = append(v.numbers, number)
		v.documents = append(v.documents, shared[document])
		v.data = unpack(v.data, embedding)
		return nil
	})
	return v, err
}

func (v view) bytes() int64 {
	return int64(cap(v.data))*4 + int64(cap(v.numbers))*8 + int64(cap(v.documents))*16
}

// scan offers every row to top. No person's document is looked at unless it
// is one of only, when that is not empty.
func (v view) scan(query []float32, only map[string]bool, top *nearest) {
	dim := len(query)
	for i, number := range v.numbers {
		if len(only) > 0 && !only[v.documents[i]] {
			continue
		}
		top.offer(number, dot(query, v.data[i*dim:(i+1)*dim]))
	}
}

// dot is the inner product with eight sums at once, a third faster than one.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	n := len(a) &^ 7
	for i := 0; i < n; i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
	}
	for i := n; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
}

// scored is a row and how near it is.
type scored struct {
	number int64
	cosine float32
}

// nearest is a heap of the best rows so far, the worst of them on top.
type nearest struct {
	limit int
	rows  []scored
}

func (n *nearest) Len() int           { return len(n.rows) }
func (n *nearest) Less(i, j int) bool { return worse(n.rows[i], n.rows[j]) }
func (n *nearest) Swap(i, j int)      { n.rows[i], n.rows[j] = n.rows[j], n.rows[i] }
func (n *nearest) Push(x any)         { n.rows = append(n.rows, x.(scored)) }

// Pop takes the worst.
func (n *nearest) Pop() any {
	last := n.rows[len(n.rows)-1]
	n.rows = n.rows[:len(n.rows)-1]
	return last
}

// worse orders equal rows by number, so that the same question has the same answer.
func worse(a, b scored) bool {
	if a.cosine != b.cosine {
		return a.cosine < b.cosine
	}
	return a.number > b.number
}

func (n *nearest) offer(number int64, cosine float32) {
	row := scored{number, cosine}
	switch {
	case len(n.rows) < n.limit:
		heap.Push(n, row)
	case worse(n.rows[0], row):
		n.rows[0] = row
		heap.Fix(n, 0)
	}
}

func pack(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func unpack(to []float32, b []byte) []float32 {
	for ; len(b) >= 4; b = b[4:] {
		to = append(to, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return to
}
