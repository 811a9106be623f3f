package extractive_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
)

var fixtures = []string{"testdata/library-rules.md", "testdata/pool-rules.md", "testdata/archiv-ordnung.txt"}

func user(text string, passages ...model.Block) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: append(passages, model.Block{Type: model.Text, Text: text})}}}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	text, look, intent := user("Hello"), user("What does the report say about fees?"), user("What is a fee?")
	look.Tools = []model.Tool{{Name: "rag.search_v1", ReadOnly: true, InputSchema: json.RawMessage(`{"properties":{"question":{"type":"string"}}}`)}}
	intent.Task, intent.Schema = extractive.TaskIntent, json.RawMessage(`{"type":"object","properties":{"intent":{"enum":["qa_with_docs","other"]}}}`)
	cite := user("What does a lost card cost?", model.Block{
		Type: model.Passage, Text: "Late returns cost 20 cents. A lost card\ncosts 5 euros.", Source: &model.Source{DocumentID: "d", Start: 50, End: 105},
	})
	modeltest.Run(t, modeltest.Setup{
		Open: func(*testing.T) model.Model { return extractive.Model{} },
		Text: &text, Tools: &look, Passages: &cite, JSON: &intent,
	})
	if (extractive.Model{}).Generative() {
		t.Error("it claims to generate")
	}
}

// Requirements: RAG-11, RAG-13
func TestQuestionsAreAnsweredWithTheRightQuote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	for _, c := range []struct{ question, quote, heading string }{
		{"How many books may a reader borrow?", "A reader may borrow up to 12 books at a time.", "Town Library Rules › Borrowing"},
		{"What does a late return cost?", "A late return costs 20 cents per book and day.", "Town Library Rules › Fees"},
		{"When does the sauna open?", "The sauna opens at noon.", "Harbour Pool Rules › Opening hours"},
		{"How high is the diving tower?", "The diving tower is 5 metres\nhigh", "Harbour Pool Rules › Safety"},
		{"Can DVDs be renewed?", "DVDs are lent\nfor 7 days and cannot be renewed.", "Town Library Rules › Borrowing"},
		{"How long do ten tickets stay valid?", "stay valid for two years.", "Harbour Pool Rules › Tickets"},
		{"Wie lange werden bestellte Akten bereitgehalten?", "Bestellte Akten werden zwei Wochen\nlang bereitgehalten.", "ORDNUNG DES STADTARCHIVS › 1.2 Fristen"},
		{"Was kostet eine Beglaubigung?", "Beglaubigungen kosten 8 Euro.", "ORDNUNG DES STADTARCHIVS › 1.3 Gebühren"},
		{"Wann wird eine personenbezogene Akte freigegeben?", "erst dreißig Jahre nach dem Tod", "ORDNUNG DES STADTARCHIVS › 1.2 Fristen"},
	} {
		found, text, citations := d.ask(t, c.question)
		if found.Clarity != knowledge.Clear || len(citations) == 0 {
			t.Errorf("%s: %s with %d citations: %s", c.question, found.Clarity, len(citations), text)
			continue
		}
		if first := citations[0]; !strings.Contains(first.Quote, c.quote) || first.Source.Heading != c.heading {
			t.Errorf("%s: quoted %q under %q", c.question, first.Quote, first.Source.Heading)
		}
		if !strings.Contains(text, "[1]") || !strings.Contains(text, knowledge.Fold(c.quote)) {
			t.Errorf("%s: the text shows no marked quote: %s", c.question, text)
		}
	}
}

// Requirements: RAG-16
func TestWhatIsNotInTheDocumentsIsNotAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	for _, question := range []string{
		"What will the weather be like tomorrow?", "How do I bake sourdough bread?", "Who won the football world cup in 2014?",
		"What is the capital of France?", "Wie hoch ist der Mount Everest?", "Which planets have rings?",
	} {
		found, text, citations := d.ask(t, question)
		if found.Clarity != knowledge.Nothing || found.Confidence != knowledge.Low || found.AverageSimilarity >= 0.5 {
			t.Errorf("%s: %s, %s, %.2f", question, found.Clarity, found.Confidence, found.AverageSimilarity)
		}
		if len(citations) > 0 || !strings.HasPrefix(text, "Nothing in your documents answers this.") {
			t.Errorf("%s: answered %q", question, text)
		}
	}
}

// Requirements: RAG-16
func TestUnclearQuestionsAreAskedBackAndSettled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	question := "Within how many working days are complaints answered?"
	found, _, _ := d.ask(t, question)
	if found.Clarity != knowledge.Several || len(found.Documents) != 2 {
		t.Fatalf("%s: %s of %+v", question, found.Clarity, found.Documents)
	}
	for file, quote := range map[string]string{"library-rules.md": "ten working days", "pool-rules.md": "five working days"} {
		found, _, citations := d.ask(t, question, d.titles[file])
		if found.Clarity != knowledge.Clear || len(citations) == 0 || !strings.Contains(citations[0].Quote, quote) {
			t.Errorf("%s: %s, %+v", file, found.Clarity, citations)
		}
	}
	found, _, citations := d.ask(t, "Within how many working days are complaints answered at the Harbour Pool?")
	if found.Clarity != knowledge.Clear || len(citations) == 0 || !strings.Contains(citations[0].Quote, "five working days") {
		t.Errorf("naming the document did not settle it: %s %+v", found.Clarity, citations)
	}
	for _, vague := range []string{"what is it?", "Tell me about it.", "Wie funktioniert das?"} {
		if found, _, _ := d.ask(t, vague); found.Clarity != knowledge.Vague {
			t.Errorf("%s: %s", vague, found.Clarity)
		}
	}
}

func TestIntentsAreToldApart(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","required":["intent","confidence"],"properties":{
		"intent":{"enum":["qa_with_docs","analysis","code_edit","smalltalk","other"]},"confidence":{"type":"number","minimum":0,"maximum":1}}}`)
	for message, want := range map[string]string{
		"How long are books lent?":                     "qa_with_docs",
		"retention of audit records":                   "qa_with_docs",
		"Wie lange wird das Protokoll aufbewahrt?":     "qa_with_docs",
		"Compare the two contracts":                    "analysis",
		"Fasse das Dokument zusammen":                  "analysis",
		"Please rename the function in main.go":        "code_edit",
		"Write a test for parser.py":                   "code_edit",
		"List my files":                                "code_edit",
		"Which files do I have?":                       "code_edit",
		"Welche Dateien habe ich?":                     "code_edit",
		"Hello!":                                       "smalltalk",
		"Danke":                                        "smalltalk",
		"I like this answer":                           "smalltalk",
		"I like this one. How long are books lent?":    "qa_with_docs",
		"hi, how long are the books lent to a reader?": "qa_with_docs",
		"…": "other",
	} {
		req := user(message)
		req.Task, req.Schema = extractive.TaskIntent, schema
		var got struct {
			Intent     string  `json:"intent"`
			Confidence float64 `json:"confidence"`
		}
		if err := json.Unmarshal([]byte(modeltest.Text(modeltest.Play(t, extractive.Model{}, req))), &got); err != nil {
			t.Fatal(err)
		}
		if got.Intent != want || got.Confidence <= 0 || got.Confidence > 1 {
			t.Errorf("%q is %+v, want %s", message, got, want)
		}
	}
}

func TestAToolLoopEndsInQuotes(t *testing.T) {
	t.Parallel()
	req := user("What does a lost card cost?")
	req.Task = extractive.TaskAgent
	req.Tools = []model.Tool{
		{Name: "files.write_v1"},
		{Name: "files.list_v1", ReadOnly: true},
		{Name: "rag.search_v1", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object","required":["question"],"properties":{"question":{"type":"string"}}}`)},
	}
	events := modeltest.Play(t, extractive.Model{}, req)
	call := events[0]
	if call.Type != model.ToolCall || call.Name != "rag.search_v1" || string(call.Input) != `{"question":"What does a lost card cost?"}` {
		t.Fatalf("first event %+v", call)
	}
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, Content: []model.Block{{Type: model.ToolUse, ID: call.ID, Name: call.Name, Input: call.Input}}},
		model.Message{Role: model.User, Content: []model.Block{{Type: model.ToolResult, ID: call.ID, Text: `{"passages":[{"document_id":"d","title":"Fees","start":7,"end":36,"score":0.9,"text":"A lost card costs five euros."}]}`}}})
	events = modeltest.Play(t, extractive.Model{}, req)
	if text := modeltest.Text(events); !strings.Contains(text, "A lost card costs five euros. [1]") {
		t.Errorf("answer %q", text)
	}
}

func TestFilesAreListedAndRead(t *testing.T) {
	t.Parallel()
	tools := []model.Tool{
		{Name: "files.list_v1", ReadOnly: true, InputSchema: json.RawMessage(`{"properties":{"folder":{"type":"string"}}}`)},
		{Name: "files.read_v1", ReadOnly: true, InputSchema: json.RawMessage(`{"required":["path"],"properties":{"path":{"type":"string"}}}`)},
	}
	for message, want := range map[string]string{
		"List my files": `files.list_v1 {}`, "Read files/notes.md": `files.read_v1 {"path":"files/notes.md"}`, "Hello": "",
	} {
		req := user(message)
		req.Task, req.Tools = extractive.TaskAgent, tools
		got := ""
		for _, e := range modeltest.Play(t, extractive.Model{}, req) {
			if e.Type == model.ToolCall {
				got = e.Name + " " + string(e.Input)
			}
		}
		if got != want {
			t.Errorf("%q calls %q, want %q", message, got, want)
		}
	}
	failed := user("Read files/notes.md")
	failed.Task, failed.Tools = extractive.TaskAgent, tools
	failed.Messages = append(failed.Messages,
		model.Message{Role: model.Assistant, Content: []model.Block{{Type: model.ToolUse, ID: "1", Name: "files.read_v1"}}},
		model.Message{Role: model.User, Content: []model.Block{{Type: model.ToolResult, ID: "1", IsError: true, Text: "not_found: There is no such file."}}})
	if text := modeltest.Text(modeltest.Play(t, extractive.Model{}, failed)); text != "The tool files.read_v1 did not work: There is no such file." {
		t.Errorf("answer %q", text)
	}
	req := user("Read files/notes.md")
	req.Task, req.Tools = extractive.TaskAgent, tools
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, Content: []model.Block{{Type: model.ToolUse, ID: "1", Name: "files.read_v1"}}},
		model.Message{Role: model.User, Content: []model.Block{{Type: model.ToolResult, ID: "1", Text: `{"path":"files/notes.md","text":"Buy milk."}`}}})
	if text := modeltest.Text(modeltest.Play(t, extractive.Model{}, req)); !strings.Contains(text, "Buy milk.") {
		t.Errorf("answer %q", text)
	}
}

func TestItSaysPlainlyThatItOnlyQuotes(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{"": extractive.Banner, "en": extractive.Banner, "de": "Es ist kein Sprachmodell eingerichtet."} {
		req := user("Write me a poem about the sea")
		req.Task, req.Locale = extractive.TaskChat, locale
		if text := modeltest.Text(modeltest.Play(t, extractive.Model{}, req)); !strings.Contains(text, want) {
			t.Errorf("locale %q: %q", locale, text)
		}
	}
}

func TestATokenLimitIsKept(t *testing.T) {
	t.Parallel()
	req := user("Hello")
	req.MaxTokens = 5
	events := modeltest.Play(t, extractive.Model{}, req)
	last, usage := events[len(events)-1], events[len(events)-2]
	if last.Reason != model.MaxTokens || usage.Usage.Output > 5 {
		t.Errorf("stopped for %q after %d tokens", last.Reason, usage.Usage.Output)
	}
}

// Who asks to see what they have, where nothing is, is told that and what to do,
// and not what the program can do.
func TestWhoHasNothingIsToldHowToAddIt(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Show me my files":         "There are no documents here yet. Drop files",
		"What documents do I have": "There are no documents here yet. Drop files",
		"Zeig mir meine Dateien":   "There are no documents here yet. Drop files",
		"What is a file system?":   extractive.Banner,
	} {
		req := user(message)
		req.Task = extractive.TaskChat
		if text := modeltest.Text(modeltest.Play(t, extractive.Model{}, req)); !strings.HasPrefix(text, want) {
			t.Errorf("%q: %q", message, text)
		}
	}
	req := user("Welche Unterlagen habe ich?")
	req.Task, req.Locale = extractive.TaskChat, "de"
	if text := modeltest.Text(modeltest.Play(t, extractive.Model{}, req)); !strings.HasPrefix(text, "Hier gibt es noch keine Dokumente. Leg Dateien") {
		t.Errorf("in German: %q", text)
	}
}
