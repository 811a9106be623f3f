package sqlite

import (
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

// matchWords fills in the text side of found. Headings weigh more than text.
func matchWords(t store.Tx, contexts []searched, q knowledge.Query, found map[int64]*knowledge.Hit) error {
	words := wordsOf(q.Text)
	if len(words) == 0 {
		return nil
	}
	rank := 0
	return t.Query(`SELECT rowid, rank FROM chunk_words WHERE chunk_words MATCH @match AND rank MATCH 'bm25(0.0, 2.0, 1.0)'
		ORDER BY rank LIMIT @limit`, store.Args{"match": matchText(contexts, q.DocumentIDs, words), "limit": q.Limit},
		func(scan store.Scan) error {
			var number int64
			var score float64
			if err := scan(&number, &score); err != nil {
				return err
			}
			rank++
			hit := at(found, number)
			hit.TextRank, hit.TextScore = rank, -score // FTS5's best score is the lowest
			return nil
		})
}

func at(found map[int64]*knowledge.Hit, number int64) *knowledge.Hit {
	hit, ok := found[number]
	if !ok {
		hit = &knowledge.Hit{}
		found[number] = hit
	}
	return hit
}

// matchText is the query in FTS5's language. Every word is quoted: nothing a
// person writes is syntax.
func matchText(contexts []searched, documents, words []string) string {
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
	return text + " AND {heading content} : (" + anyOf(words) + ")"
}

func anyOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	return strings.Join(quoted, " OR ")
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
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
