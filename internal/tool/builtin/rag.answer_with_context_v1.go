package builtin

import (
	"context"
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// answerPrompt is the system prompt of an answer from passages.
const answerPrompt = `Answer the question from the passages of the person's documents, and from nothing else. Quote what carries the answer, and cite each passage you use. If the passages do not answer the question, say so plainly and name what they are about instead. Use the language of the question.`

// answerWithContext answers from documents, with quotes that are in them.
type answerWithContext struct {
	completer
	search search
}

func (answerWithContext) Name() string { return "rag.answer_with_context_v1" }

func (t answerWithContext) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	question := asked(c)
	if question == "" {
		return nil, fault.New(fault.Invalid, "%s needs a question.", t.Name())
	}
	passages, confidence, err := t.passages(ctx, c)
	if err != nil {
		return nil, err
	}
	talk, err := t.dialogue(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := t.speak(ctx, c, model.Request{
		Model: words(c, "model"), Task: "answer", System: paragraphs(answerPrompt, talk.note),
		Messages: append(talk.messages, shown(passages, question)), MaxTokens: number(c, "max_tokens", 0),
	})
	if err != nil {
		return nil, err
	}
	out := talk.summarise(s.result(t.model))
	quotes := s.citations(s.text.String())
	out["citations"], out["confidence"] = quotes, confidence
	out["found"] = len(quotes) > 0 && confidence != string(knowledge.Low)
	return out, nil
}

// passages are those given, or found now.
func (t answerWithContext) passages(ctx context.Context, c *tool.Call) ([]knowledge.Passage, string, error) {
	if given, ok := c.Inputs["passages"].([]any); ok {
		passages, err := readPassages(given)
		return passages, givenConfidence(c, passages), err
	}
	found, err := t.search.find(ctx, c)
	if err != nil {
		return nil, "", err
	}
	return found.Passages, string(found.Confidence), nil
}

func readPassages(given []any) ([]knowledge.Passage, error) {
	doc, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	var passages []knowledge.Passage
	if err := json.Unmarshal(doc, &passages); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The passages are not those of rag.search_v1.")
	}
	return passages, nil
}

func givenConfidence(c *tool.Call, passages []knowledge.Passage) string {
	switch said := words(c, "confidence"); {
	case said != "":
		return said
	case len(passages) == 0:
		return string(knowledge.Low)
	}
	return string(knowledge.Medium)
}

// shown is the question as the model gets it: the passages first.
func shown(passages []knowledge.Passage, question string) model.Message {
	m := model.Message{Role: model.User}
	for _, p := range passages {
		m.Content = append(m.Content, model.Block{Type: model.Passage, Text: p.Text, Source: &p.Source})
	}
	m.Content = append(m.Content, model.Block{Type: model.Text, Text: question})
	return m
}
