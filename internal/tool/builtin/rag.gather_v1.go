package builtin

import (
	"context"

	"liminal/internal/knowledge"
	"liminal/internal/tool"
)

// gather brings together what named documents have to say. It reads texts and
// changes nothing, so it runs inline.
type gather struct{ search search }

func (gather) Name() string { return "rag.gather_v1" }

func (t gather) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	found, err := t.gathered(ctx, c)
	if err != nil {
		return nil, err
	}
	passages := make([]any, 0, len(found.Passages))
	for _, p := range found.Passages {
		passages = append(passages, passage(p))
	}
	documents, _ := candidates(found.Documents, german(c))
	out := map[string]any{
		"passages": passages, "documents": documents, "docs_found": float64(len(documents)),
		"confidence": string(found.Confidence), "average_similarity": found.AverageSimilarity, "clarity": string(found.Clarity), "summary": t.tally(found, german(c)),
	}
	if len(found.Missing) > 0 {
		missing := make([]any, len(found.Missing))
		for i, id := range found.Missing {
			missing[i] = id
		}
		out["missing"] = missing
	}
	return out, nil
}

// gathered reads the documents named, or searches when none is.
func (t gather) gathered(ctx context.Context, c *tool.Call) (knowledge.Gathered, error) {
	named := texts(c.Inputs["documents"])
	if len(named) == 0 {
		found, err := t.search.find(ctx, c)
		return knowledge.Gathered{Found: found}, err
	}
	need := knowledge.Need{
		DocumentIDs: named, Question: words(c, "question"), Text: words(c, "text"), Ignore: texts(c.Inputs["ignore"]), Tokens: number(c, "max_tokens", 0),
	}
	if len(need.Question) > longQuestion && need.Text == "" {
		need.Text = need.Question
	}
	return t.search.searcher.Gather(ctx, c.Viewer, need)
}

// longQuestion is from how many bytes a question is a text: each of its
// sentences is then looked for.
const longQuestion = 400

// tally says how much was gathered; a document that has nothing counts.
func (gather) tally(found knowledge.Gathered, german bool) string {
	return tallied(len(found.Passages), "of", len(found.Documents), german)
}
