package builtin

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/tool"
)

// everything is the choice that means all the documents that were offered.
const everything = "all"

// search finds passages. It is pure and quick, so it runs inline.
type search struct {
	searcher Searcher
	rerank   Reranker
}

func (search) Name() string { return "rag.search_v1" }

func (t search) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	found, err := t.find(ctx, c)
	if err != nil {
		return nil, err
	}
	passages := make([]any, 0, len(found.Passages))
	for _, p := range found.Passages {
		passages = append(passages, passage(p))
	}
	documents, options := candidates(found.Documents, german(c))
	return map[string]any{
		"passages": passages, "confidence": string(found.Confidence), "average_similarity": found.AverageSimilarity,
		"clarity": string(found.Clarity), "documents": documents, "options": options, "docs_found": float64(len(documents)),
		"unread": unreadList(found.Unread), "summary": tally(found, german(c)), "read_as": readAs(found.ReadAs),
	}, nil
}

// find searches where the call may look: the contexts and documents it names,
// or else those of the turn.
func (t search) find(ctx context.Context, c *tool.Call) (knowledge.Found, error) {
	question := asked(c)
	if question == "" {
		return knowledge.Found{}, fault.New(fault.Invalid, "%s needs a question.", t.Name())
	}
	contexts := texts(c.Inputs["contexts"])
	if len(contexts) == 0 {
		contexts = c.ContextIDs
	}
	found, err := t.searcher.Search(ctx, c.Viewer, knowledge.Question{
		Text: question, ContextIDs: contexts, DocumentIDs: chosen(c), K: number(c, "k", 0), Wide: t.rerank != nil,
	})
	if err != nil {
		return found, err
	}
	t.order(ctx, c, cmp.Or(found.Question, question), found.Passages)
	if found.Asked > 0 {
		found.Passages = found.Passages[:min(len(found.Passages), found.Asked)]
	}
	return found, nil
}

// order puts passages in the order a registered reranker gives them (RAG-12).
// One that fails costs its opinion, not the answer.
func (t search) order(ctx context.Context, c *tool.Call, question string, passages []knowledge.Passage) {
	if t.rerank == nil || len(passages) < 2 {
		return
	}
	texts := make([]string, len(passages))
	for i, p := range passages {
		texts[i] = p.Text
	}
	scores, err := t.rerank(ctx, c, question, texts)
	if err != nil || len(scores) != len(passages) {
		return
	}
	by := make(map[string]float64, len(passages))
	for i, p := range passages {
		by[p.ChunkID] = scores[i]
	}
	slices.SortStableFunc(passages, func(a, b knowledge.Passage) int { return cmp.Compare(by[b.ChunkID], by[a.ChunkID]) })
}

// tally says how much was found.
func tally(found knowledge.Found, german bool) string {
	return tallied(len(found.Passages), "in", len(found.Documents), german)
}

// tallied says how many passages stand in, or are of, so many documents.
func tallied(passages int, of string, documents int, german bool) string {
	switch {
	case passages == 0 && german:
		return "keine Textstellen"
	case passages == 0:
		return "no passages"
	case german && documents == 1:
		return count(passages, "passage", true) + " aus 1 Dokument"
	case german:
		return fmt.Sprintf("%s aus %d Dokumenten", count(passages, "passage", true), documents)
	}
	return fmt.Sprintf("%s %s %s", count(passages, "passage", false), of, count(documents, "document", false))
}

// nouns are what is counted, in German: one, and any other number.
var nouns = map[string][2]string{
	"passage": {"Textstelle", "Textstellen"}, "document": {"Dokument", "Dokumente"}, "page": {"Seite", "Seiten"},
	"line": {"Zeile", "Zeilen"}, "name": {"Name", "Namen"}, "character": {"Zeichen", "Zeichen"},
}

// count is so many of a noun, in the language of the call.
func count(n int, noun string, german bool) string {
	if forms, ok := nouns[noun]; ok && german {
		if n == 1 {
			return "1 " + forms[0]
		}
		return fmt.Sprintf("%d %s", n, forms[1])
	}
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// asked is the question, by either of its names (C-29).
func asked(c *tool.Call) string {
	if q := words(c, "question"); q != "" {
		return q
	}
	return words(c, "message")
}

// chosen are the documents to search; none means all of them.
func chosen(c *tool.Call) []string {
	ids := texts(c.Inputs["documents"])
	if !slices.Contains(ids, everything) {
		return ids
	}
	var offered []string
	list, _ := c.Inputs["candidates"].([]any)
	for _, e := range list {
		if one, ok := e.(map[string]any); ok {
			offered = append(offered, texts(one["id"])...)
		}
	}
	return offered
}

// allOfThese is the choice of all that is offered.
func allOfThese(german bool) map[string]any {
	label := "All of these"
	if german {
		label = "Alle davon"
	}
	return map[string]any{"id": everything, "label": label}
}

// candidates are documents as data and as choices for a person.
func candidates(found []knowledge.Candidate, german bool) (documents, options []any) {
	documents, options = []any{}, []any{}
	for _, d := range found {
		documents = append(documents, map[string]any{"id": d.ID, "title": d.Title, "score": d.Score})
		options = append(options, map[string]any{"id": d.ID, "label": d.Title})
	}
	if len(options) > 1 {
		options = append(options, allOfThese(german))
	}
	return documents, options
}
