package builtin_test

import (
	"context"
	"slices"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// widely is a searcher that has more to offer than is asked for.
type widely struct {
	builtin.Searcher // its other methods are not called
	passages         []knowledge.Passage
	question         knowledge.Question
}

func (w *widely) Search(_ context.Context, _ identity.Viewer, q knowledge.Question) (knowledge.Found, error) {
	w.question = q
	f := knowledge.Found{Passages: w.passages[:q.K], Clarity: knowledge.Clear, Confidence: knowledge.High, Asked: q.K}
	if q.Wide {
		f.Passages = slices.Clone(w.passages)
	}
	return f, nil
}

// Requirements: RAG-12
func TestARerankerChoosesFromMoreThanIsAskedFor(t *testing.T) {
	t.Parallel()
	last := func(_ context.Context, _ *tool.Call, _ string, passages []string) ([]float64, error) {
		scores := make([]float64, len(passages))
		for i := range scores {
			scores[i] = float64(i)
		}
		return scores, nil
	}
	w := &widely{passages: []knowledge.Passage{passage("a", "One.", 0), passage("b", "Two.", 0), passage("c", "Three.", 0)}}
	for _, c := range []struct {
		rerank builtin.Reranker
		want   string
	}{{last, "c"}, {nil, "a"}} {
		out := must(t, builtin.Parts{Search: w, Rerank: c.rerank}, "rag.search_v1", &tool.Call{Inputs: inputs("question", "Which?", "k", 1.0)})
		list := out["passages"].([]any)
		if len(list) != 1 || list[0].(map[string]any)["document_id"] != c.want || w.question.Wide != (c.rerank != nil) {
			t.Errorf("%v of a question %+v, want one passage of %s", list, w.question, c.want)
		}
	}
}
