package builtin

import (
	"context"
	"encoding/json"
	"slices"

	"liminal/internal/model"
	"liminal/internal/tool"
)

// intents are what a message may want, as the classifier tells them apart.
var intents = [...]string{"qa_with_docs", "analysis", "code_edit", "smalltalk", "other"}

const classify = `Say what the person's last message wants, as JSON {"intent": …, "confidence": 0 to 1}. The intents:
qa_with_docs: a question that documents may answer.
analysis: comparing, summarising or judging what documents say.
code_edit: reading, writing or changing files.
smalltalk: a greeting, thanks, or a question about you.
other: anything else.`

const intentSchema = `{"type":"object","required":["intent","confidence"],"additionalProperties":false,"properties":{"intent":{"enum":["qa_with_docs","analysis","code_edit","smalltalk","other"]},"confidence":{"type":"number","minimum":0,"maximum":1}}}`

// intentClassifier names what a message wants. An answer that is not what was
// asked for counts as "other" without confidence: a graph then takes its
// default way instead of failing.
type intentClassifier struct{ completer }

func (intentClassifier) Name() string { return "llm.intent_classifier_v1" }

func (t intentClassifier) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	quiet := *c
	quiet.Final = false // its text is never an answer
	s, err := t.speak(ctx, &quiet, model.Request{
		Model: words(c, "model"), Task: "intent", System: classify, MaxTokens: 100,
		Schema: json.RawMessage(intentSchema), Messages: []model.Message{says(model.User, words(c, "message"))},
	})
	if err != nil {
		return nil, err
	}
	intent, confidence := readIntent(s.text.String())
	return map[string]any{"intent": intent, "confidence": confidence, "model": s.asked, "usage": usage(s.usage)}, nil
}

func readIntent(text string) (string, float64) {
	var got struct {
		Intent     string  `json:"intent"`
		Confidence float64 `json:"confidence"`
	}
	if json.Unmarshal([]byte(jsonPart(text)), &got) != nil || !slices.Contains(intents[:], got.Intent) {
		return "other", 0
	}
	return got.Intent, min(max(got.Confidence, 0), 1)
}
