package sqlite

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// maxWords bounds the words of one search: more make it slower, not better.
const maxWords = 32

// token is an id as one word of the scope column. It ends in a digit, which
// no stemmer touches.
func token(id string) string { return "s" + strings.ReplaceAll(id, "-", "") + "0" }

// What a search may cost in a large index. Ranking takes about a microsecond a
// row that holds any of the words, so a word in every second chunk alone would
// take longer than all that a person waits for.
const (
	common     = 8000 // chunks with a word from which it is common …
	commonPart = 12   // … in an index of up to so many times as many; in a larger one, this part of it
	budget     = 3    // times common: rows that are ranked, when the rare words allow it
)

// words is the text side of the index.
type words struct {
	common int // as the constant, smaller in tests
}

// match fills in the text side of found.
func (x words) match(t store.Tx, contexts []searched, q knowledge.Query, found map[int64]*knowledge.Hit) error {
	if q.Begins != "" {
		_, err := rank(t, contexts, q, anyOf([]string{q.Begins})+" *", found)
		return err
	}
	words := wordsOf(q.Text)
	if len(words) == 0 {
		return nil
	}
	rare, err := x.rareOf(t, words)
	if err != nil {
		return err
	}
	if len(rare) > 0 {
		if n, err := rank(t, contexts, q, anyOf(rare), found); err != nil || n > 0 {
			return err
		}
	}
	// Only common words are left: chunks that hold all of them, or else any.
	n, err := rank(t, contexts, q, allOf(words), found)
	if err == nil && n < q.Limit && len(words) > 1 {
		clear(found)
		_, err = rank(t, contexts, q, anyOf(words), found)
	}
	return err
}

// rareOf leaves out the words that are common in the whole index; of the
// others it takes the rarest that fit the budget, and at least one.
func (x words) rareOf(t store.Tx, words []string) ([]string, error) {
	var newest int
	if err := t.Query(`SELECT coalesce(max(number), 0) FROM knowledge_chunk`, nil, func(scan store.Scan) error { return scan(&newest) }); err != nil {
		return nil, err
	}
	if newest <= x.common {
		return words, nil
	}
	most := max(x.common, newest/commonPart)
	counts := map[string]int{}
	var rare []string
	for _, w := range words {
		n, err := countUpTo(t, w, most)
		if err != nil {
			return nil, err
		}
		if counts[w] = n; n > 0 && n < most {
			rare = append(rare, w)
		}
	}
	slices.SortStableFunc(rare, func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	sum := 0
	for i, w := range rare {
		if sum += counts[w]; sum > budget*x.common && i > 0 {
			return rare[:i], nil
		}
	}
	return rare, nil
}

// countUpTo counts the chunks with a word, and stops at most.
func countUpTo(t store.Tx, word string, most int) (n int, err error) {
	err = t.Query(`SELECT count(*) FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH @match LIMIT @most)`,
		store.Args{"match": anyOf([]string{word}), "most": most}, func(scan store.Scan) error { return scan(&n) })
	return n, err
}

// rank searches the scope for the words and returns how many chunks it found.
// Headings weigh more than text. Sorting by the function is a third cheaper
// than by FTS5's column rank. A context that is embedded anew has its words
// twice; there, and only there, each row's encoder is looked up.
func rank(t store.Tx, contexts []searched, q knowledge.Query, words string, found map[int64]*knowledge.Hit) (n int, err error) {
	current := ""
	if slices.ContainsFunc(contexts, func(c searched) bool { return c.rolling }) {
		current = ` AND EXISTS (SELECT 1 FROM knowledge_chunk k JOIN knowledge_context c ON c.id = k.context_id
			WHERE k.number = chunk_words.rowid AND (c.encoder = '' OR k.encoder = c.encoder))`
	}
	err = t.Query(`SELECT rowid, bm25(chunk_words, 0.0, 2.0, 1.0) AS score FROM chunk_words WHERE chunk_words MATCH @match`+current+`
		ORDER BY score, rowid LIMIT @limit`, store.Args{"match": scopeText(contexts, q.DocumentIDs) + " AND {heading content} : (" + words + ")", "limit": q.Limit},
		func(scan store.Scan) error {
			var number int64
			var score float64
			if err := scan(&number, &score); err != nil {
				return err
			}
			n++
			hit := at(found, number)
			hit.TextRank, hit.TextScore = n, -score // FTS5's best score is the lowest
			return nil
		})
	return n, err
}

func at(found map[int64]*knowledge.Hit, number int64) *knowledge.Hit {
	hit, ok := found[number]
	if !ok {
		hit = &knowledge.Hit{}
		found[number] = hit
	}
	return hit
}

// scopeText is the contexts and documents of a query in FTS5's language.
func scopeText(contexts []searched, documents []string) string {
	var scope []string
	for _, c := range contexts {
		scope = append(scope, token(c.id))
	}
	text := "scope : (" + anyOf(scope) + ")"
	if len(documents) > 0 {
		scope = scope[:0]
		for _, d := range documents {
			scope = append(scope, token(d))
		}
		text += " AND scope : (" + anyOf(scope) + ")"
	}
	return text
}

func anyOf(words []string) string { return joined(words, " OR ") }
func allOf(words []string) string { return joined(words, " AND ") }

// joined quotes every word: nothing a person writes is syntax.
func joined(words []string, operator string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	return strings.Join(quoted, operator)
}

// wordsOf cuts a question into its different words, without those that say
// nothing; when it has no others, all of them.
func wordsOf(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	var telling, rest []string
	known := map[string]bool{}
	for _, w := range all {
		if known[w] {
			continue
		}
		known[w] = true
		if stop[w] {
			rest = append(rest, w)
		} else {
			telling = append(telling, w)
		}
	}
	if len(telling) == 0 {
		telling = rest
	}
	return telling[:min(len(telling), maxWords)]
}

// stop are the words every English or German text is full of: their postings
// are long and their weight is nothing.
var stop = set(`a about all also an and any are as at be because been but by can could did do does for from had has have
	he her his how i if in into is it its me more my no not of on or our she should so some such than that the their them then there
	these they this to us was we were what when where which who whom why will with would you your
	aber als am an auch auf aus bei bin bis das dass dem den der des die doch durch ein eine einem einen einer eines er es für
	hat ich ihr im in ist kann man mit nach nicht noch nur oder sein sich sie sind so über um und uns vom von vor war was
	welche welcher welches wenn wer werden wie wir wird wo zu zum zur`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
