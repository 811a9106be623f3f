package builtin

import (
	"context"
	_ "embed" // llm.intent_classifier_v1.txt
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"liminal/internal/model"
	"liminal/internal/tool"
)

// classify tells a model the intents; it is data beside the tool.spec, which
// lists them, so that Go names none (PLAT-05).
//
//go:embed llm.intent_classifier_v1.txt
var classify string

// intents are what a message may want, and the work it may want done with whole
// documents, as the tool.spec tells them apart: the last of each stands for
// every other. Raw and rawWorks are their lists as they stand there.
type intents struct {
	list, works   []string
	raw, rawWorks json.RawMessage
}

// readIntents reads the embedded tool.spec once.
var readIntents = sync.OnceValues(func() (of intents, err error) {
	const name = "llm.intent_classifier_v1.json"
	raw, err := documents.ReadFile(name)
	if err != nil {
		return of, err
	}
	var doc struct {
		Output struct {
			Properties struct {
				Intent, Work struct {
					Enum json.RawMessage `json:"enum"`
				}
			} `json:"properties"`
		} `json:"output_schema"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return of, fmt.Errorf("%s: %w", name, err)
	}
	of.raw = doc.Output.Properties.Intent.Enum
	if err := json.Unmarshal(of.raw, &of.list); err != nil || len(of.list) == 0 {
		return of, fmt.Errorf("%s lists no intents in its output_schema: %w", name, err)
	}
	of.rawWorks = doc.Output.Properties.Work.Enum
	if err := json.Unmarshal(of.rawWorks, &of.works); err != nil || len(of.works) == 0 {
		return of, fmt.Errorf("%s lists no work in its output_schema: %w", name, err)
	}
	return of, nil
})

// schema is what an answer has to be.
func (of intents) schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","required":["intent","work","confidence"],"additionalProperties":false,"properties":{"intent":{"enum":` +
		string(of.raw) + `},"work":{"enum":` + string(of.rawWorks) + `},"confidence":{"type":"number","minimum":0,"maximum":1}}}`)
}

// intentClassifier names what a message wants. An answer that is not what was
// asked for counts as the last intent without confidence, and one that names no
// work as the last work: a graph then takes its default way instead of
// failing.
type intentClassifier struct{ completer }

func (intentClassifier) Name() string { return "llm.intent_classifier_v1" }

func (t intentClassifier) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	intents, err := readIntents()
	if err != nil {
		return nil, err
	}
	quiet := *c
	quiet.Final = false // its text is never an answer
	s, err := t.speak(ctx, &quiet, model.Request{
		Model: words(c, "model"), Task: "intent", System: strings.TrimSpace(classify), MaxTokens: 100,
		Schema: intents.schema(), Messages: []model.Message{says(model.User, words(c, "message"))},
	})
	if err != nil {
		return nil, err
	}
	got := intents.read(s.text.String())
	return map[string]any{"intent": got.Intent, "work": got.Work, "confidence": got.Confidence, "model": s.asked, "usage": usage(s.usage)}, nil
}

// judged is what a model answered: an intent, a work, and how sure it is.
type judged struct {
	Intent     string  `json:"intent"`
	Work       string  `json:"work"`
	Confidence float64 `json:"confidence"`
}

func (of intents) read(text string) judged {
	var got judged
	if json.Unmarshal([]byte(jsonPart(text)), &got) != nil || !slices.Contains(of.list, got.Intent) {
		return judged{Intent: of.list[len(of.list)-1], Work: of.works[len(of.works)-1]}
	}
	if !slices.Contains(of.works, got.Work) {
		got.Work = of.works[len(of.works)-1]
	}
	got.Confidence = min(max(got.Confidence, 0), 1)
	return got
}
