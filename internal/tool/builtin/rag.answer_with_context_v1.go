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
	given, err := t.passages(ctx, c)
	if err != nil {
		return nil, err
	}
	note, err := unreadNote(given.unread, german(c))
	if err != nil {
		return nil, err
	}
	note = paragraphs(readAsNote(given.readAs, german(c)), note)
	talk, err := t.dialogue(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	s, err := t.speak(ctx, c, model.Request{
		Model: words(c, "model"), Task: "answer", System: paragraphs(answerPrompt, talk.note),
		Messages: append(talk.messages, shown(given.passages, respelled(question, given.readAs))), MaxTokens: number(c, "max_tokens", 0),
	})
	if err != nil {
		return nil, err
	}
	quotes := s.citations(s.text.String())
	if note != "" && !s.partial && len(s.calls) == 0 {
		s.append(c, note)
	}
	out := talk.summarise(s.result(t.model))
	out["citations"], out["confidence"] = quotes, given.confidence
	out["found"] = len(quotes) > 0 && given.confidence != string(knowledge.Low)
	return out, nil
}

// material is what an answer is made from, and what it could not be made from.
type material struct {
	passages   []knowledge.Passage
	confidence string
	unread     []any
	readAs     []any
}

// passages are those given, or found now.
func (t answerWithContext) passages(ctx context.Context, c *tool.Call) (material, error) {
	unread, _ := c.Inputs["unread"].([]any)
	if given, ok := c.Inputs["passages"].([]any); ok {
		passages, err := readPassages(given)
		read, _ := c.Inputs["read_as"].([]any)
		return material{passages: passages, confidence: givenConfidence(c, passages), unread: unread, readAs: read}, err
	}
	found, err := t.search.find(ctx, c)
	if err != nil {
		return material{}, err
	}
	return material{
		passages: found.Passages, confidence: string(found.Confidence), unread: append(unread, unreadList(found.Unread)...),
		readAs: readAs(found.ReadAs),
	}, nil
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
